"""A file of the user's: replaced whole and lastingly, and by one of us at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from glob import escape, glob

from memory_keeper import config

OWN = ".memory-keeper."  # and our process: the new file until it takes the place of the old one


def write_file(path: str, data: bytes, mode: int = 0o600, only_if: Callable[[], bool] = lambda: True) -> bool:
    """Replace a file whole and lastingly, with the mode and the owner that it had; False when it was not to be."""
    own = f"{path}{OWN}{os.getpid()}"
    try:
        with open(own, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as file:
            file.write(data)
            file.flush()
            _take_after(file.fileno(), path, mode)
            os.fsync(file.fileno())
        if not only_if():
            return False
        os.replace(own, path)
    finally:
        if os.path.lexists(own):
            os.unlink(own)
    with suppress(OSError):
        config.sync(os.path.dirname(path))
    return True


def replace_file(path: str, data: bytes | None, is_still: Callable[[], bool], mode: int = 0o600) -> bool:
    """Make a file have these bytes, or be away; False when it has changed under our eyes."""
    if data is not None:
        return write_file(path, data, mode, only_if=is_still)
    if not is_still():
        return False
    os.unlink(path)
    return True


def _take_after(fd: int, path: str, mode: int) -> None:
    try:
        about = os.stat(path)
    except FileNotFoundError:
        os.fchmod(fd, mode)
        return
    try:
        os.fchown(fd, about.st_uid, about.st_gid)
    except PermissionError:
        pass  # somebody else's file: from now on it is ours, as it is after any editor
    _copy_attributes(path, fd)
    os.fchmod(fd, stat.S_IMODE(about.st_mode))


def _copy_attributes(path: str, fd: int) -> None:
    """What is said of a file beside its mode, access lists among it, where the system has that and allows it."""
    try:
        names = os.listxattr(path)
    except (AttributeError, OSError):
        return
    for name in names:
        with suppress(OSError):
            os.setxattr(fd, name, os.getxattr(path, name))


def sweep(path: str) -> None:
    """Take away what somebody who was killed while writing this file has left beside it."""
    for left in abandoned(path + OWN):
        os.unlink(left)


def remove_empty(folder: str) -> None:
    """Remove a folder with nothing in it, and those of the user's `.local` that lead only there."""
    local = os.path.join(config.user_home(dict(os.environ)), ".local")
    try:
        os.rmdir(folder)
        while (folder := os.path.dirname(folder)) == local or folder.startswith(f"{local}/"):
            os.rmdir(folder)
    except OSError:
        pass  # something else is in it


def abandoned(prefix: str) -> list[str]:
    """What processes that run no more have left under this name and their number."""
    found = glob(f"{escape(prefix)}[0-9]*")
    return [left for left in found if (pid := left[len(prefix) :]).isdecimal() and not _runs(int(pid))]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
