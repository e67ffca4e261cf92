"""What an agent needed later and had met before, read apart from the product so that one cannot flatter the other.

A transcript is a list of steps; the facts of a step are the files, commands, identifiers and references that it
states. A text is scored by those of the needed ones that it has.
"""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

HORIZON, NEAR = 60, 300  # calls in which a fact is needed; characters between what stands together
Fact = tuple[str, str]


class Step(NamedTuple):
    """One thing of a transcript, as the measure sees it."""

    line: int
    kind: str  # user | say | call | result | summary | boundary
    text: str = ""
    tool: str = ""
    given: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    ref: str = ""
    uuid: str = ""


# --- steps ------------------------------------------------------------------------------------------------------------

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
