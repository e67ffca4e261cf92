"""Are the facts that are needed later still in our notes? Needed-later fact retention (NLFR) at real compactions.

./dev bench retention --data DIR [--budgets 500,1000,2000,4000] [--family claude-4] [--each]
                      [--pretend] [--half first|second] [--missing N]

Every .jsonl and .jsonl.gz below DIR is one session. At each of its compactions we take what the agent itself writes in
the next 60 tool calls (files, commands, identifiers, references) and had met before; which share of it does a text
state that was made from what came before? NLFR is the mean over the four kinds. Beside it stand the guards:

    old     the same for facts last mentioned before the newest quarter
    prec    the share of all stated names that were needed: a bare list of names has little
    prompt  the share of the user's prompts whose words are there
    link    the share of (file, name) pairs, used together before and after, that stand near each other
    artif   the share of the files written to that are named

Measured are Claude's own summary; the last 2,000 tokens as they stand; the handoff of everything before the compaction,
at several budgets; what of it the summary lost, told beside the summary; all level-1 notes before it, stretch by
stretch as they are made while a session runs, with the settings as shipped; and the outline above these notes.

Rules that were made while looking at some transcripts may fit only those. --half takes one half of the sessions, to
look at one and report the other; --pretend takes places where nothing was compacted, half and three quarters through
the calls of every session, which many sessions without a compaction have too. --missing tells what is lost: for each
kind N of the needed facts that the largest handoff lacks, and how they had come up.

At compactions it also tells what a lost context costs: the tokens of files that the agent reads in its next 20 calls
although it had read or written them before, and the same in the middle between two compactions.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench import measure
from memory_keeper.capture.claude_code import read_line
from memory_keeper.model import Event, Note, Source
from memory_keeper.policy import CHARACTERS
from memory_keeper.reduce.checks.fidelity import compare
from memory_keeper.reduce.notes import levels
from memory_keeper.reduce.notes.outline import outline
from memory_keeper.reduce.sentences import Sentence
from memory_keeper.settings import DEFAULTS
from memory_keeper.tell import View, handoff
from memory_keeper.text import tokens

NONCE = "84c7a90e"
HORIZON, LEAST_CALLS, LEAST_FACTS, NEAR = 60, 10, 8, 300
SOON = 20  # calls in which a file is read again
PRETENDED = (0.5, 0.75)  # of the calls of a session, where nothing was compacted
TAIL, SHOWN, CALLED = 2000, 2000, 400  # tokens of the end as it stands; characters of what was said, and of a call
LOST = 1000  # tokens of what a summary lost
CAVEAT = """NLFR tests that names are there, not that they are understood; what came later was shaped by the host's own
summary; a bare list of names games it, which is why prec, prompt and link stand beside it."""
COLUMNS = ("tokens", "NLFR", "old", "prec", "file", "command", "name", "ref", "prompt", "link", "artif")
# of the 59 boundaries of the sessions of entireio/cli, published with the measure: what others leave
PUBLISHED = {
    "Claude's own summary": (3573, 0.57, 0.30, 0.36, 0.74, 0.27, 0.56, 0.66, 0.84, 0.17, 0.92),
    "the last 2,000 tokens": (2033, 0.44, 0.01, 0.33, 0.50, 0.49, 0.34, 0.41, 0.19, 0.10, 0.49),
    "rule-based prototype, 500": (486, 0.62, 0.30, 0.32, 0.55, 0.65, 0.74, 0.51, 0.37, 0.19, 0.68),
    "rule-based prototype, 1,000": (880, 0.79, 0.59, 0.27, 0.72, 0.85, 0.92, 0.55, 0.60, 0.23, 0.93),
    "rule-based prototype, 2,000": (1237, 0.86, 0.74, 0.25, 0.78, 0.97, 0.96, 0.58, 0.78, 0.25, 1.00),
}


class Step(NamedTuple):
    """One thing of a transcript, as the measure sees it."""

    line: int
    kind: str  # user | say | call | result | summary | boundary
    text: str = ""
    tool: str = ""
    given: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    ref: str = ""
    uuid: str = ""


class Boundary(NamedTuple):
    """A compaction, what was known before it and what was needed after."""

    name: str
    before: list[Step]
    events: list[Event]
    summary: str
    folder: str
    needed: set[Fact]
    old: set[Fact]
    links: set[tuple[str, str]]
    again: tuple[int, int] | None = None  # tokens read again soon after, and in the middle of what came before


Fact = tuple[str, str]
Score = dict[str, float | None]


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of transcripts")
    parser.add_argument("--budgets", default="500,1000,2000,4000")
    parser.add_argument("--family", default="claude-4", help="whose tokens; the published figures are claude-4's")
    parser.add_argument("--each", action="store_true", help="a line for every boundary too")
    parser.add_argument("--pretend", action="store_true", help="places without a compaction, in every session")
    parser.add_argument("--half", choices=("first", "second"), help="one half of the sessions")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="N lost facts of each kind")
    args = parser.parse_args()
    files = [path for path in transcripts(args.data) if not args.half or half(path) == args.half]
    found = list(pretended(files) if args.pretend else boundaries(files))
    if not found:
        print(f"no compaction with enough before and after it below {args.data}", file=sys.stderr)
        return 2
    events = sum(len(one.events) for one in found) / len(found)
    print(f"{len(found)} boundaries, {sum(len(one.needed) for one in found)} needed facts; tokens of {args.family}")
    print(f"{events:.0f} events before a boundary")
    rows = [
        (name, *(f"{value:.2f}" if value < 2 else f"{value:.0f}" for value in row)) for name, row in PUBLISHED.items()
    ]
    budgets = list(map(int, args.budgets.split(",")))
    for name, make in methods(budgets, args.family, summaries=not args.pretend):
        begin = time.perf_counter()
        texts = [make(one) for one in found]
        print(f"{name}: {(time.perf_counter() - begin) / len(found) * 1000:.0f} ms each")
        rows.append(row_of(name, found, texts, args))
    measure.table(("", *COLUMNS), rows)
    if again := [one.again for one in found if one.again]:
        soon, between = (sum(column) / len(again) for column in zip(*again, strict=True))
        print(f"read again within {SOON} calls: {soon:,.0f} tokens after a compaction, {between:,.0f} between two")
    if args.missing:
        missing(found, [told(one, max(budgets), args.family) for one in found], args.missing)
    print(CAVEAT)
    return 0


Method = Callable[["Boundary"], str]


def methods(budgets: list[int], family: str, summaries: bool) -> list[tuple[str, Method]]:
    """What is compared: a name, and how its text is made of what came before."""
    listed: list[tuple[str, Method]] = [
        ("the last 2,000 tokens, here", lambda one: tail(one.before, TAIL, family)),
        *((f"handoff, {budget:,}", partial(told, budget=budget, family=family)) for budget in budgets),
        ("all level-1 notes", lambda one: texts_of(level_one(one))),
        ("the outline above them", lambda one: outline(level_one(one), OUTLINE).text),
    ]
    if summaries:
        listed.insert(0, ("Claude's own summary, here", lambda one: one.summary))
        listed.insert(-2, ("Claude's summary + what it lost, 1,000", partial(completed, budget=LOST, family=family)))
    return listed


def told(one: Boundary, budget: int, family: str) -> str:
    """The handoff as a model is told it: opened, fenced, cited and closed."""
    return handed(one, handoff.find_in(one.events, family, ""), budget, family)


def handed(one: Boundary, lines: list[Sentence], budget: int, family: str) -> str:
    nobody: Any = None  # no store is asked: all that is told is given
    view = View(nobody, "", "", "compact", 0.0, handed=tuple(lines), family=family)
    return handoff.compose(view, budget, NONCE, "this session, before it was compacted", characters=1 << 30).text


def completed(one: Boundary, budget: int, family: str) -> str:
    """A summary, and beside it what it lost of our handoff, as a model is told it."""
    lost = compare(handoff.find_in(one.events, family, ""), one.summary).lines
    return one.summary + "\n" + handed(one, lost, budget, family)


def tail(before: list[Step], budget: int, family: str) -> str:
    """The newest of what was said and done, as it stands: calls and results clipped, the oldest cut at its start."""
    kept: list[str] = []
    for step in reversed(before):
        spoken = step.kind in ("user", "say")
        text = f"{step.kind} {step.tool}: {step.text[: SHOWN if spoken else CALLED]}"
        cost = tokens(text + "\n", family)
        if cost > budget:
            kept.append(text[-max(0, len(text) * budget // cost) :] if budget > 0 else "")
            break
        kept.append(text)
        budget -= cost
    return "\n".join(reversed(kept))


def row_of(name: str, found: list[Boundary], texts: list[str], args: argparse.Namespace) -> tuple[str, ...]:
    """The means over all boundaries."""
    scores = [score(one, text, args.family) for one, text in zip(found, texts, strict=True)]
    if args.each:
        for one, got in zip(found, scores, strict=True):
            print(
                f"{name} {one.name} "
                + " ".join(f"{key}={value:.2f}" for key, value in got.items() if value is not None)
            )
    cells = []
    for column in COLUMNS:
        values = [value for got in scores if (value := got[column]) is not None]
        mean = sum(values) / len(values) if values else 0.0
        cells.append(f"{mean:.0f}" if column == "tokens" else f"{mean:.3f}")
    return (name, *cells)


# --- notes as they are made -----------------------------------------------------------------------------------------


OUTLINE = DEFAULTS["reduce.outlineTokens"]
made: dict[str, list[Note]] = {}


def level_one(one: Boundary) -> list[Note]:
    """The notes of all that came before a compaction, made once."""
    if one.name not in made:
        size = DEFAULTS["reduce.saveInterval"], DEFAULTS["reduce.saveTokens"] * CHARACTERS
        made[one.name] = []
        for number, stretch in enumerate(levels.stretches(one.events, *size, over=True)):
            draft, at = levels.write(stretch, DEFAULTS["reduce.noteTokens"], one.folder), stretch[-1].at
            extra = json.dumps(levels.about(draft, stretch))
            made[one.name].append(Note(f"n{number}", at, "session", 1, "p", draft.text, one.name, extra=extra))
    return made[one.name]


def texts_of(notes: list[Note]) -> str:
    return "\n".join(note.text for note in notes if note.text)


# --- transcripts -----------------------------------------------------------------------------------------------------


def transcripts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name.endswith((".jsonl", ".jsonl.gz")))


def half(path: Path) -> str:
    """In which half of all sessions this one is; the same however many there are."""
    session = path.name.partition(".")[0]
    return "second" if hashlib.sha256(session.encode()).digest()[0] % 2 else "first"


class Session(NamedTuple):
    """A transcript, read in both ways."""

    path: Path
    lines: list[dict[str, Any]]
    folder: str
    steps: list[Step]
    places: list[int]  # of its compactions

    def boundary(self, name: str, place: int, after: int, end: int, summary: str) -> Boundary | None:
        """What was known before a place and needed after it; None where that is too little."""
        before = [step for step in self.steps[:place] if step.kind not in ("summary", "boundary")]
        needed, calls = needs(before, self.steps[after:end], self.folder)
        if calls < LEAST_CALLS or len(needed) < LEAST_FACTS:
            return None
        recent = "\n".join(step.text for step in before[int(len(before) * 0.75) :])
        old = {fact for fact in needed if shortest(fact) not in recent}
        links = needed_links(before, self.steps[after:end], self.folder)
        events = list(read_events(self.lines[: self.steps[place].line], self.path.name))
        return Boundary(name, before, events, summary, self.folder, needed, old, links)


def sessions(files: list[Path]) -> Iterator[Session]:
    for path in files:
        lines = [entry for entry in load(path) if not entry.get("isSidechain")]
        folder = next((entry["cwd"] for entry in lines if entry.get("cwd")), "")
        steps = list(read_steps(lines))
        yield Session(
            path, lines, folder, steps, [number for number, step in enumerate(steps) if step.kind == "boundary"]
        )


def boundaries(files: list[Path]) -> Iterator[Boundary]:
    """The compactions that have enough before and after them, each once."""
    seen = set()
    for session in sessions(files):
        steps, places = session.steps, session.places
        for number, place in enumerate(places):
            end = places[number + 1] if number + 1 < len(places) else len(steps)
            summary = next((step for step in steps[place : place + 12] if step.kind == "summary"), None)
            if summary is None or steps[place].uuid in seen:
                continue
            seen.add(steps[place].uuid)
            name = f"{session.path.name[:8]}:{place}"
            if found := session.boundary(name, place, place + 1, end, summary.text):
                middle = (place + (places[number - 1] if number else 0)) // 2
                again = read_again(steps, place, session.folder), read_again(steps, middle, session.folder)
                yield found._replace(again=again)


def pretended(files: list[Path]) -> Iterator[Boundary]:
    """Places of every session where nothing was compacted, away from where something was."""
    seen = set()
    for session in sessions(files):
        calls = [number for number, step in enumerate(session.steps) if step.kind == "call"]
        if session.path.name.partition(".")[0] in seen or len(calls) < 2 * SOON:
            continue
        seen.add(session.path.name.partition(".")[0])
        for share in PRETENDED:
            place = calls[int(len(calls) * share)]
            if any(abs(place - other) < SOON for other in session.places):
                continue
            end = next((other for other in session.places if other > place), len(session.steps))
            found = session.boundary(f"{session.path.name[:8]}:{share}", place, place, end, "")
            if found:
                yield found


def read_again(steps: list[Step], place: int, folder: str) -> int:
    """The tokens of files that are read in the next calls although they had been read or written before."""
    known = {path for step in steps[:place] if step.tool in (*EDITS, "Read") for path in files_of(step, folder)}
    results = {step.ref: step.text for step in steps[place:] if step.kind == "result"}
    calls = [step for step in steps[place:] if step.kind == "call"][:SOON]
    reads = [step for step in calls if step.tool == "Read" and files_of(step, folder) & known]
    return sum(tokens(results.get(step.ref, ""), "claude-4") for step in reads)


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a transcript that can be read."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def read_events(lines: list[dict[str, Any]], name: str) -> Iterator[Event]:
    """What the product makes of them, each event once."""
    source, seen = Source(name, name, "dir:/bench"), set()
    for number, entry in enumerate(lines):
        line = read_line(json.dumps(entry).encode(), source, number, 0.0)
        for event in line.events if line else ():
            if event.id not in seen:
                seen.add(event.id)
                yield event


ADDED = re.compile(
    r"<(system-reminder|local-command-caveat|command-[a-z]+|local-command-stdout|task-notification|ide_[a-z_]+)>.*?</\1>",
    re.S,
)


def read_steps(lines: list[dict[str, Any]]) -> Iterator[Step]:
    """What the measure makes of them; read apart from the product, so that one cannot flatter the other."""
    seen = set()
    for number, entry in enumerate(lines):
        uuid = entry.get("uuid") or ""
        if uuid and uuid in seen:
            continue
        seen.add(uuid)
        message = entry.get("message") if isinstance(entry.get("message"), dict) else {}
        content = message.get("content") if message else None
        kind = entry.get("type")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        blocks = [block for block in blocks if isinstance(block, dict)]
        if kind == "system" and entry.get("subtype") == "compact_boundary":
            yield Step(number, "boundary", uuid=uuid)
        elif kind == "user" and entry.get("isCompactSummary"):
            yield Step(number, "summary", texts(blocks), uuid=uuid)
        elif kind == "user" and not entry.get("isMeta"):
            for block in blocks:
                if block.get("type") == "tool_result":
                    inner = block.get("content")
                    text = inner if isinstance(inner, str) else texts(inner or [])
                    yield Step(number, "result", ADDED.sub("", text), ref=block.get("tool_use_id") or "")
                elif block.get("type") == "text" and (text := ADDED.sub("", block.get("text") or "").strip()):
                    yield Step(number, "user", text)
        elif kind == "assistant":
            for block in blocks:
                given = block.get("input")
                if block.get("type") == "text" and (block.get("text") or "").strip():
                    yield Step(number, "say", block["text"])
                elif block.get("type") == "tool_use":
                    given = given if isinstance(given, dict) else {}
                    text = "\n".join(
                        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in given.values()
                    )
                    yield Step(number, "call", text, block.get("name") or "", given, block.get("id") or "")


def texts(blocks: list[Any]) -> str:
    return "\n".join(
        block.get("text") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    )


# --- facts -----------------------------------------------------------------------------------------------------------

ENDINGS = (
    "go|py|ts|tsx|js|jsx|mjs|cjs|rs|java|kt|rb|php|c|h|cpp|hpp|cs|swift|sh|bash|ps1|sql|md|mdx|rst|txt|json|jsonl|yaml"
    "|yml|toml|ini|cfg|env|html|css|scss|vue|svelte|lock|mod|proto|tf|xml|gradle|ipynb"
)
PATH = re.compile(
    r"(?<![\w/.@-])(?:[A-Za-z]:\\|~?/|\.{1,2}/)?(?:[\w.@+-]+[/\\])+[\w.@+-]*[\w]\b"
    rf"|(?<![\w/.@-])[\w-]+\.(?:{ENDINGS})\b"
)
HASH = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b")
URL = re.compile(r"https?://[^\s<>\"'`)\]}]+")
ISSUE = re.compile(r"(?<![\w&])#\d{1,6}\b|\b[A-Z]{2,6}-\d{1,5}\b")
NAME = re.compile(
    r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"
)
NO_NAMES = frozenset((
    "GitHub", "JavaScript", "TypeScript", "PostgreSQL", "MacOS", "OpenAI", "YouTube", "LinkedIn", "GitLab", "DevOps",
    "README_md", "OpenTelemetry", "WebSocket", "localhost",
))  # fmt: skip
COMMON = frozenset((
    "ls", "cat", "cd", "pwd", "echo", "head", "tail", "grep", "rg", "find", "sed", "awk", "wc", "sleep", "which",
    "mkdir", "rm", "cp", "mv", "true", "sort", "xargs", "touch", "chmod", "export", "test", "for", "if", "while",
    "git status", "git diff", "git log", "git add", "git commit", "git show", "git branch",
))  # fmt: skip
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")


def files_of(step: Step, folder: str) -> set[str]:
    """The files a call names outright."""
    if step.kind != "call":
        return set()
    given = [step.given.get(key) for key in ("file_path", "path", "notebook_path")]
    found = {relative(one, folder) for one in given if isinstance(one, str) and len(one) > 3}
    if step.tool == "Bash":
        for match in PATH.finditer(step.given.get("command") or ""):
            path = relative(match[0], folder)
            if re.search(r"\.\w{1,6}$", path) and not path.startswith(("/dev/", "http")):
                found.add(path)
    return {path for path in found if "." in path.split("/")[-1]}


def relative(path: str, folder: str) -> str:
    path = path.strip().strip("\"'`").replace("\\", "/")
    folder = folder.replace("\\", "/").rstrip("/")
    if folder and path.startswith(folder + "/"):
        path = path[len(folder) + 1 :]
    return re.sub(r"^\./", "", path).rstrip("/:.,;")


def command_of(step: Step) -> str:
    """A shell command's program and first words, without folder, settings, options and pipes."""
    if step.kind != "call" or step.tool != "Bash":
        return ""
    line = re.sub(r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)+", "", (step.given.get("command") or "").strip())
    line = re.split(r"\s*(?:\||&&|;|\n|2>&1|>)\s*", line)[0].strip()
    words = re.sub(r"^(?:[A-Z_][A-Z0-9_]*=\S+\s+)+", "", line).split()
    if not words or words[0] in COMMON or " ".join(words[:2]) in COMMON:
        return ""
    core = [word for word in words if not word.startswith("-")][:3]
    return " ".join(core) if len(core) > 1 else ""


