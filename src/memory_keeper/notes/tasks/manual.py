"""The tasks that somebody wrote down by hand."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import NamedTuple, origin
from memory_keeper.notes.tasks.identity import LONGEST, short_id, split
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line


class Unfinished(NamedTuple):
    """A task that is not done: one written by hand, or one of a list."""

    id: str
    text: str
    session: str  # of the list; empty: by hand
    at: float
    doing: bool = False  # it is in hand
    note: str = ""  # by hand: the id of its note


def written(store: Store, project: str) -> list[Unfinished]:
    """The tasks that somebody wrote down by hand and nobody took away, done or not."""
    found = []
    for note in store.notes(project, 0, "task"):
        given = wire.read_object(note.extra).get("task")
        id, text = split(note.text)
        if note.text:
            own = one_line(clean(given), LONGEST) if isinstance(given, str) else ""
            found.append(Unfinished(own or id or short_id(text), text, "", note.at, note=origin(note)))
    return found
