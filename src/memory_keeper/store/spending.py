"""What models were given and gave, summed by SQL: one row of `usage` is one response, so nothing is counted twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from memory_keeper import wire
from memory_keeper.model import DAY, EVER, Event, Json, NamedTuple

BY = {
    "": "''",
    "day": "date(at, 'unixepoch', 'localtime')",
    "session": "session",
    "model": "model",
    "project": "project",
}
CONTEXT = "input + cache_read + cache_write"  # what a request carried
CALLS = "'call', 'todo', 'result'"


class Spending(NamedTuple):
    """What one model was given and gave under one heading; `above` 0 is every size of context."""

    key: str  # the day, session, model or project
    model: str
    above: int  # of the sizes that were asked about, the largest that these contexts were above
    requests: int
    input: int
    cache_read: int
    cache_write: int
    output: int


class Used(NamedTuple):
    """What the responses of one session were in a time."""

    session: str
    project: str
    first: float
    last: float
    requests: int
    tokens: int  # all of them, subagents' too
    begun: int  # tokens of the main thread's context at its first response
    peak: int  # and at the largest


def spending(
    db: Connection,
    by: str = "",
    project: str | None = None,
    since: float = 0.0,
    until: float = 0.0,
    session: str = "",
    sizes: Sequence[int] = (),
) -> list[Spending]:
    """The sums of a project, or of all, in a time; `until` 0 is now. A day is one of this machine's clock."""
    only, given = _where(project, since, until, session)
    steps = " ".join(f"when {CONTEXT} > {size} then {size}" for size in sorted(sizes, reverse=True))
    above = f"case {steps} else 0 end" if sizes else "0"
    rows = db.execute(
        f"select {BY[by]}, model, {above}, count(*), sum(input), sum(cache_read), sum(cache_write), sum(output)"
        f" from usage where {only} group by 1, 2, 3 order by 1, 2, 3",
        given,
    )
    return [Spending._make(row) for row in rows]


def used(db: Connection, project: str | None = None, since: float = 0.0, until: float = 0.0) -> list[Used]:
    """The sessions that had a response in a time, the largest context first."""
    only, given = _where(project, since, until)
    main = f"case when agent = '' then {CONTEXT} else 0 end"
    first = f"(select {CONTEXT} from usage where session = u.session and agent = '' and {only} order by at limit 1)"
    rows = db.execute(
        f"select session, min(project), min(at), max(at), count(*), sum({CONTEXT} + output), coalesce({first}, 0),"
        f" max({main}) from usage u where {only} group by session order by 8 desc, 6 desc, 1",
        given,
    )
    return [Used._make(row) for row in rows]


def projects(db: Connection) -> list[str]:
    """The projects that anything is known of."""
    return [
        project for (project,) in db.execute("select project from usage union select project from source order by 1")
    ]


def months(db: Connection, project: str | None = None) -> list[str]:
    """The months of which there are responses, as `2026-04`, oldest first."""
    only, given = _where(project, 0.0, 0.0)
    rows = db.execute(
        f"select distinct strftime('%Y-%m', at, 'unixepoch', 'localtime') from usage where {only} order by 1", given
    )
    return [month for (month,) in rows]


def main_models(db: Connection) -> dict[str, str]:
    """The model that answered most often in each session."""
    rows = db.execute("select session, model from usage group by session, model order by session, count(*), model")
    return dict(rows.fetchall())  # the last of a session stays


def called(db: Connection, project: str, since: float, until: float) -> Iterator[tuple[str, Event]]:
    """Every tool call of a time and every result, each with its tool; one at a time, as there may be very many."""
    only, before = _where(project, since - DAY, until)  # a call may be of the day before
    tools = dict(
        db.execute(f"select ref, tool from event where kind in ('call', 'todo') and ref != '' and {only}", before)
    )
    only, given = _where(project, since, until)
    fields = ", ".join(Event._fields)
    for row in db.execute(f"select {fields} from event where kind in ({CALLS}) and {only}", given):
        event = Event._make(row)
        yield event.tool or tools.get(event.ref, ""), event


def calls(db: Connection, project: str, since: float, until: float) -> int:
    """How many calls and results those are."""
    only, given = _where(project, since, until)
    (number,) = db.execute(f"select count(*) from event where kind in ({CALLS}) and {only}", given).fetchone()
    return int(number)


def asked(db: Connection, project: str | None, since: float, until: float) -> list[Json]:
    """What is known of each time that a model was asked to write a note, by when that was: of one that never ended, its
    beginning."""
    only, given = _where(project, 0.0, 0.0)
    rows = db.execute(f"select id, at, extra from event where kind = 'spent' and {only} order by id", given)
    begun: dict[str, float] = {}
    last: dict[str, str] = {}
    for id, at, extra in rows:  # its end comes after its beginning
        name = id.rpartition(":")[0]
        begun.setdefault(name, at)
        last[name] = extra
    return [wire.read_object(extra) for name, extra in last.items() if since <= begun[name] < (until or EVER)]


def _where(
    project: str | None, since: float, until: float, session: str = ""
) -> tuple[str, dict[str, str | float | None]]:
    only = "at >= :since and at < :until"
    only += " and project = :project" if project is not None else ""
    only += " and session = :session" if session else ""
    return only, {"since": since, "until": until or EVER, "project": project, "session": session}
