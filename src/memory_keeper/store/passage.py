"""What was called and what came of it: a call and its result, the stretch after an event, the calls about a file, the
turn that something belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from memory_keeper.model import Event, NamedTuple, Note
from memory_keeper.store.leaves import blanks, read_event, read_events

SHOWN = 40_000  # characters of a text: what is looked at in the longest output
SOON = 2_000  # events after a call within which its result comes, or a turn's end
# the fields of an event; without its text; and without what was printed by what did not fail, which may be long
EVENT = f"id, at, kind, session, project, substr(text, 1, {SHOWN}), tool, path, ref, agent, failed, extra, who"
OUTLINE = "id, at, kind, session, project, '', tool, path, ref, agent, failed, extra, who"
SAID = (
    f"id, at, kind, session, project, iif(kind = 'result' and not failed, '', substr(text, 1, {SHOWN})), tool, path,"
    " ref, agent, failed, extra, who"
)
# the number of a call's result
RESULT = (
    "select seq from event r where r.session = c.session and r.seq > c.seq"
    f" and r.seq < c.seq + {SOON} and r.ref = c.ref and r.kind = 'result' order by r.seq limit 1"
)
FAILED = f"coalesce((select failed from event where seq = ({RESULT})), 0)"
PROJECTS = (  # each found by the one before it, as the index has them in order
    "with recursive known (name) as (select min(project) from event"
    " union all select (select min(project) from event where project > name) from known where name is not null)"
    " select name from known where name is not null"
)


def passage(db: Connection, session: str, agent: str, first: str, limit: int) -> list[Event]:
    """What one thread of a session did and said from an event on, in order; without what was printed by what did not
    fail."""
    rows = db.execute(
        f"select {SAID} from event where session = :session and agent = :agent"
        " and kind in ('call', 'result', 'reply', 'prompt')"
        " and seq >= (select seq from event where id = :first) order by seq limit :limit",
        {"session": session, "agent": agent, "first": first, "limit": limit},
    )
    return read_events(rows)


def call_of(db: Connection, result: Event) -> Event | None:
    """The call that a result answers."""
    row = db.execute(
        f"select {EVENT} from event where session = ? and ref = ? and kind in ('call', 'todo')"
        " and seq <= (select seq from event where id = ?) order by seq desc limit 1",
        (result.session, result.ref, result.id),
    ).fetchone()
    return read_event(row) if row and result.ref else None


def events_of(db: Connection, ids: Sequence[str]) -> list[Event]:
    """Some events by their ids, in the order asked for."""
    marks = blanks(ids)
    rows = db.execute(f"select {EVENT} from event where id in ({marks})", tuple(ids)).fetchall()
    found = {row[0]: read_event(row) for row in rows}
    return [found[id] for id in ids if id in found]


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
    return read_events(rows)


# --- calls ---


def projects(db: Connection) -> list[str]:
    """All that something was kept of."""
    return [name for (name,) in db.execute(PROJECTS)]


def calls_with(db: Connection, project: str | None, tool: str, word: str, limit: int) -> list[tuple[int, Event]]:
    """The newest calls of a tool whose text has a word, each with its number, the newest first."""
    asked = [project] if project is not None else projects(db)
    newest = sorted((one for name in asked for one in _calls_in(db, name, tool, word, limit)), reverse=True)[:limit]
    calls = _numbered(db, [seq for _, seq in newest])
    return [(seq, calls[seq]) for _, seq in newest]


def results_of(db: Connection, calls: Sequence[int]) -> dict[int, Event]:
    """What came of some calls, by their numbers; not of those that nothing came of."""
    # each is looked for from its call on: else all results would be asked for their call
    rows = db.execute(f"select seq, ({RESULT}) from event c where seq in ({', '.join(map(str, calls))})")
    answered = {seq: result for seq, result in rows if result}
    results = _numbered(db, answered.values())
    return {seq: results[result] for seq, result in answered.items()}


def _calls_in(db: Connection, project: str, tool: str, word: str, limit: int) -> list[tuple[float, int]]:
    """The newest calls of a project: when, and their numbers."""
    return db.execute(
        "select at, seq from event where project = :project and kind = 'call' and ref != ''"
        " and tool = :tool and (:word = '' or instr(text, :word) > 0)"
        " order by at desc, seq desc limit :limit",
        {"project": project, "tool": tool, "word": word, "limit": limit},
    ).fetchall()


def _numbered(db: Connection, keys: Iterable[int]) -> dict[int, Event]:
    """Some events by their numbers."""
    rows = db.execute(f"select seq, {EVENT} from event where seq in ({', '.join(map(str, keys))})")
    return {row[0]: read_event(row[1:]) for row in rows}


def tool_called(db: Connection, project: str | None, name: str, limit: int) -> str:
    """The tool of this name, whatever the case of its letters, among the newest calls; empty when there is none."""
    for one in [project] if project is not None else projects(db):
        row = db.execute(
            "select tool from (select tool from event where project = ? and kind = 'call' order by at desc limit ?)"
            " where tool = ? collate nocase limit 1",
            (one, limit, name),
        ).fetchone()
        if row:
            return str(row[0])
    return ""


def paths_called(db: Connection, project: str | None, name: str, limit: int) -> list[tuple[str, str]]:
    """The files of this name that the newest calls were about, and their projects."""
    found: list[tuple[str, str]] = []
    for one in [project] if project is not None else projects(db):
        rows = db.execute(
            "select distinct path from (select path from event where project = :project and kind = 'call'"
            " order by at desc limit :limit) where path = :name or substr(path, -length(:end)) = :end",
            {"project": one, "limit": limit, "name": name, "end": "/" + name},
        )
        found += [(path, one) for (path,) in rows]
    return found


def calls_about(db: Connection, project: str, paths: Sequence[str], limit: int) -> list[tuple[int, Event, bool]]:
    """The newest calls about some files, each with its number and whether it failed; oldest first."""
    marks = blanks(paths)
    rows = db.execute(
        f"select seq, {FAILED}, {EVENT} from event c where project = ? and kind = 'call' and path in ({marks})"
        " order by at desc, seq desc limit ?",
        (project, *paths, limit),
    ).fetchall()
    return [(row[0], read_event(row[2:]), bool(row[1])) for row in reversed(rows)]


def shell_calls(db: Connection, project: str, words: Sequence[str], limit: int) -> list[tuple[int, Event, bool]]:
    """The newest shell calls of a project whose text has all of some words, each with its number and whether it failed;
    oldest first."""
    having = "".join(" and instr(text, ?) > 0" for _ in words)
    rows = db.execute(
        f"select seq, {FAILED}, {EVENT} from event c where project = ? and kind = 'call' and tool = 'Bash'{having}"
        " order by at desc, seq desc limit ?",
        (project, *words, limit),
    ).fetchall()
    return [(row[0], read_event(row[2:]), bool(row[1])) for row in reversed(rows)]


# --- what stands around an event ---


def before(db: Connection, session: str, seq: int, kind: str, since: int = 0) -> tuple[int, Event] | None:
    """The last thing of a kind that a session's main thread said before one of its events, and its number."""
    row = db.execute(
        f"select seq, {EVENT} from event where session = ? and kind = ? and agent = '' and seq < ? and seq > ?"
        " order by seq desc limit 1",
        (session, kind, seq, since),
    ).fetchone()
    return (row[0], read_event(row[1:])) if row else None


