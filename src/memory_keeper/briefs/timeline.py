"""The timeline: what happened when, one line each, in a session or a project, or around one thing that happened.

Of a session every step is told, and what came of a call stands in its line; of a project only what was asked, where
contexts were compacted, and what the notes say. From each line `show` and `get` lead on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from time import gmtime, strftime

from memory_keeper.capture.project import short_path
from memory_keeper.model import Event, NamedTuple, Note
from memory_keeper.provenance import whose
from memory_keeper.store import timeline
from memory_keeper.store.store import Store
from memory_keeper.text import ago, clean, one_line, showable, utc_day

STEPS = ("prompt", "reply", "call", "todo", "command", "task", "notice", "compact", "summary")
TURNS = ("prompt", "compact")
CALLS = ("call", "todo")
FILES = ("Read", "Edit", "MultiEdit", "Write", "NotebookEdit")  # the tools whose call is told by its path
WIDTH = 110  # characters of a line, beside its time and its id
CAME = 50  # of what came of a call
UNSAID = {"compact_boundary": "the context was compacted"}  # of events without words, by the host's name
LIMIT = 30  # lines


class Entry(NamedTuple):
    """Something that happened, or a note, as a line of a timeline."""

    id: str
    at: float
    kind: str
    level: int  # 0: an event, or a note that covers nothing
    session: str
    project: str
    text: str  # on one line
    path: str = ""
    failed: bool = False
    here: bool = False  # what the others are around


def of_session(store: Store, session: str, since: float, until: float, limit: int) -> list[Entry]:
    """The newest steps of a session, and the notes that tell of it, in order."""
    project = store.project_of(session)
    events = timeline.of_session(store, session, STEPS, since, until, limit)
    notes = store.notes_between(project, session, since, until, limit)
    return _merged(_lines(store, events), map(_note_line, notes))[-limit:]


def of_project(store: Store, project: str | None, since: float, until: float, limit: int) -> list[Entry]:
    """What was asked of a project, or of all, last, and the notes about it, in order."""
    events = timeline.of_project(store, project, TURNS, since, until, limit)
    notes = store.notes_between(project, "", since, until, limit)
    return _merged(_lines(store, events), map(_note_line, notes))[-limit:]


def around(store: Store, one: Event | Note, number: int) -> list[Entry]:
    """What came before and after something, so many in all: in its session, or in its project where it is of none."""
    if isinstance(one, Note):
        return _around_note(store, one, number)
    older, newer = timeline.around(store, one.id, STEPS, number)
    events = _balanced(older or [one], newer, number)  # it may be only in a spool yet
    first, last = min(event.at for event in events), max(event.at for event in events)
    notes = store.notes_between(one.project, one.session, first, _next(last), number) if one.session else []
    return _merged(_lines(store, events, one.id), map(_note_line, notes))


def _around_note(store: Store, note: Note, number: int) -> list[Entry]:
    """A note stands where what it tells of ended."""
    moment, here = _next(note.at), _note_line(note)._replace(here=True)
    if note.session:
        older = timeline.of_session(store, note.session, STEPS, 0.0, moment, number)
        newer = timeline.of_session(store, note.session, STEPS, moment, 0.0, number, newest=False)
    else:
        older = timeline.of_project(store, note.project, TURNS, 0.0, moment, number)
        newer = timeline.of_project(store, note.project, TURNS, moment, 0.0, number, newest=False)
    events = _balanced(older, newer, number - 1)
    return _merged(_lines(store, events), [here])


def _balanced(older: list[Event], newer: list[Event], number: int) -> list[Event]:
    """The nearest: half of them later, where there are so many, else more of the others."""
    later = min(len(newer), max(number // 2, number - len(older)))
    return [*older[max(0, len(older) - number + later) :], *newer[:later]]


def _next(at: float) -> float:
    return at + 0.001  # what happened at that very moment is before it


def _merged(events: Iterable[Entry], notes: Iterable[Entry]) -> list[Entry]:
    """Both in the order of time; a note comes after what happened at its moment."""
    return sorted([*events, *notes], key=lambda entry: entry.at)


# --- lines ------------------------------------------------------------------------------------------------------------


def _lines(store: Store, events: Sequence[Event], here: str = "") -> Iterator[Entry]:
    came: dict[str, Event] = {}
    roots = {project: store.roots(project) for project in {event.project for event in events}}
    for session in {event.session for event in events}:
        calls = [event for event in events if event.kind in CALLS and event.session == session]
        came |= timeline.results_by_ref(store, calls) if calls else {}
    for event in events:
        result = came.get(event.ref) if event.kind in CALLS else None
        failed = event.failed or bool(result and result.failed)
        path = short_path(event.path, roots[event.project])
        about = path if event.tool in FILES else ""
        said = f"{_said(event, about)}{_came(result, bool(about))}"
        yield Entry(
            event.id, event.at, event.kind, 0, event.session, event.project, said, path, failed, event.id == here
        )


def _said(event: Event, path: str) -> str:
    """What an event says, on one line: of a call what it is about, without the remark that some bear."""
    if event.kind in CALLS:
        given = event.text.partition(": ")[2] or event.text
        what = path or given.rpartition("\ndescription: ")[0] or given
        return f"{event.tool}: {one_line(clean(what), WIDTH - CAME)}"
    text = event.text if event.kind != "command" else " ".join(_untagged(event.text))
    return one_line(clean(text), WIDTH) or UNSAID.get(event.tool, event.tool)


def _untagged(text: str) -> Iterator[str]:
    """A command's name, its words and what it printed, which the host writes between tags."""
    first, *rest = text.split("<")
    yield from (first, *(part.partition(">")[2] for part in rest))


def _came(result: Event | None, file: bool) -> str:
    """What came of a call; what a file says that was read or written is not that."""
    if not result:
        return ""
    said = "" if file and not result.failed else one_line(clean(result.text), CAME)
    return f" → {'failed' if result.failed else 'ok'}{f': {said}' if said else ''}"


def _note_line(note: Note) -> Entry:
    by, lines = whose(note), (line.removeprefix("- ") for line in note.text.split("\n") if line[:1] != "#")
    said = f"{f'(by {by}) ' if by else ''}{clean(' '.join(lines))}"
    return Entry(note.id, note.at, note.kind, note.level, note.session, note.project, one_line(said, WIDTH))


# --- told -------------------------------------------------------------------------------------------------------------


def grouped(entries: Iterable[Entry], day: Callable[[float], str]) -> Iterator[tuple[str, str, list[Entry]]]:
    """The entries of one day and one session together, in order; those of no session by their project."""

    def key(entry: Entry) -> tuple[str, str, str]:
        return day(entry.at), entry.session, "" if entry.session else entry.project

    for (when, session, _), group in groupby(entries, key):
        yield when, session, [*group]


def tell(entries: Sequence[Entry], now: float, named: Callable[[Entry], str]) -> Iterator[str]:
    """The lines for a model: a heading for each day and session, and below it when, which, and what."""
    for day, session, group in grouped(entries, utc_day):
        of = f", session {session[:8]}" if session else ""
        yield f"{day} ({ago(group[-1].at, now)}){of}"
        for entry in group:
            mark = " <-" if entry.here else ""
            clock = strftime("%H:%MZ", gmtime(showable(entry.at)))
            yield f"{clock} {named(entry)} {entry.kind}{mark}: {entry.text}"
