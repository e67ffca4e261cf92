"""One turn of a session: from what was asked to the next thing that was asked."""

from __future__ import annotations

from memory_keeper.model import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

FAR = 2_000  # events to each side in which its ends are looked for


class Turn(NamedTuple):
    """Where a turn of the main thread begins and ends, by the numbers of events."""

    session: str
    first: int  # its prompt; 0: there is none
    end: int  # the next prompt


def turn_of(db: Connection, session: str, key: int) -> Turn:
    """The turn that an event belongs to."""
    begin = db.execute(
        "select seq from event where session = ? and seq <= ? and seq > ? and kind = 'prompt' and agent = ''"
        " order by seq desc limit 1",
        (session, key, key - FAR),
    ).fetchone()
    end = db.execute(
        "select seq from event where session = ? and seq > ? and seq < ? and kind = 'prompt' and agent = ''"
        " order by seq limit 1",
        (session, key, key + FAR),
    ).fetchone()
    return Turn(session, begin[0] if begin else 0, end[0] if end else key + FAR)


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
    marks = ", ".join("?" * len(tools))
    rows = db.execute(
        "select distinct path from event where session = ? and seq > ? and seq < ? and kind = 'call' and path != ''"
        f" and tool in ({marks})",
        (turn.session, turn.first, turn.end, *tools),
    )
    return {path for (path,) in rows}
