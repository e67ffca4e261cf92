"""What happened when: events around one, in a session, or in a project. Questions to any store.

Only the beginning of a text is read: one line is told of each, and a text may be long.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from memory_keeper.model import Event, Filter, Kept
from memory_keeper.store.store import Store

HEAD = 1_000  # characters of a text
NEAR = 400  # events around a result among which its call is looked for


def around(store: Store, id: str, kinds: Sequence[str], limit: int) -> tuple[list[Event], list[Event]]:
    """An event with those of these kinds before it, and those after it, in its own thread of its session."""
    here = _find(store, id)
    if not here:
        return [], []
    thread = Filter(sessions=(here.event.session,), agent=here.event.agent, kinds=kinds, text=HEAD)
    older = [*store.find(thread._replace(before=here.key, newest=True, limit=max(0, limit - 1)))]
    newer = store.find(thread._replace(after=here.key, limit=limit))
    return [*(kept.event for kept in reversed(older)), here.event], [kept.event for kept in newer]


def of_session(
    store: Store, session: str, kinds: Sequence[str], since: float, until: float, limit: int, newest: bool = True
) -> list[Event]:
    """The newest events of these kinds in the main thread of a session, or the first ones, in order."""
    which = Filter(sessions=(session,), kinds=kinds, agent="", since=since, until=until or None, text=HEAD)
    found = [kept.event for kept in store.find(which._replace(newest=newest, limit=limit))]
    return found[::-1] if newest else found


def of_project(
    store: Store,
    project: str | None,
    kinds: Sequence[str],
    since: float,
    until: float,
    limit: int,
    newest: bool = True,
) -> list[Event]:
    """The same of all sessions of a project, or of all, in the order of time; kind by kind, as the index has them."""
    which = Filter(agent="", since=since, until=until or None, text=HEAD, by_time=True, newest=newest, limit=limit)
    events = [
        kept.event
        for one, kind in product(store.projects() if project is None else [project], kinds)
        for kept in store.find(which._replace(project=one, kinds=(kind,)))
    ]
    found = sorted(events, key=lambda event: event.at, reverse=newest)[:limit]
    return found[::-1] if newest else found


def results_by_ref(store: Store, calls: Sequence[Event]) -> dict[str, Event]:
    """What came of some calls, by what ties them together."""
    keys = [kept.key for kept in store.find(Filter(ids=[call.id for call in calls], bare=True))]
    return {result.event.ref: result.event for result in store.results(keys, HEAD).values()}


def other_half(store: Store, event: Event) -> str:
    """The id of a call's result, or of a result's call; empty when there is none near it."""
    here = _find(store, event.id)
    if not here or not event.ref:
        return ""
    if event.kind != "result":
        return next((result.event.id for result in store.results([here.key], 0).values()), "")
    which = Filter(sessions=(event.session,), refs=(event.ref,), no_kinds=("result",), bare=True, limit=1)
    calls = store.find(which._replace(after=here.key - NEAR, before=here.key))
    return next((call.event.id for call in calls), "")


def _find(store: Store, id: str) -> Kept | None:
    return next(iter(store.find(Filter(ids=(id,), text=HEAD))), None)