def refs_of(text: str) -> set[str]:
    found = {one.rstrip(".,;:") for one in URL.findall(text)}
    return found | {one[:7] for one in HASH.findall(text)} | set(ISSUE.findall(text))


def names_of(text: str) -> set[str]:
    return {one for one in NAME.findall(text) if len(one) >= 6} - NO_NAMES


def own_facts(step: Step, folder: str) -> set[Fact]:
    """The facts of something the agent wrote."""
    found: set[Fact] = set()
    if step.kind == "call":
        found |= {("file", path) for path in files_of(step, folder)}
        if command := command_of(step):
            found.add(("command", command))
        if step.tool in (*EDITS, "Grep"):
            edit = str(step.given.get("old_string") or "") + "\n" + str(step.given.get("new_string") or "")
            body = step.text if step.tool == "Grep" else edit
            found |= {("name", name) for name in names_of(body[:8000])}
        if step.tool == "Bash":
            found |= {("ref", ref) for ref in refs_of(step.given.get("command") or "")}
    elif step.kind == "say":
        found |= {("name", name) for name in names_of(step.text)} | {("ref", ref) for ref in refs_of(step.text)}
    return found


def needs(before: list[Step], after: list[Step], folder: str) -> tuple[set[Fact], int]:
    """What the agent wrote after that had come up before, and in how many calls."""
    known: set[Fact] = set()
    for step in before:
        if step.kind in ("call", "say"):
            known |= own_facts(step, folder)
        if step.kind == "call":
            known |= {("name", name) for name in names_of(step.text[:8000])}
        if step.kind == "user":
            known |= {("name", name) for name in names_of(step.text)} | {("ref", ref) for ref in refs_of(step.text)}
    shown = "\n".join(step.text for step in before if step.kind in ("result", "user"))
    needed: set[Fact] = set()
    calls = 0
    for step in after:
        calls += step.kind == "call"
        if calls > HORIZON:
            break
        if step.kind in ("call", "say"):
            for fact in own_facts(step, folder):
                if fact in known or (fact[0] in ("file", "ref") and fact[1] in shown):
                    needed.add(fact)
    return needed, calls


