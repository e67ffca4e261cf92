"""A terminal of our own between a program and the user's: everything passes unchanged, and we see the screen.

Three processes take part. This one moves bytes, sizes and signals. The program runs as it would without us. The leader
between them only waits for it: Ctrl-Z stops a program only when its parent is in the same session, and the session of
the inner terminal cannot be the one we are in.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import struct
import termios
from collections.abc import Callable
from time import monotonic
from typing import Any

from memory_keeper.app.watch.leader import NUMBER, PASSED_ON, become, kill, start
from memory_keeper.app.watch.vt import Screen

CHUNK = 1 << 16
QUIET, TICK = 0.5, 1.0  # seconds without output before the terminal is tended, and between two times
LINGER = 0.05  # seconds in which output may still arrive once its program has ended or stopped
LAST = 4 * CHUNK  # bytes: more than a terminal holds, and others may go on writing when the program is gone
CAUGHT = (*PASSED_ON, signal.SIGTSTP, signal.SIGWINCH, signal.SIGCONT)
Modes = list[Any]


class Ended(Exception):  # noqa: N818  (it reads as what it says)
    """The program has ended while somebody tended its terminal."""


def run(argv: list[str], mark: str, umask: int, tend: Callable[[Pty], object]) -> int:
    """Run a program to its end; how it ended, as `os.wait` would say.

    In its environment, `mark` is the number of its session. About once a second, while it shows nothing new, `tend` is
    called and may look at the screen and type; the user's keys wait meanwhile.
    """
    if not os.isatty(1):
        become(argv, umask)  # there will be no screen to look at
    terminal = _open_terminal()
    try:
        return Pty(terminal, argv, mark, umask).run(tend)
    finally:
        os.close(terminal)


class Pty:
    """The inner terminal, and the program in it."""

    def __init__(self, terminal: int, argv: list[str], mark: str, umask: int) -> None:
        self._terminal, self._here = terminal, True  # the user's, and whether it is still there
        self._modes: Modes = termios.tcgetattr(terminal)  # as we found it
        self._raw: Modes = []  # as we have set it; empty while it is not ours
        self._inner, slave = os.openpty()
        self._there = True  # whether somebody still has the inner one
        self._typed, self._shown = b"", b""  # on its way in, on its way out
        self._unseen = bytearray()  # shown, but not on our screen yet
        self._screen = Screen(24, 80)
        termios.tcsetattr(slave, termios.TCSANOW, self._modes)
        self._resize()
        os.set_blocking(self._inner, False)
        self._leader, self._program, self._report = start(argv, mark, umask, slave, (self._inner, terminal))
        os.close(slave)
        self._status: int | None = None
        self._last, self._count = monotonic(), 0  # when the program has shown something, and how much in all

    # --- for whoever tends it -----------------------------------------------------------------------------------------

    def screen(self) -> str:
        """What the user sees now."""
        self._draw()
        return self._screen.text()

    def type(self, keys: bytes) -> None:
        """Type keys."""
        self._typed += keys
        self._send()

    def sleep(self, seconds: float) -> None:
        """Wait, while everything but the user's keys goes on."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            self._pass_on(left, keys=False)
            if self._status is not None or not self._here:
                raise Ended

    def reaches(self, pid: int) -> bool:
        """Whether a process would get what is typed: it has this terminal, and is not in the background."""
        try:
            return os.getsid(pid) == self._leader and os.getpgid(pid) == os.tcgetpgrp(self._inner)
        except OSError:
            return False

    # --- from the start to the end ------------------------------------------------------------------------------------

    def run(self, tend: Callable[[Pty], object]) -> int:
        """Pass everything on until the program has ended."""
        self._wake, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        before = {number: signal.getsignal(number) for number in CAUGHT}
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, lambda *_: None)  # the number comes through the pipe
        try:
            self._take_terminal()
            self._tend(tend)
            self._finish()
        finally:
            self._give_terminal_back()
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)
            for fd in (self._wake, wake, self._report, self._inner):
                os.close(fd)
        os.waitpid(self._leader, 0)
        return self._status or 0

    def _tend(self, tend: Callable[[Pty], object]) -> None:
        due = 0.0
        while self._status is None:
            due, now = max(due, self._last + QUIET), monotonic()
            if not self._here:
                self._pass_on(None)
            elif now < due or self._typed:
                self._pass_on(max(due - now, 0) or TICK)
            else:
                try:
                    tend(self) if self._raw else self._return()
                except Ended:
                    pass
                due = monotonic() + TICK

    def _pass_on(self, wait: float | None, keys: bool = True) -> None:
        """Wait until something can be done, and do it; neither side is read while the other cannot take more."""
        reads, writes = [self._wake, *([self._report] if self._status is None else [])], []
        if self._shown:
            writes.append(self._terminal)
        elif self._there:
            reads.append(self._inner)
        if self._typed:
            writes.append(self._inner)
        elif self._raw and keys:
            reads.append(self._terminal)
        ready, able, _ = select.select(reads, writes, [], wait)
        if self._terminal in able:
            self._show()
        if self._inner in ready:
            self._read_inner()
        if self._inner in able:
            self._send()
        if self._terminal in ready:
            self._read_terminal()
        if self._wake in ready:
            self._obey(os.read(self._wake, CHUNK))
        if self._report in ready:
            self._hear(os.read(self._report, CHUNK))

    # --- bytes --------------------------------------------------------------------------------------------------------

    def _read_inner(self) -> None:
        data = _read(self._inner)
        if data is None:
            self._there = False
        elif data:
            self._last, self._count = monotonic(), self._count + len(data)
            self._unseen += data
            if self._here:
                self._shown += data
                self._show()
            if len(self._unseen) >= CHUNK:
                self._draw(self._unseen.rfind(b"\n") + 1)  # whole lines, of which most can be passed over

    def _read_terminal(self) -> None:
        data = _read(self._terminal)
        if data is None:
            self._hang_up()
        elif data:
            self.type(data)

    def _show(self) -> None:
        written = _write(self._terminal, self._shown)
        if written is None:
            self._hang_up()
        else:
            self._shown = self._shown[written:]

    def _send(self) -> None:
        written = _write(self._inner, self._typed) if self._there else None
        self._typed = b"" if written is None else self._typed[written:]

    def _draw(self, end: int = 0) -> None:
        self._screen.feed(bytes(self._unseen[: end or None]))
        del self._unseen[: end or None]

    def _finish(self) -> None:
        """Show what the program had written when it ended or stopped."""
        end, most = monotonic() + LINGER, self._count + LAST
        while self._shown or (self._there and self._count < most and monotonic() < max(end, self._last + LINGER)):
            self._pass_on(None if self._shown else LINGER, keys=False)

    # --- signals ------------------------------------------------------------------------------------------------------

    def _obey(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                self._resize()
            elif number == signal.SIGCONT:
                self._return()
            elif self._status is None:
                kill(self._program, number)
            else:  # there is nobody to pass it on to: it is for us, who only wait for a terminal that takes no more
                self._shown, self._there = b"", False

    def _hear(self, told: bytes) -> None:
        """The leader has said what became of the program, or has been killed."""
        statuses = [status for (status,) in NUMBER.iter_unpack(told)] or [signal.SIGHUP]
        for status in statuses:
            if os.WIFSTOPPED(status):
                self._stop()
            else:
                self._status = status

    def _stop(self) -> None:
        """Stop with the program, and go on with it when the shell says so."""
        self._finish()
        self._give_terminal_back()
        handler = signal.getsignal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN if handler == signal.SIG_IGN else signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)  # the whole job, as Ctrl-Z does; ignored where no shell could continue us
        signal.signal(signal.SIGTSTP, handler)
        self._take_terminal()
        kill(-self._program, signal.SIGCONT)

    def _hang_up(self) -> None:
        """The user's terminal is gone, so the inner one goes too, and its leader tells the program."""
        self._here, self._there, self._raw, self._shown, self._typed = False, False, [], b"", b""
        os.close(self._inner)
        self._inner = os.open(os.devnull, os.O_RDWR)

    # --- the user's terminal ------------------------------------------------------------------------------------------

    def _take_terminal(self) -> None:
        """Have every key as a byte, and tell the size."""
        try:
            # in the background we are stopped for it, and try again when we go on
            while (now := termios.tcgetattr(self._terminal)) != self._raw and not self._is_called_off():
                self._modes = now
                if _set_modes(self._terminal, _make_raw(now)):
                    self._raw = termios.tcgetattr(self._terminal)
        except termios.error:
            self._hang_up()
        self._resize()

    def _return(self) -> None:
        """Take the terminal again, if it is for us: the shell may have had it while we were stopped."""
        if _is_in_front(self._terminal):
            self._take_terminal()
        else:
            self._raw = []

    def _is_called_off(self) -> bool:
        """Whether a signal came in the background, which may be the program's end; it is passed on."""
        if _is_in_front(self._terminal) or not select.select([self._wake], [], [], 0)[0]:
            return False
        numbers = [number for number in os.read(self._wake, CHUNK) if number in PASSED_ON]
        for number in numbers:
            kill(self._program, number)
        return bool(numbers)

    def _give_terminal_back(self) -> None:
        """Put its modes back, unless it is somebody else's by now."""
        try:
            if self._raw and _is_in_front(self._terminal):
                _set_modes(self._terminal, self._modes)
                self._raw = []
        except termios.error:
            pass  # it is gone

    def _resize(self) -> None:
        try:
            size = fcntl.ioctl(self._terminal, termios.TIOCGWINSZ, bytes(8))
            fcntl.ioctl(self._inner, termios.TIOCSWINSZ, size)
        except OSError:
            return
        rows, columns, *_ = struct.unpack("HHHH", size)
        self._draw()
        self._screen.resize(rows or 24, columns or 80)


