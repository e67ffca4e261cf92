"""What was written by hand, held against the journal: begun with a store, and given back where a store has vanished."""

from __future__ import annotations

import os
from time import time

from memory_keeper import wire
from memory_keeper.model import Event, Filter, Note
from memory_keeper.store.journal import MARKS, of_mark, of_note, settings_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json
    from memory_keeper.store.store import Store

FORGETTING = "/forget.json"  # a file of the home while something is being forgotten, in the journal too
VANISHED = "/vanished"  # a file of the home, until `doctor --fix` has read back what can be


def begin(keeper: Keeper, vanished: bool) -> None:
    """Begin the journal of a store with what it has; give a new store that takes the place of another what the journal
    has, and leave word of it."""
    journal = keeper.writer.journal
    if vanished:
        with open(keeper.home + VANISHED, "a", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW, 0o600)):
            replay(keeper.writer, journal.read().entries, alone=False)  # what these are of may still be read back
    if not journal.is_there:
        journal.keep([*of_store(keeper.writer), *settings_of(keeper.home)])


def go_on(keeper: Keeper) -> None:
    """Give the store the last thing that somebody wrote, if who did was killed before it was kept there."""
    if not os.path.lexists(keeper.home + FORGETTING):
        replay(keeper.writer, keeper.writer.journal.read().entries[-1:])


def mend(keeper: Keeper) -> int:
    """Give the store what only the journal has, and a damaged journal what the store has; how much the store got."""
    journal = keeper.writer.journal
    known = journal.read()
    kept = replay(keeper.writer, known.entries)
    if not known.is_whole:
        journal.rewrite(lambda entry: entry, [*of_store(keeper.writer), *settings_of(keeper.home)])
    if os.path.lexists(keeper.home + VANISHED):
        os.unlink(keeper.home + VANISHED)
    return kept


def forget(keeper: Keeper, gone: Collection[str], project: str, mask: Callable[[str], str] | None) -> None:
    """Take notes out of the journal, what became of them, whose folders of a project are, and words out of the rest."""
    fields = {"note": (5, 8), "mark": (5, 11)}  # of a note its text and what it carries beside; so of an event

    def leave(entry: Json) -> Json | None:
        ((kind, said),) = entry.items() if len(entry) == 1 else (("settings", entry["settings"]),)
        if kind == "alias":
            return None if said[1] == project else entry
        if kind == "settings":
            return {**entry, "settings": mask(said)} if mask else entry
        if said[0] in gone or said[9 if kind == "note" else 8] in gone:
            return None
        return {kind: [mask(one) if mask and at in fields[kind] else one for at, one in enumerate(said)]}

    keeper.writer.journal.rewrite(leave)


def replay(store: Store, entries: Sequence[Json], alone: bool = True) -> int:
    """Keep again in a store what it lacks; how much that was. `alone`: also the wordings of what is no more there."""
    kept = 0
    for entry in latest(entries):
        if "note" in entry:
            note = Note._make(entry["note"])
            if (known := store.note(note.id)) and of_note(known) != entry:
                store.forget((), [note.id], {})  # somebody has changed it in the store
            kept += keep_note(store, note, alone=alone)
        elif "mark" in entry:
            kept += store.mark(Event._make(entry["mark"]))
        elif "alias" in entry:
            key, project = entry["alias"]
            if store.project(key) != project:
                store.name_project((key,), project)
    return kept


def latest(entries: Sequence[Json]) -> list[Json]:
    """The entries without those of notes that were kept once more in other words, as part of what they belong to was
    gone."""
    last = {entry["note"][0]: entry for entry in entries if "note" in entry}
    return [entry for entry in entries if "note" not in entry or last[entry["note"][0]] is entry]


def keep_note(store: Store, note: Note, covers: Sequence[str] = (), alone: bool = True) -> bool:
    """Keep a note as it was, or, where what it was a wording of is no more, on its own if a person wrote it."""
    if store.note(note.id):
        return False
    store.add(note, covers)
    if alone and not store.note(note.id) and note.who == "user" and note.text:
        store.add(note._replace(replaces="", kind="note", level=min(note.level, 1)))
    return store.note(note.id) is not None


def of_store(store: Store) -> list[Json]:
    """The entries of all that a store has."""
    marks = (of_mark(kept.event) for kept in store.find(Filter(kinds=MARKS)))
    return [*map(of_note, store.written()), *marks]


def settings_of(home: str) -> list[Json]:
    """The entry of the user's settings, where they can be read."""
    try:
        with open(home + "/config.json", encoding="utf-8") as file:
            text = file.read(1 << 20)
        return [{"settings": text, "at": time()}] if isinstance(wire.loads(text), dict) else []
    except (OSError, ValueError, RecursionError):
        return []


def keep_settings(keeper: Keeper) -> None:
    """Have the settings in the journal as they are now."""
    now = settings_of(keeper.home)
    if now and settings_in(keeper.writer.journal.read().entries) != now[0]["settings"]:
        keeper.writer.journal.keep(now)


def differences(store: Store) -> tuple[list[str], list[str]]:
    """The notes and marks that the journal has and the store lacks, and those that only the store has."""
    journal = store.journal
    known = journal.read()
    own = {note.id: of_note(note) for note in store.written()}
    entries = latest(known.entries)
    lacking = [entry["note"][0] for entry in entries if "note" in entry and own.get(entry["note"][0]) != entry]
    marks = [entry["mark"][0] for entry in entries if "mark" in entry]
    lacking += [id for id in marks if not store.event(id)]
    return lacking, [note.id for note in store.written() if not journal.proves(note)]
