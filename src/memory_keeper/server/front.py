"""The keeper of a running session: Claude Code starts it, asks it at every hook, and ends it.

Claude Code does not start a server again that died, and then shows an error at every prompt. So the process it talks
to does next to nothing: it owns stdin and stdout, passes each call on to a worker, and when the worker dies (killed,
out of memory, a damaged store) it starts another one and asks again. The worker is forked, so the two share their
memory, and it holds nothing that another one could not find out.

A session waits for the handshake, so the front answers that itself, before anything else is loaded; the worker loads
what it needs while the host goes on.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix
import select
import sys
from time import monotonic, time

from memory_keeper import wire
from memory_keeper.hooks import PARSER, enter
from memory_keeper.named import NamedTuple
from memory_keeper.server.protocol import plainly, read

ATTEMPTS = 2  # a line that two workers died of is answered without one
PATIENCE = 8.0  # seconds a worker may take for a line: the next one still has time, the host gives up at 10
LAST = 2.0  # seconds for what was asked before the host closed stdin
PIECE = 1 << 16
CALL, LIST = b'"tools/call"', b'"tools/list"'  # as nearly every host writes them


class Waiting(NamedTuple):
    """A line the host sent and nobody has answered yet."""

    line: bytes
    at: float  # when it came: whatever a worker keeps of it is the same thing when the next one keeps it again
    given: bool = False  # to the worker
    killed: int = 0  # workers


def main(argv: list[str]) -> None:
    """`mcp [--home DIR] [--project DIR]`, here or where a parser explains what is wrong with it."""
    home = project = ""
    if len(argv) > 1:
        from memory_keeper.hooks.options import read_options

        words, home, project = read_options(argv[1:])
        if words:
            sys.exit(enter(PARSER, argv))
    serve(home, project)


def serve(home: str = "", project: str = "") -> None:
    """Serve until the host closes stdin or ends us; in a home and for a project, where they were named."""
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGCHLD):
        _signal.signal(number, _signal.SIG_DFL)  # at once: the host waits for us before it ends the session
    _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
    # older hosts do not say it, a worker has us for a parent, and a host started from another one's shell inherits it
    posix.environ[b"CLAUDE_PID"] = b"%d" % posix.getppid()
    try:
        Front(home, project).serve()
    except BrokenPipeError:
        pass  # the host is gone
    posix._exit(0)


class Front:
    """The process the host knows."""

    def __init__(self, home: str = "", project: str = "") -> None:
        self.home, self.project = home, project
        self.waiting: dict[int, Waiting] = {}
        self.number = 0
        self.pid = self.to = self.back = -1  # the worker, and the pipes to and from it
        self.warm = False  # the host has what it waits for: a worker may load what calls will need
        self.alive = 0.0  # when it was last idle or said something
        self.asked: list[bytes] = []  # the pieces of a line that has not ended
        self.unsent = self.answered = b""
        self.sent = 0  # of the unsent: cutting it off each time would cost the square of a long line
        self.until = 0.0  # when we leave, once the host has closed stdin

    def serve(self) -> None:
        """Pass lines on and answers back. When nothing more can be asked, what was asked is still answered."""
        while not self.until or (self.waiting and monotonic() < self.until):
            for fd, _ in self._ready():
                if fd == 0:
                    data = posix.read(0, PIECE)
                    self.until = 0.0 if data else monotonic() + LAST
                    self._ask(data or b"\n")
                elif fd == self.back:
                    self._hear()
                elif fd == self.to:
                    self._send()
            self._watch()
            self._pass_on()
            if self.warm:
                self.warm = False
                _ = self.pid > 0 or self._start()

    def _ready(self) -> list[tuple[int, int]]:
        poll = select.poll()
        if not self.until:
            poll.register(0, select.POLLIN)
        if self.pid > 0:
            poll.register(self.back, select.POLLIN)
            if self.unsent:
                poll.register(self.to, select.POLLOUT)
        left = max(1.0, 1000 * (self.until - monotonic())) if self.until else 1000
        return poll.poll(min(1000, left) if self.waiting else None)

    def _ask(self, data: bytes) -> None:
        self.asked.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self.asked).split(b"\n")
        self.asked = [rest]
        for line in lines:
            if CALL in line or read(line).get("method") == "tools/call":
                self.number += 1
                self.waiting[self.number] = Waiting(line, time())
            elif line.strip():
                self._answer_plainly(line)
                self.warm = self.warm or LIST in line

    def _pass_on(self) -> None:
        """Give the worker every line it has not been given yet; answer for it when there is none, or lines kill it."""
        if not any(waiting.given for waiting in self.waiting.values()):
            self.alive = monotonic()
        for number, waiting in list(self.waiting.items()):
            if waiting.given:
                continue
            if waiting.killed >= ATTEMPTS or not (self.pid > 0 or self._start()):
                del self.waiting[number]
                self._answer_plainly(waiting.line)
                continue
            self.waiting[number] = waiting._replace(given=True)
            self.unsent += b"%d %.6f %b\n" % (number, waiting.at, waiting.line)
        if self.unsent:
            self._send()

    def _send(self) -> None:
        try:
            self.sent += posix.write(self.to, memoryview(self.unsent)[self.sent : self.sent + 16 * PIECE])
            if self.sent == len(self.unsent):
                self.unsent, self.sent = b"", 0
        except BlockingIOError:
            pass
        except OSError:
            self.unsent, self.sent = b"", 0  # it is dead, but may have answered some before: that is still to be heard

    def _hear(self) -> None:
        data = posix.read(self.back, PIECE)
        if not data:
            self._bury()
            return
        self.alive = monotonic()
        *lines, self.answered = (self.answered + data).split(b"\n")
        for line in lines:
            number, _, answer = line.partition(b" ")
            if self.waiting.pop(int(number), None) and answer:
                wire.write_all(1, answer + b"\n")

    def _watch(self) -> None:
        """A worker that hangs is as bad as one that died; one that was given nothing does not hang."""
        given = any(waiting.given for waiting in self.waiting.values())
        if self.pid > 0 and given and monotonic() - self.alive > PATIENCE:
            posix.kill(self.pid, 9)
            self._bury()

    def _start(self) -> bool:
        """Fork a worker; False when the system has no process or no pipe to spare."""
        _reap()
        pipes: list[int] = []
        try:
            pipes += posix.pipe()
            pipes += posix.pipe()
            pid = posix.fork()
        except OSError:
            for fd in pipes:
                posix.close(fd)
            return False
        asked, to, back, answers = pipes
        if not pid:
            for fd in (to, back):
                posix.close(fd)
            _work(asked, answers, self.home, self.project)
        for fd in (asked, answers):
            posix.close(fd)
        posix.set_blocking(to, False)
        self.pid, self.to, self.back = pid, to, back
        return True

    def _bury(self) -> None:
        """The worker is gone: what it was given and did not answer is asked again."""
        for fd in (self.to, self.back):
            posix.close(fd)
        _reap()
        self.pid = self.to = self.back = -1
        self.unsent = self.answered = b""
        self.sent = 0
        guilty = min(self.waiting, default=0)  # it answers in order: what it died of is the oldest line
        self.waiting = {
            number: waiting._replace(given=False, killed=waiting.killed + (number == guilty))
            for number, waiting in self.waiting.items()
        }

    def _answer_plainly(self, line: bytes) -> None:
        """Answer what needs no worker, or has none."""
        response = plainly(read(line))
        if response:
            wire.write_all(1, wire.dumps(response).encode("ascii") + b"\n")


def _work(asked: int, answers: int, home: str, project: str) -> None:
    """Be the worker; a child never comes back into its parent's code."""
    try:
        from memory_keeper.server.worker import serve

        serve(asked, answers, home, project)
    except BaseException as error:  # noqa: BLE001
        from memory_keeper import config
        from memory_keeper.hooks.problems import complain

        complain(home or config.find_home(config.environment()), "worker", error)
    finally:
        posix._exit(1)


def _reap() -> None:
    """Let the dead go. Without waiting: one that is stuck in the kernel must not hold us up."""
    try:
        while posix.waitpid(-1, posix.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
