"""The server as its host has it: lines in, lines out, and what may be done to its processes meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.faultpoint import Fault, Ran
from tests.faults.scene import START, Asked, Scene, said_in
from tests.warm import PYTHON

Answer = dict[str, Any]
LONG = 120.0  # seconds after which something that must happen did not


class Server:
    """A running server; leaving it closes its stdin and waits for every process of it."""

    def __init__(self, scene: Scene, fault: Fault | None = None, start: Path = START, **popen: Any) -> None:
        self.scene = scene
        self.number = 0
        self.answers: list[Answer] = []
        self.came = threading.Condition()
        self.gone = False
        faulty = fault.environ(scene.shim, scene.folder, scene.folder.parent / "trace") if fault else {}
        self.reading, writing = os.pipe()  # everybody has the other end: when it is gone, all are gone
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-S", str(start), "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**scene.environ, **faulty},
            pass_fds=(writing,),
            **popen,
        )
        os.close(writing)
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_input()
        self.wait_for_the_end()

    def close_input(self) -> None:
        """What the server sees when its host is gone."""
        assert self.process.stdin
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def wait_for_the_end(self) -> int:
        """Wait until no process of the server is left; the exit code of the one the host knows."""
        os.read(self.reading, 1)
        os.close(self.reading)
        self.listener.join()
        assert self.process.stdout
        self.process.stdout.close()
        return self.process.wait()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self.came:
                self.answers.append(json.loads(line))
                self.came.notify_all()
        with self.came:
            self.gone = True
            self.came.notify_all()

    # --- asking -------------------------------------------------------------------------------------------------------

    def send(self, *asked: dict[str, Any]) -> None:
        """Write lines, all at once."""
        assert self.process.stdin
        self.process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in asked))
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """A request that has not been sent yet."""
        self.number += 1
        return {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}

    def hook(self, event: str, **more: str) -> dict[str, Any]:
        """A hook's request, as the host would send it; it counts as called, not as done."""
        payload = {**self.scene.payload(event), **more}
        self.scene.asked.append(Asked(event, said_in(payload), Ran(0, b"", b""), sure=False))
        return self.request("tools/call", name="hook", arguments=payload)

    def wait(self, *asked: dict[str, Any]) -> list[Answer]:
        """The answers to these requests, in their order."""
        wanted = [one["id"] for one in asked]
        with self.came:
            self.came.wait_for(lambda: self.gone or not self.missing(wanted), LONG)
            missing = self.missing(wanted)
        assert not missing, f"{'the server died' if self.gone else 'no answer'}: {missing}"
        return [next(answer for answer in self.answers if answer["id"] == id) for id in wanted]

    def missing(self, wanted: list[int]) -> set[int]:
        """The requests among these that have not been answered."""
        return {*wanted} - {answer["id"] for answer in self.answers}

    def ask(self, *asked: dict[str, Any]) -> list[Answer]:
        """Send requests and wait for their answers."""
        self.send(*asked)
        return self.wait(*asked)

    # --- its processes ------------------------------------------------------------------------------------------------

    @property
    def worker(self) -> int:
        """The newest worker's process id; 0 when there is none."""
        try:
            said = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return 0
        return int(said.split()[-1]) if said.split() else 0

    def await_worker(self) -> int:
        """The worker's process id: the front greets before it has started one."""
        end = time.monotonic() + LONG
        while not self.worker and time.monotonic() < end:
            time.sleep(0.01)
        return self.worker

    def kill_worker(self, number: int = signal.SIGKILL) -> int:
        """Send a worker a signal, if there is one; whom."""
        pid = self.worker
        if pid:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return 0
        return pid


def eventually(what: Callable[[], object], told: str) -> None:
    """Wait for something that must become true."""
    until = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < until, told
        time.sleep(0.01)
