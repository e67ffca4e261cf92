"""What the user shares: the notes whose newest mark says so, as they are now and without secrets. A query, no state.

A mark names the wording that the user saw. The user's own later wordings follow it; one by a model does not, since
nobody has seen what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2s
from time import time

from memory_keeper import wire
from memory_keeper.capture.forgotten import MARK as FORGOTTEN
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Filter, Item, Json, Note, origin
from memory_keeper.notes.kept_note import written
from memory_keeper.team.item import KINDS, LONGEST
from memory_keeper.text import clean, clip_middle, digest_of

SHARED, UNSHARED = "shared", "unshared"
CUT = 8_000  # tokens of a text that would be too long


def writer_of(keeper: Keeper) -> str:
    """What tells this home from all others."""
    return blake2s(b"team", key=keeper.salt, digest_size=8).hexdigest()


def is_shareable(note: Note) -> bool:
    """Whether a note is of a kind that can be shared, and says something."""
    return kind_of(note) in KINDS and bool(note.text)


def kind_of(note: Note) -> str:
    """What a note is called where it is shared: a piece of a session's outline is told as the session's."""
    return "session" if note.level else note.kind


def share(keeper: Keeper, notes: Sequence[Note], author: str, to: str = "") -> list[Note]:
    """Mark some notes as shared, as they are; those that were not, just so, before."""
    now, done = time(), []
    with keeper.writing(30.0):
        state = marks_of(keeper, {origin(note) for note in notes})
        for note in notes:
            mark = state.get(origin(note), [None])[-1]
            about = {"wording": note.id, "author": author, "to": to}
            if mark and mark.kind == SHARED and wire.read_object(mark.extra) == about:
                continue
            _mark(keeper, SHARED, note, now, about)
            done.append(note)
    return done


def unshare(keeper: Keeper, notes: Sequence[Note]) -> list[Note]:
    """Take some notes back; those that were shared."""
    now, done = time(), []
    with keeper.writing(30.0):
        state = marks_of(keeper, {origin(note) for note in notes})
        for note in notes:
            marks = state.get(origin(note), [])
            if marks and marks[-1].kind == SHARED:
                about = wire.read_object(marks[-1].extra)
                _mark(keeper, UNSHARED, note, now, {**about, "wording": note.id})
                done.append(note)
    return done


def _mark(keeper: Keeper, kind: str, note: Note, now: float, about: Json) -> None:
    first = origin(note)
    id = f"{kind}-{digest_of(first, repr(now))}:0"
    keeper.writer.mark(Event(id, now, kind, "", note.project, "", ref=first, extra=wire.dumps(about)))


def marks_of(keeper: Keeper, ids: set[str] | None = None, project: str | None = None) -> dict[str, list[Event]]:
    """The marks of notes, oldest first, by the ids of these."""
    found: dict[str, list[Event]] = {}
    refs = sorted(ids) if ids is not None else None
    for kept in keeper.store.find(Filter(project=project, kinds=(SHARED, UNSHARED), refs=refs)):
        found.setdefault(kept.event.ref, []).append(kept.event)
    return found


def outbox(keeper: Keeper, project: str) -> list[Item]:
    """All that is shared of a project, and what was taken back: only under no lock, as it takes the writer's."""
    with keeper.writing(30.0):
        return [*_items(keeper, project)]


def _items(keeper: Keeper, project: str) -> Iterator[Item]:
    writer = writer_of(keeper)
    for first, marks in marks_of(keeper, project=project).items():
        wordings = keeper.store.wordings(first)
        if not wordings:
            continue  # it was forgotten, and that travels by itself
        mark, about = marks[-1], wire.read_object(marks[-1].extra)
        note = _shown(keeper, first, str(about.get("wording", "")))
        gone = mark.kind == UNSHARED or not note or not note.text.strip()
        at = max(mark.at, written(note) if note else 0.0)
        yield Item(
            id=first,
            kind=kind_of(wordings[0]),
            text="" if gone or not note else as_it_leaves(keeper, note),
            author=str(about.get("author") or ""),
            writer=writer,
            at=round(at, 3),
            written=round(wordings[0].at, 3),
            rev=max(len(wordings) + len(marks), wire.count(about.get("rev"))),
            to=str(about.get("to") or ""),
            session=wordings[0].session,
            gone=gone,
        )


def _shown(keeper: Keeper, first: str, seen: str) -> Note | None:
    """The wording that leaves: the user's own in force, else the one that was seen."""
    note = keeper.store.wording(first)
    return note if not note or note.who == "user" or not note.text else keeper.store.note(seen)


def as_it_leaves(keeper: Keeper, note: Note) -> str:
    """The text of a note, held once more against what is a secret by now; only under the lock."""
    text = keeper.redacted(clean(note.text), note.project).strip()
    return text if len(text) <= LONGEST else clip_middle(text, CUT, "\n[…]\n")


# --- what is forgotten ------------------------------------------------------------------------------------------------


def shared_among(keeper: Keeper, ids: Sequence[str]) -> list[Json]:
    """What has to be known of some notes, of those that were ever shared, to take them back once they are gone."""
    found: list[Json] = []
    for first, marks in (marks_of(keeper, {*ids}) if ids else {}).items():
        note, about = keeper.store.note(first), wire.read_object(marks[-1].extra)
        if note:
            rev = max(len(keeper.store.wordings(first)) + len(marks), wire.count(about.get("rev")))
            found.append({"id": first, "kind": kind_of(note), "project": note.project, "at": note.at,
                          "author": about.get("author"), "rev": rev + 1})  # fmt: skip
    return found


def take_back(keeper: Keeper, shared: Sequence[Json], now: float) -> None:
    """Leave of each that was forgotten a note without words that says it was taken back; only under the lock."""
    for one in shared:
        note = Note(one["id"], one["at"], one["kind"], 0, one["project"], "")
        if not keeper.writer.note(note.id):
            keeper.writer.add(note)
        _mark(keeper, UNSHARED, note, now, {"wording": note.id, "author": one["author"], "rev": one["rev"]})


def share_again(keeper: Keeper, now: float) -> None:
    """What is shared lost some words: it goes out once more as it is now; only under the lock."""
    for first, marks in marks_of(keeper).items():
        note = keeper.writer.wording(first)
        if marks[-1].kind == SHARED and note and any(mark in note.text for mark in (FORGOTTEN, "<REDACTED:")):
            _mark(keeper, SHARED, note, now, wire.read_object(marks[-1].extra))
