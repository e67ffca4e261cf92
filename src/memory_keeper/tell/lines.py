"""The lines of a handoff: how they are kept with its note, and whose they are."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.reduce.sentences import Sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.model import Note

KEPT = [str, str, list, str, int, list]  # of a line
TASKS = ("doing", "open")  # sections that list what is not done
OUTLIVES = ("goal", "rule", "decision", "answer", "end", "error", "again", *TASKS)  # what holds after other work too


def dump(lines: Sequence[Sentence]) -> list[list[object]]:
    """Lines as they are kept with a note."""
    return [
        [one.section, one.text, list(one.cites), one.cut, one.least, list(one.each), *([one.of] if one.of else [])]
        for one in lines
    ]


def load(note: Note) -> list[Sentence]:
    """The lines that are kept with a note; none when it has none that can be read."""
    kept = wire.read_object(note.extra).get("lines")
    return undump(kept) if isinstance(kept, list) else []


def undump(lines: Iterable[object]) -> list[Sentence]:
    """What `dump` was given; none when one of them cannot be read."""
    found = []
    for one in lines:
        kept = [type(part) for part in one] if isinstance(one, list) else []
        if (
            not isinstance(one, list)
            or kept not in (KEPT, [*KEPT, str])
            or not _are_ids(one[2])
            or not _are_ids(one[5])
        ):
            return []
        section, text, cites, cut, least, each = one[:6]
        found.append(Sentence(text, tuple(cites), cut, least, section, tuple(each), *one[6:]))
    return found


def _are_ids(ids: list[object]) -> bool:
    return all(isinstance(id, str) for id in ids)


def heading(lines: Iterable[Sentence]) -> str:
    """The heading of lines that are handed on, with the sessions they are of; empty when there are none."""
    of = ", ".join(dict.fromkeys(line.of[:8] for line in lines if line.of))
    return f"Handed on from session{'s' if ',' in of else ''} {of}" if of else ""


def handed_on_whole(lines: Iterable[Sentence]) -> tuple[str, ...]:
    """The sessions that some lines hand on all of: only one that did little hands on what does not outlive work."""
    return tuple(dict.fromkeys(line.of for line in lines if line.of and line.section not in OUTLIVES))
