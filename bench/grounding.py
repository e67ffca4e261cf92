"""Whether level-1 notes over real transcripts name anything that the events they cite do not: it should be nothing.

./dev bench grounding --data DIR [--budget 1000] [--show 20]

Every .jsonl and .jsonl.gz below DIR is one session. Each sentence of its note is held against the events it cites, and,
to see that the checker would notice, against as many other events of the session.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_keeper import wire
from memory_keeper.capture.claude_code import read_line
from memory_keeper.model import Event, Source
from memory_keeper.reduce.grounding import ungrounded

try:
    from memory_keeper.reduce import digest
except ImportError:
    digest = None  # type: ignore[assignment]


def main() -> int:
    """The table, the worst of it, and 1 when a note names what its events do not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of transcripts")
    parser.add_argument("--budget", type=int, default=1000, help="tokens of a note")
    parser.add_argument("--show", type=int, default=20, help="how many faults to print")
    args = parser.parse_args()
    if digest is None:
        print("skipped: there are no level-1 notes yet (memory_keeper.reduce.digest)")
        return 0
    paths = sorted(path for path in args.data.rglob("*") if path.name.endswith((".jsonl", ".jsonl.gz")))
    if not paths:
        print(f"no transcripts below {args.data}", file=sys.stderr)
        return 2
    counts: collections.Counter[str] = collections.Counter()
    faults: list[str] = []
    begin = time.perf_counter()
    for path in paths:
        faults += look(path, args.budget, counts)
    for fault in faults[: args.show]:
        print(fault)
    print(
        f"{counts['notes']} notes, {counts['sentences']} sentences, {counts['uncited']} without a cite,"
        f" {counts['faulty']} sentences with {len(faults)} names that their events lack;"
        f" against other events {counts['noticed']} of {counts['swapped']} would be noticed;"
        f" {time.perf_counter() - begin:.1f} s"
    )
    return bool(faults or counts["uncited"])


def look(path: Path, budget: int, counts: collections.Counter[str]) -> list[str]:
    """The faults of one session's note."""
    events = read(path)
    by_id = {event.id: event for event in events}
    faults = []
    note = digest.digest(events, budget)
    counts["notes"] += bool(note)
    for sentence in note:
        counts["sentences"] += 1
        cited = [by_id[cite] for cite in sentence.cites if cite in by_id]
        counts["uncited"] += not cited
        missing = ungrounded(sentence.text, [said for event in cited for said in sources(event)])
        counts["faulty"] += bool(missing)
        faults += [
            f"{path.name[:13]} {name!r} is not in {', '.join(sentence.cites)}: {sentence.text}" for name in missing
        ]
        others = swap(events, sentence.cites)
        counts["swapped"] += bool(others)
        counts["noticed"] += bool(
            others and ungrounded(sentence.text, [one for event in others for one in sources(event)])
        )
    return faults


def read(path: Path) -> list[Event]:
    """The events of a transcript, each once."""
    source = Source(str(path), path.name.partition(".")[0], "dir:/bench")
    found: dict[str, Event] = {}
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        offset = 0
        for line in lines:
            for event in getattr(read_line(line, source, offset, 1000.0), "events", ()):
                found.setdefault(event.id, event)
            offset += len(line)
    return list(found.values())


def sources(event: Event) -> Iterator[str]:
    """All that an event says."""
    yield from (event.text, event.path, event.tool, event.kind)
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
    """As many events as are cited, but others: those half a session further on."""
    places = {event.id: number for number, event in enumerate(events)}
    shifted = [(places[cite] + len(events) // 2) % len(events) for cite in cites if cite in places]
    return [events[number] for number in shifted if events[number].id not in cites]


if __name__ == "__main__":
    sys.exit(main())
