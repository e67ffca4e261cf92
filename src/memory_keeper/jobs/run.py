"""The entry point of the detached process: it reads what is new, and then does every job that is due.

A hook that must not wait starts it, and it ends when everything is moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from time import sleep, time

from memory_keeper.briefs.files import Unwritable
from memory_keeper.capture.tail import LAG
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.hooks.actions import follow
from memory_keeper.hooks.problems import complain
from memory_keeper.host.files import abandoned
from memory_keeper.jobs import forget
from memory_keeper.jobs.backup import keep_backed_up
from memory_keeper.jobs.due import lately
from memory_keeper.jobs.improve import improve_due
from memory_keeper.jobs.summarize import distil
from memory_keeper.jobs.upkeep import keep_up
from memory_keeper.keeper import Keeper
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.store import spool
from memory_keeper.store.home import Lock
from memory_keeper.team.sync import sync_due
from memory_keeper.team.transport import Offline

PATIENCE = 10.0  # seconds for another process that writes notes


def main(argv: list[str]) -> None:
    """`catch-up HOME [WHAT [SESSION]]`."""
    home, what, session = (*argv[1:], "", "")[:3]
    catch_up(home, what, session, LAG)


def catch_up(home: str, what: str = "", session: str = "", lag: float = 0.0) -> None:
    """Look, and once more when the lines that were under way have arrived; then what was to follow, and the jobs."""
    try:
        with Keeper(home) as keeper:
            keeper.catch_up(patience=30.0)
            if lag:
                sleep(lag)
            if os.path.exists(home):  # else it was deleted meanwhile: do not make it again
                if lag:
                    keeper.catch_up(patience=30.0)
                follow(keeper, what, session)
                run_jobs(keeper)
    except Exception as error:
        complain(home, "catch_up", error)


def run_jobs(keeper: Keeper) -> None:
    """All that may be due: notes, their better wordings and pages, and what the calendar asks for."""
    try:
        forget.go_on(keeper)  # that somebody began, and was killed
    except (Busy, NotSetUp):
        pass  # the next one tries
    sweep(keeper)
    distil_all(keeper)
    try:
        keep_backed_up(keeper, time())
    except (Busy, NotSetUp):
        pass
    except (KeeperError, OSError) as error:
        complain(keeper.home, "backup", error)
    try:
        keep_up(keeper, time(), complain=lambda error: complain(keeper.home, "upkeep", error))
    except NotSetUp:
        pass  # nothing was ever kept
    sync_teams(keeper)


def sync_teams(keeper: Keeper) -> None:
    """Send and fetch what teams share where sessions were lately, if their users want that; being offline is no
    problem."""
    now = time()
    try:
        places = {place.project: place for place in lately(keeper, now)}
    except NotSetUp:
        return
    for place in places.values():
        try:
            sync_due(keeper, place.project, place.root, now)
        except (Busy, Offline):
            continue
        except (KeeperError, OSError) as error:
            complain(keeper.home, "sync", error)


def sweep(keeper: Keeper) -> None:
    """Take away what processes that were killed had begun to write in the home."""
    home = keeper.home
    files = [f"{home}/{name}" for name in ("salt", "rules", "current")]
    files += [spool.path_of(home, session) for session in {name.partition(spool.END)[0] for name in spool.begun(home)}]
    for left in (left for path in files for left in abandoned(f"{path}.")):
        with suppress(OSError):
            os.unlink(left)
    try:
        if os.path.lexists(f"{home}/journal.new"):
            with keeper.writing(PATIENCE), suppress(FileNotFoundError):
                os.unlink(f"{home}/journal.new")
    except Busy:
        pass  # somebody may be at it


def distil_all(keeper: Keeper) -> None:
    """Write the notes that are due, have them worded better where a model is to do that, and render them for people."""
    try:
        with Lock(keeper.home, PATIENCE, "distil"):
            made = distil(keeper, time(), complain=lambda error: complain(keeper.home, "distil", error))
    except (Busy, NotSetUp):
        return  # who is at it sees what is open; or nothing was ever kept
    _render(keeper, (note.project for note in made))
    _render(keeper, (outcome.project for outcome in improve_due(keeper) if outcome.ok))


def _render(keeper: Keeper, projects: Iterable[str]) -> None:
    """Render the memory of projects in the folders where hooks ran: whoever only imported has no files of ours."""
    for project in set(projects):
        try:
            if root := keeper.root_of(project):
                render(Pages(keeper, project, root))
        except Busy:
            pass  # who is at it does the same
        except Unwritable as error:  # the notes are kept all the same
            complain(keeper.home, "render", error)
