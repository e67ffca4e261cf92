"""What is taken out of the file for good: its rows, its words in the index, and the pages that they stood on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from time import monotonic, sleep

from memory_keeper.errors import Busy
from memory_keeper.model import Moved
from memory_keeper.store.sqlite.connection import DatabaseError, checksum, explain
from memory_keeper.store.sqlite.events import EVENT
from memory_keeper.store.sqlite.notes import NOTE, Notes

AT_ONCE = 500
COLUMNS = {"event": "text, extra, path, tool, ref", "note": "text, extra"}  # that may say anything
FIELDS = {"event": EVENT, "note": NOTE}


def forget(store: Notes, events: Collection[int], notes: Collection[str], moved: Mapping[int, Moved | None]) -> None:
    """Delete events and notes, and what is known of files; what the notes covered is open again. A file whose lines
    are fewer now has another number, under which its archive lies."""
    db = store.db
    with store._change(durable=True):
        db.executemany("delete from place where event = ?", [(key,) for key in events])
        db.executemany("delete from event where seq = ?", [(key,) for key in events])
        for table in ("event", "note"):
            db.executemany(f"update {table} set covered_by = null where covered_by = ?", [(id,) for id in notes])
        db.executemany("delete from note where id = ?", [(id,) for id in notes])
        for seq, into in moved.items():
            places = db.execute("select event, offset from place where source = ?", (seq,)).fetchall()
            for table in ("place", "member"):
                db.execute(f"delete from {table} where source = ?", (seq,))
            if not into:
                db.execute("delete from source where seq = ?", (seq,))
                continue
            db.execute("update source set seq = ? where seq = ?", (into.seq, seq))
            db.executemany(
                "insert into member values (?, ?, ?, ?, ?)", [(into.seq, *member) for member in into.members]
            )
            db.executemany(
                "insert into place values (?, ?, ?)",
                [(into.seq, event, into.offsets.get(offset, offset)) for event, offset in places],
            )
        db.execute("delete from usage where session not in (select session from source)")
        known = "select project from source union select project from event union select project from note"
        db.execute(f"delete from alias where project not in ({known})")


def mask(store: Notes, change: Callable[[str], str], dry: bool = False) -> int:
    """Have every text of events and notes as `change` gives it back; how many rows are not as they were."""
    db, changed = store.db, 0
    with store._change(durable=True):
        for table, columns in COLUMNS.items():
            names, after = columns.split(", "), 0
            blanks = ", ".join(f"{name} = ?" for name in names)
            query = f"select seq, {columns} from {table} where seq > ? order by seq limit {AT_ONCE}"
            while rows := db.execute(query, (after,)).fetchall():
                after = rows[-1][0]
                for seq, *texts in rows:
                    new = [change(text) for text in texts]
                    if new == texts:
                        continue
                    changed += 1
                    if not dry:
                        db.execute(f"update {table} set {blanks} where seq = ?", (*new, seq))
                        row = db.execute(f"select {FIELDS[table]} from {table} where seq = ?", (seq,)).fetchone()
                        db.execute(f"update {table} set crc = ? where seq = ?", (checksum(row), seq))
                        key = seq if table == "event" else -seq
                        db.execute("delete from vector where key = ?", (key,))
    return changed


def compact(store: Notes, patience: float) -> None:
    """Leave nothing in the file, its journal or the index of what was deleted."""
    store.rebuild_index()  # type: ignore[attr-defined]
    until = monotonic() + patience
    try:
        store.db.execute("vacuum")
        while True:
            busy = store.db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
            if not busy:
                return
            if monotonic() > until:
                raise Busy("Another process reads the store", hint="try again in a moment")
            sleep(0.05)
    except DatabaseError as error:
        raise explain(error, store.path) from error
