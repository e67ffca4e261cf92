"""Notes as they are made while a session runs, with the settings as shipped, and what each stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from memory_keeper.model import Event, Note
from memory_keeper.notes import note as notes
from memory_keeper.notes.kept_note import measure
from memory_keeper.notes.segments import segments
from memory_keeper.policy import CHARACTERS
from memory_keeper.settings import DEFAULTS


class Made(NamedTuple):
    """A note, what each of its lines cites, and the events it stands for."""

    note: Note
    cites: tuple[tuple[str, ...], ...]
    events: list[Event]
    lists: tuple[str, ...] = ()  # what an outline says beside its text


def level_one(events: list[Event], folder: str = "") -> Iterator[Made]:
    """The notes of one session, segment by segment."""
    size = DEFAULTS["reduce.saveInterval"], DEFAULTS["reduce.saveTokens"] * CHARACTERS
    for number, (segment, midway) in enumerate(segments(events, *size, over=True)):
        draft, last = notes.write(segment, DEFAULTS["reduce.noteTokens"], folder, midway), segment[-1]
        id, extra = f"{last.session}:{number}", json.dumps(notes.about(draft, segment))
        note = Note(id, last.at, "session", 1, "p", draft.text, last.session, measure(draft.text), extra)
        yield Made(note, draft.cites, segment)
