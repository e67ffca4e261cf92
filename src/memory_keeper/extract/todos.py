"""The model's lists of tasks: what a session's todo calls left behind, and the lists of several sessions as one.

A task leaves a list in many ways: it is completed, deleted by its number, or not on the list that is written next.
Numbers begin anew with a session, unless the host lets several share a list: then one changes what another has made.
Whoever has to know what is open asks here, so that all say the same: a task is, until the last list that names it says
otherwise, or so many others were written that it is taken to be given up. Hooks load this.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Event, NamedTuple
from memory_keeper.store.events import todo_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.model import Json
    from memory_keeper.store.store import Store

DOING = "in_progress"  # what a list says of a task
LISTS = 5  # of a project, the newest, whose tasks may be open
CHANGES = 500  # of lists, among which those are looked for


class Todo(NamedTuple):
    """A task of the model's list, as last written."""

    text: str
    status: str  # pending | in_progress | completed | deleted
    cite: str
    number: str = ""  # by which the host knows it, where it said so
    numbered: str = ""  # the event that said so
    made: str = ""  # the event that made it, where a later one changed it


def todos(events: Iterable[Event]) -> list[Todo]:
    """The list that a session's todo calls, oldest first, left behind; with their results, under the right numbers and
    without those that failed."""
    events = list(events)
    numbers = _numbers(events)
    failed = {event.ref for event in events if event.kind == "result" and event.failed and event.ref}
    events = [event for event in events if event.kind != "result" and event.ref not in failed]
    # each TodoWrite begins the list anew: what came before the last one need not be read
    begin = max((number for number, event in enumerate(events) if event.tool == "TodoWrite"), default=0)
    listed: dict[str, Todo] = {}
    made = sum(event.tool == "TaskCreate" for event in events[:begin])
    for event in events[begin:]:
        item = given(event)
        if event.tool == "TodoWrite":
            listed = _list_of(item.get("todos"), event.id)
        elif event.tool == "TaskCreate":
            made, numbered = numbers.get(event.ref, (made + 1, ""))
            mark = f"#{made}" if numbered else ""
            listed[str(made)] = Todo(str(item.get("subject", "")), "pending", event.id, mark, numbered)
        elif event.tool == "TaskUpdate" and (known := listed.get(key := str(item.get("taskId", "")))):
            text, status = item.get("subject") or known.text, item.get("status") or known.status
            changed = {"cite": event.id, "made": known.made or known.cite}
            listed[key] = known._replace(text=str(text), status=str(status), **changed)
    return [todo for todo in listed.values() if todo.text]


def _list_of(items: object, cite: str) -> dict[str, Todo]:
    """The tasks of a list that was written at once, by their place in it."""
    return {
        str(number): Todo(str(one.get("content", "")), str(one.get("status", "")), cite)
        for number, one in enumerate(items if isinstance(items, list) else [])
        if isinstance(one, dict)
    }


def _numbers(events: Sequence[Event]) -> dict[str, tuple[int, str]]:
    """The numbers that the host gave to new tasks, by call, and where: a session's later events do not begin at one."""
    found = {}
    for event in events:
        if event.kind == "result" and event.text.startswith("Task #"):
            number = event.text[6:16].partition(" ")[0]
            if number.isascii() and number.isdecimal():
                found[event.ref] = int(number), event.id
    return found


def given(event: Event) -> Json:
    """What a todo call was given; empty when that cannot be read."""
    return wire.read_object(event.extra)


def newest(store: Store, project: str, of: Sequence[str] = ()) -> list[Event]:
    """What was done to the newest lists of a project, or of some of its sessions, a session after the other, the oldest
    first."""
    changes = store.latest(project, "todo", CHANGES, of, text=False)
    sessions = list(dict.fromkeys(event.session for event in changes))[:LISTS]
    return [event for session in reversed(sessions) for event in todo_events(store, session)]


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
