"""What was called and what came of it: a call and its result, the stretch after an event, the calls about a file."""

from __future__ import annotations

from memory_keeper.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

SHOWN = 40_000  # characters of a text: what is looked at in the longest output
COLUMNS = ", ".join(f"substr(text, 1, {SHOWN})" if field == "text" else field for field in Event._fields)
SAID = COLUMNS.replace("substr(", "iif(kind = 'result' and not failed, '', substr(").replace(f"{SHOWN})", f"{SHOWN}))")
OUTLINE = ", ".join("''" if field == "text" else field for field in Event._fields)
SOON = 2_000  # events after a call within which its result comes
ACTS = "('call', 'result', 'reply', 'prompt')"


def passage(db: Connection, session: str, agent: str, first: str, limit: int) -> list[Event]:
    """What one thread of a session did and said from an event on, in order; without what was printed by what did not
    fail, which may be long."""
    rows = db.execute(
        f"select {SAID} from event where session = :session and agent = :agent and kind in {ACTS}"
        " and seq >= (select seq from event where id = :first) order by seq limit :limit",
        {"session": session, "agent": agent, "first": first, "limit": limit},
    )
    return [_event(row) for row in rows]


def call_of(db: Connection, result: Event) -> Event | None:
    """The call that a result answers."""
    row = db.execute(
        f"select {COLUMNS} from event where session = ? and ref = ? and kind in ('call', 'todo')"
        " and seq <= (select seq from event where id = ?) order by seq desc limit 1",
        (result.session, result.ref, result.id),
    ).fetchone()
    return _event(row) if row and result.ref else None


def events_of(db: Connection, ids: Sequence[str]) -> list[Event]:
    """Some events by their ids, in the order asked for."""
    marks = ", ".join("?" * len(ids))
    rows = db.execute(f"select {COLUMNS} from event where id in ({marks})", tuple(ids)).fetchall()
    found = {row[0]: _event(row) for row in rows}
    return [found[id] for id in ids if id in found]


def _event(row: tuple[Any, ...]) -> Event:
    return Event._make((*row[:10], bool(row[10]), *row[11:]))


def failed_among(db: Connection, keys: Sequence[int]) -> set[int]:
    """Those of some events, by their numbers, that failed."""
    rows = db.execute(f"select seq from event where failed and seq in ({', '.join(map(str, keys))})")
    return {seq for (seq,) in rows}


def left_by(db: Connection, session: str, until: str) -> list[Event]:
    """The results of a session that say what a file then held, up to an event; up to its result, if that is a call."""
    rows = db.execute(
        f"select {OUTLINE} from event where session = :session and kind = 'result' and extra like '{{\"file\"%'"
        " and (seq <= (select seq from event where id = :until) or (ref != '' and ref ="
        " (select ref from event where id = :until))) order by seq",
        {"session": session, "until": until},
    )
    return [_event(row) for row in rows]


def calls_with(db: Connection, project: str | None, tool: str, word: str, limit: int) -> list[tuple[int, Event, Event]]:
    """The newest calls of a tool, or those whose text has a word, each with its number and its result."""
    only, given = (" and c.project = ?", [project]) if project is not None else ("", [])
    if tool:
        only, given = f"{only} and c.tool = ?", [*given, tool]
    if word:
        only, given = f"{only} and instr(c.text, ?) > 0", [*given, word]
    rows = db.execute(
        f"select c.seq, {_of('c')}, {_of('r')} from event c join event r on r.session = c.session and r.seq > c.seq"
        f" and r.seq < c.seq + {SOON} and r.ref = c.ref and r.kind = 'result'"
        f" where c.kind = 'call' and c.ref != ''{only} order by c.at desc, c.seq desc limit ?",
        (*given, limit),
    ).fetchall()
    width = len(Event._fields) + 1
    return [(row[0], _event(row[1:width]), _event(row[width:])) for row in rows]


def paths_called(db: Connection, project: str | None, name: str) -> list[tuple[str, str]]:
    """The files of this name that calls were about, and their projects."""
    only, given = (" and project = ?", (project,)) if project is not None else ("", ())
    rows = db.execute(
        f"select distinct path, project from event where kind = 'call' and path != ''{only}"
        " and (path = ? or substr(path, -length(?)) = ?)",
        (*given, name, "/" + name, "/" + name),
    )
    return [(path, at) for path, at in rows]


def calls_about(db: Connection, project: str, paths: Sequence[str], limit: int) -> list[tuple[int, Event, bool]]:
    """The newest calls about some files, each with its number and whether it failed; oldest first."""
    marks = ", ".join("?" * len(paths))
    rows = db.execute(
        f"select c.seq, coalesce((select max(r.failed) from event r where r.session = c.session and r.seq > c.seq"
        f" and r.seq < c.seq + {SOON} and r.ref = c.ref and r.kind = 'result'), 0), {_of('c')} from event c"
        f" where c.project = ? and c.kind = 'call' and c.path in ({marks}) order by c.at desc, c.seq desc limit ?",
        (project, *paths, limit),
    ).fetchall()
    return [(row[0], _event(row[2:]), bool(row[1])) for row in reversed(rows)]


def shell_calls(db: Connection, project: str, words: Sequence[str], limit: int) -> list[tuple[int, Event]]:
    """The newest shell calls of a project whose text has all of some words, each with its number; oldest first."""
    only = "".join(" and instr(text, ?) > 0" for _ in words)
    rows = db.execute(
        f"select seq, {COLUMNS} from event where project = ? and kind = 'call' and tool = 'Bash'{only}"
        " order by at desc, seq desc limit ?",
        (project, *words, limit),
    ).fetchall()
    return [(row[0], _event(row[1:])) for row in reversed(rows)]


def before(db: Connection, session: str, seq: int, kind: str, since: int = 0) -> tuple[int, Event] | None:
    """The last thing of a kind that a session's main thread said before one of its events, and its number."""
    row = db.execute(
        f"select seq, {COLUMNS} from event where session = ? and kind = ? and agent = '' and seq < ? and seq > ?"
        " order by seq desc limit 1",
        (session, kind, seq, since),
    ).fetchone()
    return (row[0], _event(row[1:])) if row else None


def commits_after(db: Connection, session: str, seq: int, limit: int) -> list[Event]:
    """The first results of a session, after one of its events, that may be of a commit."""
    rows = db.execute(
        f"select {COLUMNS} from event where session = ? and kind = 'result' and not failed and seq > ?"
        " and instr(substr(text, 1, 4000), '] ') > 0 and instr(substr(text, 1, 4000), 'changed') > 0"
        " order by seq limit ?",
        (session, seq, limit),
    )
    return [_event(row) for row in rows]


def decided(db: Connection, session: str) -> list[tuple[str, str]]:
    """The notes about a session: their ids and what they say."""
    rows = db.execute(
        "select id, text from note where session = ? and level = 1 and replaces = '' order by seq", (session,)
    )
    return [(id, text) for id, text in rows]


def _of(table: str) -> str:
    """The columns of an event, by the name that a query has for it."""
    return ", ".join(
        f"substr({table}.text, 1, {SHOWN})" if field == "text" else f"{table}.{field}" for field in Event._fields
    )
