"""How long a month of sessions takes to become notes and outlines in one go, and how much memory; then once more.

./dev bench month [--sessions 200] [--rounds 1] [--json]

The sessions are made up, of sizes as real ones have, and imported before. Each figure is the median of fresh
processes, taken in turn with the floors: `json.loads` of every line of the same transcripts, and a bare interpreter.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from random import Random

from bench.tools import measure
from bench.tools.alone import Spent, alone, parse, timed
from bench.tools.figures import Figure, Figures
from bench.tools.measure import median
from memory_keeper.cli.commands.import_ import source_of
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Filter
from memory_keeper.store.events import open_events
from memory_keeper.text import tokens
from tests.raw import change
from tests.transcripts import START, Transcript, paragraph, turn

PROJECTS = ("uploader", "catalog", "shop", "site", "notes")
DAY = 86_400.0
MONTH = 30 * DAY
ENVIRON = {"CLAUDE_CONFIG_DIR": "/nonexistent"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)


def run(args: argparse.Namespace) -> Figures:
    """The tables."""
    print(measure.machine())
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        made = Path(folder, "made")
        make(made, args.sessions)
        kept = alone(keep, made)
        size = f"{kept['bytes'] / 1e6:.1f} MB, {kept['lines']} lines, {kept['events']} events"
        print(f"\n{args.sessions} sessions in {len(PROJECTS)} projects: {size}; imported in {kept['wall']:.1f} s\n")
        rounds = [one_round(made) for _ in range(args.rounds)]
    said = speed(rounds, kept)
    tree(rounds[-1]["first"])
    return {"sessions": Figure(args.sessions), "events": Figure(kept["events"]), **said}


def one_round(made: Path) -> dict[str, Spent]:
    """Every measurement once, over a copy of what was imported."""
    home = made / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(made / "imported", home)
    bare = measure.spawn(measure.floors()[0])
    ways = {"floor": alone(floor, made), "first": alone(reduce, made), "again": alone(reduce, made)}
    return {**ways, "bare": {"wall": bare.wall / 1000, "cpu": bare.cpu / 1000, "peak": 0.0}}


def speed(rounds: list[dict[str, Spent]], kept: Spent) -> Figures:
    """Time and memory, and the ratios to the floors."""
    labels = {
        "bare": measure.BARE,
        "floor": "json.loads of every line",
        "first": "notes and outlines",
        "again": "again: nothing to do",
    }
    rows, said = [], {}
    for way, label in labels.items():
        taken = [one[way] for one in rounds]
        wall = median([one["wall"] for one in taken])
        ratios = [
            median([one[way][field] / one[floor][field] for one in rounds])
            for floor, field in (("floor", "wall"), ("floor", "cpu"), ("bare", "wall"))
        ]
        cells = [f"{wall * 1000:.1f}", f"{wall * 1e6 / kept['events']:.1f}", *(f"{one:.2f}" for one in ratios)]
        peak = max(one["peak"] for one in taken)
        rows.append((label, *cells, f"{peak:.1f}" if peak else "-"))
        said[way] = {"parsing": ratios[1], "python": ratios[2], "peak": peak}
    head = ("", "ms", "us an event", "x json.loads", "cpu", "x python", "peak MB")
    measure.table(head, rows)
    return {
        "cost": Figure(said["first"]["parsing"], "x"),
        "memory": Figure(said["first"]["peak"], "MB"),
        "again": Figure(said["again"]["python"], "x"),
    }


def tree(said: Spent) -> None:
    """What came of it."""
    print(f"\n{said['in']} tokens of talk and {said['all']} of everything became")
    rows = [
        (f"level {level}", str(count), str(without), str(size), f"{said['in'] / size:.0f}" if size else "-")
        for level, (count, without, size) in sorted(said["levels"].items())
    ]
    measure.table(("", "notes", "without words", "tokens", "x shorter than the talk"), rows)


# --- a month ----------------------------------------------------------------------------------------------------------


def make(folder: Path, sessions: int) -> None:
    """Transcripts of a month: most sessions are short, a few are long, some are compacted, have agents or are forks."""
    random = Random(4)
    last: Transcript | None = None
    for number in range(sessions):
        project = PROJECTS[min(int(random.expovariate(1.0)), len(PROJECTS) - 1)]
        name = f"{number:08x}-0000-4000-8000-{number:012x}"
        start = START + number * MONTH / sessions
        transcript = Transcript(name, f"/home/dev/{project}", seed=number, start=start)
        if last and last.cwd == transcript.cwd and random.random() < 0.04:
            transcript = last.fork(name)
        for _ in range(min(60, 1 + int(random.lognormvariate(0.2, 1.0)))):
            turn(transcript)
        place = folder / "transcripts" / project
        transcript.write(place / transcript.name)
        if random.random() < 0.15:
            inner = transcript.subagent("a1", "Who calls upload_part?")
            for _ in range(6):
                inner.call("Grep", {"pattern": "upload_part", "path": "src"}, paragraph(inner.random, 3))
            inner.reply(paragraph(inner.random, 4))
            inner.write(place / inner.name)
        last = transcript


# --- in a process of its own ------------------------------------------------------------------------------------------


def floor(folder: Path) -> Spent:
    """Parse every line and forget it."""
    return parse(transcripts(folder))


def keep(folder: Path) -> Spent:
    """Import every transcript into a new store."""
    with Keeper(str(folder / "imported"), ENVIRON) as keeper:

        def work() -> Spent:
            added = [keeper.read(source_of(keeper, str(path), own=True)) for path in transcripts(folder)]
            return {
                "lines": sum(one.lines for one in added),
                "events": sum(one.events for one in added),
                "bytes": sum(path.stat().st_size for path in transcripts(folder)),
            }

        return timed(work)


def reduce(folder: Path) -> Spent:
    """Write every note and outline that is due a month later."""
    with Keeper(str(folder / "home"), ENVIRON) as keeper:
        figures = timed(lambda: {"made": len(distil(keeper, START + 2 * MONTH))})
        store = keeper.store
        talk = store.find(Filter(kinds=("prompt", "reply", "queued", "task")))
        figures["in"] = sum(tokens(one.event.text) for one in talk)
        figures["all"] = sum(tokens(one.event.text) for one in store.find(Filter()))
        levels = "select level, count(*), sum(text = ''), sum(tokens) from note where level > 0 group by level"
        figures["levels"] = {level: row for level, *row in change(keeper.store_path, levels)}
        left = sum(len(open_events(store, one.session, one.project)) for one in store.open_sessions())
        assert not left, f"{left} events are in no note"
    return figures


def transcripts(folder: Path) -> list[Path]:
    """Oldest first, so that a fork comes after its origin and an agent after its session."""
    return sorted((folder / "transcripts").rglob("*.jsonl"), key=lambda path: (path.parts[-3:], path))
