"""What can still be read in a damaged file, row by row, as far as the damage lets us.

The first page says where the tables begin, which is the same in every store of ours, as the same steps make them: when
that page is damaged, the one of a new store is put in its place, in a copy.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from memory_keeper.errors import KeeperError
from memory_keeper.model import Event, Note
from memory_keeper.store.sqlite import SqliteStore
from memory_keeper.store.sqlite.connection import is_whole
from memory_keeper.store.sqlite.events import EVENT, read_event
from memory_keeper.store.sqlite.notes import NOTE

SMALLEST = 16  # bytes of a row: a number beyond the file's size is none
PAGE = 4096  # bytes: what SQLite makes where nobody asks for anything else
PAGES, FREE = slice(28, 32), slice(32, 40)  # in the first page: how many there are, and which of them are free


class Remains(NamedTuple):
    """What is left of a store."""

    events: list[Event]  # of the kinds that were asked for
    notes: list[Note]
    covers: dict[str, list[str]]  # what each note covers, by its id
    lost: bool  # there may have been more


NOTHING = Remains([], [], {}, True)


def read_remains(path: str, kinds: Sequence[str], uncovered: Sequence[str]) -> Remains:
    """The events of some kinds and the notes of a damaged store; events of the `uncovered` kinds belong to a note that
    need not cover them."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return NOTHING
    try:
        return _read(path, kinds, uncovered)
    except KeeperError:
        pass
    with TemporaryDirectory(prefix="memory-keeper-") as folder:
        try:
            return _read(_with_first_page(path, folder), kinds, uncovered)._replace(lost=True)
        except KeeperError:
            return NOTHING


def _with_first_page(path: str, folder: str) -> str:
    """A copy that begins as a new store does."""
    SqliteStore(f"{folder}/new.db").close()
    with open(f"{folder}/new.db", "rb") as file:
        page = bytearray(file.read(PAGE))
    page[PAGES] = (os.path.getsize(path) // PAGE).to_bytes(4, "big")
    page[FREE] = bytes(8)
    copy = shutil.copyfile(path, f"{folder}/copy.db")
    with open(copy, "r+b") as file:
        file.write(page)
    return copy


def _read(path: str, kinds: Sequence[str], uncovered: Sequence[str]) -> Remains:
    """What a file has that can be opened; KeeperError when one of its tables cannot be found."""
    store = SqliteStore(path, write=False)
    try:
        events, _ = _rows(store, "event", "id, kind, covered_by")
        notes, missing = _rows(store, "note", f"{NOTE}, covered_by, crc")
        covers: dict[str, list[str]] = {}
        beneath = [(id, note) for id, kind, note in events if kind not in uncovered]
        for id, note in [*beneath, *((row[0], row[-2]) for row in notes)]:
            if isinstance(note, str):
                covers.setdefault(note, []).append(id)
        wanted = (_event(store, id) for id, kind, _ in events if kind in kinds)
        whole = [Note._make(row[:-2]) for row in notes if _is_whole(row)]
        lost = bool(missing) or len(whole) < len(notes)
        return Remains([event for event in wanted if event], whole, covers, lost)
    finally:
        store.close()


def _rows(store: SqliteStore, table: str, columns: str) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of a table that can be read, and how many cannot."""
    last = min(store._value(f"select coalesce(max(seq), 0) from {table}"), os.path.getsize(store.path) // SMALLEST)
    found, unread = [], 0
    for seq in range(1, last + 1):
        try:
            row = store._first(f"select {columns} from {table} where seq = ?", (seq,))
        except KeeperError:
            unread += 1
            continue
        if row and isinstance(row[0], str):
            found.append(row)
    return found, unread


def _is_whole(row: tuple[Any, ...]) -> bool:
    """Whether a note is as it was written."""
    *values, _, crc = row
    typed = all(isinstance(value, str) for value in (values[0], *values[2:3], *values[4:7], *values[8:]))
    return typed and is_whole(values, values[Note._fields.index("text")], crc)


def _event(store: SqliteStore, id: str) -> Event | None:
    try:
        row = store._first(f"select {EVENT}, crc from event where id = ?", (id,))
    except KeeperError:
        return None
    whole = row and is_whole(row[:-1], row[Event._fields.index("text")], row[-1])
    return read_event(row[:-1]) if whole and all(isinstance(value, str) for value in (row[0], *row[2:6])) else None
