"""A process with the whole program loaded, which forks for each call: a call costs what it does, not what a start does.

What is called has the environment, folder, streams and exit code of its own, as a process that was started for it. How
the program starts is for others to test.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PYTHON = os.path.realpath(sys.executable)
SERVE = f"import sys; sys.path[:0] = {[str(ROOT / 'src'), str(ROOT)]!r}; from tests.warm import serve; serve()"
Point = tuple[str, str]  # a module, and what is called of it with the words


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: bytes
    err: bytes


class Warm:
    """The process; it answers one call at a time."""

    def __init__(self, preload: str = "") -> None:
        self.ours, theirs = socket.socketpair()
        environ = {"LANG": "C.UTF-8", **({"LD_PRELOAD": preload} if preload else {})}
        with theirs:
            self.process = subprocess.Popen([PYTHON, "-I", "-S", "-c", SERVE], stdin=theirs.fileno(), env=environ)
        self.answers = self.ours.makefile("rb")

    def __call__(self, point: Point, words: list[str], given: bytes, environ: dict[str, str], cwd: str = "/") -> Ended:
        """Call it, and wait for it and for all that it left running: they hold the writing end of a pipe."""
        asked = json.dumps({"point": point, "words": words, "environ": environ, "cwd": cwd}).encode()
        reading, writing = os.pipe()
        with ExitStack() as files, open(reading, "rb") as alive:  # noqa: PTH123
            streams = [files.enter_context(TemporaryFile()) for _ in range(3)]
            streams[0].write(given)
            streams[0].seek(0)
            descriptors = [*(stream.fileno() for stream in streams), writing]
            socket.send_fds(self.ours, [len(asked).to_bytes(4)], descriptors)
            os.close(writing)
            self.ours.sendall(asked)
            code = int(self.answers.readline())
            alive.read()
            for stream in streams:
                stream.seek(0)
            return Ended(code, *(stream.read() for stream in streams[1:]))

    def close(self) -> None:
        self.answers.close()
        self.ours.close()
        self.process.wait()


class Several:
    """As many of them as are used at once."""

    def __init__(self, preload: str = "") -> None:
        self.preload = preload
        self.all: list[Warm] = []
        self.free: SimpleQueue[Warm] = SimpleQueue()

    @contextmanager
    def one(self) -> Iterator[Warm]:
        try:
            warm = self.free.get_nowait()
        except Empty:
            warm = Warm(self.preload)
            self.all.append(warm)
        yield warm
        self.free.put(warm)

    def close(self) -> None:
        for warm in self.all:
            warm.close()


# --- in the process ---------------------------------------------------------------------------------------------------


def serve() -> None:
    """Load everything, and fork for each call."""
    import ctypes
    import gc
    import pkgutil

    import memory_keeper

    for module in pkgutil.walk_packages(memory_keeper.__path__, "memory_keeper."):
        extra = any(one in module.name for one in (".dashboard", ".sdk", ".team.hub."))  # which needs what few install
        if module.name.rpartition(".")[2] not in ("__main__", "start") and not extra:
            __import__(module.name)
    gc.freeze()
    begin = getattr(ctypes.CDLL(None), "faultpoint_begin", None)  # when that is preloaded
    calls = socket.socket(fileno=os.dup(0))
    while True:
        size, descriptors, *_ = socket.recv_fds(calls, 4, 4)
        if not size:
            return
        asked = json.loads(calls.recv(int.from_bytes(size), socket.MSG_WAITALL))
        child = os.fork()
        if not child:
            calls.close()
            _become(asked, descriptors)
            if begin:
                begin()
            _call(asked["point"], asked["words"])
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        calls.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(asked: dict[str, Any], descriptors: list[int]) -> None:
    """What a process of its own would be from the start."""
    import posix

    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.set_inheritable(descriptors[3], True)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    posix.environ.clear()
    posix.environ.update({os.fsencode(name): os.fsencode(value) for name, value in asked["environ"].items()})
    sys.argv = ["memory-keeper", *asked["words"]]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115


def _call(point: Point, words: list[str]) -> None:
    """Do it, and leave as the interpreter would, but for the time that it takes to forget all that is loaded."""
    import atexit

    code: Any = 0
    try:
        getattr(sys.modules.get(point[0]) or __import__(point[0], fromlist=[point[1]]), point[1])(words)
    except SystemExit as left:
        code = left.code
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)
