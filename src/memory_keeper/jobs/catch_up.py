"""The door of the detached writer: a hook that must not wait starts it, and it ends when everything is moved."""

from __future__ import annotations

import os
from time import sleep

from memory_keeper.capture.tail import LAG
from memory_keeper.hooks.actions import follow
from memory_keeper.hooks.problems import complain
from memory_keeper.jobs.run import run_jobs
from memory_keeper.keeper import Keeper


def main(argv: list[str]) -> None:
    """`look HOME [WHAT [SESSION]]`."""
    home, what, session = (*argv[1:], "", "")[:3]
    look(home, what, session, LAG)


def look(home: str, what: str = "", session: str = "", lag: float = 0.0) -> None:
    """Look, and once more when the lines that were under way have arrived; then what was to follow, and the chores."""
    try:
        with Keeper(home) as keeper:
            keeper.look(patience=30.0)
            if lag:
                sleep(lag)
            if os.path.exists(home):  # else it was deleted meanwhile: do not make it again
                if lag:
                    keeper.look(patience=30.0)
                follow(keeper, what, session)
                run_jobs(keeper)
    except Exception as error:
        complain(home, "look", error)
