"""Whether a person has typed in a session that hooks told of: not in an imported one, and not a program."""

from __future__ import annotations

from memory_keeper.store.spool import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

SPOOLED = "path >= ? and path < ?"  # what hooks told of


def has_typed(db: Connection, home: str) -> bool:
    """Whether somebody typed a prompt that hooks of a home told of. Only prompts are read, those of the projects that
    were worked in last first, each from its newest: a program may have asked a thousand times since."""
    spools = (f"{home}{FOLDER}/", f"{home}{FOLDER}0")  # `0` comes after `/`
    projects = db.execute(f"select project from source where {SPOOLED} group by project order by max(seq) desc", spools)
    return any(
        db.execute(
            "select 1 from event e where project = ? and kind = 'prompt' and extra = '' and agent = ''"
            f" and exists (select 1 from source where session = e.session and {SPOOLED}) order by at desc limit 1",
            (project, *spools),
        ).fetchone()
        for (project,) in projects.fetchall()
    )
