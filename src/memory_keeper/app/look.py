"""The detached writer: a hook that must not wait starts it, and it ends when everything is moved."""

from __future__ import annotations

import posix
from time import sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.keeper import Keeper


def main(argv: list[str]) -> None:
    """Look, and once more when the lines that were under way have arrived; then what was to follow."""
    from memory_keeper.app.hook import complain
    from memory_keeper.capture.tail import LAG
    from memory_keeper.keeper import Keeper

    home, what, session = (*argv[1:], "", "")[:3]
    try:
        with Keeper(home) as keeper:
            keeper.look(patience=30.0)
            sleep(LAG)
            if posix.access(home, posix.F_OK):  # else it was deleted meanwhile: do not make it again
                keeper.look(patience=30.0)
                follow(keeper, what, session)
    except Exception as error:
        complain(home, "look", error)


def follow(keeper: Keeper, what: str, session: str) -> None:
    """What a hook wants done once everything is read: the handoff of a session that ended, the end of a turn."""
    if what == "save":
        from memory_keeper.app.handoff import keep_handoff
        from memory_keeper.keep.context import read_context

        keep_handoff(keeper, session, read_context(keeper.home, session).folder, keeper.environ)
    elif what == "settle":
        from memory_keeper.app.settle import settle

        settle(keeper.home, keeper.environ, session)
