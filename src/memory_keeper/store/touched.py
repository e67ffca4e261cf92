"""Which files the sessions of a project wrote and read: bounded queries over its newest calls."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

from memory_keeper.model import EVER, NamedTuple
from memory_keeper.store.leaves import blanks

PASSED = 4  # calls that are looked at for each that may be about a file


class Touch(NamedTuple):
    """What a session did with a file."""

    session: str
    path: str  # as the call has it
    wrote: bool
    last: int  # the number of the event that shows it: the last that wrote, or else the last


def touched(
    db: Connection, project: str, writes: Iterable[str], reads: Iterable[str], before: float, limit: int
) -> list[Touch]:
    """The files that the newest calls of a project were about, once for each session, the newest session first."""
    wrote, read = tuple(writes), tuple(reads)
    rows = db.execute(
        # those about no file are passed over, but not without end
        "select session, path, tool, seq from (select session, path, tool, seq from event"
        " where project = ? and kind = 'call' and at < ? order by at desc limit ?)"
        f" where path != '' and tool in ({blanks(wrote + read)}) limit ?",
        (project, before or EVER, PASSED * limit, *wrote, *read, limit),
    )
    found: dict[str, dict[str, Touch]] = {}
    for session, path, tool, seq in rows:  # the newest first
        files = found.setdefault(session, {})
        known = files.get(path)
        if known is None or (tool in wrote and not known.wrote):
            files[path] = Touch(session, path, tool in wrote, seq)
    return [touch for files in found.values() for touch in files.values()]


def sessions_of(db: Connection, project: str, keys: Iterable[int], before: float) -> dict[int, str]:
    """The sessions that some events of a project stand in, by the numbers of the events."""
    numbers = ", ".join(map(str, keys))
    rows = db.execute(
        f"select seq, session from event where seq in ({numbers}) and project = ? and at < ?",
        (project, before or EVER),
    )
    return dict(rows.fetchall())


def ids_of(db: Connection, keys: Iterable[int]) -> dict[int, str]:
    """The ids of some events, by their numbers."""
    return dict(db.execute(f"select seq, id from event where seq in ({', '.join(map(str, keys))})").fetchall())
