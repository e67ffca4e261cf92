"""The tasks of a whole session: what the model's lists said of each, last. A list that begins anew forgets what the one
before had completed; a session does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_keeper.extract.todos import DOING, Todo, todos
from memory_keeper.model import Event, NamedTuple
from memory_keeper.notes.tasks.identity import LONGEST, TASK_ID
from memory_keeper.text import clean, one_line

DONE = "completed"


class Task(NamedTuple):
    """A task and what became of it."""

    text: str
    status: str  # completed | in_progress | pending
    begun: float  # when it was first listed, or taken up
    ended: float  # when it was completed; 0: it is not
    cite: str  # the event that said so last


def tasks(events: Sequence[Event]) -> list[Task]:
    """The tasks that a session's todo calls and their results, oldest first, leave behind: each once, those that are
    completed in the order in which they were, then those that are open."""
    place = {event.id: number for number, event in enumerate(events)}
    found: dict[str, Task] = {}  # what is completed stands in order: clocks may jump
    for event in events:
        if event.tool == "TodoWrite":
            found = _listed(found, todos([event]), event.at)
    numbered = _named(todos([event for event in events if event.tool != "TodoWrite"]))
    for key, todo in sorted(numbered, key=lambda one: place[one[1].cite] if one[1].status == DONE else len(events)):
        found[key] = _task(todo, events[place[todo.cite]].at, found.get(key))
    return sorted(found.values(), key=lambda task: not task.ended)


def _listed(before: dict[str, Task], listed: Iterable[Todo], at: float) -> dict[str, Task]:
    """The tasks after a list was written: what is not on it any more was dropped, unless it is completed."""
    now = {key: _task(todo, at, before.get(key)) for key, todo in _named(listed)}
    known = {key: now.get(key, task) for key, task in before.items() if task.ended}
    return {key: task for key, task in known.items() if task.ended} | now


def _named(listed: Iterable[Todo]) -> list[tuple[str, Todo]]:
    """Tasks by what tells them apart: their id, where no other one of the list has it, else their words."""
    items = [todo for todo in listed if todo.status != "deleted" and todo.text.strip()]
    ids = [found[0] if (found := TASK_ID.search(todo.text[:LONGEST])) else "" for todo in items]
    return [
        (id if id and ids.count(id) == 1 else one_line(clean(todo.text[: 4 * LONGEST]), LONGEST).casefold(), todo)
        for id, todo in zip(ids, items, strict=True)
    ]


def _task(todo: Todo, at: float, before: Task | None) -> Task:
    status = todo.status if todo.status in (DONE, DOING) else "pending"
    waited = not before or (before.status not in (DONE, DOING) and status == DOING)
    ended = (before.ended if before and before.ended else at or 1.0) if status == DONE else 0.0
    return Task(todo.text, status, at if waited or not before else before.begun, ended, todo.cite)
