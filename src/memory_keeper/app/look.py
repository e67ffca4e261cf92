"""The detached writer: a hook that must not wait starts it, and it ends when everything is moved."""

from __future__ import annotations

import posix
from time import sleep

LAG = 0.4  # seconds a transcript's last lines may come after the hook that announces them


def main(argv: list[str]) -> None:
    """Look, and once more when the lines that were under way have arrived."""
    from memory_keeper.app.hook import complain
    from memory_keeper.keeper import Keeper

    home = argv[1]
    try:
        with Keeper(home) as keeper:
            keeper.look(patience=30.0)
            sleep(LAG)
            if posix.access(home, posix.F_OK):  # else it was deleted meanwhile: do not make it again
                keeper.look(patience=30.0)
    except Exception as error:
        complain(home, "look", error)
