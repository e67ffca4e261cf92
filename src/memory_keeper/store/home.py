"""The home itself: its folders, its writer's lock, its salt."""

from __future__ import annotations

import posix
from fcntl import LOCK_EX, LOCK_NB, flock
from time import monotonic, sleep

from memory_keeper.errors import Busy, KeeperError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import stat_result


THREADS = "threads"  # the folder of a home with those that stand for a bot's threads, each with a memory of its own
GONE = posix.stat_result([0] * 10)


def about(path: str) -> stat_result:
    """What the system says of a file; of one that is not there, nothing but zeros."""
    try:
        return posix.stat(path)
    except OSError:
        return GONE


def make_folder(path: str, again: bool = True) -> None:
    """A private folder, and the folders above it."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        if not path or not again:
            raise  # something on the way is a link to nowhere
        make_folder(path.rpartition("/")[0])
        make_folder(path, again=False)


def try_lock(fd: int, patience: float = 0.0) -> bool:
    """Lock an open file or folder; False when somebody else has it for longer than so many seconds."""
    until = monotonic() + patience
    while True:
        try:
            flock(fd, LOCK_EX | LOCK_NB)
            return True
        except BlockingIOError:
            if monotonic() >= until:
                return False
            sleep(0.01)


class Lock:
    """A lock of a home's, the writer's unless another is named: freed by the kernel when its holder dies."""

    def __init__(self, home: str, patience: float, name: str = "writer") -> None:
        self.home, self.patience, self.name, self.fd = home, patience, name, -1

    def __enter__(self) -> None:
        make_folder(self.home)
        self.fd = posix.open(
            f"{self.home}/{self.name}.lock", posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o600
        )
        try:
            if not try_lock(self.fd, self.patience):
                raise Busy("Another process is writing to the store", hint="try again in a moment")
        except BaseException as error:
            posix.close(self.fd)
            if not isinstance(error, OSError):
                raise
            hint = "it has to lie on a file system that has locks"
            raise KeeperError(f"{self.home} cannot be locked: {error.strerror}", hint=hint) from None

    def __exit__(self, *_: object) -> None:
        posix.close(self.fd)


def read_salt(home: str) -> bytes:
    """The salt of this home, made at the first need; two at once agree on one."""
    path = home + "/salt"
    for _ in range(3):
        try:
            fd = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
        except FileNotFoundError:
            _make_salt(home, path)
            continue
        try:
            salt = posix.read(fd, 32)
        finally:
            posix.close(fd)
        if len(salt) == 16:
            return salt
        posix.unlink(path)  # cut short by a crash
    raise KeeperError(f"{path} cannot be made", hint="run `memory-keeper doctor`")


def _make_salt(home: str, path: str) -> None:
    make_folder(home)
    own = f"{path}.{posix.getpid()}"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW | posix.O_CLOEXEC
    fd = posix.open(own, flags, 0o600)
    try:
        try:
            posix.write(fd, posix.urandom(16))
        finally:
            posix.close(fd)
        posix.link(own, path)
    except FileExistsError:
        pass
    finally:
        posix.unlink(own)
