"""How long a search takes over many rows, beside ripgrep, plain FTS5 and a JSON scan.

./dev bench recall_speed [--rows 10000,100000] [--projects 20] [--rg PATH] [--json]

The rows are pieces of text of about 300 characters, no two alike: events of sessions of 200 in a real store, and the
same text in files of 20 pieces for ripgrep, in one file of JSON lines for the scan and in an FTS5 table with nothing
round it. All answer the same questions in the same run, warm.
ripgrep only lists files (`-l`), which is the least it can do; for two words it looks for lines with both, for more for
any of them. `found` counts the questions with any answer, `its row` those whose first ten have the very row that the
question was made of.

It also takes the time of a whole `memory-keeper search` as a ratio to an interpreter that does nothing, and of adding
one session to stores of each size. On a busy machine `--realtime` (root) keeps others from being measured too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.tools import measure
from bench.tools.baselines import WORD
from bench.tools.figures import Figure, Figures
from bench.tools.measure import BARE, PYTHON, START, Case, Took, median, quantile
from bench.tools.queries import Query
from bench.tools.rows import SESSION, Stock, named, progress, record, session_of, stock, varied
from memory_keeper.model import Scope
from memory_keeper.search import find
from memory_keeper.store.sqlite import SqliteStore

BOX = 5.0  # seconds for one way with one class of questions
ADDED = 40  # sessions added to each store


def arguments(parser: argparse.ArgumentParser) -> None:
    """What this part takes."""
    numbers = lambda given: [int(float(one)) for one in given.split(",")]  # noqa: E731
    parser.add_argument("--rows", type=numbers, default=[10_000, 100_000], help="sizes; a million takes some minutes")
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--queries", type=int, default=60, help="of each class")
    parser.add_argument("--rg", default="", help="ripgrep; else the one on PATH")
    parser.add_argument("--stock", type=Path, help="where the rows are kept for the next run; else nowhere")
    parser.add_argument("--realtime", action="store_true", help="before everybody else on this machine; needs root")
    parser.add_argument("--only", default="", choices=("", *PARTS), help="one part of this")


def run(args: argparse.Namespace) -> Figures:
    """Every size, then what grows with size."""
    rg = args.rg or shutil.which("rg") or ""
    print(f"\n{measure.machine()}; {ripgrep_version(rg)}", flush=True)
    said: Figures = {}
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        place = args.stock or Path(folder)
        stocks = [stock(place / f"{size}-{args.projects}", size, args) for size in sorted(args.rows)]
        if args.realtime:  # what is started from here on inherits it
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        for part, measured in PARTS.items():
            if args.only in ("", part):
                said |= measured(stocks, rg)
    return said


# --- who is asked -----------------------------------------------------------------------------------------------------


class Times(NamedTuple):
    """Milliseconds of some questions, and how many were answered with anything."""

    took: list[float]
    found: int
    made: int = 0  # how many are made of a row that is the one to find
    own: int = 0  # and how many have it among the first ten

    def at(self, share: float) -> float:
        """A quantile."""
        return quantile(self.took, share)


Answer = Callable[[Query], Sequence[str]]


def take(queries: Sequence[Query], answer: Answer, warm: bool = True) -> Times:
    """Each question once, after it was asked once; no longer than the box."""
    took, found, made, own, until = list[float](), 0, 0, 0, time.perf_counter() + BOX
    for query in queries:
        if warm:
            answer(query)
        begin = time.perf_counter()
        said = answer(query)
        took.append((time.perf_counter() - begin) * 1000)
        found += bool(said)
        made += bool(query.row)
        own += query.row in said
        if time.perf_counter() > until:
            break
    return Times(took, found, made, own)


def ours(store: SqliteStore, project: str | None) -> Answer:
    """The first ten."""
    return lambda query: [hit.id for hit in find(store, query.text, Scope(project=project), 10)]


def ripgrep(rg: str, folder: Path) -> Answer:
    """The files that have it."""

    def answer(query: Query) -> Sequence[str]:
        patterns = [part for pattern in query.patterns for part in ("-e", pattern)]
        command = [rg, "--no-config", "-l", "-i", "-w", *patterns, str(folder)]
        with tempfile.TemporaryFile() as out:
            actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
            _, status = os.waitpid(os.posix_spawn(rg, command, dict(os.environ), file_actions=actions), 0)
            if os.waitstatus_to_exitcode(status) > 1:
                raise SystemExit(f"ripgrep failed: {command}")
            return ["some"] if out.tell() else []

    return answer


def ripgrep_version(rg: str) -> str:
    """Its first line."""
    return os.popen(f"'{rg}' --version").readline().strip() if rg else "no ripgrep: put rg on PATH, or give --rg PATH"


def plain_index(index: sqlite3.Connection) -> Answer:
    """The first ten by BM25: all of two words, any of more, a phrase as it stands."""

    def answer(query: Query) -> Sequence[str]:
        words = WORD.findall(query.text.lower())
        match = f'"{" ".join(words)}"' if query.text[0] == '"' else (" " if query.every else " OR ").join(words)
        return [id for (id,) in index.execute("select id from t where t match ? order by rank limit 10", (match,))]

    return answer


def scan(path: Path) -> Answer:
    """The ten lines that have the most of the words."""

    def answer(query: Query) -> Sequence[str]:
        best: list[tuple[int, str]] = []
        least = len(query.words) if query.every else 1
        with path.open("rb") as lines:
            for line in lines:
                row = json.loads(line)
                text = row["text"].lower()
                count = sum(word in text for word in query.words)
                if count >= least:
                    best.append((-count, row["id"]))
        return [id for _, id in sorted(best)[:10]]

    return answer


# --- the parts --------------------------------------------------------------------------------------------------------


def searches(stocks: Sequence[Stock], rg: str) -> Figures:
    """Each class of questions, over everything and in one project."""
    said: Figures = {}
    for one in stocks:
        size = sum(path.stat().st_size for path in one.home.iterdir()) / 1e6
        text = one.lines.stat().st_size / 1e6
        about = f"{one.size:,} rows ({text:.0f} MB as JSON, store {size:.0f} MB, recorded in {one.built:.0f} s)"
        scopes = {"all projects": None, f"one of {len(one.projects)} projects": one.projects[0]}
        for scope, project in itertools.islice(scopes.items(), 2 if len(one.projects) > 1 else 1):
            print(f"\n{about}, {scope}", flush=True)
            with closing(one.open()) as store, closing(sqlite3.connect(one.plain)) as index:
                times = classes(one, store, index, project, rg)
            figures = table(times)
            if project is None:
                said |= quoted(one.size, figures)
    return said


def classes(
    one: Stock, store: SqliteStore, index: sqlite3.Connection, project: str | None, rg: str
) -> dict[str, dict[str, Times]]:
    """The times of all, class by class, one after the other."""
    folder = one.files if project is None else one.files / Path(project).name
    found: dict[str, dict[str, Times]] = {}
    for name, queries in (one.queries if project is None else one.inside).items():
        found[name] = {"ours": take(queries, ours(store, project))}
        if rg:
            found[name]["rg"] = take(queries, ripgrep(rg, folder), warm=False)
        if project is None:
            found[name]["plain"] = take(queries, plain_index(index))
            found[name]["scan"] = take(queries[:3], scan(one.lines), warm=False)
        progress(name, True)
    progress("", True)
    return found


def table(times: dict[str, dict[str, Times]]) -> dict[str, float | None]:
    """Milliseconds and ratios; those of all classes together."""
    ways = {way for one in times.values() for way in one}
    everything = {way: Times([ms for one in times.values() for ms in one[way].took], 0) for way in ways}
    rows = []
    for name, of in {**times, "all of these": everything}.items():
        mine, theirs, plain, scanned = (of.get(way) for way in ("ours", "rg", "plain", "scan"))
        assert mine
        figures = {
            "p50 ms": mine.at(0.5),
            "p95 ms": mine.at(0.95),
            "rg p50": theirs and theirs.at(0.5),
            "rg p95": theirs and theirs.at(0.95),
            "x rg p50": theirs and theirs.at(0.5) / mine.at(0.5),
            "x rg p95": theirs and theirs.at(0.95) / mine.at(0.95),
            "FTS5 p50": plain and plain.at(0.5),
            "FTS5 p95": plain and plain.at(0.95),
            "scan p50": scanned and scanned.at(0.5),
            "x scan p50": scanned and scanned.at(0.5) / mine.at(0.5),
        }
        counts = {
            "found": f"{mine.found}/{len(mine.took)}" if name in times else "-",
            "its row": f"{mine.own}/{mine.made}" if mine.made else "-",
            "FTS5's": f"{plain.own}/{plain.made}" if plain and plain.made else "-",
        }
        rows.append((name, *counts.values(), *(cell(column, value) for column, value in figures.items())))
    measure.table(("", *counts, *figures), rows)
    return figures


def quoted(size: int, figures: dict[str, float | None]) -> Figures:
    """What a page may quote of all classes together."""
    million = size == 1_000_000
    names = {
        "p50": ("p50 ms", "ms", ""),
        "p95": ("p95 ms", "ms", "<= 25" if million else ""),
        "rg_p50": ("rg p50", "ms", ""),
        "rg_p95": ("rg p95", "ms", ""),
        "rg": ("x rg p50", "x", ">= 20" if million else ""),
        "fts5_p50": ("FTS5 p50", "ms", ""),
        "scan": ("x scan p50", "x", ""),
    }
    rows = {name: (figures[column], unit, target) for name, (column, unit, target) in names.items()}
    return {f"{name}_{size}": Figure(value, *rest) for name, (value, *rest) in rows.items() if value is not None}


def cell(column: str, value: float | None) -> str:
    """Times to a hundredth, ratios to three digits."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 or column[0] != "x" else f"{value:.0f}"


