"""`run`: a program behaves as it does without us, and a clear that was asked for is typed into it, in tmux."""

from __future__ import annotations

import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.capture.host import TERMINAL, born, find_terminal
from memory_keeper.store import spool

ROOT = Path(__file__).resolve().parents[3]
RUN = [sys.executable, "-I", str(ROOT / "memory-keeper"), "run", "--"]
PUPPET = [sys.executable, str(ROOT / "tests/watch/puppet.py")]
PATIENCE = 60.0
tmux = pytest.mark.tmux  # which `run` starts


class Terminal:
    """A terminal as people have it: a program runs in it, keys go in, what it shows comes out."""

    def __init__(self, argv: list[str], rows: int = 30, columns: int = 100, **given: Any) -> None:
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self.seen = b""
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
        given.setdefault(
            "env", {name: value for name, value in {**os.environ, "TERM": "xterm"}.items() if name not in TERMINAL}
        )
        ends = {"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **given}
        self.process = subprocess.Popen(argv, start_new_session=True, preexec_fn=self._own, **ends)

    def _own(self) -> None:
        ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self, rows: int, columns: int) -> None:
        ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, look: Callable[[], object], what: str, keys: bytes = b"") -> None:
        """Show things until something is so, and type meanwhile."""
        end = time.monotonic() + PATIENCE
        while keys or not look():
            if time.monotonic() > end:
                raise TimeoutError(f"never came: {what}; seen last: {self.seen[-2000:]!r}")
            readable, writable, _ = select.select([self.master], [self.master] if keys else [], [], 0.02)
            if readable:
                self.seen += os.read(self.master, 1 << 16)
            if writable:
                keys = keys[os.write(self.master, keys[:4096]) :]

    def type(self, keys: str | bytes) -> None:
        self.until(lambda: True, "room for keys", keys.encode() if isinstance(keys, str) else keys)

    def see(self, text: str | bytes) -> str:
        """Wait for a text; everything up to its end, which is then forgotten."""
        mark = text.encode() if isinstance(text, str) else text
        self.until(lambda: mark in self.seen, repr(text))
        before, _, self.seen = self.seen.partition(mark)
        return (before + mark).decode("utf-8", "replace")

    def wait(self) -> int:
        """The exit code, once everything is shown."""
        self.until(lambda: self.process.poll() is not None, "the end")
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 1 << 16)
        return int(self.process.returncode)

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self.slave) == self.modes

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()  # and it takes its tmux along
            try:
                self.process.wait(PATIENCE / 6)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal() -> Iterator[Open]:
    """Opens terminals that are closed at the end."""
    opened: list[Terminal] = []

    def open_one(argv: list[str], **given: Any) -> Terminal:
        opened.append(Terminal(argv, **given))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", "import os, signal, sys, termios, time, tty\n" + code]


# --- without a terminal: we become the program ---------------------------------------------------------------------


def test_nothing_to_run_is_an_error_of_usage() -> None:
    done = subprocess.run(RUN, capture_output=True, text=True)
    assert done.returncode == 2
    assert "nothing to run" in done.stderr


@pytest.mark.parametrize("dashes", [["--"], []])
def test_everything_after_the_program_is_the_programs(dashes: list[str], tmp_path: Path) -> None:
    words = ["--home", "x", "--help", "--version", "--", "-h", "--json", "", "a b", "search"]
    options = [*RUN[:-1], "--home", str(tmp_path), *dashes]
    done = subprocess.run([*options, *python("print(sys.argv[1:])"), *words], capture_output=True, text=True)
    assert done.stdout == f"{words}\n"
    assert done.returncode == 0


def test_pipes_stay_pipes() -> None:
    piped = subprocess.run([*RUN, "cat"], input=b"\x00\x04piped\xff", capture_output=True)
    assert (piped.returncode, piped.stdout) == (0, b"\x00\x04piped\xff")


