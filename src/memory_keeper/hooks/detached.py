"""What outlives the process that wants it: the writer that a hook starts and does not wait for."""

from __future__ import annotations

import posix
import sys


def start_catch_up(home: str, what: str = "", session: str = "") -> int:
    """Start the detached writer, in a session of its own so that it outlives the host; its process."""
    here = __file__.rpartition("/")[0]
    return posix.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", here + "/start.py", "catch-up", home, what, session],
        posix.environ,
        file_actions=[
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDWR, 0),
            (posix.POSIX_SPAWN_DUP2, 0, 1),
            (posix.POSIX_SPAWN_DUP2, 0, 2),
        ],
        setsid=True,
    )
