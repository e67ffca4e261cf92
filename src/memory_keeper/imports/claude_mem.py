"""claude-mem's database: what a model observed in sessions, its summaries of them, and what the user typed.

One database has all projects, known by the names of their folders. It is opened to read, its tables are read row by
row, and of each only the columns that its version has.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

from memory_keeper import wire
from memory_keeper.errors import KeeperError
from memory_keeper.imports import EVENT, Entry, Where
from memory_keeper.imports.files import LONGEST, pieces, time_of, words

FILE = "claude-mem.db"
TEXT = 64 << 10  # characters of a column
SUMMARY = {
    "request": "Asked",
    "investigated": "Looked into",
    "learned": "Learned",
    "completed": "Done",
    "next_steps": "Next",
    "notes": "Notes",
}
Row = dict[str, Any]


def find(where: Where) -> list[str]:
    """The database: the one that is given, by itself or with its folder, else where claude-mem keeps it."""
    own = where.environ.get("CLAUDE_MEM_DATA_DIR") or os.path.join(where.environ.get("HOME", "/"), ".claude-mem")
    paths = [os.path.join(path, FILE) if os.path.isdir(path) else path for path in where.paths or [own]]
    return [path for path in map(os.path.abspath, paths) if os.path.isfile(path) and not os.path.islink(path)]


def read(
    where: Where, files: Sequence[str], complain: Callable[[str], None], progress: Callable[[int], None]
) -> Iterator[Entry]:
    """What it has of this project, table by table."""
    name = where.name or os.path.basename(where.root)
    for path in files:
        try:
            with closing(_opened(path)) as db:
                yield from _read(db, path, name, progress)
        except sqlite3.Error as error:
            complain(f"{path}: it cannot be read as a database of claude-mem: {error}")


def _opened(path: str) -> sqlite3.Connection:
    """The database, to read: where nobody may write beside it, as it stands."""
    for how in ("mode=ro", "immutable=1"):
        db = sqlite3.connect(f"file:{quote(path)}?{how}", uri=True)
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            db.execute("pragma trusted_schema = off")
            db.execute("select 1 from sqlite_master").fetchone()
            return db
        except sqlite3.OperationalError:
            db.close()
    raise sqlite3.OperationalError("it cannot be opened")


def _read(db: sqlite3.Connection, path: str, name: str, progress: Callable[[int], None]) -> Iterator[Entry]:
    tables = {table for (table,) in db.execute("select name from sqlite_master where type = 'table'")}
    wanted = [table for table in READERS if table in tables]
    if not wanted:
        raise sqlite3.DatabaseError("it has none of its tables")
    found = False
    for table in wanted:
        for row in _rows(db, table, name):
            found = True
            for entry in READERS[table](row):
                progress(len(entry.text))
                yield entry._replace(file=path)
    others = _projects(db) if not found else []
    if others:
        raise KeeperError(
            f"claude-mem knows no project called {name}; it knows {', '.join(others[:8])}",
            hint="memory-keeper import claude-mem --named NAME",
        )


def _rows(db: sqlite3.Connection, table: str, name: str) -> Iterator[Row]:
    """The rows of a project, the oldest first; of what is text no more than a bounded part."""
    columns = [column for _, column, *_ in db.execute(f"pragma table_info({table})")]
    taken = ", ".join(
        f"case typeof({column}) when 'text' then substr({column}, 1, {TEXT}) else {column} end" for column in columns
    )
    of = [f"{column} = :name" for column in ("project", "merged_into_project") if column in columns]
    if not of:
        of = ["content_session_id in (select content_session_id from sdk_sessions where project = :name)"]
    query = f"select {taken} from {table} where {' or '.join(of)} order by created_at_epoch, id"
    for row in db.execute(query, {"name": name}):
        yield dict(zip(columns, row, strict=True))


def _projects(db: sqlite3.Connection) -> list[str]:
    """What it calls its projects, those with most sessions first."""
    rows = db.execute("select project from sdk_sessions group by project order by count(*) desc, project limit 50")
    return [words(project, 80) for (project,) in rows if words(project, 80)]


def _observation(row: Row) -> Iterator[Entry]:
    parts = [words(row.get(name), LONGEST) for name in ("title", "subtitle", "narrative", "text")]
    parts += [f"- {fact}" for fact in _listed(row.get("facts"))]
    text = "\n".join(part for part in parts if part)
    paths = [*_listed(row.get("files_modified")), *_listed(row.get("files_read"))]
    kind = words(row.get("type"), 40)
    if text:
        key, about = f"{row.get('memory_session_id')} {row.get('content_hash')}", paths[0] if paths else ""
        yield Entry("observation", EVENT, _at(row), text[:TEXT], "", key, kind, about)


def _summary(row: Row) -> Iterator[Entry]:
    """A summary as a note, a line for each thing that it says."""
    lines = [f"{label}: {' '.join(words(row.get(name), LONGEST).split())}" for name, label in SUMMARY.items()]
    text = "\n".join(line for line in lines if not line.endswith(": "))
    key = f"{row.get('memory_session_id')} {row.get('created_at_epoch')}"
    yield from (Entry("summary", "session", _at(row), piece, key=key) for piece in pieces(text))


def _prompt(row: Row) -> Iterator[Entry]:
    session = words(row.get("content_session_id"), 200)
    if text := words(row.get("prompt_text"), TEXT):
        yield Entry(
            "prompt", EVENT, _at(row), text, "", f"{session} {row.get('prompt_number')}", "user", session=session
        )


READERS: dict[str, Callable[[Row], Iterator[Entry]]] = {
    "session_summaries": _summary,
    "observations": _observation,
    "user_prompts": _prompt,
}


def _at(row: Row) -> float:
    return time_of(row.get("created_at_epoch"), time_of(row.get("created_at"), 0.0))


def _listed(value: object) -> list[str]:
    """The texts of a list that is kept as JSON."""
    try:
        found = wire.loads(value) if isinstance(value, str) and value[:1] == "[" else []
    except (ValueError, RecursionError):
        found = []
    return [text for entry in found[:100] if (text := words(entry, 2000))]