@pytest.mark.parametrize("locale", [{}, {"LANG": "C"}, {"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}])
def test_the_environment_is_what_it_was(tmp_path: Path, locale: dict[str, str]) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "strange", "ODD": "a\nb", **locale}
    seen = []
    for argv in ([], RUN):
        words = [*argv, "sh", "-c", "cat /proc/self/environ; umask; pwd"]
        done = subprocess.run(words, env=env, cwd=tmp_path, umask=0o027, capture_output=True)
        assert done.returncode == 0
        seen.append(sorted(done.stdout.split(b"\0")))
    assert seen[0] == seen[1]


def test_a_program_that_is_not_there_is_said_in_one_line(terminal: Open, tmp_path: Path) -> None:
    piped = subprocess.run([*RUN, "no-such-program"], capture_output=True, text=True)
    assert (piped.returncode, piped.stderr) == (127, "memory-keeper: no-such-program: not found\n")
    there = terminal([*RUN, "no-such-program", "--help"])
    assert there.wait() == 127
    assert there.seen == b"memory-keeper: no-such-program: not found\r\n"
    (tmp_path / "file").write_text("text")
    there = terminal([*RUN, str(tmp_path / "file")])
    assert there.wait() == 126
    assert b"Permission denied" in b" ".join(there.seen.split()), "wherever it is wrapped"


def test_without_tmux_it_says_what_to_install(terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "cat").symlink_to(shutil.which("cat") or "")
    there = terminal([*RUN, "cat"], env={"PATH": str(tmp_path), "HOME": str(tmp_path), "TERM": "xterm"})
    assert there.wait() == 3
    assert b"needs tmux" in there.seen and b"apt install tmux" in there.seen


# --- in a terminal: tmux is started for it ----------------------------------------------------------------------------


@tmux
@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill $$", 143)])
def test_the_exit_status_is_passed_on_and_the_terminal_is_in_order(terminal: Open, end: str, code: int) -> None:
    there = terminal([*RUN, "sh", "-c", end])
    assert there.wait() == code
    assert there.is_as_before()


@tmux
def test_what_it_showed_stays_to_be_read(terminal: Open) -> None:
    there = terminal([*RUN, "sh", "-c", 'seq 200; echo "$1" "$2" $MEMORY_KEEPER_RUN', "sh", "a b;", ";"])
    assert there.wait() == 0
    left = there.seen.rpartition(b"exited]\r\n")[2].decode().split("\r\n")
    assert left == [*map(str, range(1, 201)), "a b; ; 1", ""]


@tmux
@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP", "the terminal goes"])
def test_the_program_is_told_when_we_are_to_end(terminal: Open, tmp_path: Path, how: str) -> None:
    code = (
        "signal.signal(signal.SIGHUP, lambda *_: (open('told', 'w'), os._exit(5)))\nopen('ready', 'w')\nsignal.pause()"
    )
    there = terminal([*RUN, *python(code)], cwd=tmp_path)
    there.until((tmp_path / "ready").exists, "the program")
    if how.startswith("SIG"):
        there.process.send_signal(signal.Signals[how])
        there.wait()
    else:
        for end in ("master", "slave"):
            os.close(getattr(there, end))
            setattr(there, end, -1)
        there.process.wait(PATIENCE)
    wait_for((tmp_path / "told").exists)


def wait_for(look: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < end
        time.sleep(0.02)


@tmux
def test_the_size_is_passed_at_the_start_and_when_it_changes(terminal: Open) -> None:
    show = "print(*os.get_terminal_size(), '.')"
    code = f"signal.signal(signal.SIGWINCH, lambda *_: {show})\n{show}"
    there = terminal([*RUN, *python(f"{code}\nwhile True: signal.pause()")], rows=33, columns=111)
    there.see("111 33 .")
    there.resize(40, 120)
    there.see("120 40 .")


# --- clears that were asked for ---------------------------------------------------------------------------------------


class Stage:
    """A puppet of Claude Code in a terminal."""

    def __init__(self, there: Terminal, folder: Path) -> None:
        self.there, self._folder = there, folder
        there.until((folder / "pid").exists, "the puppet")
        there.until(lambda: (folder / "pid").read_text(), "the puppet")
        self.pid = int((folder / "pid").read_text())

    def keys(self) -> bytes:
        return (self._folder / "keys").read_bytes()

    def sent(self) -> str:
        return (self._folder / "sent").read_text()

    def ask(self, session: str) -> None:
        """Ask for a clear, as the hooks of that process would."""
        home, at = os.environ["MEMORY_KEEPER_HOME"], time.time() - 5
        start = {"event": "SessionStart", "at": at, "dir": "/", "source": "startup", "pid": self.pid}
        words = Path(f"/proc/{self.pid}/environ").read_text().split("\0")
        terminal = find_terminal(dict(word.split("=", 1) for word in words if word))
        spool.append(home, session, {**start, "born": born(self.pid), "run": True, "terminal": terminal})
        spool.append(home, session, {"event": "AskClear", "at": at, "dir": "/", "why": "test"})


@pytest.fixture
def puppet(terminal: Open, tmp_path: Path) -> Callable[..., Stage]:
    def play(name: str, **settings: str) -> Stage:
        folder = tmp_path / name
        folder.mkdir()
        words = [f"{key}={value}" for key, value in settings.items()]
        return Stage(terminal([*RUN, *PUPPET, str(folder), *words], rows=24, columns=80), folder)

    return play


@tmux
@pytest.mark.parametrize(("draft", "keys"), [("", b"/clear\r"), ("half a thought", b"\x13/clear\r")])
def test_a_clear_is_typed_where_it_was_asked_for(puppet: Callable[..., Stage], draft: str, keys: bytes) -> None:
    stage, other = puppet("claude", draft=draft), puppet("other")
    stage.ask("session")
    stage.there.until(lambda: stage.sent() == "/clear\n", "a clear")
    assert stage.keys() == keys
    assert other.keys() == b""


@tmux
def test_an_end_that_tmux_missed_is_seen(terminal: Open) -> None:
    """It does miss some of programs that end at once, the more the busier the machine is."""
    programs = [terminal([*RUN, "sh", "-c", f"exit {number}"]) for number in range(8)]
    assert [program.wait() for program in programs] == [*range(8)]
