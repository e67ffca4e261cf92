"""The rules in force as a prompt is reminded of them, ready in a small file: a prompt must not wait for the store.

A file is made from the store when a context is told the rules in full, and all of them go when a rule changes. Whoever
finds none makes it anew, so nothing is lost with them.
"""

from __future__ import annotations

import posix

from memory_keeper import config, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json

FOLDER = "/rules"
LARGEST = 2 << 10  # bytes
DIRECTORY = 0o040000


def read_ready(home: str, root: str) -> Json:
    """What is ready for a folder; empty when nothing is, or not what we would write."""
    said = config.read_small(_path(home, root), LARGEST) if _is_folder(home) else None
    ready = wire.read_object(said or "")
    return ready if isinstance(ready.get("short"), str) and isinstance(ready.get("hash"), str) else {}


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
    if not _is_folder(home):
        return
    try:
        fd = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o600)
        try:
            posix.write(fd, wire.dumps(ready).encode("ascii"))
        finally:
            posix.close(fd)
        if stamp(home) != since:
            posix.unlink(own)
            return
        posix.rename(own, _path(home, root))
    except OSError:
        return  # the next prompt asks the store


def forget_rules(home: str) -> None:
    """A rule changed: nothing that is ready holds any more."""
    if not _is_folder(home):
        return
    posix.utime(home + FOLDER)  # first: who has read the rules before this puts nothing in place any more
    for name in posix.listdir(home + FOLDER):
        try:
            posix.unlink(f"{home}{FOLDER}/{name}")
        except OSError:
            continue  # not ours: it is not read either


def _is_folder(home: str) -> bool:
    """Whether what is ready lies in a folder of the home, and not behind a link to elsewhere."""
    try:
        return posix.lstat(home + FOLDER).st_mode & 0o170000 == DIRECTORY
    except OSError:
        return False


def _path(home: str, root: str) -> str:
    try:
        from _blake2 import blake2s
    except ImportError:
        from hashlib import blake2s

    return f"{home}{FOLDER}/{blake2s(root.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"
