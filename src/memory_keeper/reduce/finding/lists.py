"""The lists of tasks that several sessions left, as one.

A task leaves a list in many ways: it is completed, deleted by its number, or not on the list that is written next. What
is told of it later has to know all of them. Numbers begin anew with a session, unless the host lets several share a
list: then one changes what another has made. Whoever has to know what is open asks here, so that all say the same: a
task is, until the last list that names it says otherwise, or so many others were written that it is taken to be given
up.
"""

from __future__ import annotations

from memory_keeper.reduce.facts import Todo, given, todos

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Event

LISTS = 5  # of a project, the newest, whose tasks may be open
CHANGES = 500  # of lists, among which those are looked for


def newest(store: SqliteStore, project: str, of: Sequence[str] = ()) -> list[Event]:
    """What was done to the newest lists of a project, or of some of its sessions, a session after the other, the oldest
    first."""
    changes = store.latest(project, "todo", CHANGES, of, text=False)
    sessions = list(dict.fromkeys(event.session for event in changes))[:LISTS]
    return [event for session in reversed(sessions) for event in store.todo_events(session)]


def left_open(events: Sequence[Event]) -> list[Todo]:
    """The tasks that the lists of some sessions leave open."""
    return [todo for todo in of_sessions(events) if todo.status not in ("completed", "deleted")]


def of_sessions(events: Sequence[Event]) -> list[Todo]:
    """The tasks of all lists, with the calls' results under the right numbers: of a task that several lists had, what
    the last of them says."""
    found: list[Todo] = []
    for mine in _apart(events):
        named = _named(mine)
        found = [*(todo for todo in found if todo.text not in named), *todos(mine)]
    return found


def _apart(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each list, one after the other."""
    mine: list[Event] = []
    for session in dict.fromkeys(event.session for event in events):
        more = [event for event in events if event.session == session]
        if mine and {"#" + number for number, _ in _changed(more)} <= _made(more):
            yield mine
            mine = []
        mine += more
    yield mine


def _named(events: Iterable[Event]) -> set[str]:
    """The words of all tasks that were ever listed."""
    found: set[str] = set()
    for item in map(given, events):
        items = item.get("todos")
        listed = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
        found.update(str(one.get("content") or "") for one in listed)
        found.add(str(item.get("subject") or ""))
    return found - {""}


def _changed(events: Iterable[Event]) -> list[tuple[str, str]]:
    """The numbers of the tasks that were changed, each with the status it was given."""
    changes = [given(event) for event in events if event.tool == "TaskUpdate"]
    return [(str(item.get("taskId") or ""), str(item.get("status") or "")) for item in changes]


def _made(events: Sequence[Event]) -> set[str]:
    """The numbers of the tasks that were made."""
    made = [event for event in events if event.kind == "result" or event.tool == "TaskCreate"]
    return {todo.number or f"#{count}" for count, todo in enumerate(todos(made), 1)}
