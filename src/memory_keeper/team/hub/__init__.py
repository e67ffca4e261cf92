"""A team's hub on PostgreSQL: who is in the team, what they share by project, and the search over all of it.

`schema` is all that the database knows: tables, and the row-level security that decides who sees and writes which row.
`connection` opens it, `logins` has our passwords, `members` lets people in and out, `transport` carries shared items.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memory_keeper.errors import NotSetUp
from memory_keeper.host.registration import checkout

if TYPE_CHECKING:
    from memory_keeper.team.hub.transport import Hub


def check() -> None:
    """NotSetUp where the extra is not installed."""
    if not find_spec("psycopg"):
        hint = f"pipx install --force '{checkout()}[postgres]'"
        raise NotSetUp("A hub on PostgreSQL needs psycopg, which is not installed", hint=hint)


def open_hub(home: str, address: str) -> Hub:
    """One project of a hub, as whom this home joined it; what is not installed everywhere is loaded only here."""
    check()
    hub: Hub = import_module("memory_keeper.team.hub.logins").open_hub(home, address)
    return hub
