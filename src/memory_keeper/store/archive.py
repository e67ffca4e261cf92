"""Raw lines, compressed: each stretch of a transcript becomes one more gzip member of its archive.

The file is an ordinary .gz: `zcat` gives back the whole transcript, as redacted. What the store says is archived
counts; bytes after that were left by a writer that died before its commit, and the next one writes over them.
"""

from __future__ import annotations

import posix
import stat
import zlib

from memory_keeper.config import sync
from memory_keeper.model import Member, Source
from memory_keeper.store.home import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEVEL = 1  # level 6 costs three times the time for a fifth less space


def compress(data: bytes) -> bytes:
    """One gzip member."""
    press = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
    return press.compress(data) + press.flush()


def archive_path(home: str, source: Source) -> str:
    """Where a transcript's archive lies."""
    agent = f".agent-{source.agent}" if source.agent else ""
    return f"{home}/archive/{source.session}{agent}.{source.seq}.jsonl.gz"


def append(home: str, source: Source, last: Member | None, size: int, packed: bytes) -> Member:
    """Write a member behind the last that counts; it counts itself once the store says so."""
    make_folder(home + "/archive")
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    if not last:
        _put_aside(archive_path(home, source), len(packed))
    fd = posix.open(archive_path(home, source), flags, 0o600)
    try:
        start = last.start + last.length if last else 0
        posix.ftruncate(fd, start)
        done = 0
        while done < len(packed):
            done += posix.pwrite(fd, packed[done:], start + done)
        posix.fsync(fd)  # before the store says that it counts
    finally:
        posix.close(fd)
    if not last:
        sync(home + "/archive")
    return Member(last.offset + last.size if last else 0, size, start, len(packed))


def _put_aside(path: str, size: int) -> None:
    """An archive that this store does not know was left by a writer that died at its first member, which comes now; or,
    when there is more in it than that, by a store that was lost: it may be the only copy."""
    try:
        about = posix.lstat(path)
    except FileNotFoundError:
        return
    if about.st_size > size and stat.S_ISREG(about.st_mode):
        posix.rename(path, path.removesuffix(".jsonl.gz") + f"-{posix.urandom(4).hex()}.orphan.jsonl.gz")


def read(home: str, source: Source, member: Member) -> bytes:
    """The lines of one member; ValueError when the archive is damaged there."""
    fd = posix.open(archive_path(home, source), posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    try:
        packed = posix.pread(fd, member.length, member.start)
    finally:
        posix.close(fd)
    try:
        data = zlib.decompress(packed, 31)
    except zlib.error as error:
        raise ValueError(f"damaged at byte {member.start}: {error}") from None
    if len(data) != member.size:
        raise ValueError(f"damaged at byte {member.start}: {len(data)} bytes instead of {member.size}")
    return data


def lines(home: str, places: Iterable[tuple[Source, Member, int] | None]) -> Iterator[bytes]:
    """The lines at some places, each once; those of one member are read together where they follow one another."""
    known: tuple[tuple[int, Member] | None, bytes] = None, b""
    seen: set[tuple[int, int, int]] = set()
    for place in places:
        if not place:
            continue  # it came from a hook
        source, member, offset = place
        if (source.seq, member.offset, offset) in seen:
            continue  # a line may have several blocks
        seen.add((source.seq, member.offset, offset))
        if known[0] != (source.seq, member):
            known = (source.seq, member), read(home, source, member)
        yield known[1][offset : known[1].index(b"\n", offset)]
