"""Everything that is kept of a project, row by row as it is kept: what another store needs to have it all."""

from __future__ import annotations

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
