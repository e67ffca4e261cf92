"""With whom a project is shared, and by which way: a note of kind `team` by the user, so it is the user's word.

Its text is the address; what else is said of it stands beside. Secrets are in none of it.
"""

from __future__ import annotations

from time import time
from typing import NamedTuple

from memory_keeper import wire
from memory_keeper.errors import NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.store.store import Store
from memory_keeper.text import digest_of

GIT, OWN, POSTGRES = "git", "own", "postgres"  # `own`: by git, to another machine of the user's


class Team(NamedTuple):
    """A way to share the items of one project."""

    project: str
    name: str
    address: str
    transport: str
    accepted: bool = False  # its rules are in force here
    auto: bool = False  # it is synced when sessions begin and end
    note: Note | None = None

    @property
    def key(self) -> str:
        """What its files are called."""
        return digest_of(self.project, self.transport, self.address)


def teams_of(store: Store, project: str) -> list[Team]:
    """The teams of a project that were not left, in the order in which they were joined."""
    return [read(note) for note in store.notes(project, 0, "team") if note.text and note.who == "user"]


def read(note: Note) -> Team:
    """What a note says of a team."""
    about = wire.read_object(note.extra)
    name, transport = str(about.get("name") or "team"), str(about.get("transport") or GIT)
    return Team(
        note.project, name, note.text, transport, about.get("accepted") is True, about.get("auto") is True, note
    )


def keep(keeper: Keeper, team: Team) -> Team:
    """Write a team down as it is from now on."""
    about = {"name": team.name, "transport": team.transport, "accepted": team.accepted, "auto": team.auto}
    id = "team-" + team.key
    before = team.note or keeper.store.wording(id)
    if before:
        note = keeper.reword(before, team.address, about)
    else:
        now = time()
        extra = wire.dumps({"by": "user", "written": now, **about})
        note = Note(id, now, "team", 0, team.project, team.address, extra=extra, who="user")
        keeper.write(note)
    return team._replace(note=note)


def leave(keeper: Keeper, team: Team) -> None:
    """Share nothing more with a team; what it has told stays, and its rules are no more in force."""
    if team.note:
        keeper.reword(team.note, "", {"accepted": False, "auto": False})


def find(store: Store, project: str, name: str = "") -> Team:
    """The team of this name or address; the only one, where none is named."""
    teams = teams_of(store, project)
    found = [team for team in teams if name in ("", team.name, team.address)]
    if len(found) != 1:
        names = ", ".join(team.name for team in teams)
        if not teams:
            raise NotSetUp("This project is shared with nobody", hint="`memory-keeper sync --git` shares it by git")
        raise NotSetUp(f"There is no one team called {name or 'so'}", hint=f"name one of: {names}")
    return found[0]
