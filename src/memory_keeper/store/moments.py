"""What the embedded engine can say of when things happened: rows around one, in a session, or in a project.

Only the beginning of a text is read: one line is told of each, and a text may be long.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from sqlite3 import Connection
from typing import Any

from memory_keeper.model import EVER, Event, Note
from memory_keeper.store.leaves import blanks, read_events
from memory_keeper.store.matches import IN_FORCE
from memory_keeper.store.passage import projects

HEAD = 1_000  # characters of a text
LATER = 400  # rows behind a call in which its result is looked for
EVENT = ", ".join({"text": f"substr(text, 1, {HEAD})", "extra": "''"}.get(field, field) for field in Event._fields)
SPARE = 4  # times as many notes are looked at as are asked for: some have no words


def around(db: Connection, id: str, kinds: Sequence[str], limit: int) -> tuple[list[Event], list[Event]]:
    """An event with those of these kinds before it, and those after it, in its own thread of its session."""
    row = db.execute("select seq, session, agent from event where id = ?", (id,)).fetchone()
    if not row:
        return [], []
    seq, session, agent = row
    older = _some(db, "session = ? and agent = ? and seq <= ?", (session, agent, seq), kinds, limit, also=seq)
    newer = _some(db, "session = ? and agent = ? and seq > ?", (session, agent, seq), kinds, limit, newest=False)
    return older[::-1], newer


def of_session(
    db: Connection, session: str, kinds: Sequence[str], since: float, until: float, limit: int, newest: bool = True
) -> list[Event]:
    """The newest events of these kinds in the main thread of a session, or the first ones, in order."""
    found = _some(
        db, "session = ? and agent = '' and at >= ? and at < ?", (session, since, until or EVER), kinds, limit, newest
    )
    return found[::-1] if newest else found


def of_project(
    db: Connection,
    project: str | None,
    kinds: Sequence[str],
    since: float,
    until: float,
    limit: int,
    newest: bool = True,
) -> list[Event]:
    """The same of all sessions of a project, or of all, in the order of time; kind by kind, as the index has them."""
    order = "desc" if newest else "asc"
    rows: list[tuple[Any, ...]] = []
    for one, kind in product(projects(db) if project is None else [project], kinds):
        rows += db.execute(
            f"select {EVENT} from event where project = ? and kind = ? and at >= ? and at < ? and agent = ''"
            f" order by at {order}, seq {order} limit ?",
            (one, kind, since, until or EVER, limit),
        )
    found = sorted(read_events(rows), key=lambda event: event.at, reverse=newest)[:limit]
    return found[::-1] if newest else found


def results(db: Connection, calls: Sequence[Event]) -> dict[str, Event]:
    """What came of some calls of one session, by what ties them together."""
    refs = [call.ref for call in calls if call.ref]
    if not refs:
        return {}
    (first, last) = db.execute(
        f"select min(seq), max(seq) from event where id in ({blanks(calls)})", [one.id for one in calls]
    ).fetchone()
    rows = db.execute(
        f"select {EVENT} from event where session = ? and seq > ? and seq < ? and kind = 'result'"
        f" and ref in ({blanks(refs)})",
        (calls[0].session, first, last + LATER, *refs),
    )
    return {event.ref: event for event in read_events(rows)}


def other_half(db: Connection, event: Event) -> str:
    """The id of a call's result, or of a result's call; empty when there is none near it."""
    row = db.execute("select seq from event where id = ?", (event.id,)).fetchone()
    if not row or not event.ref:
        return ""
    found = db.execute(
        "select id from event where session = ? and seq between ? and ? and ref = ? and (kind = 'result') = ?",
        (event.session, row[0] - LATER, row[0] + LATER, event.ref, event.kind != "result"),
    ).fetchone()
    return found[0] if found else ""


def notes(db: Connection, project: str | None, session: str, since: float, until: float, limit: int) -> list[Note]:
    """The newest notes of a project, of all, or of one session, that have words, each as its wording in force, in
    order; of the handoffs of a session only its last."""
    if project is None:
        every = db.execute("select distinct project from note").fetchall()
        found = [note for (one,) in every for note in notes(db, one, session, since, until, limit)]
        return sorted(found, key=lambda note: note.at)[-limit:]
    only, given = (" and session = ?", (session,)) if session else ("", ())
    of = "project = ? and replaces = ''"
    rows = db.execute(
        f"select {', '.join('said.' + field for field in Note._fields)} from (select id, who, at, seq from note"
        f" where {of} and at >= ? and at < ?{only} and (kind != 'handoff' or seq in"
        f" (select max(seq) from note where {of} and kind = 'handoff' group by session))"
        # those without words, which are few, go afterwards: to find the wording of every note would be slow
        f" order by at desc, seq desc limit ?) first join note said on said.id = ({IN_FORCE})"
        " where said.text != '' order by first.at desc, first.seq desc limit ?",
        (project, since, until or EVER, *given, project, limit * SPARE, limit),
    ).fetchall()
    return [Note._make(row) for row in reversed(rows)]


def called(db: Connection, beginning: str, limit: int) -> list[str]:
    """The ids that begin so, of events and notes; an event's without its block unless one is named."""
    base, colon, block = beginning.partition(":")
    if not base:
        return []
    given = base, base + "\U0010ffff"
    events = db.execute("select id from event where id >= ? and id < ? order by id limit 100", given).fetchall()
    notes = db.execute("select id from note where id >= ? and id < ? order by id limit ?", (*given, limit)).fetchall()
    named = (id if colon else id.rpartition(":")[0] for (id,) in events if id.endswith(colon + block))
    return [*dict.fromkeys([*named, *(id for (id,) in notes if not colon)])][:limit]


def silent(db: Connection, note: str) -> set[str]:
    """The ids of the events that a note covers and that have no words."""
    rows = db.execute("select id from event where covered_by = ? and text = ''", (note,))
    return {id for (id,) in rows}


def covering(db: Connection, id: str) -> str:
    """The id of the note that covers an event or a note; empty when none does."""
    for table in ("event", "note"):
        row = db.execute(f"select covered_by from {table} where id = ?", (id,)).fetchone()
        if row:
            return row[0] or ""
    return ""


def _some(
    db: Connection,
    where: str,
    given: Sequence[Any],
    kinds: Sequence[str],
    limit: int,
    newest: bool = True,
    also: int = 0,
) -> list[Event]:
    """Rows of these kinds, and the one that is asked about whatever its kind, from the end or from the start."""
    rows = db.execute(
        f"select {EVENT} from event where {where} and (kind in ({blanks(kinds)}) or seq = ?)"
        f" order by seq {'desc' if newest else 'asc'} limit ?",
        (*given, *kinds, also, limit),
    )
    return read_events(rows)