def commands(stocks: Sequence[Stock], rg: str) -> Figures:
    """The whole process, from its start to its end, as a user waits for it."""
    said: Figures = {}
    for one in stocks:
        home = {"MEMORY_KEEPER_HOME": str(one.home)}
        begin = (PYTHON, "-I", "-S", str(START), "search", "--json")
        place = one.projects[0][4:]
        word, asked = (one.inside[name][0].text for name in ("two words", "a question"))
        cases = [
            measure.floors()[0],
            Case("two words, one project", (*begin, "--project", place, word), home),
            Case("two words, all projects", (*begin, "--all-projects", word), home),
            Case("a question, one project", (*begin, "--project", place, asked), home),
            Case("a question, all projects", (*begin, "--all-projects", asked), home),
        ]
        times = measure.interleave(cases, 30)
        print(f"\n`memory-keeper search --json` over {one.size:,} rows, the whole process")
        measure.report(times)
        took = times["two words, all projects"]
        said[f"command_{one.size}"] = Figure(measure.ratio(took, times[BARE]).cpu, "x")
        said[f"command_{one.size}_ms"] = Figure(median([each.cpu for each in took]), "ms")
    return said


def additions(stocks: Sequence[Stock], rg: str) -> Figures:
    """One more session of 200 rows, to a copy of each store in turn."""
    source = varied(99)  # rows that none has
    took: dict[int, list[Took]] = {one.size: [] for one in stocks}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mk-bench-", dir=stocks[0].home.parent))
        stores = {}
        for one in stocks:
            copy = shutil.copy(one.home / "store.db", Path(folder, f"{one.size}.db"))
            stores[one.size] = stack.enter_context(closing(SqliteStore(str(copy))))
        for number in range(ADDED):
            some = list(itertools.islice(source, SESSION))
            for one in Random(number).sample(list(stocks), len(stocks)):
                (sessions,) = stores[one.size].db.execute("select count(*) from source").fetchone()
                wall, cpu = time.perf_counter(), time.process_time()
                record(stores[one.size], one.projects[0], sessions, named(session_of(sessions), some))
                spent = time.perf_counter() - wall, time.process_time() - cpu
                took[one.size].append(Took(*(1000 * seconds for seconds in spent)))
    least = took[min(took)]
    lines, said = [], Figures()
    for size, times in took.items():
        walls, cpus = [one.wall for one in times], [one.cpu for one in times]
        figures = {
            "p50 ms": median(walls),
            "p95 ms": quantile(walls, 0.95),
            "mean ms": sum(walls) / len(walls),
            "cpu ms": sum(cpus) / len(cpus),
            "x p50": median(walls) / median([one.wall for one in least]),
            "x cpu": sum(cpus) / sum(one.cpu for one in least),
        }
        said[f"added_{size}"] = Figure(figures["p50 ms"], "ms")
        lines.append((f"{size:,} rows", *(cell(column, value) for column, value in figures.items())))
    print(f"\nOne more session of {SESSION} rows, {ADDED} times, in turn; ratios to the smallest store")
    measure.table(("", *figures), lines)
    return said


PARTS = {"searches": searches, "commands": commands, "additions": additions}
