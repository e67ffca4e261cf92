"""Work that is killed at a chosen moment: between any two calls that may change a file or the store.

The work is done in a child of a process kept for that, which has one thread and everything imported, so that a child
costs milliseconds. How a disk fails inside such a call is for `tests/faults` to say.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
TOUCHING = ("posix", "sqlite3", "_sqlite3", "fcntl")
# before these everything is as after the call before them
READING = (
    "close", "fetchall", "fetchone", "fspath", "fstat", "listdir", "lstat", "pread", "read", "readlink", "scandir",
    "stat", "statvfs",
)  # fmt: skip


class Died(NamedTuple):
    """How it ended."""

    killed: bool
    calls: int  # that it came to


class Dying:
    """Look and distil, killed after so many calls; 0: not at all."""

    def __init__(self) -> None:
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": path, "HOME": "/nonexistent"},
        )

    def __enter__(self) -> Dying:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.communicate()

    def run(self, home: Path, now: float, after: int = 0, force: bool = False, look: bool = True) -> Died:
        """Do it, in a process that has nothing open yet."""
        asked = {"home": str(home), "now": now, "after": after, "force": force, "look": look}
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        status, calls = json.loads(self.process.stdout.readline())
        assert status in (0, -signal.SIGKILL), "it failed by itself"
        return Died(status != 0, calls)


def serve() -> None:
    """Read what to do, a line each, and do it in a child."""
    from memory_keeper.capture import claude_code, redact, tail  # noqa: F401
    from memory_keeper.jobs import summarize as distil  # noqa: F401  (imported once, for all children)
    from memory_keeper.notes import note, outline, segments  # noqa: F401

    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reading)
            _work(json.loads(line), writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            calls = len(said.read())
        _, status = os.waitpid(pid, 0)
        print(json.dumps((os.waitstatus_to_exitcode(status), calls)), flush=True)


def _work(asked: dict[str, Any], counter: int) -> None:
    from memory_keeper.jobs.summarize import distil
    from memory_keeper.keeper import Keeper

    calls = 0

    def count(frame: FrameType, event: str, called: Any) -> None:
        nonlocal calls
        if event != "c_call":
            return
        owner = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
        if owner in TOUCHING and called.__name__ not in READING:
            calls += 1
            os.write(counter, b".")  # not counted: no profile runs inside of one
            if calls == asked["after"]:
                os.kill(os.getpid(), signal.SIGKILL)

    with Keeper(asked["home"], {"CLAUDE_CONFIG_DIR": "/nonexistent"}) as keeper:
        sys.setprofile(count)
        if asked["look"]:
            keeper.catch_up(patience=30.0)
        distil(keeper, asked["now"], force=asked["force"])
        sys.setprofile(None)


if __name__ == "__main__":
    serve()
