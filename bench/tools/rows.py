"""Made-up history of any size: a store, the same text as files, as JSON lines and in an FTS5 table, and questions.

The rows are the Python sources, docstrings and notes that this interpreter comes with and those of the packages beside
it, cut into pieces of about 300 characters. Where those are used up they come again in another order: the first half of
one piece with the second half of another, and a third of their long words renamed, so that no row is there twice.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sqlite3
import sys
import sysconfig
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.tools.queries import LETTERS, Query, Row, questions
from memory_keeper.model import Event, Placed, Source
from memory_keeper.store.sqlite import SqliteStore

PIECE = 280  # characters after which a piece ends with its line
SESSION, FILE = 200, 20  # rows
SAMPLE = 20_000  # rows that questions are made from
SUFFIXES = (".py", ".pyi", ".txt", ".rst", ".md", ".h")
BEGIN, DAY = 1_735_689_600.0, 86_400.0
KINDS = ("prompt", "reply", "reply", "reply", "call", "call", "call", "call", "result", "result", "result", "result")
LONG = re.compile(r"[A-Za-z_]{10,}")


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
