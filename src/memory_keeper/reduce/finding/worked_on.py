"""The facts in what was worked on: files with the names used in them, tasks, and what was taken back."""

from __future__ import annotations

from memory_keeper.capture.calls import UNDOES, command_of, fields, first_step
from memory_keeper.model import WRITES, Event
from memory_keeper.reduce.facts import Fact, given
from memory_keeper.reduce.finding.in_place import changed_in_place
from memory_keeper.reduce.finding.lists import of_sessions
from memory_keeper.reduce.finding.weights import Names
from memory_keeper.reduce.words import names
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUOTE = 400  # characters of a task
NEAR, INSIDE = 2, 8  # files that a name is told with, of all it is used in; names that are told with a file


def worked_on(events: Sequence[Event], weighed: Names) -> Iterator[Fact]:
    """What was done to files, with the names in them, and to lists."""
    yield from _reverted(events)
    yield from _listed(events)
    yield from _files(events, weighed)


def _reverted(events: Sequence[Event]) -> Iterator[Fact]:
    """Edits that put back what an edit before had taken away, and changes that git was told to drop."""
    made: dict[tuple[str, str, str], Event] = {}
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    for event in events:
        if event.kind != "call" or event.ref in refused:
            continue
        if event.tool == "Edit":
            texts = fields(event)
            old, new = texts.get("old_string", ""), texts.get("new_string", "")
            first = made.pop((event.path, new, old), None)
            if first is not None and old.strip() != new.strip():
                yield Fact("dead end", event.path, (first.id, event.id), event.at, status="reverted")
            else:
                made[event.path, old, new] = event
        elif UNDOES.match(step := first_step(command_of(event))):
            yield Fact("dead end", one_line(step, 200), (event.id,), event.at, status="reverted")


def _listed(events: Sequence[Event]) -> Iterator[Fact]:
    lists = [event for event in events if event.kind == "todo" and not event.agent]
    calls = {event.ref for event in lists}
    answers = [event for event in events if event.kind == "result" and event.ref in calls]
    when = {event.id: event.at for event in lists}
    named = {str(given(event).get("subject")): event.id for event in lists}  # a later change need not name it again
    for todo in of_sessions([*lists, *answers]):
        if todo.status != "deleted":
            status = {"completed": "done", "in_progress": "doing"}.get(todo.status, "open")
            cites = tuple(dict.fromkeys((named.get(todo.text, todo.cite), todo.cite, todo.numbered or todo.cite)))
            yield Fact("todo", one_line(todo.text, QUOTE), cites, when[todo.cite], about=todo.number, status=status)


def _files(events: Sequence[Event], weighed: Names) -> Iterator[Fact]:
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    done: dict[str, tuple[int, int, int, Event]] = {}
    for event in events:
        for name in changed_in_place(event) if event.ref not in refused else ():
            path = _known(name, (*done, *(one.text for one in weighed.files)))
            created, changed, read, _ = done.get(path, (0, 0, 0, event))
            done[path] = (created, changed + 1, read, event)
        if event.kind == "call" and event.path and names.ENDING.search(event.path) and event.ref not in refused:
            created, changed, read, _ = done.get(event.path, (0, 0, 0, event))
            if event.tool in WRITES:
                created, changed = created + (event.tool == "Write" and not (changed or read)), changed + 1
            elif event.tool == "Read":
                read += 1
            if created or changed or read:
                done[event.path] = (created, changed, read, event)
    named = _named_in(weighed)
    for path, (created, changed, read, event) in done.items():
        what, times = "created" if created else "changed" if changed else "read", changed or read
        status = what if times == 1 else f"{what} {times} times"
        about, cites = named.get(path, ([], []))
        yield Fact("file", path, tuple(dict.fromkeys((event.id, *cites))), event.at, ", ".join(about), status)


def _known(name: str, paths: Iterable[str]) -> str:
    """A file by the path that is known of it, where one is."""
    return next((path for path in paths if path == name or path.endswith(f"/{name}")), name)


def _named_in(weighed: Names) -> dict[str, tuple[list[str], list[str]]]:
    """By file: the heaviest names that are used in it, and the events that say so."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for one in weighed.names:
        for link in weighed.links.get(one.text, ())[:NEAR]:
            inside, cites = found.setdefault(link.path, ([], []))
            if len(inside) < INSIDE:
                inside.append(one.text)
                cites += link.cites
    return found
