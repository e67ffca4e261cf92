"""The vectors of texts, beside the texts in the store: kept, counted and read, never understood.

A key is the number of an event, or that of a note below zero. They are made from texts, and can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from sqlite3 import Connection
from typing import Protocol

from memory_keeper.model import ROLES, Scope


class Store(Protocol):
    """A store that is open for writing."""

    db: Connection

    def _change(self) -> AbstractContextManager[None]: ...


SCHEMA = (
    "create table if not exists vector (key integer primary key, model text not null, data blob not null)",
    # a vector tells of its text: it goes with it
    "create trigger if not exists event_gone after delete on event begin delete from vector where key = old.seq; end",
    "create trigger if not exists note_gone after delete on note begin delete from vector where key = -old.seq; end",
)
KINDS = ("prompt", "reply")  # of events that have one; what tools print is found by its words
SHORTEST, LONGEST = 12, 6000  # characters: less says nothing that a vector could hold, more is not read
NEWEST = 20_000  # of a scope and a kind that are given at once
# in the order in which they were kept, so the last one that has a vector says where to go on
EVENTS = (
    "from event where seq > (select coalesce(max(key), 0) from vector where key > 0)"
    f" and kind in {KINDS} and length(text) >= {SHORTEST}"
)
NOTES = (
    "from note where seq > (select -coalesce(min(key), 0) from vector where key < 0)"
    f" and kind != 'handoff' and length(text) >= {SHORTEST}"
)


def any_kept(db: Connection, model: str = "") -> bool:
    """Whether there are vectors, or some of this model: the first or the last one says so, as those of another go
    before the first is made. A store that no writer opened since an update has no table."""
    if not db.execute("select 1 from sqlite_master where name = 'vector'").fetchone():
        return False
    ends = "select model from vector where key in ((select min(key) from vector), (select max(key) from vector))"
    return any(model in ("", found) for (found,) in db.execute(ends))


def count_lacking(db: Connection) -> int:
    """How many texts have none yet."""
    return sum(int(db.execute(f"select count(*) {those}").fetchone()[0]) for those in (EVENTS, NOTES))


def lacking(db: Connection, limit: int) -> list[tuple[int, str]]:
    """The oldest texts that have none yet, or what is read of them, by their keys."""
    for key, those in (("seq", EVENTS), ("-seq", NOTES)):
        rows = db.execute(f"select {key}, substr(text, 1, {LONGEST}) {those} order by seq limit ?", (limit,)).fetchall()
        if rows:
            return rows
    return []


def keep(store: Store, model: str, rows: Iterable[tuple[int, bytes]]) -> None:
    """Keep some; twice is once."""
    with store._change():
        store.db.executemany(
            "insert into vector (key, model, data) values (?, ?, ?) on conflict do nothing",
            [(key, model, data) for key, data in rows],
        )


def drop_others(store: Store, model: str) -> None:
    """Those of another model say nothing to this one."""
    with store._change():
        store.db.execute("delete from vector where model != ?", (model,))


def read(db: Connection, model: str, keys: Iterable[int]) -> list[tuple[int, bytes]]:
    """Those of some rows."""
    numbers = ", ".join(map(str, keys))
    return db.execute(f"select key, data from vector where key in ({numbers}) and model = ?", (model,)).fetchall()


def within(db: Connection, model: str, scope: Scope) -> list[tuple[int, bytes]]:
    """The newest of a scope. What tools did, and which files they touched, has none."""
    if scope.tool or scope.file:
        return []
    clauses, given = _limits(scope)
    # without a project no index has the moments in order: then the order counts in which they were kept
    events, notes = ("at desc", "at desc") if scope.project is not None else ("key desc", "key")
    found: list[tuple[int, bytes]] = []
    for kind in (scope.kind,) if scope.kind else ROLES.get(scope.role, KINDS):
        if not scope.level:  # one kind at a time: so the index of moments is of use
            found += db.execute(
                f"select key, data from {_joined('event', 'seq', scope)} where kind = ? and model = ?{clauses}"
                f" and key > 0 order by {events} limit {NEWEST}",
                (kind, model, *given),
            )
    if not scope.role:
        only = " and kind = ?" if scope.kind else ""
        found += db.execute(
            f"select key, data from {_joined('note', '-seq', scope)} where model = ?{clauses}{only}"
            f" and key < 0 order by {notes} limit {NEWEST}",
            (model, *given, *([scope.kind] if scope.kind else [])),
        )
    return found


def _joined(table: str, key: str, scope: Scope) -> str:
    """Which is read first: the rows, where an index has those of the scope; else the vectors, which are fewer."""
    if scope.project is not None or scope.session:
        return f"{table} cross join vector on key = {key}"
    return f"vector cross join {table} on seq = {key.replace('seq', 'key')}"


def _limits(scope: Scope) -> tuple[str, list[object]]:
    """What a scope says of rows of either table."""
    filters: list[tuple[str, object]] = []
    if scope.project is not None:
        filters.append(("project = ?", scope.project))
    if scope.session:
        filters.append(("session = ?", scope.session))
    if scope.since:
        filters.append(("at >= ?", scope.since))
    if scope.until:
        filters.append(("at < ?", scope.until))
    return "".join(f" and {clause}" for clause, _ in filters), [value for _, value in filters]
