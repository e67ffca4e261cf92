"""How fast transcripts get into store, index and archive, as a ratio to parsing their lines and doing nothing.

./dev bench ingest [--mb 100] [--data DIR] [--rss 10,100,300]

Each figure is the median of three fresh processes, taken in turn with the floor: `json.loads` of every line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import measure
from bench.measure import median
from memory_keeper.capture.claude_code import read_line
from memory_keeper.capture.redact import redact_line
from memory_keeper.keep import archive
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.keeper import Keeper
from memory_keeper.model import Placed, Source
from tests.transcripts import big

CHUNK = 1 << 20  # as much as is read at once, about
PROJECT = "dir:/bench"


def main() -> None:
    """The tables, or one measurement in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--data", type=Path, help="a folder of real transcripts, measured too")
    parser.add_argument("--rss", default="10,100,300", help="sizes in MB whose memory is compared")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone:
        print(json.dumps(ALONE[args.alone[0]](Path(args.alone[1]))))
        return
    print(measure.machine())
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        made = Path(folder, "made")
        made.mkdir()
        big(made / "one.jsonl", int(args.mb * 1e6))
        speed(f"{args.mb:g} MB, generated", made)
        breakdown(made)
        if args.data:
            speed(f"{args.data}", args.data)
        weigh(folder, [float(size) for size in args.rss.split(",")])


def speed(name: str, folder: Path) -> None:
    """MB/s, and the share of what the floor does."""
    rounds = [{way: alone(way, folder) for way in ALONE} for _ in range(3)]
    rows = []
    floor = [one["floor"] for one in rounds]
    for way, label in (("floor", "json.loads of every line"), ("keep", "store, index and archive")):
        all_of = [one[way] for one in rounds]
        speeds = [one["bytes"] / one["wall"] / 1e6 for one in all_of]
        ratios = [
            [base[field] / one[field] for base, one in zip(floor, all_of, strict=True)] for field in ("wall", "cpu")
        ]
        rows.append((label, f"{median(speeds):.1f}", *(f"{median(one):.3f}" for one in ratios)))
    last = rounds[-1]["keep"]
    print(f"\n{name}: {last['bytes'] / 1e6:.0f} MB, {last['events']:.0f} events")
    measure.table(("", "MB/s", "x floor", "cpu x floor"), rows)


def weigh(folder: str, sizes: list[float]) -> None:
    """The highest RSS while files of different sizes are read."""
    print("\nHighest RSS, each in a process of its own")
    rows = []
    for size in sizes:
        place = Path(folder, f"{size:g}")
        place.mkdir()
        big(place / "one.jsonl", int(size * 1e6), long_line_every=0)
        rows.append((f"{size:g} MB", f"{alone('keep', place)['peak']:.1f}"))
    measure.table(("", "MB"), rows)


# --- in a process of its own ------------------------------------------------------------------------------------------


def alone(way: str, folder: Path) -> dict[str, float]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--alone", way, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def floor(folder: Path) -> dict[str, float]:
    """Parse every line and forget it."""

    def work() -> int:
        lines = 0
        for path in folder.rglob("*.jsonl"):
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)
                    lines += 1
        return lines

    return timed(work, folder)


def keep(folder: Path) -> dict[str, float]:
    """Read every transcript into a new store."""
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as home, Keeper(home, {}) as keeper:

        def work() -> int:
            paths = enumerate(folder.rglob("*.jsonl"))
            return sum(keeper.read(Source(str(path), f"s{number}", PROJECT)).events for number, path in paths)

        return timed(work, folder)


def timed(work: Callable[[], int], folder: Path) -> dict[str, float]:
    """What it took."""
    size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
    wall, cpu = time.perf_counter(), time.process_time()
    events = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return {"bytes": size, "events": events, "wall": wall, "cpu": cpu, "peak": peak}


ALONE = {"floor": floor, "keep": keep}


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


if __name__ == "__main__":
    main()
