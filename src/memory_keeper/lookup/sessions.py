"""One session, by its id or the beginning of it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.model import ELSEWHERE

SEVERAL = 5  # that are named when a beginning is that of more than one


def session_of(keeper: Keeper, given: str, hint: str = "`memory-keeper sessions --all-projects` names them") -> str:
    """The session a user named, by all of its id or by the beginning that every screen shows."""
    found = keeper.store.sessions_called(given) if given else []
    if given and not found:
        raise KeeperError(f"No session is called {given}", hint=hint)
    found = [id for id in found if id.removesuffix(ELSEWHERE) == id or id.removesuffix(ELSEWHERE) not in found]
    if len(found) > 1:
        raise KeeperError(f"More than one session is called {given}: {several(found)}", hint="give more of the id")
    return found[0] if found else ""


def several(ids: Sequence[str]) -> str:
    """Some of the ids that have the same beginning."""
    return ", ".join(ids[:SEVERAL]) + (", …" if len(ids) > SEVERAL else "")
