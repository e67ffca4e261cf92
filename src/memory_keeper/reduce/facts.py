"""What events state outright: what a fact is, and the two kinds a hook needs, open tasks and touched files.

All others are found in `finding.found`, which needs `re`: too dear for a hook.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import WRITES, Event, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.model import Json

DOING = "in_progress"  # what a list says of a task


class Fact(NamedTuple):
    """Something that events state: a quote of theirs, or a few words of ours around quotes."""

    kind: str  # see FACTS
    text: str
    cites: tuple[str, ...]  # the events it was taken from
    at: float
    about: str = ""  # what it is about: the names edited in a file, the command of an error or a test
    status: str = ""  # what became of it: ok, failed, fixed, changed, created, read, open, done, …
    because: str = ""  # the reason of a decision; what fixed an error


FACTS = {
    "request": "what the user asked for",
    "correction": "what the user wants always, never, or otherwise",
    "answer": "what the user chose when asked",
    "decision": "what was settled, by user or model, as they said it",
    "dead end": "what was tried or believed, and was wrong",
    "done": "what the model said it had finished",
    "next": "what the model said last is to come",
    "question": "what the model asked last, and nobody answered",
    "todo": "a task of the model's list",
    "file": "a file that was created, changed or read",
    "command": "a shell command and how it last ended",
    "test": "what tests said last",
    "error": "what went wrong",
    "commit": "a commit that was made",
}


class Todo(NamedTuple):
    """A task of the model's list, as last written."""

    text: str
    status: str  # pending | in_progress | completed | deleted
    cite: str
    number: str = ""  # by which the host knows it, where it said so
    numbered: str = ""  # the event that said so


class Touched(NamedTuple):
    """A file and what was done to it."""

    path: str
    changes: int
    reads: int
    cite: str  # the newest event about it


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
            listed[key] = known._replace(text=str(text), status=str(status), cite=event.id)
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


def given(event: Event) -> Json:
    """What a todo call was given; empty when that cannot be read."""
    return wire.read_object(event.extra)
