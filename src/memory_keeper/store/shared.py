"""What others of a team share, asked of the store: whose each item is, and whose rules hold here."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Item, Note, origin
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.store.store import Store

# words of names that would be taken for another's than a colleague's
NOBODY = frozenset(("user", "users", "you", "your", "claude", "assistant", "system", "memory", "keeper", "anthropic"))
TOLD = 500  # newest that a context may be told of: a start does not wait for more
TEAM = "team-"  # how the id of a team's note begins; its key follows


def item_of(note: Note) -> Item | None:
    """The item that a note was made of, with the text that it has here; None where it was made of none."""
    about = wire.read_object(note.extra).get("item") if note.kind == "shared" else None
    try:
        return Item(**{**about, "text": note.text}) if isinstance(about, dict) else None
    except TypeError:
        return None


def author_of(note: Note | None) -> str:
    """Who shared what a note says, by the name that the item gives, in quotes: anybody who can push can give any."""
    item = item_of(note) if note else None
    if not item:
        return ""
    name = one_line(clean(item.author.partition(" <")[0]).replace('"', ""), 40).strip()
    return '"somebody"' if not name or NOBODY & {*name.lower().split()} else f'"{name}"'


def shared_notes(store: Store, project: str, limit: int = 0) -> list[tuple[Note, Item]]:
    """What others share of a project, in order; with a limit, the newest."""
    found = ((note, item_of(note)) for note in store.notes(project, 0, "shared", limit=limit) if note.text)
    once = {(item.id, item.kind, item.text): (note, item) for note, item in found if item}  # of two machines of one
    return [*once.values()]


def accepted_notes(store: Store, project: str) -> list[tuple[Note, Item]]:
    """Of these, what may be told unasked: of the teams that the user accepted, as it came in."""
    teams = accepted(store, project)
    found = shared_notes(store, project, TOLD) if teams else []
    return [pair for pair in found if is_accepted(store, pair[0], teams)]


def accepted(store: Store, project: str) -> frozenset[str]:
    """The teams of a project that its user accepted."""
    teams = [note for note in store.notes(project, 0, "team") if note.who == "user" and note.text]
    return frozenset(origin(note).removeprefix(TEAM) for note in teams if wire.read_object(note.extra).get("accepted"))


def is_accepted(store: Store, note: Note, teams: frozenset[str]) -> bool:
    """Whether a note is of one of these teams, and came in by us."""
    team = wire.read_object(note.extra).get("team")
    return team in teams and seal(store, note).extra == note.extra


def seal(store: Store, note: Note) -> Note:
    """A note as it is told later: only what came in by us has this seal."""
    about = {name: value for name, value in wire.read_object(note.extra).items() if name != "seal"}
    said = wire.dumps([note.id, note.replaces, note.project, note.text, about])
    return note._replace(extra=wire.dumps({**about, "seal": store.journal.sign(said)}))
