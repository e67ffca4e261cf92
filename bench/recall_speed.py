"""How long a search takes over ten thousand, a hundred thousand and a million rows, beside ripgrep and a JSON scan.

./dev bench recall_speed [--rows 10000,100000,1000000] [--projects 20] [--rg PATH] [--json]

The rows are the Python sources, docstrings and notes that this interpreter comes with and those of the packages beside
it, cut into pieces of about 300 characters. Where those are used up they come again in another order: the first half of
one piece with the second half of another, and a third of their long words renamed, so that no row is there twice. They
are events of sessions of 200 in a real store, and the same text in files of 20 pieces for ripgrep, in one file of JSON
lines for the scan and in an FTS5 table with nothing round it. All answer the same questions in the same run, warm.
ripgrep only lists files (`-l`), which is the least it can do; for two words it looks for lines with both, for more for
any of them. `found` counts the questions with any answer, `its row` those whose first ten have the very row that the
question was made of.

It also takes the time of a whole `memory-keeper search` as a ratio to an interpreter that does nothing, and of adding
one session to stores of each size. On a busy machine `--realtime` (root) keeps others from being measured too.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import re
import shutil
import sqlite3
import sys
import sysconfig
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench import measure
from bench.measure import BARE, PYTHON, START, Case, Took, median, quantile
from bench.recall_sets import EMPTY, WORD, run_alone, search, telling
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Event, Placed, Source

PIECE = 280  # characters after which a piece ends with its line
SESSION, FILE = 200, 20  # rows
SAMPLE = 20_000  # rows that questions are made from
SUFFIXES = (".py", ".pyi", ".txt", ".rst", ".md", ".h")
BEGIN, DAY = 1_735_689_600.0, 86_400.0
KINDS = ("prompt", "reply", "reply", "reply", "call", "call", "call", "call", "result", "result", "result", "result")
BOX = 5.0  # seconds for one way with one class of questions
ADDED = 40  # sessions added to each store
NAME = re.compile(r"\b(?:[a-z]+_[a-z_]*[a-z]|[a-z]+[A-Z][a-z]+[A-Za-z]*|[A-Z][a-z]+[A-Z][A-Za-z]+)\b")
LETTERS = re.compile(r"[A-Za-z]{3,}")
LONG = re.compile(r"[A-Za-z_]{10,}")


class Row(NamedTuple):
    """A piece of a file."""

    path: str
    text: str
    id: str = ""  # of its event


class Query(NamedTuple):
    """One thing to look for."""

    text: str  # as a user types it
    patterns: tuple[str, ...]  # what ripgrep is given, any of which counts
    words: tuple[str, ...]  # what the scan looks for, in lower case
    every: bool = True  # all of the words, or any
    row: str = ""  # the event that it was made of, where that is the one to find


class Stock(NamedTuple):
    """The same rows for everybody."""

    size: int
    home: Path
    files: Path
    lines: Path
    plain: Path
    projects: list[str]
    queries: dict[str, list[Query]]
    inside: dict[str, list[Query]]  # made of rows of the first project
    built: float  # seconds

    def open(self) -> SqliteStore:
        """The store, to be read."""
        return SqliteStore(str(self.home / "store.db"), write=False)


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


def run(args: argparse.Namespace, quiet: bool = False) -> dict[str, Any]:
    """Every size, then what grows with size."""
    out = sys.stderr if quiet else sys.stdout
    rg = args.rg or shutil.which("rg") or ""
    print(f"\n{measure.machine()}; {ripgrep_version(rg)}", file=out, flush=True)
    said: dict[str, Any] = {"ripgrep": ripgrep_version(rg)}
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        place = args.stock or Path(folder)
        stocks = [stock(place / f"{size}-{args.projects}", size, args) for size in sorted(args.rows)]
        if args.realtime:  # what is started from here on inherits it
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        for part, measured in PARTS.items():
            if args.only in ("", part):
                said[part] = measured(stocks, rg, quiet)
    return said


# --- the rows ---------------------------------------------------------------------------------------------------------


def rows() -> Iterator[Row]:
    """Pieces without end, no two alike."""
    seen = set()
    for turn in itertools.count():
        for row in pieces(turn) if not turn else varied(turn):
            mark = hash(row.text)
            if mark not in seen:
                seen.add(mark)
                yield row


def varied(turn: int) -> Iterator[Row]:
    """The pieces once more, as new ones."""

    def rename(found: re.Match[str]) -> str:
        word = found[0]
        return f"{word}V{turn}" if zlib.crc32(word.encode()) % 3 == turn % 3 else word

    for one, other in zip(pieces(turn), pieces(-turn), strict=False):
        text = one.text[: len(one.text) // 2] + other.text[len(other.text) // 2 :]
        yield Row(one.path, LONG.sub(rename, text))


def pieces(seed: int) -> Iterator[Row]:
    """The text files of this interpreter and of its packages, in an order of their own, cut at ends of lines."""
    paths = sorted({path for folder in folders() for path in folder.rglob("*") if path.suffix in SUFFIXES})
    Random(seed).shuffle(paths)
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        name = "/".join(path.parts[-3:])
        yield from (Row(name, piece) for piece in cut(text))


def folders() -> list[Path]:
    """Where the texts are."""
    here, base = sysconfig.get_paths(), sysconfig.get_paths(vars={"base": sys.base_prefix})
    return [Path(here["stdlib"]), Path(here["purelib"]), Path(base["purelib"])]


def cut(text: str) -> Iterator[str]:
    """Pieces of whole lines."""
    lines: list[str] = []
    size = 0
    for line in text.splitlines():
        lines.append(line[: 2 * PIECE])
        size += len(lines[-1]) + 1
        if size >= PIECE:
            piece = "\n".join(lines)
            if len(LETTERS.findall(piece)) > 4:
                yield piece
            lines, size = [], 0


def stock(folder: Path, size: int, args: argparse.Namespace) -> Stock:
    """The rows, written down for everybody."""
    folder = folder.absolute()
    if (folder / "stock.json").exists():
        return reopened(folder)
    home, files, lines, plain = (folder / name for name in ("home", "files", "rows.jsonl", "plain.db"))
    projects = [f"dir:{folder / 'work' / str(number)}" for number in range(args.projects)]
    for project in projects:
        Path(project[4:]).mkdir(parents=True)
        (files / Path(project).name).mkdir(parents=True)
    home.mkdir(mode=0o700)
    store = SqliteStore(str(home / "store.db"))
    for project in projects:
        store.name_project([project], project)
    source, sample, random, spent = rows(), list[Row](), Random(size), 0.0
    with lines.open("w", encoding="utf-8") as file, closing(sqlite3.connect(plain)) as index, index:
        index.execute("create virtual table t using fts5(text, id unindexed)")
        for number in range(size // SESSION):
            session = session_of(number)
            some = named(session, itertools.islice(source, SESSION))
            project = projects[number % len(projects)]
            begin = time.perf_counter()
            record(store, project, number, some)
            spent += time.perf_counter() - begin
            write(files / Path(project).name, session, some)
            index.executemany("insert into t values (?, ?)", [(row.text, row.id) for row in some])
            file.writelines(json.dumps(row._asdict()) + "\n" for row in some)
            sample += random.sample(some, min(SESSION, max(1, SAMPLE * SESSION // size)))
            progress(f"recording {(number + 1) * SESSION:,} of {size:,} rows", number % 50 == 49)
    store.close()
    progress("", True)
    first = [row for row in sample if int(row.id[:8], 16) % len(projects) == 0]
    queries, inside = (questions(of, args.queries, size) for of in (sample, first))
    (folder / "stock.json").write_text(json.dumps([size, projects, queries, inside, spent]), encoding="utf-8")
    return Stock(size, home, files, lines, plain, projects, queries, inside, spent)


def reopened(folder: Path) -> Stock:
    """What another run left."""
    size, projects, *asked, spent = json.loads((folder / "stock.json").read_text(encoding="utf-8"))
    queries, inside = (
        {name: [Query(text, tuple(a), tuple(b), *rest) for text, a, b, *rest in of] for name, of in each.items()}
        for each in asked
    )
    home, files, lines, plain = (folder / name for name in ("home", "files", "rows.jsonl", "plain.db"))
    return Stock(size, home, files, lines, plain, projects, queries, inside, spent)


def session_of(number: int) -> str:
    """Its id."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def named(session: str, some: Iterable[Row]) -> list[Row]:
    """Rows as events of a session."""
    return [row._replace(id=f"{session[:8]}-{place:04x}:0") for place, row in enumerate(some)]


