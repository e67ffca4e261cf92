"""What only a damaged store has and no transcript gives back, carried over into the new one: notes, what hooks left.

A note of which something is missing beneath it is not carried over, since what it covered is told by a new one; but
what a person wrote is, on its own if need be.
"""

from __future__ import annotations

from time import time

from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Note, Placed, Source
from memory_keeper.store import read_remains, spool
from memory_keeper.store.context import MARKS
from memory_keeper.store.home import Lock
from memory_keeper.store.store import Store

PATIENCE = 5.0
KINDS = (*MARKS, "archived", "memory", "imported")  # of events that no transcript has
OF_NOTES = ("spent", "confirmed", "contradicted", "done")  # and what became of notes


def carry_over(keeper: Keeper, path: str) -> tuple[int, bool]:
    """Keep what can still be read in a store that was put aside; how many rows that are, and whether notes are lost."""
    remains = read_remains(path, (*KINDS, *OF_NOTES), OF_NOTES)
    kept = _keep_marks(keeper, [event for event in remains.events if event.kind in KINDS])
    with Lock(keeper.home, PATIENCE):
        kept += sum(_keep_note(keeper.writer, note, remains.covers) for note in sorted(remains.notes, key=_order))
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


def _keep_note(store: Store, note: Note, covers: dict[str, list[str]]) -> bool:
    if store.note(note.id):
        return False
    store.add(note, covers.get(note.id, ()))
    if not store.note(note.id) and note.who == "user" and note.text:  # what it was a wording of is no more
        alone = note._replace(replaces="", kind="note", level=min(note.level, 1))
        store.add(alone)
    return store.note(note.id) is not None