# --- terminals --------------------------------------------------------------------------------------------------------


def _open_terminal() -> int:
    """The user's terminal, opened anew: we must not block on it, and what we were given is shared with the shell."""
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(1), flags)
    except OSError:  # it may belong to another user, or lie outside of a container
        return os.open("/dev/tty", flags)


def _make_raw(modes: Modes) -> Modes:
    """Modes in which bytes go both ways as they are."""
    off_in = "IGNBRK BRKINT PARMRK INPCK ISTRIP INLCR IGNCR ICRNL IXON"
    off_local = "ECHO ECHONL ICANON IEXTEN ISIG"
    input, output, control, local, *speeds, characters = modes
    for name in off_in.split():
        input &= ~getattr(termios, name)
    for name in off_local.split():
        local &= ~getattr(termios, name)
    control = control & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    characters = list(characters)
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [input, output & ~termios.OPOST, control, local, *speeds, characters]


def _set_modes(terminal: int, modes: Modes) -> bool:
    """Set modes, now; False when a signal came between."""
    try:
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
    except termios.error as error:
        if error.args[0] != errno.EINTR:
            raise
        return False
    return True


def _is_in_front(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return True  # it is not the terminal of our session: there is no background


def _read(fd: int) -> bytes | None:
    """What can be read now; None when the other side is gone."""
    try:
        return os.read(fd, CHUNK) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None


def _write(fd: int, data: bytes) -> int | None:
    """How much could be written now; None when the other side is gone."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError:
        return None
