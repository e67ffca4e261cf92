"""Pull what others share, then push what is shared here; whoever is killed on the way loses nothing, the next goes on.

What was pulled is kept before the cursor moves on, and both ways may be done twice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2s
from typing import NamedTuple

from memory_keeper import config
from memory_keeper.errors import KeeperError
from memory_keeper.host.files import write_file
from memory_keeper.keeper import Keeper
from memory_keeper.model import Item
from memory_keeper.store.home import Lock, about, make_folder
from memory_keeper.team import hub
from memory_keeper.team.git import Git, Plain, author_of, ref_of, remove
from memory_keeper.team.inbox import MOST, Received, receive
from memory_keeper.team.outbox import outbox, writer_of
from memory_keeper.team.own import REFS, Sealed, own_items, read_passphrase, receive_own
from memory_keeper.team.teams import GIT, OWN, POSTGRES, Team, teams_of
from memory_keeper.team.transport import Transport

PATIENCE = 60.0  # seconds for another process that syncs
OFTEN = 300.0  # seconds between two that nobody asked for
FOLDER = "/team"


class Synced(NamedTuple):
    """What a sync came to."""

    team: Team
    received: Received = Received()
    shared: int = 0  # items that the other side knows of us
    refused: dict[str, str] = {}  # noqa: RUF012  nobody changes it
    problems: Sequence[str] = ()


def open_transport(keeper: Keeper, team: Team, root: str) -> Transport:
    """The way to a team."""
    folder = f"{keeper.home}{FOLDER}/{team.key}.git"
    if team.transport == GIT:
        key = blake2s(b"team seal", key=keeper.salt).digest()
        return Git(folder, team.address, ref_of(writer_of(keeper)), root, keeper.environ, Plain(key))
    if team.transport == OWN:
        sealed = Sealed(read_passphrase(keeper, team))
        refs = f"{REFS}{sealed.tag(team.project)}-"
        return Git(folder, team.address, refs + writer_of(keeper), root, keeper.environ, sealed, refs)
    if team.transport == POSTGRES:
        return hub.open_hub(keeper.home, team.address)
    raise KeeperError(f"{team.name} is shared by {team.transport}, which this version does not know")


def sync(keeper: Keeper, team: Team, root: str) -> Synced:
    """Pull and push; KeeperError where the other side cannot be reached."""
    make_folder(keeper.home + FOLDER)
    with Lock(keeper.home, PATIENCE, "team"):
        transport = open_transport(keeper, team, root)
        try:
            received = _pull(keeper, team, transport)
            items = _outbox(keeper, team, root)
            refused = transport.push(items) if items else {}
        finally:
            transport.close()
        if received.withdrawn or received.changed:
            keeper.close()  # who reads keeps what was deleted in the journal of SQLite
            with keeper.writing(PATIENCE):
                keeper.writer.compact()
    return Synced(
        team, received, sum(not item.gone for item in items), refused, tuple(dict.fromkeys(transport.problems))
    )


def _outbox(keeper: Keeper, team: Team, root: str) -> list[Item]:
    if team.transport == OWN:
        return own_items(keeper, team.project, author_of(root, keeper.environ))
    return outbox(keeper, team.project)


def _pull(keeper: Keeper, team: Team, transport: Transport) -> Received:
    path, own = cursor_of(keeper, team), writer_of(keeper)
    cursor, total, more = config.read_small(path, 1 << 20) or "", Received(), True
    room = MOST - len(keeper.store.notes(team.project, 0, "shared"))
    while more and total.refused < MOST:
        items, after, more = transport.pull(cursor)
        take = receive_own if team.transport == OWN else receive
        total = total.plus(take(keeper, team, items, own, room - total.new))
        write_file(path, after.encode())
        cursor = after
    return total


def sync_due(keeper: Keeper, project: str, root: str, now: float) -> list[Synced]:
    """Sync the teams of a project that are synced with its sessions; none that somebody has just synced."""
    teams = [team for team in teams_of(keeper.store, project) if team.auto]
    due = [team for team in teams if now - about(cursor_of(keeper, team)).st_mtime >= OFTEN]
    return [sync(keeper, team, root) for team in due]


def cursor_of(keeper: Keeper, team: Team) -> str:
    """The file that says how far a team was read, and by its time, when."""
    return f"{keeper.home}{FOLDER}/{team.key}.cursor"


def remove_fetched(home: str) -> None:
    """Take away what a sync that was killed has left."""
    for name in os.listdir(home + FOLDER) if os.path.isdir(home + FOLDER) else ():
        if name.endswith(".git"):
            remove(f"{home}{FOLDER}/{name}")
