"""Are the facts that are needed later still in our notes? Needed-later fact retention (NLFR) at real compactions.

./dev bench retention --data DIR [--budgets 500,1000,2000,4000] [--family claude-4] [--each]
                      [--pretend] [--half first|second] [--missing N] [--json]

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
import hashlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.tools import measure, transcripts
from bench.tools.cuts import TAIL, Cut, Session, handed, handed_over, noted, outlined, sessions, tail, told
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.needed import (
    EDITS,
    Fact,
    Step,
    command_of,
    covered,
    files_of,
    mean,
    near,
    needed_links,
    needs,
    precision,
    share,
    shortest,
    stated,
)
from memory_keeper.extract.fidelity import compare
from memory_keeper.text import tokens

LEAST_CALLS, LEAST_FACTS = 10, 8
SOON = 20  # calls in which a file is read again
PRETENDED = (0.5, 0.75)  # of the calls of a session, where nothing was compacted
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
# what it should keep, by the key of the method
TARGETS = {"handoff_1000": ">= 0.88", "handoff_2000": ">= 0.93"}


class Boundary(NamedTuple):
    """A compaction, what was known before it and what was needed after."""

    cut: Cut
    needed: set[Fact]
    old: set[Fact]
    links: set[tuple[str, str]]
    again: tuple[int, int] | None = None  # tokens read again soon after, and in the middle of what came before


Score = dict[str, float | None]


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser)
    parser.add_argument("--budgets", default="500,1000,2000,4000")
    parser.add_argument("--family", default="claude-4", help="whose tokens; the published figures are claude-4's")
    parser.add_argument("--each", action="store_true", help="a line for every boundary too")
    parser.add_argument("--pretend", action="store_true", help="places without a compaction, in every session")
    parser.add_argument("--half", choices=("first", "second"), help="one half of the sessions")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="N lost facts of each kind")


def run(args: argparse.Namespace) -> Figures:
    """The table."""
    files = [path for path in transcripts.paths(args.data) if not args.half or half(path) == args.half]
    found = list(pretended(files) if args.pretend else boundaries(files))
    if not found:
        raise LeftOutError(f"no compaction with enough before and after it below {args.data}")
    events = sum(len(one.cut.events) for one in found) / len(found)
    facts = sum(len(one.needed) for one in found)
    print(f"{len(found)} boundaries, {facts} needed facts; tokens of {args.family}")
    print(f"{events:.0f} events before a boundary")
    budgets = list(map(int, args.budgets.split(",")))
    rows: list[tuple[str, tuple[float, ...]]] = list(PUBLISHED.items())
    said = {"boundaries": Figure(len(found)), "facts": Figure(facts)}
    for key, name, make in methods(budgets, args.family, summaries=not args.pretend):
        begin = time.perf_counter()
        texts = [make(one.cut) for one in found]
        print(f"{name}: {(time.perf_counter() - begin) / len(found) * 1000:.0f} ms each")
        means = means_of(name, found, texts, args)
        rows.append((name, tuple(means.values())))
        said |= figures_of(key, means)
    measure.table(("", *COLUMNS), [(name, *map(shown, values)) for name, values in rows])
    if again := [one.again for one in found if one.again]:
        soon, between = (sum(column) / len(again) for column in zip(*again, strict=True))
        print(f"read again within {SOON} calls: {soon:,.0f} tokens after a compaction, {between:,.0f} between two")
        said |= {"reread_after": Figure(round(soon), "tokens"), "reread_between": Figure(round(between), "tokens")}
    if args.missing:
        missing(found, [told(one.cut, max(budgets), args.family) for one in found], args.missing)
    print(CAVEAT)
    return said


def shown(value: float) -> str:
    """A share with its digits, or tokens."""
    return f"{value:.3f}" if value < 2 else f"{value:.0f}"


def figures_of(key: str, means: dict[str, float]) -> Figures:
    """What a page may quote of a method."""
    kept = {f"{key}_{column}": Figure(means[column]) for column in ("old", "prec", "prompt", "link")}
    size = {f"{key}_tokens": Figure(round(means["tokens"]), "tokens")}
    return {key: Figure(means["NLFR"], target=TARGETS.get(key, "")), **size, **kept}


Method = Callable[[Cut], str]


def methods(budgets: list[int], family: str, summaries: bool) -> list[tuple[str, str, Method]]:
    """What is compared: its key, a name, and how its text is made of what came before."""
    listed: list[tuple[str, str, Method]] = [
        ("tail", "the last 2,000 tokens, here", lambda cut: tail(cut.before, TAIL, family)),
        *(
            (f"handoff_{budget}", f"handoff, {budget:,}", partial(told, budget=budget, family=family))
            for budget in budgets
        ),
        ("notes", "all level-1 notes", noted),
        ("outline", "the outline above them", outlined),
    ]
    if summaries:
        both = "Claude's summary + what it lost, 1,000"
        listed.insert(0, ("summary", "Claude's own summary, here", lambda cut: cut.summary))
        listed.insert(-2, ("completed", both, partial(completed, budget=LOST, family=family)))
    return listed


def completed(cut: Cut, budget: int, family: str) -> str:
    """A summary, and beside it what it lost of our handoff, as a model is told it."""
    lost = compare(handed_over(cut, family), cut.summary).facts
    return cut.summary + "\n" + handed(lost, budget, family)


def means_of(name: str, found: list[Boundary], texts: list[str], args: argparse.Namespace) -> dict[str, float]:
    """The means over all boundaries, column by column."""
    scores = [score(one, text, args.family) for one, text in zip(found, texts, strict=True)]
    for one, got in zip(found, scores, strict=True) if args.each else ():
        cells = (f"{key}={value:.2f}" for key, value in got.items() if value is not None)
        print(f"{name} {one.cut.name} {' '.join(cells)}")
    return {column: mean([got[column] for got in scores]) or 0.0 for column in COLUMNS}


# --- transcripts -----------------------------------------------------------------------------------------------------


def half(path: Path) -> str:
    """In which half of all sessions this one is; the same however many there are."""
    return "second" if hashlib.sha256(transcripts.session_of(path).encode()).digest()[0] % 2 else "first"


def boundary(session: Session, name: str, place: int, after: int, end: int, summary: str) -> Boundary | None:
    """What was known before a place and needed after it; None where that is too little."""
    before, steps = session.before(place), session.steps[after:end]
    needed, calls = needs(before, steps, session.folder)
    if calls < LEAST_CALLS or len(needed) < LEAST_FACTS:
        return None
    recent = "\n".join(step.text for step in before[int(len(before) * 0.75) :])
    old = {fact for fact in needed if shortest(fact) not in recent}
    links = needed_links(before, steps, session.folder)
    return Boundary(session.cut(name, place, summary), needed, old, links)


def boundaries(files: list[Path]) -> Iterator[Boundary]:
    """The compactions that have enough before and after them, each once."""
    seen = set()
    for session in sessions(files):
        for name, last, place, following, summary, uuid in session.compactions():
            if uuid in seen:
                continue
            seen.add(uuid)
            if found := boundary(session, name, place, place + 1, following, summary):
                again = [read_again(session.steps, at, session.folder) for at in (place, (last + place) // 2)]
                yield found._replace(again=(again[0], again[1]))


def pretended(files: list[Path]) -> Iterator[Boundary]:
    """Places of every session where nothing was compacted, away from where something was."""
    seen = set()
    for session in sessions(files):
        calls = [number for number, step in enumerate(session.steps) if step.kind == "call"]
        if transcripts.session_of(session.path) in seen or len(calls) < 2 * SOON:
            continue
        seen.add(transcripts.session_of(session.path))
        for part in PRETENDED:
            place = calls[int(len(calls) * part)]
            if any(abs(place - other) < SOON for other in session.places):
                continue
            end = next((other for other in session.places if other > place), len(session.steps))
            found = boundary(session, f"{session.path.name[:8]}:{part}", place, place, end, "")
            if found:
                yield found


def read_again(steps: list[Step], place: int, folder: str) -> int:
    """The tokens of files that are read in the next calls although they had been read or written before."""
    known = {path for step in steps[:place] if step.tool in (*EDITS, "Read") for path in files_of(step, folder)}
    results = {step.ref: step.text for step in steps[place:] if step.kind == "result"}
    calls = [step for step in steps[place:] if step.kind == "call"][:SOON]
    reads = [step for step in calls if step.tool == "Read" and files_of(step, folder) & known]
    return sum(tokens(results.get(step.ref, ""), "claude-4") for step in reads)


# --- scores -----------------------------------------------------------------------------------------------------------


def score(one: Boundary, text: str, family: str) -> Score:
    """What a text is worth at a boundary; None where there is nothing to measure."""
    kinds = {
        kind: share({fact for fact in one.needed if fact[0] == kind}, text)
        for kind in ("file", "command", "name", "ref")
    }
    old = [share({fact for fact in one.old if fact[0] == kind}, text) for kind in kinds]
    users = [step.text for step in one.cut.before if step.kind == "user"]
    edited = {
        ("file", path) for step in one.cut.before if step.tool in EDITS for path in files_of(step, one.cut.folder)
    }
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
    for step in one.cut.before:
        calls += step.kind == "call"
        if command_of(step) == fact[1] if fact[0] == "command" else shortest(fact) in step.text:
            ways[f"{step.kind} {step.tool}".strip()] += 1
            last = calls
    old = ", old" if fact in one.old else ""
    return f"{calls - last} of {calls} calls ago{old}: " + ", ".join(f"{count} {way}" for way, count in ways.items())