def needed_links(before: list[Step], after: list[Step], folder: str) -> set[tuple[str, str]]:
    """The files and names that an edit or a search used together, and that had been together before."""
    results = {step.ref: step for step in before if step.kind == "result"}
    inside: dict[str, set[str]] = collections.defaultdict(set)
    for step in before:
        if step.kind == "call" and step.tool in ("Edit", "Write", "MultiEdit", "Read"):
            for path in files_of(step, folder):
                inside[path] |= names_of(step.text[:20000])
                if step.tool == "Read" and step.ref in results:
                    inside[path] |= names_of(results[step.ref].text[:60000])
    found, calls = set(), 0
    for step in after:
        if step.kind != "call":
            continue
        calls += 1
        if calls > HORIZON:
            break
        key = {"Edit": "old_string", "Grep": "pattern"}.get(step.tool, "")
        for path in files_of(step, folder) if key else ():
            found |= {
                (path, name) for name in names_of(str(step.given.get(key) or "")[:4000]) if name in inside.get(path, ())
            }
    return found


# --- scores ----------------------------------------------------------------------------------------------------------


def score(one: Boundary, text: str, family: str) -> Score:
    """What a text is worth at a boundary; None where there is nothing to measure."""
    kinds = {
        kind: share({fact for fact in one.needed if fact[0] == kind}, text)
        for kind in ("file", "command", "name", "ref")
    }
    old = [share({fact for fact in one.old if fact[0] == kind}, text) for kind in kinds]
    users = [step.text for step in one.before if step.kind == "user"]
    edited = {("file", path) for step in one.before if step.tool in EDITS for path in files_of(step, one.folder)}
    return {
        "tokens": tokens(text, family),
        "NLFR": mean(list(kinds.values())),
        "old": mean(old),
        "prec": precision(one.needed, text),
        **kinds,
        "prompt": covered(users, text),
        "link": mean([float(near(path, name, text)) for path, name in one.links]),
        "artif": share(edited, text),
    }


