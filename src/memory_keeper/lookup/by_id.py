"""One thing that was kept, by its id or the beginning of it."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.briefs.rules import rules_of
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import SEVERAL, several
from memory_keeper.model import USER, Event, Note
from memory_keeper.rules.prompts import unlearnt
from memory_keeper.text import tokens


def find_one(keeper: Keeper, id: str, hint: str = "`memory-keeper search` gives ids") -> Event | Note:
    """The note or the event of that id, in that wording, or the one whose id begins so."""
    if not id:
        raise KeeperError("The id is empty", hint=hint)
    item: Event | Note | None = keeper.store.note(id) or keeper.event(id)
    found = [] if item else keeper.store.ids(id, SEVERAL + 1)
    if len(found) == 1:
        item = keeper.store.note(found[0])
    if not item and not found:
        item = unwritten(keeper, id)
    if not item and len(found) < 2:
        raise KeeperError(f"Nothing is called {id}", hint=hint)
    if not item:
        raise KeeperError(f"More than one thing is called {id}: {several(found)}", hint="give more of the id")
    return item


def unwritten(keeper: Keeper, id: str) -> Note | None:
    """What a context is told that no note in the store has: a rule as it came with us, or what the user said just
    now, as it will be kept."""
    if id.startswith("rule-"):
        texts = {rule.id: rule.text for rule in rules_of(None, "")}
        extra = wire.dumps({"by": "Memory Keeper, with which it comes"})
        return Note(id, 0.0, "rule", 0, USER, texts[id], "", tokens(texts[id]), extra) if id in texts else None
    if not id.startswith("note-"):
        return None
    new = (note for project in keeper.store.projects() for note in unlearnt(keeper.store, project))
    return next((note for note in new if note.id == id), None)
