"""What events state outright, taken by rule: the tasks that are open, the files that were touched."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Event, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.model import Json

WRITES = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


class Todo(NamedTuple):
    """A task of the model's list, as last written."""

    text: str
    status: str  # pending | in_progress | completed | deleted
    cite: str


class Touched(NamedTuple):
    """A file and what was done to it."""

    path: str
    changes: int
    reads: int
    cite: str  # the newest event about it


def todos(events: Iterable[Event]) -> list[Todo]:
    """The list that a session's todo calls, oldest first, left behind."""
    events = list(events)
    # each TodoWrite begins the list anew: what came before the last one need not be read
    begin = max((number for number, event in enumerate(events) if event.tool == "TodoWrite"), default=0)
    listed: dict[str, Todo] = {}
    made = sum(event.tool == "TaskCreate" for event in events[:begin])
    for event in events[begin:]:
        given = _given(event)
        if event.tool == "TodoWrite":
            items = given.get("todos")
            listed = {}
            for number, item in enumerate(items if isinstance(items, list) else []):
                if isinstance(item, dict):
                    listed[str(number)] = Todo(str(item.get("content", "")), str(item.get("status", "")), event.id)
        elif event.tool == "TaskCreate":
            made += 1
            listed[str(made)] = Todo(str(given.get("subject", "")), "pending", event.id)
        elif event.tool == "TaskUpdate":
            key = str(given.get("taskId", ""))
            if key in listed:
                known = listed[key]
                listed[key] = Todo(
                    str(given.get("subject") or known.text), str(given.get("status") or known.status), event.id
                )
    return [todo for todo in listed.values() if todo.text]


def open_todos(events: Iterable[Event]) -> list[Todo]:
    """Those not done yet."""
    return [todo for todo in todos(events) if todo.status not in ("completed", "deleted")]


def touched(calls: Sequence[Event]) -> list[Touched]:
    """The files of some calls, newest call first; changed files before files that were only read."""
    found: dict[str, Touched] = {}
    for call in calls:
        if call.path and not call.path.endswith("/"):
            seen = found.get(call.path) or Touched(call.path, 0, 0, call.id)
            wrote = call.tool in WRITES
            found[call.path] = seen._replace(changes=seen.changes + wrote, reads=seen.reads + (call.tool == "Read"))
    files = [one for one in found.values() if one.changes or one.reads]
    return [one for one in files if one.changes] + [one for one in files if not one.changes]


def _given(event: Event) -> Json:
    try:
        given = wire.loads(event.extra) if event.extra else {}
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
