"""Transcripts as the Agent SDK hands them over, kept to be resumed from: whole lines, with what secrets they have.

A file of its own beside the store, which only its user can read: a session that is resumed must find what it had.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from time import time
from typing import Any

from memory_keeper.errors import Busy
from memory_keeper.model import Json
from memory_keeper.store.sqlite.connection import explain, make_private

Fold = Callable[[Json | None], Json]  # what is known of a session, after some more lines
PATIENCE = 30.0  # seconds for another who writes
SCHEMA = """
create table if not exists line (
    seq integer primary key, project text not null, session text not null, part text not null, uuid text,
    at integer not null, text text not null
);
create unique index if not exists line_once on line (project, session, part, uuid) where uuid is not null;
create index if not exists line_of on line (project, session, part, seq);
create table if not exists summary (
    project text not null, session text not null, at integer not null, text text not null,
    primary key (project, session)
);
"""


class Mirror:
    """The transcripts of one home; each call opens the file and closes it."""

    def __init__(self, path: str) -> None:
        self.path = path
        make_private(path)
        with closing(sqlite3.connect(path, timeout=PATIENCE)) as db:
            db.execute("pragma journal_mode = wal")
        with self._writing() as db:
            for statement in SCHEMA.split(";"):
                db.execute(statement)

    def append(self, project: str, session: str, part: str, lines: Sequence[Json], fold: Fold | None) -> None:
        """Keep lines in their order, those that have an id once; and what `fold` makes of the session's summary."""
        now = int(time() * 1000)
        rows = [(project, session, part, line.get("uuid"), now, json.dumps(line)) for line in lines]
        with self._writing() as db:
            put = "insert into line (project, session, part, uuid, at, text) values (?, ?, ?, ?, ?, ?)"
            db.executemany(put + " on conflict do nothing", rows)
            if fold:
                known = db.execute("select text from summary where project = ? and session = ?", (project, session))
                row = known.fetchone()
                made = {**fold(json.loads(row[0]) if row else None), "mtime": now}
                put = "insert or replace into summary (project, session, at, text) values (?, ?, ?, ?)"
                db.execute(put, (project, session, now, json.dumps(made)))

    def load(self, project: str, session: str, part: str) -> list[Json]:
        """The lines of a session, or of a part of it."""
        asked = "select text from line where project = ? and session = ? and part = ? order by seq"
        return [json.loads(text) for (text,) in self._rows(asked, project, session, part)]

    def sessions(self, project: str) -> list[tuple[str, int]]:
        """The sessions of a project, and when each was last added to, in milliseconds."""
        asked = "select session, max(at) from line where project = ? and part = '' group by session"
        return [(session, at) for session, at in self._rows(asked, project)]

    def summaries(self, project: str) -> list[Json]:
        """What is known of each session of a project."""
        return [json.loads(text) for (text,) in self._rows("select text from summary where project = ?", project)]

    def parts(self, project: str, session: str) -> list[str]:
        """The parts of a session: its subagents."""
        asked = "select distinct part from line where project = ? and session = ? and part != ''"
        return [part for (part,) in self._rows(asked, project, session)]

    def delete(self, project: str, session: str, part: str = "") -> None:
        """Take away a session with all its parts, or one of these."""
        with self._writing() as db:
            db.execute("pragma secure_delete = on")
            if part:
                db.execute("delete from line where project = ? and session = ? and part = ?", (project, session, part))
                return
            for table in ("line", "summary"):
                db.execute(f"delete from {table} where project = ? and session = ?", (project, session))

    def drop_before(self, at: float) -> int:
        """Take away the sessions that nothing was added to since then; how many."""
        asked = "select project, session from line group by project, session having max(at) < ?"
        old = self._rows(asked, int(at * 1000))
        for project, session in old:
            self.delete(project, session)
        return len(old)

    def rewrite(self, change: Callable[[str, Json], Json | None], dry: bool = False) -> int:
        """Give each line of each session to `change`, which says what is left of it: itself, another, or nothing. Of
        what was taken away no byte stays; whose parent it was is its parent's child from then on. How many changed, or
        would, if it is `dry`."""
        changed = 0
        with self._writing() as db:
            for project, session, part in db.execute("select distinct project, session, part from line").fetchall():
                lines = db.execute(
                    "select seq, text from line where project = ? and session = ? and part = ? order by seq",
                    (project, session, part),
                )
                rows = [*_changes(lines.fetchall(), partial(change, session))]
                changed += len(rows)
                if dry or not rows:
                    continue
                db.executemany("update line set text = ? where seq = ?", rows)
                db.execute("delete from line where text = ''")
                # who resumes from here asks the lines
                db.execute("delete from summary where project = ? and session = ?", (project, session))
        if changed and not dry:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as db:
                db.execute("vacuum")
                if db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]:
                    raise Busy("Another process reads the transcripts of a bot", hint="try again in a moment")
        return changed

    def copy(self, path: str) -> None:
        """All of it as of one moment, into another file."""
        make_private(path)
        with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as db, closing(sqlite3.connect(path)) as to:
            db.backup(to)

    def _rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as db:
            return db.execute(query, given).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as db:
                db.execute("begin immediate")
                yield db
                db.execute("commit")  # else closing it rolls it back
        except sqlite3.DatabaseError as error:
            raise explain(error, self.path) from error


def _changes(rows: Sequence[tuple[int, str]], change: Callable[[Json], Json | None]) -> Iterator[tuple[str, int]]:
    """The lines that change, each with what is written in its place; nothing is written for one that goes."""
    parents: dict[str, Any] = {}  # of those that went
    for seq, text in rows:
        try:
            old = json.loads(text)
        except ValueError:  # nobody can resume from it, nor see what it says
            yield "", seq
            continue
        new = change(old)
        if new is None:
            parents[str(old.get("uuid"))] = old.get("parentUuid")
            yield "", seq
            continue
        while (parent := new.get("parentUuid")) in parents:
            new = {**new, "parentUuid": parents[parent]}
        if new != old:
            yield json.dumps(new), seq
