"""What others have shared, kept as notes of kind `shared`: nobody's word here, and told as theirs.

A later version is another wording; what was taken back is deleted, and a wording without words stays in its place, so
that an older version that comes late does not bring it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from memory_keeper import wire
from memory_keeper.keeper import Keeper
from memory_keeper.model import Item, Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.store.rules_cache import forget_rules
from memory_keeper.store.shared import item_of, seal
from memory_keeper.team.item import checked, digest, version
from memory_keeper.team.teams import Team
from memory_keeper.text import digest_of

FEW = 50  # items that are kept under one lock: hooks and servers come between
MOST, SAID = 20_000, 5  # items of a project; reasons that are said


class Received(NamedTuple):
    """What came of some items."""

    new: int = 0
    changed: int = 0
    withdrawn: int = 0
    refused: int = 0
    why: tuple[str, ...] = ()  # of the first of them

    def plus(self, other: Received) -> Received:
        """Both together."""
        return Received(
            self.new + other.new,
            self.changed + other.changed,
            self.withdrawn + other.withdrawn,
            self.refused + other.refused,
            (*self.why, *other.why[: SAID - len(self.why)]),
        )


def receive(keeper: Keeper, team: Team, items: Sequence[Item], own: str, room: int = MOST) -> Received:
    """Keep what others have shared, each by itself, and so many new ones at most; what this home (`own`) has written is
    not kept again."""
    total, theirs = Received(), [item for item in items if item.writer != own]
    for at in range(0, len(theirs), FEW):
        with keeper.writing(30.0):
            for item in theirs[at : at + FEW]:
                total = total.plus(_receive(keeper, team, item, total.new < room))
    if any(total[:3]):
        forget_rules(keeper.home)
    return total


def _receive(keeper: Keeper, team: Team, item: Item, room: bool) -> Received:
    try:
        item = checked(item)
    except ValueError as error:
        return Received(refused=1, why=(f"an item {error}",))
    store, id = keeper.writer, "shared-" + digest_of(team.project, item.writer, item.id)
    if keeper.forgotten and keeper.forgotten.has_note(id):
        return Received()
    wordings = store.wordings(id)
    known = next((note for note in wordings if note.who != "user"), None)
    if not known and not room:
        return Received(refused=1, why=(f"an item beyond the {MOST:,} that are kept of a project",))
    if known and (_version(known)[2] == digest(item) or not _holds(team, known, item)):
        return Received()
    about = {name: value for name, value in item._asdict().items() if name != "text"}
    extra = wire.dumps({"by": "team", "team": team.key, "item": about, "hash": digest(item)})
    text = keeper.redacted(item.text, team.project)
    note = Note(id, item.written, "shared", 0, team.project, text, "", measure(text), extra)
    store.forget((), [note.id for note in wordings if note.who != "user"], {})  # what it said is not ours to keep
    store.add(seal(store, note))
    return Received(withdrawn=1) if item.gone else Received(changed=1) if known else Received(new=1)


def _holds(team: Team, known: Note, item: Item) -> bool:
    """Whether an item takes the place of what is known: of the same team it does, as that says what holds now; of
    another that has the same writer, if it is the later version."""
    return wire.read_object(known.extra).get("team") == team.key or _version(known) < version(item)


def _version(note: Note) -> tuple[int, float, str]:
    """The version that a note was made of; its text may have lost a secret since."""
    item = item_of(note)
    return (item.rev, item.at, str(wire.read_object(note.extra).get("hash") or "")) if item else (0, 0.0, "")


def as_json(note: Note, item: Item) -> dict[str, Any]:
    """What a shared note is, as a document says it."""
    names = ("kind", "author", "at", "written", "to")
    return {"id": note.id, "text": note.text, **{name: getattr(item, name) for name in names}}
