"""Whether the end of a turn is a good moment for a compaction of ours: a task is done, and there is much to gain."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.capture.calls import command_of, commits
from memory_keeper.extract.todos import DOING, todos
from memory_keeper.model import Event
from memory_keeper.notes.usage.compactions import sizes
from memory_keeper.store.events import newest_events, todo_events
from memory_keeper.store.store import Store

LATEST = 400  # events in which a turn's commit is looked for


def at_boundary(store: Store, session: str) -> bool:
    """Whether a task has just been done: nothing on the model's list is in progress, or the turn made a commit."""
    doing = any(todo.status == DOING for todo in todos(todo_events(store, session)))
    return not doing or _committed(newest_events(store, (session,), LATEST))


def _committed(events: Sequence[Event]) -> bool:
    """Whether a commit was made since the last prompt."""
    answered: dict[str, bool] = {}
    for event in reversed(events):
        if event.kind == "prompt" and not event.agent:
            break
        if event.kind == "result":
            answered[event.ref] = not event.failed
        elif answered.get(event.ref) and commits(command_of(event)):
            return True
    return False


def size_after(store: Store, session: str, at: float) -> int:
    """The tokens of the first response after the compaction that we answered then; 0 when none is known."""
    return next((size for when, size in sizes(store.usages(session)) if when > at), 0) if at else 0