def record(store: SqliteStore, project: str, number: int, some: Sequence[Row]) -> None:
    """One session, as if its transcript had been read."""
    session, random, at = session_of(number), Random(number), BEGIN + number * 300 * DAY / 5000 % (300 * DAY)
    source = store.begin(Source(f"/bench/{session}.jsonl", session, project))
    placed = []
    for place, row in enumerate(some):
        kind = random.choice(KINDS)
        tool = random.choice(("Edit", "Read", "Bash")) if kind in ("call", "result") else ""
        path = row.path if kind == "call" else ""
        event = Event(row.id, at + place, kind, session, project, row.text, tool, path)
        placed.append(Placed(event, place * 1000))
    store.record(source._replace(offset=len(some) * 1000, at=at + len(some)), placed)


def write(folder: Path, session: str, some: Sequence[Row]) -> None:
    """The same as files."""
    for start in range(0, len(some), FILE):
        texts = [row.text for row in some[start : start + FILE]]
        (folder / f"{session}-{start}.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def progress(text: str, now: bool) -> None:
    """Where it is, for a person who waits."""
    if now and sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


# --- the questions ----------------------------------------------------------------------------------------------------


def questions(sample: Sequence[Row], count: int, seed: int) -> dict[str, list[Query]]:
    """So many of each class, made from the rows themselves."""
    random = Random(seed)
    found_in = collections.Counter(word for row in sample for word in {*LETTERS.findall(row.text.lower())})
    often = [word for word, rows in found_in.items() if 0.02 <= rows / len(sample) <= 0.3]
    rare = [word for word, rows in found_in.items() if rows == 1 and len(word) > 4]
    middling = {word for word, rows in found_in.items() if 3 <= rows <= 0.02 * len(sample)}
    makers: dict[str, Callable[[], Query | None]] = {
        "one common word": lambda: words_query([random.choice(often)]),
        "one rare word": lambda: words_query([random.choice(rare)]),
        "two words": lambda: some_of(random, sample, 2, middling),
        "three words": lambda: some_of(random, sample, 3, middling | {*often}),
        "a question": lambda: question(random, sample),
        "a phrase": lambda: phrase(random, sample),
        "an identifier": lambda: identifier(random, sample),
        "a typo": lambda: typo(random, found_in, middling),
    }
    return {name: list(several(make, count)) for name, make in makers.items()}


def several(make: Callable[[], Query | None], count: int) -> Iterator[Query]:
    """As many as there should be."""
    made = (query for _ in itertools.count() if (query := make()))
    return itertools.islice(made, count)


def some_of(random: Random, sample: Sequence[Row], count: int, known: set[str]) -> Query | None:
    """Words of one row."""
    row = random.choice(sample)
    words = sorted({*LETTERS.findall(row.text.lower())} & known - EMPTY)
    if len(words) < count:
        return None
    return words_query(random.sample(words, count), every=count < 3)._replace(row=row.id)


def words_query(words: list[str], every: bool = True) -> Query:
    """Some words: both of two on a line, or any of more."""
    patterns = tuple(words) if len(words) != 2 else (".*".join(words), ".*".join(reversed(words)))
    return Query(" ".join(words), patterns, tuple(word.lower() for word in words), every)


def question(random: Random, sample: Sequence[Row]) -> Query | None:
    """Six to twelve words: a way to ask, and words that follow each other in the text."""
    row = random.choice(sample)
    words = [word.lower() for word in WORD.findall(row.text) if word.isalpha()]
    size = random.randint(4, 10)
    if len(words) < size:
        return None
    start = random.randrange(len(words) - size + 1)
    asked = random.choice(("why does", "how does", "where did", "when was", "what about"))
    text = f"{asked} {' '.join(words[start : start + size])}?"
    kept = telling(text)
    return Query(text, tuple(kept), tuple(kept), every=False, row=row.id)


def phrase(random: Random, sample: Sequence[Row]) -> Query | None:
    """Three or four words that follow each other, in quotes."""
    row = random.choice(sample)
    found = re.findall(r"\b[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,3}\b", row.text)
    if not found:
        return None
    said = random.choice(found)
    return Query(f'"{said}"', (said,), (said.lower(),), row=row.id)


def identifier(random: Random, sample: Sequence[Row]) -> Query | None:
    """A name of more than one word."""
    found = NAME.findall(random.choice(sample).text)
    return words_query([random.choice(found)]) if found else None


def typo(random: Random, found_in: collections.Counter[str], middling: set[str]) -> Query | None:
    """A word with two of its letters the wrong way round, as nobody wrote it."""
    word = random.choice(sorted(middling))
    place = random.randrange(1, max(2, len(word) - 2))
    wrong = word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
    return words_query([wrong]) if len(word) > 5 and wrong not in found_in else None


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
    return lambda query: [hit.id for hit in search(store, query.text, project, 10)]


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


def searches(stocks: Sequence[Stock], rg: str, quiet: bool) -> dict[str, Any]:
    """Each class of questions, over everything and in one project."""
    said: dict[str, Any] = {}
    for one in stocks:
        size = sum(path.stat().st_size for path in one.home.iterdir()) / 1e6
        text = one.lines.stat().st_size / 1e6
        about = f"{one.size:,} rows ({text:.0f} MB as JSON, store {size:.0f} MB, recorded in {one.built:.0f} s)"
        scopes = {"all projects": None, f"one of {len(one.projects)} projects": one.projects[0]}
        for scope, project in itertools.islice(scopes.items(), 2 if len(one.projects) > 1 else 1):
            title = f"{about}, {scope}"
            if not quiet:
                print(f"\n{title}", flush=True)
            with closing(one.open()) as store, closing(sqlite3.connect(one.plain)) as index:
                times = classes(one, store, index, project, rg)
            said[f"{one.size} rows, {scope}"] = table(times, quiet)
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


def table(times: dict[str, dict[str, Times]], quiet: bool) -> dict[str, Any]:
    """Milliseconds and ratios."""
    ways = {way for one in times.values() for way in one}
    everything = {way: Times([ms for one in times.values() for ms in one[way].took], 0) for way in ways}
    rows, said = [], {}
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
        said[name] = {**counts, **figures}
        rows.append((name, *counts.values(), *(cell(column, value) for column, value in figures.items())))
    if not quiet:
        measure.table(("", *counts, *figures), rows)
    return said


def cell(column: str, value: float | None) -> str:
    """Times to a hundredth, ratios to three digits."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 or column[0] != "x" else f"{value:.0f}"


def commands(stocks: Sequence[Stock], rg: str, quiet: bool) -> dict[str, Any]:
    """The whole process, from its start to its end, as a user waits for it."""
    said = {}
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
        if not quiet:
            print(f"\n`memory-keeper search --json` over {one.size:,} rows, the whole process")
            measure.report(times)
        said[str(one.size)] = {name: figures_of(took, times[BARE]) for name, took in times.items()}
    return said


def figures_of(took: Sequence[Took], bare: Sequence[Took]) -> dict[str, float]:
    """Wall and processor time, and their ratios to the floor."""
    wall, cpu = (median([one[field] for one in took]) for field in (0, 1))
    floor, idle = (median([one[field] for one in bare]) for field in (0, 1))
    return {"p50 ms": wall, "x python": wall / floor, "cpu x python": cpu / idle}


def additions(stocks: Sequence[Stock], rg: str, quiet: bool) -> dict[str, Any]:
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
    lines, said = [], {}
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
        said[str(size)] = figures
        lines.append((f"{size:,} rows", *(cell(column, value) for column, value in figures.items())))
    if not quiet:
        print(f"\nOne more session of {SESSION} rows, {ADDED} times, in turn; ratios to the smallest store")
        measure.table(("", *figures), lines)
    return said


PARTS = {"searches": searches, "commands": commands, "additions": additions}

if __name__ == "__main__":
    sys.exit(run_alone(__doc__, arguments, run))
