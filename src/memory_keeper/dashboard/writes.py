"""The few things that can be changed here, by the functions of the commands; none of them runs anything."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import time

from memory_keeper.briefs.rules import rules_of
from memory_keeper.cli.commands.task import finish
from memory_keeper.cli.output import the_one
from memory_keeper.cli.work import refresh
from memory_keeper.dashboard.views import Visit
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import Note
from memory_keeper.notes.tasks.done import done, open_tasks
from memory_keeper.rules.observations import Observed, observed_here

HINT = "load the page again: it shows what there is now"


def act(home: str, what: str, given: dict[str, str]) -> None:
    """Do one of ACTS as the user has asked."""
    if what not in ACTS:
        raise KeeperError(f"Nothing is called {what}", hint=HINT)
    outside_a_session(home, "change what is kept")
    with Keeper(home) as keeper:
        visit = Visit(keeper, "", given)
        ACTS[what](visit, given.get("id", ""))
        if os.path.isdir(visit.root):
            refresh(keeper, visit.project, visit.root)


def _confirm(visit: Visit, id: str) -> None:
    visit.keeper.mark("confirmed", _note(visit, _observed(visit, id)))


def _contradict(visit: Visit, id: str) -> None:
    visit.keeper.mark("contradicted", _note(visit, _observed(visit, id)))


def _promote(visit: Visit, id: str) -> None:
    one = _observed(visit, id)
    if one.state in ("rule", "superseded"):
        raise KeeperError(f"It cannot be a rule: {one.instead} has taken its place", hint=HINT)
    add_rule(visit.keeper, one.project, one.text, source=one.id)


def _retire(visit: Visit, id: str) -> None:
    rules = rules_of(visit.store, visit.project, visit.settings["rules.shipped"])
    change_rule(visit.keeper, the_one([rule for rule in rules if rule.id == id], "rule in force", id, HINT), "")


def _finish(visit: Visit, id: str) -> None:
    waiting = open_tasks(visit.store, visit.project, done(visit.store, visit.project))
    one = the_one([task for task in waiting if task.id == id], "task that is not done", id, HINT)
    finish(visit.keeper, visit.project, one)


def _observed(visit: Visit, id: str) -> Observed:
    found = observed_here(visit.store, visit.project, visit.settings, time())
    one: Observed = the_one([each for each in found if each.id == id], "observation", id, HINT)
    return one


def _note(visit: Visit, one: Observed) -> Note:
    note = visit.store.note(one.id)
    if not note:
        raise KeeperError(f"{one.id} is gone", hint=HINT)
    return note


ACTS: dict[str, Callable[[Visit, str], None]] = {
    "confirm": _confirm,
    "contradict": _contradict,
    "promote": _promote,
    "retire": _retire,
    "finish": _finish,
}
