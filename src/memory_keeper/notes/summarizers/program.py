"""A program of the user's own: found where programs are, never in the project, and run under limits.

What it prints is bounded and so is its time. When that is over it is killed with all that it started, and not waited
for: something that it left behind may hold its output open for ever.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic, sleep

from memory_keeper.errors import Busy, KeeperError
from memory_keeper.model import NamedTuple

LARGEST = 4 << 20  # bytes of what it prints
PIECE = 1 << 16
GRACE = 2.0  # seconds to tidy up
STEP = 0.02


class Ended(NamedTuple):
    """What a program printed, and its exit code."""

    out: str
    err: str
    code: int


def find(name: str, environ: dict[str, str], root: str = "", homes: Sequence[str] = ()) -> str:
    """Where a program is: on PATH or in these places of the home, but never in the project, which is anybody's."""
    home = environ.get("HOME", "")
    avoid = [place for place in (root, environ.get("CLAUDE_PROJECT_DIR", "")) if place]
    # who keeps the whole home in git has his programs there too
    avoid = [real for real in map(os.path.realpath, avoid) if not _within(os.path.realpath(home), real)]
    places = [f"{folder}/{name}" for folder in environ.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    places += [f"{home}/{place}" for place in homes if home.startswith("/")]
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            ways = (os.path.realpath(os.path.dirname(place)), os.path.realpath(place))
            if not any(_within(way, there) for way in ways for there in avoid):
                return place
    return ""


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def run(command: Sequence[str], said: str, environ: dict[str, str], timeout: float, folder: str) -> Ended:
    """Run a program on a text in a folder, to its end. Busy: it took too long."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        raise KeeperError(f"{command[0]}: {error.strerror}") from None
    name, until = os.path.basename(command[0]), monotonic() + timeout
    try:
        out, err = _talk(process, said.encode("utf-8", "replace"), until)
        code = process.wait(max(0.1, until - monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise Busy(f"{name} did not answer within {timeout:g} seconds") from None
    finally:
        _end(process)
    return Ended(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), code)


def _talk(process: subprocess.Popen[bytes], said: bytes, until: float) -> tuple[bytes, bytes]:
    """Give it the text and take what it prints, until it has closed both; TimeoutError when that is not in time."""
    assert process.stdin and process.stdout and process.stderr
    stdin, out, err = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    heard = {out: bytearray(), err: bytearray()}
    left, talking = memoryview(said), {out, err}
    os.set_blocking(stdin, False)
    with selectors.DefaultSelector() as ready:
        ready.register(stdin, selectors.EVENT_WRITE)
        for fd in heard:
            ready.register(fd, selectors.EVENT_READ)
        while talking:
            for key, _ in ready.select(_remaining(until)):
                if key.fd == stdin:
                    left = _give(stdin, left)
                    if not left:
                        ready.unregister(stdin)
                        process.stdin.close()
                    continue
                part = os.read(key.fd, PIECE)
                if not part:
                    ready.unregister(key.fd)
                    talking.remove(key.fd)
                if len(heard[key.fd]) < LARGEST:  # what comes after that is read and dropped
                    heard[key.fd] += part
    return bytes(heard[out]), bytes(heard[err])


def _remaining(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _give(fd: int, left: memoryview) -> memoryview:
    """What is still to be given; nothing when nobody reads it any more."""
    try:
        return left[os.write(fd, left[:PIECE]) :]
    except BlockingIOError:
        return left
    except OSError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and what it started, unless it has come to its end, and let go of its output."""
    if process.returncode is None:  # so nobody has waited for it, and its number is still its own
        _signal(process, signal.SIGTERM)
        until = monotonic() + GRACE
        while monotonic() < until and not _has_ended(process.pid):
            sleep(STEP)
        _signal(process, signal.SIGKILL)  # also for what it started, which may have stayed
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def _signal(process: subprocess.Popen[bytes], sign: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended, and so has all that it started
        os.killpg(process.pid, sign)


def _has_ended(pid: int) -> bool:
    """Whether a child has come to its end. It is not waited for, so that its number stays its own."""
    if not hasattr(os, "waitid"):
        return False  # macOS: then it has all the time there is
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
