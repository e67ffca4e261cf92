"""A copy of the file as it is at one moment, however many read and write it: without what can be made again of it."""

from __future__ import annotations

from memory_keeper.store.sqlite.connection import DatabaseError, connect, explain, make_private
from memory_keeper.store.sqlite.fulltext import TABLES
from memory_keeper.store.sqlite.notes import Notes


def copy(store: Notes, path: str) -> None:
    """Write the copy, of which the search index is to be made anew."""
    make_private(path)
    try:
        store.db.execute("vacuum into ?", (path,))
        db = connect(path, write=True)
        try:
            for table in TABLES:
                db.execute(f"drop table {table}")
            db.execute("delete from vector")
            db.execute("vacuum")
            db.execute("pragma journal_mode = delete")  # one file, which is whole
        finally:
            db.close()
    except DatabaseError as error:
        raise explain(error, path) from error
