"""A window of GNU screen in which Claude Code runs.

Screen cannot be asked which terminal a window has, and the number that a program was told may belong to another window
by now. So the first key that is typed must be read from that process's terminal, which the system notes there; else it
is taken back. The notes are kept in steps of eight seconds: nothing is typed where somebody typed just before.
"""

from __future__ import annotations

import os
import re
import struct
import tempfile
import termios
from fcntl import ioctl
from time import monotonic, sleep, time

from memory_keeper.host.process import read_ancestors, read_process
from memory_keeper.watch.ask import Ask
from memory_keeper.watch.clear import BACK, KEYS, STASH, Refused
from memory_keeper.watch.process import check, find_device, find_program, run

STEP = 8  # seconds
PATIENCE = 2.0
# what a version before 5 makes of "✻ Baking… (3s)" and "✻ Waiting for 1 background agent": see `decode`
_RUNNING = re.compile(r'[*\x17\x19"-K\xb7\xcf] (?:\S.*&(?: \(.*)?|Waiting for .*)')
_BEGINS = {"o\xa0": "\u276f\xa0", "  o /": "  \u276f /", "  \xef ": "  \u25ef ", "  \xcf main": "  \u25cf main"}
_HAS = {"\0": "\u2500", ": stashed": "\u203a stashed", "\x93": "\u2193"}


class Window:
    """One window of a session."""

    def __init__(self, ask: Ask) -> None:
        sty = re.fullmatch(r"([1-9][0-9]{0,9})\.[^\0-\x1f\x7f/]{1,200}", ask.sty)
        if not sty or not re.fullmatch(r"[0-9]{1,5}", ask.window):
            raise Refused("it does not run in GNU screen")
        self._ask, self._server, self._arrives = ask, int(sty[1]), False
        self._program = find_program("screen")
        _check_quiet(self.check())

    def check(self) -> str:
        """The process's terminal; raise unless keys that are typed there reach that process."""
        process = check(self._ask)
        server, ancestors = read_process(self._server), [self._ask.pid, *read_ancestors(self._ask.pid)]
        if not server or server.owner != os.getuid() or self._server not in ancestors[1:]:
            raise Refused("it does not run in that GNU screen")
        first = ancestors[ancestors.index(self._server) - 1]  # what screen has started in the window
        if not {f"STY={self._ask.sty}", f"WINDOW={self._ask.window}"} <= _read_environ(first):
            raise Refused("it does not run in that window")
        return find_device(process.terminal)

    def screen(self) -> str:
        """What the window shows."""
        terminal = self.check()
        with tempfile.TemporaryDirectory(prefix="memory-keeper-") as folder:
            path = os.path.join(folder, "screen")
            self._screen("hardcopy", path)
            dump = _read(path)
        return decode(dump, _count_rows(terminal))

    def type(self, keys: bytes) -> None:
        """Type one of the constants."""
        if keys not in KEYS:
            raise ValueError(keys)
        terminal = self.check()
        read = os.stat(terminal).st_atime if self._arrives else _check_quiet(terminal)
        self._screen("stuff", keys.decode("ascii"))
        end = monotonic() + PATIENCE
        while not self._arrives:
            if monotonic() > end:
                self._screen("stuff", (STASH if keys == STASH else BACK * len(keys)).decode("ascii"))
                raise Refused("what is typed there does not reach it")
            sleep(0.02)
            self._arrives = os.stat(terminal).st_atime != read

    def _screen(self, *args: str) -> None:
        run(self._program, "-S", self._ask.sty, "-p", self._ask.window, "-X", *args)


def find(ask: Ask) -> Window | None:
    """The window in which that process runs; None when there is none that can be typed into."""
    try:
        return Window(ask)
    except (Refused, OSError):
        return None


def _check_quiet(terminal: str) -> float:
    """When a terminal was last read from; raise when the next key would make no difference to that."""
    read = os.stat(terminal).st_atime
    if int(read) // STEP == int(time()) // STEP:
        raise Refused("somebody has just typed there")
    return read


def decode(dump: bytes, rows: int) -> str:
    """A screen as text. Versions before 5 write only the last byte of each character.

    What those bytes were can be told where it matters: of what could be a running turn, the worst is assumed.
    """
    try:
        whole = dump.decode("utf-8")
    except UnicodeDecodeError:
        whole = ""
    if "\u276f" in whole:
        return whole
    lines = dump.decode("latin-1").removesuffix("\n").split("\n")
    if len(lines) > rows:
        return ""  # a character that looks like the end of a line: there is no telling what stands where
    return "\n".join(map(_restore, lines))


def _restore(line: str) -> str:
    if _RUNNING.fullmatch(line.rstrip(" ")):
        return "\u273b Running\u2026"
    for last, whole in _BEGINS.items():
        if line.startswith(last):
            line = whole + line.removeprefix(last)
    for last, whole in _HAS.items():
        line = line.replace(last, whole)
    return line


def _read_environ(pid: int) -> set[str]:
    """What a process was started with; nothing is believed where the system does not show it."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return set(file.read().decode("utf-8", "replace").split("\0"))
    except OSError:
        return set()


def _count_rows(terminal: str) -> int:
    fd = os.open(terminal, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        rows: int = struct.unpack("4H", ioctl(fd, termios.TIOCGWINSZ, bytes(8)))[0]
        return rows
    finally:
        os.close(fd)


def _read(path: str) -> bytes:
    """A file that another process is about to write."""
    end, before = monotonic() + PATIENCE, b""
    while monotonic() < end:
        sleep(0.02)
        try:
            with open(path, "rb") as file:
                now = file.read()
        except FileNotFoundError:
            continue
        if now and now == before:
            return now
        before = now
    raise Refused("screen does not show its window")
