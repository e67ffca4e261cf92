"""The same memory on two machines of one person: what was written by hand, handoffs and notes of sessions, sealed.

It goes by a git remote as what is shared with others does, but each machine's ref is one file that only the passphrase
opens, and not even the project's name is in it. Who has the passphrase is the user, so what the user wrote comes in as
the user's own; of two wordings the later one holds. The rest comes in as it does from others.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from hashlib import scrypt

from memory_keeper import wire
from memory_keeper.briefs.parts import STANDING
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host.files import write_file
from memory_keeper.keeper import Keeper
from memory_keeper.model import Item, Note, origin
from memory_keeper.notes.kept_note import measure, written
from memory_keeper.provenance import is_users
from memory_keeper.store.home import make_folder
from memory_keeper.store.rules_cache import forget_rules
from memory_keeper.team.inbox import Received, receive
from memory_keeper.team.item import checked
from memory_keeper.team.outbox import as_it_leaves, kind_of, writer_of
from memory_keeper.team.teams import Team

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
except ImportError:  # the extra is not installed
    InvalidTag = ChaCha20Poly1305 = None  # type: ignore[assignment, misc]

REFS = "refs/memory-keeper-own/"
FILE, LARGEST, UNPACKED = "items.sealed", 32 << 20, 64 << 20  # bytes of it, and of what is in it
MAGIC = b"memory-keeper sealed 1\n"
SALT, NONCE = 16, 12
HANDOFFS, SESSIONS = 20, 200  # the newest that go with it
WRITTEN = ("rule", *STANDING)
INSTALL = 'pip install "memory-keeper[sync]"'


class Sealed:
    """Items as one file that only the passphrase opens."""

    largest, whole = LARGEST, True

    def __init__(self, passphrase: str) -> None:
        if ChaCha20Poly1305 is None:
            raise NotSetUp("What seals the memory for another machine is not installed", hint=INSTALL)
        self.passphrase = passphrase

    def files(self, items: Sequence[Item]) -> list[tuple[str, bytes]]:
        """All of them in one."""
        salt, nonce = os.urandom(SALT), os.urandom(NONCE)
        data = zlib.compress(wire.dumps([[*item] for item in items]).encode())
        return [(FILE, MAGIC + salt + nonce + ChaCha20Poly1305(self._key(salt)).encrypt(nonce, data, MAGIC))]

    def items(self, name: str, data: bytes) -> list[Item]:
        """What `files` sealed; ValueError where that is not what it is."""
        if name != FILE or not data.startswith(MAGIC):
            raise ValueError("is nothing of ours")
        salt, rest = data[len(MAGIC) :][:SALT], data[len(MAGIC) + SALT :]
        try:
            opened = ChaCha20Poly1305(self._key(salt)).decrypt(rest[:NONCE], rest[NONCE:], MAGIC)
        except InvalidTag:
            raise ValueError("is not sealed with this passphrase, or was changed") from None
        text = zlib.decompressobj().decompress(opened, UNPACKED)
        return [checked(Item(*one)) for one in wire.loads(text.decode())]

    def own(self, name: str, data: bytes) -> list[Item]:
        """Who has the passphrase is the user."""
        return self.items(name, data)

    def tag(self, project: str) -> str:
        """What a project is called where others can read it."""
        return self._key(project.encode())[:6].hex()

    def _key(self, salt: bytes) -> bytes:
        return scrypt(self.passphrase.encode(), salt=salt, n=1 << 14, r=8, p=1, dklen=32)


def read_passphrase(keeper: Keeper, team: Team) -> str:
    """The passphrase, as this home was told it."""
    try:
        with open(_path(keeper, team), encoding="utf-8") as file:
            return file.read().strip("\n")
    except FileNotFoundError:
        hint = f"memory-keeper sync --to {team.address}"
        raise KeeperError("The passphrase of your other machine is not known here", hint=hint) from None


def keep_passphrase(keeper: Keeper, team: Team, passphrase: str) -> None:
    """Have it at hand for the next time, for the user alone to read."""
    make_folder(f"{keeper.home}/team")
    write_file(_path(keeper, team), passphrase.encode() + b"\n")


def _path(keeper: Keeper, team: Team) -> str:
    return f"{keeper.home}/team/{team.key}.passphrase"


def own_items(keeper: Keeper, project: str, author: str) -> list[Item]:
    """All that the other machines are to know."""
    writer = writer_of(keeper)
    with keeper.writing(30.0):
        notes = [note for kind in WRITTEN for note in keeper.store.notes(project, 0, kind) if _is_own(note)]
        notes += [*keeper.store.handoffs(project, HANDOFFS), *keeper.store.notes(project, 1, limit=SESSIONS)]
        return [*_items(keeper, notes, author, writer)]


def _is_own(note: Note) -> bool:
    return is_users(note) or (note.who == "user" and not note.text)


def _items(keeper: Keeper, notes: Sequence[Note], author: str, writer: str) -> Iterator[Item]:
    for note in notes:
        text = as_it_leaves(keeper, note) if note.text else ""
        rev = len(keeper.store.wordings(note.id))
        at, first = round(written(note), 3), round(note.at, 3)
        yield Item(
            origin(note), kind_of(note), text, author, writer, at, first, rev, session=note.session, gone=not text
        )


def receive_own(keeper: Keeper, team: Team, items: Sequence[Item], own: str, room: int) -> Received:
    """Keep what another machine has: the user's own as such, the rest as what others share is kept."""
    theirs = [item for item in items if item.writer != own]
    total = receive(keeper, team, [item for item in theirs if item.kind not in WRITTEN], own, room)
    for item in theirs:
        if item.kind in WRITTEN:
            total = total.plus(_receive(keeper, team.project, item))
    if any(total[:3]):
        forget_rules(keeper.home)
    return total


def _receive(keeper: Keeper, project: str, item: Item) -> Received:
    known = keeper.store.wording(item.id)
    if not known:
        if item.gone or (keeper.forgotten and keeper.forgotten.has_note(item.id)):
            return Received()
        extra = wire.dumps({"by": "user", "written": item.at})
        note = Note(item.id, item.written, item.kind, 0, project, item.text, "", measure(item.text), extra, who="user")
        return Received(new=int(keeper.write(note)))
    mine = (round(written(known), 3), known.text)
    if known.project != project or known.kind != item.kind or (item.at, item.text) <= mine or item.text == known.text:
        return Received()
    keeper.reword(known, item.text, now=item.at)
    return Received(withdrawn=1) if item.gone else Received(changed=1)