def commits_after(db: Connection, session: str, seq: int, limit: int) -> list[Event]:
    """The first results of a session, soon after one of its events, that may be of a commit."""
    rows = db.execute(
        f"select {EVENT} from event where session = ? and kind = 'result' and not failed and seq > ? and seq < ?"
        " and instr(substr(text, 1, 4000), '] ') > 0 and instr(substr(text, 1, 4000), 'changed') > 0"
        " order by seq limit ?",
        (session, seq, seq + SOON, limit),
    )
    return read_events(rows)


def notes_about(db: Connection, session: str) -> list[Note]:
    """The notes and handoffs of a session, as they were made."""
    rows = db.execute(
        f"select {', '.join(Note._fields)} from note where session = ? and (level = 1 or kind = 'handoff')"
        " and replaces = '' order by seq",
        (session,),
    )
    return [Note._make(row) for row in rows]


class Turn(NamedTuple):
    """What came of one prompt in the main thread: where it begins and ends, by the numbers of events."""

    session: str
    first: int  # its prompt; 0: there is none
    end: int  # the next prompt


def turn_of(db: Connection, session: str, key: int) -> Turn:
    """The turn that an event belongs to."""
    begin = db.execute(
        "select seq from event where session = ? and seq <= ? and seq > ? and kind = 'prompt' and agent = ''"
        " order by seq desc limit 1",
        (session, key, key - SOON),
    ).fetchone()
    end = db.execute(
        "select seq from event where session = ? and seq > ? and seq < ? and kind = 'prompt' and agent = ''"
        " order by seq limit 1",
        (session, key, key + SOON),
    ).fetchone()
    return Turn(session, begin[0] if begin else 0, end[0] if end else key + SOON)


def replies_in(db: Connection, turn: Turn, limit: int) -> list[int]:
    """The last answers of a turn, newest first."""
    rows = db.execute(
        "select seq from event where session = ? and seq > ? and seq < ? and kind = 'reply' and agent = ''"
        " order by seq desc limit ?",
        (turn.session, turn.first, turn.end, limit),
    )
    return [seq for (seq,) in rows]


def written_in(db: Connection, turn: Turn, tools: Sequence[str]) -> set[str]:
    """The files that a turn wrote."""
    marks = blanks(tools)
    rows = db.execute(
        "select distinct path from event where session = ? and seq > ? and seq < ? and kind = 'call' and path != ''"
        f" and tool in ({marks})",
        (turn.session, turn.first, turn.end, *tools),
    )
    return {path for (path,) in rows}
