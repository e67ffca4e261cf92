"""What a note carries beside its text, read as far as it is what it should be: a note may be anybody's.

A hook needs it at every start, so nothing here is dear to load.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Note


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
