"""Whether notes and outlines over real transcripts name anything that their events do not: it should be nothing.

./dev bench grounding --data DIR [--show 20] [--json]

Every .jsonl and .jsonl.gz below DIR is one session, all of one project. They get notes and outlines as the product
makes them, with the settings as shipped; those of level 3 from smaller ones of level 2, for there to be some. Each
sentence is held against the events it cites, each note and the lists of each outline against all events it covers, and,
to see that the checker would notice, each sentence of level 1 against as many other events of its segment.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools import transcripts
from bench.tools.figures import Figure, Figures
from bench.tools.notes import Made, level_one
from memory_keeper import wire
from memory_keeper.extract.facts import ASIDE, dump
from memory_keeper.model import Event, Note
from memory_keeper.notes import schema
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.notes.kept_note import measure
from memory_keeper.notes.outline import outline
from memory_keeper.settings import DEFAULTS
from memory_keeper.text import utc_day

LABELS = " ".join(ASIDE.values()).split()  # words of ours: how a line begins whose words are not an answer's
SUM = re.compile(r"\b\d+ (?:packages ok|passed in all)\b")  # ours too, and true by the tests of `extract.work`


class Tally(NamedTuple):
    """What was counted, and what was wrong."""

    counts: collections.Counter[str]
    faults: list[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser)
    parser.add_argument("--show", type=int, default=20, help="how many faults to print")


def run(args: argparse.Namespace) -> Figures:
    """A line for each level, and the worst of it."""
    sessions = sorted(filter(None, map(read, transcripts.paths(args.data))), key=lambda events: events[-1].at)
    made = [one for events in sessions for one in level_one(events)]
    levels_of = (made, above(made, DEFAULTS["reduce.memoryTokens"]), above(above(made, 3000), 12_000))
    counts: collections.Counter[str] = collections.Counter()
    for level, those in enumerate(levels_of, 1):
        begin = time.perf_counter()
        tally = Tally(collections.Counter(), [])
        for one in those:
            look(one, tally)
        report(level, tally, args.show, time.perf_counter() - begin)
        counts += tally.counts
        counts["faults"] += len(tally.faults)
    return {
        "sentences": Figure(counts["sentences"]),
        "uncited": Figure(counts["uncited"], "sentences", "0"),
        "faults": Figure(counts["faults"], "names", "0"),
        "noticed": Figure(counts["noticed"] / max(1, counts["swapped"])),
    }


def read(path: Path) -> list[Event]:
    """A session."""
    with transcripts.opened(path) as lines:
        return list(transcripts.events(lines, transcripts.session_of(path)))


def report(level: int, tally: Tally, show: int, spent: float) -> None:
    counts = tally.counts
    for fault in tally.faults[:show]:
        print(fault)
    noticed = f" against other events {counts['noticed']} of {counts['swapped']} would be noticed;"
    print(
        f"level {level}: {counts['notes']} notes, {counts['sentences']} sentences, {counts['uncited']} without a cite,"
        f" {counts['faulty']} that name what the events they cite lack, {counts['foreign']} notes that name what no"
        f" event they cover does, {counts['odd']} lists that do;{noticed if counts['swapped'] else ''} {spent:.1f} s"
    )


# --- outlines as they are made --------------------------------------------------------------------------------------


def above(made: list[Made], most: int) -> list[Made]:
    """The outlines above notes, each of so many that their texts are no longer than `most` tokens together."""
    found: list[Made] = []
    group: list[Made] = []
    for number, one in enumerate(made):
        group.append(one)
        full = number + 1 < len(made) and sum(each.note.tokens for each in (*group, made[number + 1])) > most
        if full or number + 1 == len(made):
            draft = outline([each.note for each in group], DEFAULTS["reduce.outlineTokens"])
            carried = {
                "by": "extractive",
                "cites": draft.cites,
                "facts": dump(draft.facts),
                "outline": schema.body(draft.outline),
            }
            last, level = group[-1].note, group[-1].note.level + 1
            size = measure(draft.text)
            id = f"up{level}:{len(found)}"
            note = Note(id, last.at, "outline", level, "p", draft.text, "", size, json.dumps(carried))
            lists = tuple(said for said in schema.texts_of(draft.outline) if said != draft.outline.summary)
            found.append(Made(note, draft.cites, [event for each in group for event in each.events], lists))
            group = []
    return found


# --- looking --------------------------------------------------------------------------------------------------------


def look(one: Made, tally: Tally) -> None:
    """Count one note's sentences, and keep its faults."""
    counts = tally.counts
    by_id = {event.id: event for event in one.events}
    lines = one.note.text.split("\n") if one.note.text else []
    counts["notes"] += bool(lines)
    counts["uncited"] += abs(len(lines) - len(one.cites))
    for line, cites in zip(lines, one.cites, strict=False):
        counts["sentences"] += 1
        cited = [by_id[cite] for cite in cites if cite in by_id]
        counts["uncited"] += not cited
        line = SUM.sub("", line)
        missing = ungrounded(line, all_said(cited), LABELS)
        counts["faulty"] += bool(missing)
        tally.faults.extend(f"{one.note.id[:20]} {name!r} is not in {', '.join(cites[:9])}: {line}" for name in missing)
        others = swap(one.events, cites) if one.note.level == 1 else []
        counts["swapped"] += bool(others)
        counts["noticed"] += bool(others and ungrounded(line, all_said(others)))
    everything = all_said(one.events)
    for key, said in (("foreign", [one.note.text]), ("odd", one.lists)):
        missing = ungrounded(SUM.sub("", "\n".join(said)), everything, LABELS)
        counts[key] += bool(missing)
        tally.faults.extend(f"{one.note.id[:20]} {name!r} is in no event it covers" for name in missing)


def all_said(events: list[Event]) -> list[str]:
    return [said for event in events for said in sources(event)]


def sources(event: Event) -> Iterator[str]:
    """All that an event says, and the day it is of."""
    yield from (event.text, event.path, event.tool, event.kind, utc_day(event.at))
    if event.extra:
        try:
            yield from strings(wire.loads(event.extra))
        except ValueError:
            yield event.extra


def strings(value: Any) -> Iterator[str]:
    """Everything in a JSON value, as text."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif value is not None:
        yield str(value)


def swap(events: list[Event], cites: tuple[str, ...]) -> list[Event]:
    """As many events as are cited, but others: those half a segment further on."""
    places = {event.id: number for number, event in enumerate(events)}
    shifted = [(places[cite] + len(events) // 2) % len(events) for cite in cites if cite in places]
    return [events[number] for number in shifted if events[number].id not in cites]
