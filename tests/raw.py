"""What only tests ask of a store, and its file changed behind its back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from memory_keeper.model import Filter, origin
from memory_keeper.store.store import Store


def change(path: str | Path, *queries: str) -> list[Any]:
    """Run some SQL on a file; what the last of it answered."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return [db.execute(query).fetchall() for query in queries][-1]


def pending(store: Store, project: str, level: int = 0) -> list[str]:
    """What no note covers yet: events at level 0, notes above, by their first wordings; oldest first."""
    if level:
        return [origin(note) for note in store.notes(project, level, open=True)]
    return [kept.event.id for kept in store.find(Filter(project, covered=False, bare=True))]
