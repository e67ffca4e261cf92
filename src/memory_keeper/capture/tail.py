"""New lines since the last look: only whole lines, only new bytes, and a file that was replaced is noticed.

The place in a file is a byte offset, kept with fingerprints of the file's first bytes and of the bytes before the
offset. Timestamps cannot serve: in real transcripts a fifth of the lines share one and some go backwards.
"""

from __future__ import annotations

import posix
import zlib

from memory_keeper.config import open_plain
from memory_keeper.errors import TooLarge
from memory_keeper.model import NamedTuple, Source

LAG = 0.4  # seconds a transcript's last lines may come after the hook that announces them
CHUNK = 1 << 18  # how much is read at once; a longer line is read whole all the same
HEAD, TAIL = 4096, 256
UNPACKED = 512 << 20  # bytes that a compressed transcript may have: it is unpacked in memory


class Tail(NamedTuple):
    """What was read: whole lines from `source.offset` on, and the source as it stands after them."""

    data: bytes
    begin: int
    source: Source
    replaced: bool  # the file is another one than before: it was read from its start
    more: bool  # there may be more to read


def read_new(source: Source, chunk: int = CHUNK, opened: int | None = None) -> Tail | None:
    """The next whole lines of a file, which may be open already; None when there are none."""
    fd = open_regular(source.path) if opened is None else opened
    if fd is None:
        return None
    try:
        return _read(fd, source, chunk)
    finally:
        if opened is None:
            posix.close(fd)


def open_regular(path: str) -> int | None:
    """A descriptor of a regular file of the user's own, never of a pipe, a device or a link to elsewhere."""
    fd = open_plain(path)
    if fd is None:
        return None
    if posix.fstat(fd).st_uid != posix.geteuid() and posix.geteuid() != 0:
        posix.close(fd)
        return None
    return _unpacked(fd) if path.endswith(".gz") else fd


def _unpacked(fd: int) -> int | None:
    """A compressed transcript, in memory: nothing unredacted touches a disk."""
    import gzip
    import os

    memory = os.memfd_create("transcript")
    try:
        with os.fdopen(fd, "rb") as packed, gzip.open(packed) as file, os.fdopen(os.dup(memory), "wb") as out:
            while part := file.read(1 << 20):
                if out.write(part) and out.tell() > UNPACKED:
                    raise TooLarge(f"it unpacks to more than {UNPACKED >> 20} MB", hint="unpack it first")
    except TooLarge:
        posix.close(memory)
        raise
    except (OSError, EOFError, zlib.error):
        posix.close(memory)
        return None
    return memory


def _read(fd: int, source: Source, chunk: int) -> Tail | None:
    about = posix.fstat(fd)
    replaced = bool(source.offset) and not _same(fd, about.st_size, source)
    if about.st_size == source.offset and not replaced:
        return None
    begin = 0 if replaced else source.offset
    data = _whole_lines(fd, begin, chunk)
    if not data:
        return None
    end = begin + len(data)
    head = source.head if len(source.head) and begin >= HEAD else fingerprint(posix.pread(fd, min(HEAD, end), 0))
    tail = fingerprint(data[-TAIL:] if len(data) >= TAIL else posix.pread(fd, min(TAIL, end), max(0, end - TAIL)))
    after = source._replace(offset=end, inode=about.st_ino, head=head, tail=tail)
    return Tail(data, begin, after, replaced, end < about.st_size)


def _same(fd: int, size: int, source: Source) -> bool:
    """Whether the file still begins and goes on, up to the offset, as it did."""
    if size < source.offset:
        return False
    head = posix.pread(fd, min(HEAD, source.offset), 0)
    tail = posix.pread(fd, min(TAIL, source.offset), max(0, source.offset - TAIL))
    return fingerprint(head) == source.head and fingerprint(tail) == source.tail


def _whole_lines(fd: int, begin: int, chunk: int) -> bytes:
    """Bytes from `begin` up to the last newline within a chunk, or of the first line when that is longer."""
    data = posix.pread(fd, chunk, begin)
    if len(data) < chunk or b"\n" in data:
        return data[: data.rfind(b"\n") + 1]
    parts = [data]
    while b"\n" not in data:
        begin += len(data)
        data = posix.pread(fd, chunk, begin)
        if not data:
            return b""
        parts.append(data)
    parts[-1] = data[: data.find(b"\n") + 1]
    return b"".join(parts)


def fingerprint(data: bytes) -> str:
    """Enough to tell that bytes are others; it guards against replacement, not against an attacker."""
    return f"{len(data):x}-{zlib.crc32(data):08x}-{zlib.adler32(data):08x}"
