"""What must hold of every tree of notes, however it came about: asked of a store after each story."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from memory_keeper.extract.facts import facts_of
from memory_keeper.model import Event, Note, origin
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.notes.kept_note import measure
from memory_keeper.store.events import covered_events
from memory_keeper.store.sqlite import SqliteStore


def problems(store: SqliteStore, grounded: bool = False) -> list[str]:
    """What is wrong with a tree; `grounded`: also what its notes name that the events they cite do not."""
    notes = {note.id: note for note in map(Note._make, _rows(store, f"select {', '.join(Note._fields)} from note"))}
    return [
        *_of_events(store, notes),
        *_of_notes(store, notes),
        *(wrong for note in notes.values() for wrong in _of_text(store, note)),
        *(wrong for note in notes.values() if grounded for wrong in lacking(store, note)),
    ]


def lacking(store: SqliteStore, note: Note) -> Iterator[str]:
    """What each line of a note by rule over events names that the events it cites do not."""
    about = said_about(note)
    if note.level != 1 or about.get("by") != "extractive":
        return
    events = {event.id: event for event in covered_events(store, note.id)}
    for line, cites in zip(lines(note), about["cites"], strict=True):
        said = [text for cite in cites for text in sources(events[cite])]
        folder = note.project.removeprefix("dir:") + "/"  # paths are told as seen from there
        missing = ungrounded(line, [*said, *(text.replace(folder, "") for text in said if folder in text)])
        if missing:
            yield f"{note.id} names {missing}, which its events do not: {line}"


def lines(note: Note) -> list[str]:
    """The lines of a note; one without words has none."""
    return note.text.split("\n") if note.text else []


def said_about(note: Note) -> dict[str, Any]:
    """What a note carries beside its text."""
    about = json.loads(note.extra or "{}")
    assert isinstance(about, dict)
    return about


def sources(event: Event) -> list[str]:
    """All that an event says."""
    said = [event.text, event.path, event.tool, event.kind]
    return [*said, *_strings(json.loads(event.extra))] if event.extra else said


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif value is not None:
        yield str(value)


def _of_events(store: SqliteStore, notes: dict[str, Note]) -> Iterator[str]:
    """An event is open, or covered by the first wording of one note about a stretch of its own session."""
    rows = _rows(store, "select session, project, id, covered_by from event order by session, project, seq")
    for (session, project), group in groupby(rows, key=lambda row: row[:2]):
        covers = [(id, above) for _, _, id, above in group]
        for id, above in covers:
            note = notes.get(above) if above else None
            if above and not note:
                yield f"{id} is covered by {above}, which is not there"
            elif note and (note.level, note.session, note.project, note.replaces) != (1, session, project, ""):
                yield f"{id} of {session} in {project} is covered by {note}"
        runs = [above for above, _ in groupby(above for _, above in covers)]
        if len(runs) != len(set(runs)):
            yield f"the notes of {session} are no stretches: {runs}"
        if None in runs[:-1]:
            yield f"what is open of {session} lies between what is covered: {runs}"


def _of_notes(store: SqliteStore, notes: dict[str, Note]) -> Iterator[str]:
    """A note is open, or covered by one of the next level and its project; a later wording covers nothing."""
    covered = dict(_rows(store, "select id, covered_by from note"))
    parents = {above for above in covered.values() if above}
    parents |= {above for (above,) in _rows(store, "select distinct covered_by from event") if above}
    for note in notes.values():
        above = notes.get(covered[note.id] or "")
        first = notes.get(origin(note))
        if covered[note.id] and not above:
            yield f"{note.id} is covered by {covered[note.id]}, which is not there"
        if above and (above.level, above.project, above.replaces) != (note.level + 1, note.project, ""):
            yield f"{note.id} at level {note.level} in {note.project} is covered by {above}"
        if covered[note.id] and (note.replaces or not note.level):
            yield f"{note.id} is covered and should never be"
        if not first or first.replaces or (first.level, first.project) != (note.level, note.project):
            yield f"{note.id} replaces {note.replaces}, which is {first}"
        if (note.id in parents) != bool(note.level and not note.replaces):
            yield f"{note.id} at level {note.level} covers {'something' if note.id in parents else 'nothing'}"


def _of_text(store: SqliteStore, note: Note) -> Iterator[str]:
    """A note by rule cites something for each of its lines, and only what it covers."""
    about = said_about(note)
    if not note.level or about.get("by") != "extractive":
        return
    if note.tokens != measure(note.text):
        yield f"{note.id} says {note.tokens} tokens and has {measure(note.text)}"
    if len(about["cites"]) != len(lines(note)) or not all(about["cites"]):
        yield f"{note.id} has {len(lines(note))} lines and cites {about['cites']}"
    known = set(beneath(store, note.id))
    cited = {cite for cites in about["cites"] for cite in cites}
    cited |= {cite for fact in facts_of(note) for cite in fact.cites}
    if not cited <= known:
        yield f"{note.id} cites {cited - known}, which it does not cover"


def beneath(store: SqliteStore, id: str) -> Iterator[str]:
    """All that a note covers, down to the events."""
    for child in store.children(id):
        yield child
        yield from beneath(store, child)


def _rows(store: SqliteStore, query: str) -> list[Any]:
    return store.db.execute(query).fetchall()
