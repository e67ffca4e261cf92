"""What was written by hand, once more, outside of the store: notes, rules, tasks, observations, what became of them,
whose a folder is, and the settings.

A line for each, behind a keyed hash of it; it is on the disk before the store says that it is kept. So whatever single
file is damaged, the other has it, and a row that somebody put into the store is not told as the user's word. The key
stands in `journal.key`, beside how long the journal is, and in its first line as well: either may be damaged. Where a
journal is damaged itself, it proves nothing and denies nothing until `doctor --fix` has written it anew.
"""

from __future__ import annotations

import posix
import zlib

from memory_keeper import wire
from memory_keeper.config import sync
from memory_keeper.model import Event, NamedTuple, Note
from memory_keeper.store.home import about

try:
    from _blake2 import blake2s
except ImportError:
    from hashlib import blake2s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memory_keeper.model import Json

FILE, KEY = "/journal", "/journal.key"
MARKS = ("confirmed", "contradicted", "done", "shared", "unshared")  # what becomes of a note
BY = ("model", "shipped")  # who writes by hand beside the user
READ = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC
WRITE = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC


class Contents(NamedTuple):
    """What a journal has."""

    entries: Sequence[Json]
    proofs: frozenset[bytes]
    damaged: int  # bytes that are not what was written
    cut: bool  # there was more

    @property
    def is_whole(self) -> bool:
        """Whether all is there that was ever written."""
        return not (self.damaged or self.cut)


NOTHING = Contents((), frozenset(), 0, False)


def is_by_hand(note: Note) -> bool:
    """Whether no transcript gives a note back: somebody wrote it, here."""
    return bool(note.who) or note.kind == "rule" or (not note.level and wire.read_object(note.extra).get("by") in BY)


def of_note(note: Note) -> Json:
    """The entry of a note."""
    return {"note": [*note._replace(at=float(note.at))]}


def of_mark(event: Event) -> Json:
    """The entry of what became of a note."""
    return {"mark": [*event._replace(at=float(event.at), failed=bool(event.failed))]}


class Journal:
    """The journal of a home; written to only under the writer's lock."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._read: tuple[tuple[int, int, int], Contents] | None = None
        self._secret = b""

    @property
    def is_there(self) -> bool:
        """Whether it was begun."""
        return about(self.home + FILE).st_size > 0

    @property
    def is_gone(self) -> bool:
        """Whether there was one."""
        return not self.is_there and about(self.home + KEY).st_size > 0

    def read(self) -> Contents:
        """All of it, as far as it is what was written."""
        found = about(self.home + FILE)
        now = found.st_ino, found.st_size, found.st_mtime_ns
        if not found.st_size:
            return NOTHING
        if not self._read or self._read[0] != now:
            self._read = now, self._contents(_load(self.home + FILE))
        return self._read[1]

    def proves(self, note: Note) -> bool:
        """Whether a note is as it was written here, as far as that can be known."""
        known = self.read()
        return not (self.is_there and known.is_whole) or self._line(of_note(note))[:32] in known.proofs

    def keep(self, entries: Iterable[Json]) -> None:
        """Have it on the disk; what is there already is not written again."""
        known = self.read().proofs if self.is_there else frozenset[bytes]()
        lines = [line for line in map(self._line, entries) if line[:32] not in known]
        if not lines and self.is_there:
            return
        fd = posix.open(self.home + FILE, WRITE, 0o600)
        try:
            data = _load(self.home + FILE)
            end = data.rfind(b"\n") + 1
            if end < len(data):
                posix.ftruncate(fd, end)  # a line that was cut short: nobody was told that it is kept
            end = _write(fd, (b"" if end else _packed({"key": self._key().hex()})) + b"".join(lines), end)
        finally:
            posix.close(fd)
        self._seal(end)

    def rewrite(self, change: Callable[[Json], Json | None], more: Iterable[Json] = ()) -> None:
        """Write it anew with each entry as `change` gives it back, or without, and some more."""
        kept = [new for entry in self.read().entries if (new := change(entry)) is not None]
        lines = dict.fromkeys(map(self._line, (*kept, *more)))
        own, header = f"{self.home}{FILE}.new", _packed({"key": self._key().hex()})
        fd = posix.open(own, WRITE | posix.O_TRUNC, 0o600)
        try:
            end = _write(fd, header + b"".join(lines), 0)
        finally:
            posix.close(fd)
        self._seal(0)  # killed before the end, it is not taken for one that was cut
        posix.rename(own, self.home + FILE)
        self._seal(end)

    def sign(self, text: str) -> str:
        """A keyed hash of something that stands elsewhere."""
        return self._hash(b"seal " + text.encode("utf-8", "surrogatepass")).decode()

    def _contents(self, data: bytes) -> Contents:
        first, _, rest = data.partition(b"\n")
        damaged = 0 if _unpacked(first) else len(first)
        entries, proofs = [], set[bytes]()
        for line in rest.split(b"\n"):
            entry = _entry(line[33:]) if line and self._hash(line[33:]) == line[:32] else None
            if entry is None:
                damaged += len(line)
            else:
                entries.append(entry)
                proofs.add(line[:32])
        told = _unpacked(_load(self.home + KEY)).get("size")
        return Contents(entries, frozenset(proofs), damaged, isinstance(told, int) and told > len(data))

    def _line(self, entry: Json) -> bytes:
        body = wire.dumps(entry).encode("ascii")
        return self._hash(body) + b" " + body + b"\n"

    def _hash(self, body: bytes) -> bytes:
        return blake2s(body, key=self._key(), digest_size=16).hexdigest().encode()

    def _key(self) -> bytes:
        if not self._secret:
            said = _unpacked(_load(self.home + KEY)) or _unpacked(_load(self.home + FILE))
            self._secret = bytes.fromhex(said["key"]) if said else posix.urandom(32)
        return self._secret

    def _seal(self, size: int) -> None:
        fd = posix.open(self.home + KEY, WRITE, 0o600)
        try:
            _write(fd, _packed({"key": self._key().hex(), "size": size}), 0)
        finally:
            posix.close(fd)
        sync(self.home)


def settings_in(entries: Sequence[Json]) -> str:
    """The user's settings as they were last written down; empty where they never were."""
    return next((str(entry["settings"]) for entry in reversed(entries) if "settings" in entry), "")


def _entry(body: bytes) -> Json | None:
    try:
        entry = wire.loads(body.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _packed(value: Json) -> bytes:
    body = wire.dumps(value).encode("ascii")
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _unpacked(line: bytes) -> Json:
    """What `_packed` made a line of; nothing where it is damaged."""
    line = line.partition(b"\n")[0]
    value = _entry(line[9:]) if line[:8] == b"%08x" % zlib.crc32(line[9:]) else None
    return value if value and isinstance(value.get("key"), str) else {}


def _load(path: str) -> bytes:
    try:
        fd = posix.open(path, READ)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: posix.read(fd, 1 << 20), b""))
    finally:
        posix.close(fd)


def _write(fd: int, data: bytes, at: int) -> int:
    """Write it to the disk; where it ends. What was there behind it goes."""
    done = 0
    while done < len(data):
        done += posix.pwrite(fd, data[done:], at + done)
    posix.ftruncate(fd, at + done)
    posix.fsync(fd)
    return at + done
