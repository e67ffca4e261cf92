"""A note as it is kept: its lines and what each rests on, of when it is, and how long.

A note may be anybody's, so what it carries beside its text is read as far as it is what it should be. A hook needs this
at every start: nothing here is dear to load.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Note
from memory_keeper.text import tokens


def lines_of(note: Note) -> list[tuple[str, tuple[str, ...]]]:
    """The lines of a note and what each rests on; on nothing where it does not say, as when a person wrote it."""
    lines = note.text.split("\n") if note.text else []
    cites = None if note.who else wire.read_object(note.extra).get("cites")
    if not isinstance(cites, list) or len(cites) != len(lines):
        return [(line, ()) for line in lines]
    return [(line, _ids(one)) for line, one in zip(lines, cites, strict=True)]


def _ids(cites: object) -> tuple[str, ...]:
    return tuple(one for one in cites if isinstance(one, str) and one) if isinstance(cites, list) else ()


def begun(note: Note) -> float:
    """When what a note tells of began; when it ended, where it does not say."""
    first = wire.read_object(note.extra).get("first")
    return float(first) if isinstance(first, int | float) and 0 < first <= note.at else note.at


def written(note: Note) -> float:
    """When this wording of a note was written."""
    at = wire.read_object(note.extra).get("written")
    return float(at) if isinstance(at, int | float) else note.at


def shown_at(note: Note) -> float:
    """The time of a note for people: of a standing one that was changed, when that was."""
    return written(note) if note.replaces and not note.level else note.at


def measure(text: str) -> int:
    """The tokens of a note's text as it is told."""
    return tokens(text) + 1 if text else 0
