"""The keeper of a running session: Claude Code starts it, asks it at every hook, and ends it.

Claude Code does not start a server again that died, and then shows an error at every prompt. So the process it talks
to does next to nothing: it owns stdin and stdout, passes each line on to a worker, and when the worker dies (killed,
out of memory, a damaged store) it starts another one and asks again. The worker is forked, so the two share their
memory, and it holds nothing that another one could not find out.
"""

from __future__ import annotations

import posix
import select
from time import monotonic

from memory_keeper import wire
from memory_keeper.model import NamedTuple

ATTEMPTS = 2  # a line that two workers died of is answered without one
PATIENCE = 15.0  # seconds a worker may take for a line; the host gives up at 30
PIECE = 1 << 16
MUTE = {"content": [{"type": "text", "text": "{}"}]}


class Waiting(NamedTuple):
    """A line the host sent and the worker has not answered."""

    line: bytes
    attempts: int
    since: float


def main(argv: list[str]) -> None:
    """Serve until the host closes stdin or ends us."""
    import _signal

    for number in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, _signal.SIG_DFL)  # at once: the host waits for us before it ends the session
    _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
    Front().serve()
    posix._exit(0)


class Front:
    """The process the host knows."""

    def __init__(self) -> None:
        self.waiting: dict[int, Waiting] = {}
        self.number = 0
        self.pid = self.to = self.back = -1  # the worker, and the pipes to and from it
        self.unsent = self.asked = self.answered = b""

    def serve(self) -> None:
        """Pass lines on and answers back."""
        while True:
            for fd, _ in self._ready():
                if fd == 0:
                    data = posix.read(0, PIECE)
                    if not data:
                        return
                    self._ask(data)
                elif fd == self.back:
                    self._hear()
                elif fd == self.to:
                    self._send()
            self._watch()

    def _ready(self) -> list[tuple[int, int]]:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if self.pid > 0:
            poll.register(self.back, select.POLLIN)
            if self.unsent:
                poll.register(self.to, select.POLLOUT)
        return poll.poll(1000 if self.waiting else None)

    def _ask(self, data: bytes) -> None:
        *lines, self.asked = (self.asked + data).split(b"\n") if b"\n" in data else [self.asked + data]
        for line in lines:
            if line.strip():
                self.number += 1
                self.waiting[self.number] = Waiting(line, 0, 0.0)
        self._pass_on()

    def _pass_on(self) -> None:
        """Give the worker every line it has not been given yet, or answer for it when lines have killed workers."""
        for number, one in list(self.waiting.items()):
            if one.since:
                continue
            if one.attempts >= ATTEMPTS:
                del self.waiting[number]
                self._answer_mutely(one.line)
                continue
            if self.pid < 0:
                self._start()
            self.waiting[number] = Waiting(one.line, one.attempts + 1, monotonic())
            self.unsent += b"%d %b\n" % (number, one.line)
        if self.unsent:
            self._send()

    def _send(self) -> None:
        try:
            self.unsent = self.unsent[posix.write(self.to, self.unsent[: PIECE * 16]) :]
        except BlockingIOError:
            pass
        except OSError:
            self._bury()

    def _hear(self) -> None:
        data = posix.read(self.back, PIECE)
        if not data:
            self._bury()
            return
        *lines, self.answered = (self.answered + data).split(b"\n")
        for line in lines:
            number, _, said = line.partition(b" ")
            if self.waiting.pop(int(number), None) and said:
                _write(said + b"\n")

    def _watch(self) -> None:
        """A worker that hangs is as bad as one that died."""
        if self.waiting and self.pid > 0:
            oldest = min(one.since or monotonic() for one in self.waiting.values())
            if monotonic() - oldest > PATIENCE:
                posix.kill(self.pid, 9)
                self._bury()

    def _start(self) -> None:
        asked, to = posix.pipe()
        back, answers = posix.pipe()
        pid = posix.fork()
        if not pid:
            for fd in (to, back):
                posix.close(fd)
            from memory_keeper.app.worker import serve

            serve(asked, answers)
            posix._exit(0)
        for fd in (asked, answers):
            posix.close(fd)
        posix.set_blocking(to, False)
        self.pid, self.to, self.back = pid, to, back

    def _bury(self) -> None:
        """The worker is gone: what it was given and did not answer is asked again."""
        if self.pid < 0:
            return
        for fd in (self.to, self.back):
            posix.close(fd)
        posix.waitpid(self.pid, 0)
        self.pid = self.to = self.back = -1
        self.unsent = self.answered = b""
        self.waiting = {number: Waiting(one.line, one.attempts, 0.0) for number, one in self.waiting.items()}
        self._pass_on()

    def _answer_mutely(self, line: bytes) -> None:
        try:
            asked = wire.loads(line.decode("utf-8", "replace"))
            if isinstance(asked, dict) and asked.get("id") is not None:
                _write(wire.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": MUTE}).encode("ascii") + b"\n")
        except (ValueError, RecursionError):
            pass


def _write(data: bytes) -> None:
    while data:
        data = data[posix.write(1, data) :]
