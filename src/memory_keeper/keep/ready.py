"""The rules in force as a prompt is reminded of them, ready in a small file: a prompt must not wait for the store.

A file is made from the store when a context is told the rules in full, and all of them go when a rule changes. Whoever
finds none makes it anew, so nothing is lost with them.
"""

from __future__ import annotations

import posix

from memory_keeper import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json

FOLDER = "/rules"
LARGEST = 16 << 10  # bytes


def read_ready(home: str, root: str) -> Json | None:
    """What is ready for a folder; None when nothing is."""
    try:
        fd = posix.open(_path(home, root), posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return None
    try:
        return wire.read_object(posix.read(fd, LARGEST).decode("utf-8", "replace")) or None
    finally:
        posix.close(fd)


def stamp(home: str) -> int:
    """When a rule last changed, or a file was made: who made one of what was read before that throws it away."""
    try:
        return posix.stat(home + FOLDER).st_mtime_ns
    except OSError:
        return 0


def keep_ready(home: str, root: str, ready: Json, since: int) -> None:
    """Put into place what was made since; not when something has changed meanwhile."""
    own = f"{home}/rules.{posix.getpid()}"
    try:
        posix.mkdir(home + FOLDER, 0o700)
        since = stamp(home)
    except OSError:
        pass  # it is there
    try:
        fd = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o600)
        try:
            posix.write(fd, wire.dumps(ready).encode("ascii"))
        finally:
            posix.close(fd)
        if stamp(home) == since:
            posix.rename(own, _path(home, root))
        else:
            posix.unlink(own)
    except OSError:
        return  # the next prompt asks the store


def forget_rules(home: str) -> None:
    """A rule changed: nothing that is ready holds any more."""
    try:
        for name in posix.listdir(home + FOLDER):
            posix.unlink(f"{home}{FOLDER}/{name}")
        posix.utime(home + FOLDER)
    except OSError:
        return  # nothing was ready


def _path(home: str, root: str) -> str:
    try:
        from _blake2 import blake2s
    except ImportError:
        from hashlib import blake2s

    return f"{home}{FOLDER}/{blake2s(root.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"
