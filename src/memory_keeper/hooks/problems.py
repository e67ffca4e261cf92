"""What went wrong in a hook: written down for `doctor`, and told to the user in one line at most."""

from __future__ import annotations

import posix
from time import time

from memory_keeper import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json

LOG = 256 << 10  # bytes


def trouble(event: str, error: BaseException) -> Json | None:
    """What the user hears of a failure: one line at a session's start, nothing anywhere else."""
    if event != "SessionStart":
        return None
    why = _reason(error) or describe(error)
    return {"systemMessage": f"Memory Keeper is not keeping this session ({why}). Try: memory-keeper doctor"}


def complain(home: str, where: str, error: BaseException) -> None:
    """Write a failure down for `doctor`: names and numbers only, never content."""
    if not home:
        return
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        path = home + "/problems.log"
        fd = posix.open(path, flags, 0o600)
        try:
            line = wire.dumps({"at": time(), "in": where[:40], "problem": describe(error)})
            posix.write(fd, line.encode("ascii") + b"\n")
            if posix.fstat(fd).st_size > LOG:
                posix.rename(path, path + ".old")
        finally:
            posix.close(fd)
    except OSError:
        pass


def describe(error: BaseException) -> str:
    """An error without content: its type, the system's word for it, and where it was raised."""
    reason = _reason(error)
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return " ".join(part for part in (type(error).__name__, reason, place) if part)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or (str(error) if hasattr(error, "hint") else "")
