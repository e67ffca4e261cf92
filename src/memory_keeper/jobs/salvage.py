"""What only a damaged store has and no transcript gives back, carried over into the new one: notes, what hooks left.

It is read row by row, as far as the damage lets us. A note of which something is missing beneath it is not carried
over, since what it covered is told by a new one; but what a person wrote is, on its own if need be.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from time import time
from typing import Any

from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Note, Placed, Source
from memory_keeper.store import spool
from memory_keeper.store.branches import NOTE
from memory_keeper.store.context import MARKS
from memory_keeper.store.home import Lock
from memory_keeper.store.leaves import EVENT
from memory_keeper.store.sqlite import SqliteStore

PATIENCE = 5.0
KINDS = (*MARKS, "archived", "memory")  # of events that no transcript has
OF_NOTES = ("spent", "confirmed", "contradicted", "done")  # and what became of notes
SMALLEST = 16  # bytes of a row: a number beyond the file's size is none


def carry_over(keeper: Keeper, path: str) -> int:
    """Keep what can still be read in a store that was put aside; how many rows that are."""
    try:
        old = SqliteStore(path, write=False)
    except KeeperError:
        return 0
    try:
        events = list(_rows(old, "event", "id, kind, covered_by"))
        notes = [
            Note._make(row[:-2])
            for row in _rows(old, "note", f"{NOTE}, covered_by, crc")
            if _is_whole(row[:-2], row[Note._fields.index("text")], row[-1])
        ]
        covers: dict[str, list[str]] = {}
        above = [(row[0], row[-2]) for row in _rows(old, "note", f"{NOTE}, covered_by, crc")]
        for id, note in [*((id, note) for id, kind, note in events if kind not in OF_NOTES), *above]:
            if isinstance(note, str):
                covers.setdefault(note, []).append(id)
        marks = [_event(old, id) for id, kind, _ in events if kind in KINDS]
        became = [_event(old, id) for id, kind, _ in events if kind in OF_NOTES]
    finally:
        old.close()
    kept = _keep_marks(keeper, [event for event in marks if event])
    with Lock(keeper.home, PATIENCE):
        kept += sum(_keep_note(keeper.writer, note, covers) for note in sorted(notes, key=_order))
        kept += sum(keeper.writer.mark(event) for event in became if event)
    return kept


def _rows(store: SqliteStore, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a table that can be read, one at a time."""
    try:
        (last,) = store.db.execute(f"select coalesce(max(seq), 0) from {table}").fetchone()
    except sqlite3.DatabaseError:
        return  # nothing can be found in it
    for seq in range(1, min(last, os.path.getsize(store.path) // SMALLEST) + 1):
        try:
            row = store.db.execute(f"select {columns} from {table} where seq = ?", (seq,)).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row and isinstance(row[0], str):
            yield row


def _is_whole(values: tuple[Any, ...], text: object, crc: object) -> bool:
    """Whether a note is as it was written."""
    typed = all(isinstance(value, str) for value in (values[0], *values[2:3], *values[4:7], *values[8:]))
    return typed and isinstance(text, str) and zlib.crc32(text.encode("utf-8", "surrogatepass")) == crc


def _event(store: SqliteStore, id: str) -> Event | None:
    try:
        row = store.db.execute(f"select {EVENT} from event where id = ?", (id,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    return Event._make(row) if row and all(isinstance(value, str) for value in (row[0], *row[2:6])) else None


def _keep_marks(keeper: Keeper, events: list[Event]) -> int:
    """Keep what hooks left, as the spool of each session would have brought it."""
    kept = 0
    with Lock(keeper.home, PATIENCE):
        for session in dict.fromkeys(event.session for event in events):
            own = [event for event in events if event.session == session]
            path = spool.path_of(keeper.home, session)
            source = keeper.writer.source(path) or keeper.writer.begin(Source(path, session, own[0].project))
            kept += keeper.writer.record(source, [Placed(event, 0) for event in own], now=time())
    return kept


def _order(note: Note) -> tuple[bool, int]:
    """First wordings before the others, and the lower levels before those that cover them."""
    return bool(note.replaces), note.level


def _keep_note(store: SqliteStore, note: Note, covers: dict[str, list[str]]) -> bool:
    if store.note(note.id):
        return False
    store.add(note, covers.get(note.id, ()))
    if not store.note(note.id) and note.who == "user" and note.text:  # what it was a wording of is no more
        alone = note._replace(replaces="", kind="note", level=min(note.level, 1))
        store.add(alone)
    return store.note(note.id) is not None
