"""Whether the rules in force are told, and those that were taken back are not: MemoryCode.

./dev bench rules --data DIR [--missed N] [--json]

DIR has `memorycode*.jsonl.gz`: dialogues of up to 100 sessions in which a mentor teaches rules of coding, and later
changes some of them, between much that is no rule. Every dialogue is a project in a real store, every session a
session (four a day), what the mentor says a prompt and what the mentee says a reply. What the prompts want for good is
learnt, folded and told as the first prompt of a new context brings it, in at most 1,000 tokens and without other rules.

kept: of the rules in force at the end (the last version of each instruction), those that are stated.
stale: of the versions that another one took the place of, those that are still stated.

A rule is stated where one statement (a line, or a part of it between semicolons, with the line's heading) names the
kind of thing that it is about and what it wants of it: a literal as a word of its own, with the side it belongs to
(start, end) where the rule has one; a style of names; a feature (annotation, docstring, try, assert, comment, digit).
"function" does not count for "function argument", nor the other way round. A statement that forbids it does not state
it, and a literal after "instead of", "rather than", "not", "from" or "no longer" is history and not stated either.

told right: of all statements, those that state any rule that was taught, in whatever version, or at least half of the
words of a rule about work ("take a break every 60 minutes"); these are not scored otherwise, as they have no literal.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from bench.tools import measure, sets
from bench.tools.figures import Figure, Figures
from bench.tools.sets import Turn
from memory_keeper.briefs.rules import SAID, full
from memory_keeper.jobs.learn import learn
from memory_keeper.keeper import Keeper
from memory_keeper.rules.prompts import in_force
from memory_keeper.settings import DEFAULTS
from memory_keeper.text import tokens

BUDGET = 1_000
HELD_BACK = 4  # of every fourth dialogue the failures were not looked at while the orders were written
SPEAKER = re.compile(r"^([A-Z][\w-]+): ?", re.M)
THINGS = {
    "function argument": r"\b(?:argument|parameter)s?\b",
    "function": r"\bfunctions?\b(?! (?:argument|parameter))",
    "method": r"\bmethods?\b(?! (?:argument|parameter))",
    "variable": r"\bvariables?\b",
    "attribute": r"\battributes?\b",
    "class": r"\bclass(?:es)?\b",
    "comment": r"\bcomment",
    "import": r"\bimport|\bmodule",
}
FEATURES = {"annotation": r"annotat|type hint", "docstring": "docstring", "try": r"\btry\b", "assert": r"\bassert"}
STYLES = {"UPPERCASE": r"upper ?case|all[- ]caps", "CamelCase": "camel|pascal", "snake_case": "snake"}
STARTS, ENDS = r"\b(?:start|begin|prefix|prefac)", r"\b(?:end|suffix|append)"
FORBIDS = re.compile(r"\b(?:no longer|don['’]?t|do not|never|stop|avoid)\b", re.I)
HISTORY = re.compile(r"\b(?:instead of|rather than|not|from|no longer)(?: using| with)? ?['\"`]?$", re.I)


class Taught(NamedTuple):
    """One version of a rule."""

    id: int
    version: int
    topic: str  # as the set words it
    thing: str  # what the set checks: "function argument", "method decorator"


class Dialogue(NamedTuple):
    """A mentor and a mentee over some sessions."""

    name: str
    sessions: list[list[Turn]]
    taught: list[Taught]  # in the order of teaching
    work: list[str]  # rules about work, which have no literal


class Score(NamedTuple):
    """What became of the rules of one dialogue."""

    sessions: int
    kept: list[tuple[Taught, bool]]
    stale: list[tuple[Taught, str]]  # and the statement that still tells it
    statements: int
    right: int
    tokens: int


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    sets.argument(parser)
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="print N rules that were not told")


def run(args: argparse.Namespace) -> Figures:
    """What is told, over all dialogues."""
    dialogues = [one for row in sets.read(args.data, "memorycode*") if (one := dialogue(row)).sessions]
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder, Keeper(folder, {}) as keeper:
        scores = []
        for one in dialogues:
            for session in one.sessions:
                sets.record(keeper.writer, f"dir:/{one.name}", session[0].session, session)
            said = tell(keeper, f"dir:/{one.name}", one.sessions[-1][-1].at + 60.0)
            scores.append(judge(one, said.removeprefix(SAID)))
    show(scores, args.missed)
    every, _, unseen = (digest(some) for _, some in parts(scores))
    return {
        "kept": Figure(every["kept"], target=">= 0.98"),
        "stale": Figure(every["stale"], target="<= 0.1"),
        "unseen_kept": Figure(unseen["kept"]),
        "unseen_stale": Figure(unseen["stale"]),
        "tokens": Figure(round(every["tokens"]), "tokens", "<= 1000"),
        "rules": Figure(every["rules"]),
    }


# --- the set ----------------------------------------------------------------------------------------------------------


def dialogue(row: dict[str, Any]) -> Dialogue:
    """A dialogue of the set."""
    taught, work, sessions = [], [], []
    for number, session in enumerate(row["sessions"]):
        topics = list(zip(session["type"], session["topic"], strict=True))
        rules = [topic for kind, topic in topics if kind.startswith("instruction")]
        ids = [pair for pair in row["instructions"][number] if pair != -1]
        things = [check[0] for check in session["session_regex"]]
        taught += [
            Taught(id, version, topic, thing) for (id, version), topic, thing in zip(ids, rules, things, strict=True)
        ]
        work += [topic for kind, topic in topics if kind.startswith("filler-instruction")]
        sessions.append(list(turns(row, number)))
    sessions = [session for session in sessions if session]  # of some nothing was written down
    return Dialogue(f"mc{row['id']}", sessions, taught, work)


def turns(row: dict[str, Any], number: int) -> Iterator[Turn]:
    """What was said in a session; who is not the mentee is the mentor: names are at times misspelt, or left off."""
    name = f"mc{row['id']}-{number}"
    unsaid, *said = SPEAKER.split(row["sessions"][number]["text"].strip())
    said = said or ["", unsaid] * bool(unsaid)
    for place, (who, text) in enumerate(zip(said[::2], said[1::2], strict=True)):
        text = text.strip()
        if text[:1] == text[-1:] == '"':
            text = text[1:-1]  # all of it is in quotation marks here and there
        role = "assistant" if who == row["context"]["mentee"] else "user"
        yield Turn(f"{name}-{place}", name, role, number * 21_600.0 + place, text)


# --- telling ----------------------------------------------------------------------------------------------------------


def tell(keeper: Keeper, project: str, now: float) -> str:
    """What a new context is told of what the user said."""
    learn(keeper, project, now, everything=True)
    return full((), in_force(keeper.store, project, DEFAULTS, now), BUDGET, "").text


# --- judging ----------------------------------------------------------------------------------------------------------


def judge(one: Dialogue, said: str) -> Score:
    """Hold what is told against what was taught."""
    last = {rule.id: rule for rule in one.taught}
    gone = dict.fromkeys(rule for rule in one.taught if rule.version != last[rule.id].version)
    told = list(statements(said))
    right = sum(any(states(line, rule) for rule in one.taught) or about_work(line, one.work) for line in told)
    return Score(
        len(one.sessions),
        [(rule, any(states(line, rule) for line in told)) for rule in last.values()],
        [(rule, next((line for line in told if states(line, rule)), "")) for rule in gone],
        len(told),
        right,
        tokens(said),
    )


def statements(said: str) -> Iterator[str]:
    """Line by line; of a line with a heading, each part with the heading."""
    for line in (line.removeprefix("- ") for line in said.split("\n") if line):
        heading = re.match(r"[a-z]+(?: [a-z]+)?(?: names)?: ", line)
        for part in line[heading.end() :].split("; ") if heading else [line]:
            yield (heading[0] if heading else "") + part


def states(line: str, rule: Taught) -> bool:
    """Whether a statement states a rule, as is said above."""
    thing = next(name for name in THINGS if rule.thing.startswith(name))
    feature = FEATURES.get(rule.thing.removeprefix(thing).strip(), "")
    # who annotates a function's arguments annotates the function
    named = rf"\b{thing}" if "annotat" in feature else THINGS[thing]
    if FORBIDS.search(line) or not re.search(named, line, re.I):
        return False
    if literal := re.search(r"'@?(\w+)'", rule.topic):
        return wants(line, literal[1], rule.topic)
    style = next((pattern for name, pattern in STYLES.items() if name in rule.topic), "")
    digit = r"\bdigit" if "digit" in rule.topic else ""
    return bool(re.search(style or digit or feature, line, re.I))


def wants(line: str, literal: str, topic: str) -> bool:
    """Whether a statement wants a literal where a rule wants it."""
    side = STARTS if "start " in topic else ENDS if " end " in topic else ""
    other = {STARTS: ENDS, ENDS: STARTS}.get(side, "")
    if other and re.search(other, line, re.I) and not re.search(side, line, re.I):
        return False
    places = re.finditer(rf"(?<!\w){re.escape(literal)}(?!\w)", line)
    return any(not HISTORY.search(line[: place.start()]) for place in places)


def about_work(line: str, work: Sequence[str]) -> bool:
    """Whether a statement has half of the words of a rule about work."""
    had = {word[:5] for word in re.findall(r"\w{3,}", line.casefold())}
    for rule in work:
        words = {word[:5] for word in re.findall(r"\w{3,}", rule.casefold())} - {"alway", "never", "use", "the"}
        if len(words & had) * 2 >= len(words):
            return True
    return False


# --- showing ----------------------------------------------------------------------------------------------------------


def parts(scores: Sequence[Score]) -> list[tuple[str, list[Score]]]:
    """All, and the same by whether their failures were looked at."""
    return [
        ("all", list(scores)),
        ("looked at", [one for place, one in enumerate(scores) if place % HELD_BACK]),
        ("held back", list(scores[::HELD_BACK])),
    ]


def digest(scores: Sequence[Score]) -> dict[str, float]:
    """The figures of some dialogues."""
    kept = [told for one in scores for _, told in one.kept]
    stale = [bool(line) for one in scores for _, line in one.stale]
    return {
        "rules": len(kept),
        "kept": sum(kept) / len(kept),
        "versions": len(stale),
        "stale": sum(stale) / max(1, len(stale)),
        "told right": sum(one.right for one in scores) / max(1, sum(one.statements for one in scores)),
        "tokens": sum(one.tokens for one in scores) / len(scores),
        "most": max(one.tokens for one in scores),
    }


def show(scores: Sequence[Score], missed: int) -> None:
    """One table: parts of the set, then numbers of sessions."""
    by_length = defaultdict(list)
    for one in scores:
        by_length[one.sessions].append(one)
    rows = [*parts(scores), *((f"{count} sessions", some) for count, some in sorted(by_length.items()))]
    print(f"\nMemoryCode, as told: {len(scores)} dialogues, at most {BUDGET} tokens")
    figures = [(part, digest(some)) for part, some in rows]
    cells = [
        (part, *(f"{value:.3f}" if value < 1 else f"{value:.0f}" for value in said.values())) for part, said in figures
    ]
    measure.table(("", *figures[0][1]), cells)
    lost = [f"not told: {rule.topic}" for one in scores for rule, told in one.kept if not told]
    stale = [f"still told: {rule.topic}: {line}" for one in scores for rule, line in one.stale if line]
    print("\n".join((lost + stale)[:missed]), end="\n" if missed else "")
