"""A file that says that a clear is wanted, for a script that can press keys where we cannot: `plugin/windows`."""

from __future__ import annotations

import json
import os
import stat
from typing import NamedTuple

from memory_keeper.watch.ask import Ask
from memory_keeper.watch.clear import Refused

FRESH = 60.0  # seconds: the script does not act on an older one


class Signal(NamedTuple):
    """What the file says."""

    session: str
    at: float
    pid: int


def find_path() -> str:
    """Where the script looks."""
    return os.path.join(os.path.expanduser("~"), ".claude", "clear-signal")


def give(path: str, ask: Ask, now: float) -> None:
    """Leave a signal, unless something else is there."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise Refused(f"there is no {folder}")
    own = f"{path}.{os.getpid()}"
    fd = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "w", encoding="ascii") as file:
            file.write(json.dumps(Signal(ask.session, now, ask.pid)._asdict()) + "\n")
        os.link(own, path)  # whole or not at all, and never over another's
    except FileExistsError:
        raise Refused(f"something else is called {path}, or an older signal is still there") from None
    finally:
        os.unlink(own)


def read(path: str) -> Signal | None:
    """The signal that is there; None when there is none, or something that is not ours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        about = os.fstat(fd)
        ours = stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid()
        fields = json.loads(os.read(fd, 4096)) if ours else {}
        signal = Signal(str(fields["session"]), float(fields["at"]), int(fields["pid"]))
    except (ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(fd)
    return signal if set(fields) == set(Signal._fields) else None


def take_away(path: str) -> None:
    """Remove a signal of ours."""
    if read(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass  # the script was faster
