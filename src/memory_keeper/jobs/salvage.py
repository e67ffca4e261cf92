"""What only a damaged store has and no transcript gives back, carried over into the new one: notes, what hooks left.

A note of which something is missing beneath it is not carried over, since what it covered is told by a new one; but
what a person wrote is, on its own if need be.
"""

from __future__ import annotations

import os
from time import time

from memory_keeper.capture.tail import read_new
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.by_hand import keep_note
from memory_keeper.model import Event, Member, Note, Placed, Source
from memory_keeper.store import archive, read_remains, spool
from memory_keeper.store.context import MARKS
from memory_keeper.store.home import Lock, about
from memory_keeper.store.journal import MARKS as OF_HAND

PATIENCE = 5.0
KINDS = (*MARKS, "archived", "memory", "imported")  # of events that no transcript has
OF_NOTES = ("spent", *OF_HAND)  # and what became of notes


def carry_over(keeper: Keeper, path: str) -> tuple[int, bool]:
    """Keep what can still be read in a store that was put aside; how many rows that are, and whether notes are lost."""
    remains = read_remains(path, (*KINDS, *OF_NOTES), OF_NOTES)
    kept = _keep_marks(keeper, [event for event in remains.events if event.kind in KINDS])
    with Lock(keeper.home, PATIENCE):
        notes = sorted(remains.notes, key=_order)
        kept += sum(keep_note(keeper.writer, note, remains.covers.get(note.id, ())) for note in notes)
        kept += sum(keeper.writer.mark(event) for event in remains.events if event.kind in OF_NOTES)
    return kept, remains.lost


def _keep_marks(keeper: Keeper, events: list[Event]) -> int:
    """Keep what hooks left, as the spool of each session would have brought it."""
    kept = 0
    with Lock(keeper.home, PATIENCE):
        for session in dict.fromkeys(event.session for event in events):
            own = [event for event in events if event.session == session]
            path = spool.path_of(keeper.home, session)
            source = keeper.writer.source(path) or keeper.writer.begin(Source(path, session, own[0].project))
            kept += keeper.writer.record(source, [Placed(event, 0) for event in own], now=time())
    return kept


def _order(note: Note) -> tuple[bool, int]:
    """First wordings before the others, and the lower levels before those that cover them."""
    return bool(note.replaces), note.level


def damaged(keeper: Keeper) -> list[Source]:
    """The transcripts with an archive that cannot be read to its end, once for each damaged member."""
    return [source for source, member in keeper.store.members() if not _is_readable(keeper.home, source, member)]


def _is_readable(home: str, source: Source, member: Member) -> bool:
    try:
        return bool(archive.read(home, source, member))
    except (OSError, ValueError):
        return False


def is_still_there(source: Source) -> bool:
    """Whether the host still has all that was read of a transcript."""
    try:
        tail = read_new(source, 1)
    except (OSError, ValueError, KeeperError):
        return False
    return bool(about(source.path).st_size) and not (tail and tail.replaced)


def read_again(keeper: Keeper) -> int:
    """Read the transcripts with damaged archives again, where the host still has them; how many those were."""
    found = [source for source in dict.fromkeys(damaged(keeper)) if is_still_there(source)]
    for source in found:
        with keeper.writing(PATIENCE):
            keeper.writer.begin(source)
        keeper.read(source)
        with keeper.writing(PATIENCE):
            keeper.writer.forget((), (), {source.seq: None})
        os.unlink(archive.archive_path(keeper.home, source))
    return len(found)
