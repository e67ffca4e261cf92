"""Every chore that is due, done once everything is read."""

from __future__ import annotations

from time import time

from memory_keeper.briefs.files import Unwritable
from memory_keeper.errors import Busy, NotSetUp
from memory_keeper.hooks.problems import complain
from memory_keeper.jobs.improve import improve_due
from memory_keeper.jobs.summarize import distil
from memory_keeper.jobs.upkeep import keep_up
from memory_keeper.keeper import Keeper
from memory_keeper.pages.render import render
from memory_keeper.store.home import Lock

PATIENCE = 10.0  # seconds for another process that writes notes


def run_jobs(keeper: Keeper) -> None:
    """All that may be due: notes, their better wordings and pages, and what the calendar asks for."""
    distil_all(keeper)
    _keep_up(keeper)


def distil_all(keeper: Keeper) -> None:
    """Write the notes that are due, have them worded better where a model is to do that, and render them for people."""

    try:
        with Lock(keeper.home, PATIENCE, "distil"):
            made = distil(keeper, time(), complain=lambda error: complain(keeper.home, "distil", error))
    except (Busy, NotSetUp):
        return  # who is at it sees what is open; or nothing was ever kept
    _render(keeper, {note.project for note in made})
    _render(keeper, {outcome.project for outcome in improve_due(keeper) if outcome.ok})


def _keep_up(keeper: Keeper) -> None:
    """Do what falls due by the calendar."""

    try:
        keep_up(keeper, time(), complain=lambda error: complain(keeper.home, "upkeep", error))
    except NotSetUp:
        pass  # nothing was ever kept


def _render(keeper: Keeper, projects: set[str]) -> None:
    """Render the memory of projects in the folders where hooks ran: whoever only imported has no files of ours."""

    for project in projects:
        try:
            if root := keeper.root_of(project):
                render(keeper, project, root, time())
        except Busy:
            pass  # who is at it does the same
        except Unwritable as error:  # the notes are kept all the same
            complain(keeper.home, "render", error)