def share(facts: set[Fact], text: str) -> float | None:
    low = text.lower()
    return mean([float(stated(kind, fact, text, low)) for kind, fact in facts])


def mean(values: list[float | None] | list[float]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def shortest(fact: Fact) -> str:
    return fact[1].split("/")[-1] if fact[0] == "file" else fact[1]


def stated(kind: str, fact: str, text: str, low: str) -> bool:
    """Whether a text has a fact: a file by its path, its last folder, or a base name of five letters and more."""
    if kind == "file":
        parts = fact.split("/")
        if fact in text or (len(parts) >= 2 and "/".join(parts[-2:]) in text):
            return True
        return len(parts[-1]) >= 5 and bool(re.search(r"(?<![\w-])" + re.escape(parts[-1]) + r"(?![\w])", text))
    if kind == "command":
        return fact.lower() in low
    if kind == "ref":
        return fact in text
    return bool(re.search(r"(?<!\w)" + re.escape(fact) + r"(?!\w)", text))


def precision(needed: set[Fact], text: str) -> float | None:
    bases = (match[0].split("/")[-1] for match in PATH.finditer(text))
    said = {("name", name) for name in names_of(text)} | {("ref", ref) for ref in refs_of(text)}
    said |= {("file", base) for base in bases if "." in base}
    wanted = {(kind, shortest((kind, fact))) for kind, fact in needed}
    return len(said & wanted) / len(said) if said else None


def covered(prompts: list[str], text: str) -> float | None:
    """The share of prompts of four words and more of which three fifths are there."""
    there = set(re.findall(r"\w{4,}", text.lower()))
    words = [set(re.findall(r"\w{4,}", prompt.lower())) for prompt in prompts]
    return mean([float(len(one & there) / len(one) >= 0.6) for one in words if len(one) >= 4])


def near(path: str, name: str, text: str) -> bool:
    places = [match.start() for match in re.finditer(re.escape(path.split("/")[-1]), text)]
    others = [match.start() for match in re.finditer(r"(?<!\w)" + re.escape(name) + r"(?!\w)", text)]
    return any(abs(place - other) <= NEAR for place in places for other in others)


# --- what is lost ----------------------------------------------------------------------------------------------------


def missing(found: list[Boundary], texts: list[str], most: int) -> None:
    """Of each kind the needed facts that texts lack, those lost most often first, and how each had come up."""
    lost: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    where: dict[Fact, Boundary] = {}
    for one, text in zip(found, texts, strict=True):
        for kind, fact in sorted(one.needed):
            if not stated(kind, fact, text, text.lower()):
                lost[kind][fact] += 1
                where[kind, fact] = one
    for kind, facts in sorted(lost.items()):
        print(f"{kind}: {sum(facts.values())} of {sum(fact[0] == kind for one in found for fact in one.needed)} lost")
        for fact, times in facts.most_common(most):
            print(f"    {times} x {fact[:80]} ({came_up((kind, fact), where[kind, fact])})")


def came_up(fact: Fact, one: Boundary) -> str:
    """Where a fact had come up before a boundary: how long ago, in what, how often."""
    ways: collections.Counter[str] = collections.Counter()
    calls = last = 0
    for step in one.before:
        calls += step.kind == "call"
        if command_of(step) == fact[1] if fact[0] == "command" else shortest(fact) in step.text:
            ways[f"{step.kind} {step.tool}".strip()] += 1
            last = calls
    old = ", old" if fact in one.old else ""
    return f"{calls - last} of {calls} calls ago{old}: " + ", ".join(f"{count} {way}" for way, count in ways.items())


if __name__ == "__main__":
    sys.exit(main())
