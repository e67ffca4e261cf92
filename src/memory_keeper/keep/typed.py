"""Whether a person has typed in a session that hooks told of: not in an imported one, and not a program."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

RECENT = 20  # sessions that are looked at: who has used it did so in one of them, and a program's may be long


def has_typed(db: Connection, home: str) -> bool:
    """Whether somebody typed a prompt in one of the newest sessions of a home."""
    row = db.execute(
        "select 1 from (select session from source where path >= ? and path < ? order by seq desc limit ?) s"
        " join event e on e.session = s.session where e.kind = 'prompt' and e.extra = '' and e.agent = '' limit 1",
        (f"{home}/spool/", f"{home}/spool0", RECENT),  # `0` comes after `/`
    ).fetchone()
    return row is not None
