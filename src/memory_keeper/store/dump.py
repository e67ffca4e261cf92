"""Everything that is kept of a project, row by row as it is kept: what another store needs to have it all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_keeper.store.sqlite import SqliteStore

OWN = "select seq from event where project = :project"
# the table, its columns, and which rows belong to a project; in the order in which they could be read in again
TABLES = (
    ("alias", "key, project", "alias where project = :project order by key"),
    (
        "source",
        "seq, path, session, project, agent, offset, inode, head, tail, at, looked",
        f"source where project = :project or seq in (select source from place where event in ({OWN})) order by seq",
    ),
    (
        "event",
        "id, at, kind, session, project, text, tool, path, ref, agent, failed, extra, who, covered_by",
        "event where project = :project order by seq",
    ),
    (
        "place",
        "p.source, e.id as event, p.offset",
        "place p join event e on e.seq = p.event where e.project = :project order by p.source, p.event",
    ),
    (
        "note",
        "id, at, kind, level, project, text, session, tokens, extra, replaces, who, covered_by",
        "note where project = :project order by seq",
    ),
    (
        "usage",
        "message, at, session, project, agent, model, input, cache_read, cache_write, output",
        "usage where project = :project order by at, message",
    ),
)


def dump(store: SqliteStore, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a project: the name of the table, and the columns by name."""
    for table, columns, rows in TABLES:
        found = store.db.execute(f"select {columns} from {rows}", {"project": project})
        names = [column[0] for column in found.description]
        for row in found:
            yield table, dict(zip(names, row, strict=True))


def sizes(store: SqliteStore, project: str) -> dict[str, int]:
    """How many rows of each table that are."""
    found = {}
    for table, _, rows in TABLES:
        query = f"select count(*) from {rows.rpartition(' order by ')[0]}"
        (found[table],) = store.db.execute(query, {"project": project}).fetchone()
    return found
