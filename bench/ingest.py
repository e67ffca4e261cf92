"""How fast transcripts get into store, index and archive, as a ratio to parsing their lines and doing nothing.

./dev bench ingest [--mb 20] [--rounds 3] [--data DIR] [--rss 10,100] [--json]

Each figure is the median of fresh processes, taken in turn with the floor: `json.loads` of every line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from bench.tools import measure, transcripts
from bench.tools.alone import Spent, alone, parse, timed
from bench.tools.figures import Figure, Figures
from bench.tools.measure import median
from memory_keeper.capture.claude_code import read_line
from memory_keeper.capture.redact import redact_line
from memory_keeper.keeper import Keeper
from memory_keeper.model import Placed, Source
from memory_keeper.store import archive
from memory_keeper.store.sqlite import SqliteStore
from tests.transcripts import big

CHUNK = 1 << 20  # as much as is read at once, about
PROJECT = "dir:/bench"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser, required=False)
    parser.add_argument("--mb", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rss", default="10,100", help="sizes in MB whose memory is compared")


def run(args: argparse.Namespace) -> Figures:
    """The tables."""
    print(measure.machine())
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        made = Path(folder, "made")
        made.mkdir()
        big(made / "one.jsonl", int(args.mb * 1e6))
        said = speed(f"{args.mb:g} MB, generated", made, args.rounds)
        breakdown(made)
        if args.data:
            real = speed("the transcripts of --data", args.data, args.rounds)
            said |= {f"real_{name}": figure for name, figure in real.items()}
        return said | weigh(folder, [float(size) for size in args.rss.split(",")])


def speed(name: str, folder: Path, rounds: int) -> Figures:
    """MB/s, and the share of what the floor does."""
    ways = {"json.loads of every line": floor, "store, index and archive": keep}
    taken = [{label: alone(way, folder) for label, way in ways.items()} for _ in range(rounds)]
    first, last = ways
    size = sum(path.stat().st_size for path in plain(folder)) / 1e6
    rows = []
    for label in ways:
        wall, cpu = (median([one[first][field] / one[label][field] for one in taken]) for field in ("wall", "cpu"))
        fast = median([size / one[label]["wall"] for one in taken])
        rows.append((label, f"{fast:.1f}", f"{wall:.3f}", f"{cpu:.3f}"))
    print(f"\n{name}: {size:.0f} MB, {taken[-1][last]['events']:.0f} events")
    measure.table(("", "MB/s", "x floor", "cpu x floor"), rows)
    return {"speed": Figure(fast, "MB/s"), "cost": Figure(1 / cpu, "x")}


def weigh(folder: str, sizes: list[float]) -> Figures:
    """The highest RSS while files of different sizes are read."""
    print("\nHighest RSS, each in a process of its own")
    rows, said = [], {}
    for size in sizes:
        place = Path(folder, f"{size:g}")
        place.mkdir()
        big(place / "one.jsonl", int(size * 1e6), long_line_every=0)
        most = alone(keep, place)["peak"]
        rows.append((f"{size:g} MB", f"{most:.1f}"))
        said[f"memory_{size:g}"] = Figure(most, "MB")
    measure.table(("", "MB"), rows)
    return said


# --- in a process of its own ------------------------------------------------------------------------------------------


def plain(folder: Path) -> list[Path]:
    """The transcripts that are not packed, for packing costs time of its own."""
    return [path for path in transcripts.paths(folder) if path.suffix == ".jsonl"]


def floor(folder: Path) -> Spent:
    """Parse every line and forget it."""
    return parse(plain(folder))


def keep(folder: Path) -> Spent:
    """Read every transcript into a new store."""
    files = plain(folder)
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as home, Keeper(home, {}) as keeper:

        def work() -> Spent:
            sources = [Source(str(path), f"s{number}", PROJECT) for number, path in enumerate(files)]
            return {"events": sum(keeper.read(source).events for source in sources)}

        return timed(work)


# --- where the time goes ----------------------------------------------------------------------------------------------


def breakdown(folder: Path) -> None:
    """The processor's time of each stage by itself over the same lines."""
    (path,) = folder.iterdir()
    spent = dict.fromkeys(("json.loads (floor)", "redact", "parse into events", "store and index", "compress"), 0.0)
    source = Source(str(path), "s", PROJECT)
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as home, path.open("rb") as file:
        store = SqliteStore(home + "/store.db")
        source = store.begin(source)
        offset = 0

        def spend(stage: str, begin: float) -> None:
            spent[stage] += time.process_time() - begin

        while lines := file.readlines(CHUNK):
            begin = time.process_time()
            for line in lines:
                json.loads(line)
            spend("json.loads (floor)", begin)
            begin = time.process_time()
            kept = [redact_line(line, b"0" * 16, ()) for line in lines]
            spend("redact", begin)
            begin = time.process_time()
            read = [read_line(line, source, offset + number, 0.0) for number, line in enumerate(kept)]
            spend("parse into events", begin)
            placed = [Placed(event, offset) for one in read if one for event in one.events]
            usages = [one.usage for one in read if one and one.usage]
            begin = time.process_time()
            store.record(source, placed, usages)
            spend("store and index", begin)
            begin = time.process_time()
            archive.compress(b"".join(kept))
            spend("compress", begin)
            offset += sum(map(len, lines))
        begin = time.process_time()
        store.rebuild_index()
        spent["(of which the index, built again)"] = time.process_time() - begin
        store.close()
    print("\nWhere the processor's time goes, one stage after the other (in truth compressing runs beside the rest)")
    base = spent["json.loads (floor)"]
    measure.table(("", "ms/MB", "x floor"), [
        (stage, f"{took * 1e9 / path.stat().st_size:.2f}", f"{took / base:.2f}") for stage, took in spent.items()
    ])  # fmt: skip
