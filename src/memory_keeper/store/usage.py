"""What models were given and gave, and the calls that filled their contexts. Questions to any store."""

from __future__ import annotations

from collections.abc import Iterator

from memory_keeper import wire
from memory_keeper.model import DAY, EVER, Event, Filter, Json
from memory_keeper.store.events import once
from memory_keeper.store.store import Store

CALLS = ("call", "todo", "result")


def months_of(store: Store, project: str | None = None) -> list[str]:
    """The months of which there are responses, as `2026-04`, oldest first."""
    return sorted({day.key[:7] for day in store.spending("day", project)})


def main_models(store: Store) -> dict[str, str]:
    """The model that answered most often in each session."""
    used = sorted(store.spending("session"), key=lambda used: (used.requests, used.model))
    return {used.key: used.model for used in used}  # the last of a session stays


def tool_calls(store: Store, project: str, since: float, until: float) -> Iterator[tuple[str, Event]]:
    """Every tool call of a time and every result, each with its tool; one at a time, as there may be very many. What a
    copy from elsewhere says again is left out."""
    before = _calls(project, since - DAY, until)._replace(kinds=("call", "todo"), bare=True)  # of the day before
    tools = {call.event.ref: call.event.tool for call in store.find(before) if call.event.ref}
    for kind in CALLS:  # kind by kind, as the index has them: nothing has to be sorted
        calls = store.find(_calls(project, since, until)._replace(kinds=(kind,), by_time=True))
        for kept in once(store, project, calls):
            yield kept.event.tool or tools.get(kept.event.ref, ""), kept.event


def count_calls(store: Store, project: str, since: float, until: float) -> int:
    """How many calls and results those are."""
    return store.count(_calls(project, since, until))


def _calls(project: str, since: float, until: float) -> Filter:
    return Filter(project, kinds=CALLS, since=since, until=until or None)


def model_requests(store: Store, project: str | None, since: float, until: float) -> list[Json]:
    """What is known of each time that a model was asked to write a note, by when that was: of one that never ended, its
    beginning."""
    begun: dict[str, float] = {}
    last: dict[str, str] = {}
    requests = [kept.event for kept in store.find(Filter(project, kinds=("spent",), text=0))]
    for event in sorted(requests, key=lambda event: event.id):  # its end comes after its beginning
        name = event.id.rpartition(":")[0]
        begun.setdefault(name, event.at)
        last[name] = event.extra
    return [wire.read_object(extra) for name, extra in last.items() if since <= begun[name] < (until or EVER)]
