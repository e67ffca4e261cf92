"""A store's file changed behind its back, as only a test does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def change(path: str | Path, *queries: str) -> list[Any]:
    """Run some SQL on a file; what the last of it answered."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return [db.execute(query).fetchall() for query in queries][-1]
