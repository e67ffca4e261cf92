"""`run`: a program in a terminal of ours behaves as it does without us, to the byte, the signal and the exit status."""

from __future__ import annotations

import hashlib
import json
import os
import random
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

from memory_keeper.capture.host import born
from memory_keeper.keep import spool

ROOT = Path(__file__).resolve().parents[3]
RUN = [sys.executable, "-I", str(ROOT / "memory-keeper"), "run", "--"]
PUPPET = [sys.executable, str(ROOT / "tests/app/watch/puppet.py")]
PATIENCE = 60.0
INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile", "--noediting", "-i"],
    "dash": ["dash", "-i"],
    "zsh": ["zsh", "-f", "+Z", "-i"],
}
SHELLS = [name for name in INTERACTIVE if shutil.which(name)]


class Terminal:
    """A terminal as people have it: a program runs in it, keys go in, what it shows comes out."""

    def __init__(self, argv: list[str], rows: int = 30, columns: int = 100, **given: Any) -> None:
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self.seen = b""
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
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


# --- bytes ------------------------------------------------------------------------------------------------------------

HASH = """
import hashlib
tty.setraw(0)
print("ready", end="\\r\\n")
data = b""
while len(data) < {size}:
    data += os.read(0, 65536)
print(hashlib.sha256(data).hexdigest(), end="\\r\\n")
"""


def test_a_paste_of_a_megabyte_arrives_byte_for_byte(terminal: Open) -> None:
    words = ["Grüße", "漢字", "🙂👩‍👩‍👧", "plain", "\x1b[<0;12;34M", "\r", "\x03\x1a\x1c\x11\x13", "\t"]
    paste = "\x1b[200~" + "".join(random.Random(3).choices(words, k=160_000)) + "\x1b[201~"
    data = paste.encode()
    assert len(data) > 1 << 20
    there = terminal([*RUN, *python(HASH.format(size=len(data)))])
    there.see("ready\r\n")
    there.type(data)
    there.see(hashlib.sha256(data).hexdigest())
    assert there.wait() == 0


ECHO = """
tty.setraw(0)
print("ready", end="\\r\\n")
while (data := os.read(0, 65536)) != b"\\x04":
    while data:
        data = data[os.write(1, data):]
"""


def test_a_flood_both_ways_loses_nothing_and_ends(terminal: Open) -> None:
    data = random.Random(4).randbytes(1 << 20).replace(b"\x04", b"\x05")
    there = terminal([*RUN, *python(ECHO)])
    there.see("ready\r\n")
    there.type(data)
    there.until(lambda: len(there.seen) >= len(data), "everything back")
    assert there.seen == data
    there.type(b"\x04")
    assert there.wait() == 0


def test_every_byte_passes_alone(terminal: Open) -> None:
    there = terminal([*RUN, *python(ECHO)])
    there.see("ready\r\n")
    for number in set(range(256)) - {4}:
        there.type(bytes([number]))
        there.see(bytes([number]))
    there.type("\x04")
    assert there.wait() == 0


def test_keys_arrive_while_the_terminal_takes_no_output(terminal: Open, tmp_path: Path) -> None:
    """A program that floods can be interrupted, though nobody reads what it says."""
    flag = tmp_path / "interrupted"
    code = f"signal.signal(signal.SIGINT, lambda *_: open({str(flag)!r}, 'w'))\nwhile True: os.write(1, b'flood' * 999)"
    there = terminal([*RUN, *python(code)])
    there.see("flood")
    end = time.monotonic() + PATIENCE
    while not flag.exists() and time.monotonic() < end:
        os.write(there.master, b"\x03")
        time.sleep(0.1)
    assert flag.exists()


def test_the_output_of_a_flood_is_whole(terminal: Open) -> None:
    there = terminal([*RUN, *python("sys.stdout.reconfigure(write_through=False)\nfor n in range(100000): print(n)")])
    assert there.wait() == 0
    assert there.seen == b"".join(b"%d\r\n" % number for number in range(100_000))


# --- size, keys and signals -------------------------------------------------------------------------------------------


def test_the_size_is_passed_at_the_start_and_when_it_changes(terminal: Open) -> None:
    code = """
def tell(*_): print("size", *os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, tell)
tell()
while sys.stdin.read(1) != "q": pass
"""
    there = terminal([*RUN, *python(code)])
    there.see("size 100 30")
    there.resize(44, 132)
    there.see("size 132 44")
    there.type("q\n")
    assert there.wait() == 0


@pytest.mark.parametrize(("key", "name"), [("\x03", "SIGINT"), ("\x1c", "SIGQUIT")])
def test_a_key_that_interrupts_does(terminal: Open, key: str, name: str) -> None:
    code = f"signal.signal(signal.{name}, signal.SIG_DFL)\nprint('ready', flush=True)\ntime.sleep(600)"
    there = terminal([*RUN, *python("import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n" + code)])
    there.see("ready\r\n")
    there.type(key)
    assert there.wait() == -signal.Signals[name]
    assert there.is_as_before()


def test_the_program_has_the_terminal_and_its_foreground(terminal: Open) -> None:
    code = "print(os.tcgetpgrp(0) == os.getpgrp() == os.getpid(), os.ttyname(0), os.getsid(0) == os.getppid())\n"
    there = terminal([*RUN, *python(code + "open('/dev/tty').close(); print('controlled')")])
    there.see("True /dev/")
    there.see("True\r\n")
    there.see("controlled")
    assert there.wait() == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_a_signal_sent_to_us_reaches_the_program(terminal: Open, name: str) -> None:
    code = f"""
signal.signal(signal.{name}, lambda *_: (print("got it", flush=True), os._exit(7)))
print("ready", flush=True)
while True: time.sleep(1)
"""
    there = terminal([*RUN, *python(code)])
    there.see("ready\r\n")
    there.process.send_signal(signal.Signals[name])
    there.see("got it")
    assert there.wait() == 7
    assert there.is_as_before()


def test_the_program_is_told_when_the_terminal_goes(terminal: Open, tmp_path: Path) -> None:
    flag = tmp_path / "hung up"
    code = f"""
signal.signal(signal.SIGHUP, lambda *_: (open({str(flag)!r}, "w"), os._exit(5)))
print("ready", flush=True)
while True: time.sleep(1)
"""
    there = terminal([*RUN, *python(code)])
    there.see("ready\r\n")
    for end in ("master", "slave"):
        os.close(getattr(there, end))
        setattr(there, end, -1)
    assert there.process.wait(PATIENCE) == 5
    assert flag.exists()


# --- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_ctrl_z_gives_the_shell_back_and_fg_goes_on(terminal: Open, shell: str) -> None:
    there = terminal(INTERACTIVE[shell], env={**os.environ, "PS1": "$ ", "TERM": "dumb", "ENV": ""})
    words = " ".join([*RUN, "sh", "-c", "'echo ready; cat; stty size; exit 3'"])
    there.type(f"{words}\n")
    there.see("ready\r\n")
    there.type("one\n")
    there.see("one\r\none\r\n")
    there.type("\x1a")
    there.see("$ ")
    there.type("echo $((40 + 2)) `stty size`\n")
    there.see("42 30 100")
    there.resize(20, 70)
    there.type("fg\n")
    there.see("cat")
    there.type("two\n")
    there.see("two\r\ntwo\r\n")
    there.type("\x04")
    there.see("20 70\r\n")
    there.see("$ ")
    there.type("echo code $?\n")
    there.see("code 3\r\n")
    there.type("exit\n")
    there.wait()


def test_a_program_that_stops_itself_gives_the_shell_back(terminal: Open, tmp_path: Path) -> None:
    """As Claude Code does: it reads Ctrl-Z as a key, puts the terminal in order, and stops its group."""
    (tmp_path / "program.py").write_text(
        """
import os, signal, sys, termios, tty
modes = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"ready\\r\\n")
while (key := os.read(0, 1)) != b"q":
    if key == b"\\x1a":
        termios.tcsetattr(0, termios.TCSANOW, modes)
        os.write(1, b"good bye\\r\\n")
        os.kill(0, signal.SIGSTOP)
        tty.setraw(0)
        os.write(1, b"back again\\r\\n")
"""
    )
    there = terminal(INTERACTIVE[SHELLS[0]], env={**os.environ, "PS1": "$ ", "TERM": "dumb", "ENV": ""})
    there.type(" ".join([*RUN, sys.executable, str(tmp_path / "program.py")]) + "\n")
    there.see("ready\r\n")
    there.type("\x1a")
    there.see("good bye")
    there.see("$ ")
    there.type("echo $((40 + 2))\n")
    there.see("42\r\n")
    there.type("fg\n")
    there.see("back again\r\n")
    there.type("q")
    there.see("$ ")
    there.type("echo code $?\n")
    there.see("code 0\r\n")
    there.type("exit\n")
    there.wait()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_stopped_program_can_be_killed_or_continued_like_any_job(terminal: Open, shell: str) -> None:
    there = terminal(INTERACTIVE[shell], env={**os.environ, "PS1": "$ ", "TERM": "dumb", "ENV": ""})
    there.type(" ".join([*RUN, "sh", "-c", "'echo ready; exec cat'"]) + "\n")
    there.see("ready\r\n")
    there.type("\x1a")
    there.see("$ ")
    there.type("bg\n")  # it wants the terminal, so it is stopped again
    there.see("$ ")
    said = ""
    while "Stopped" not in said:
        there.type("jobs\n")
        said = there.see("$ ")
    there.type("jobs -p\n")
    there.see("\n")
    pid = int(there.see("\n"))
    there.type("kill %1; kill -s CONT %1\n")
    there.until(lambda: not lives(pid), "the end of a job that was killed")


def lives(pid: int) -> bool:
    """Whether a process goes on; one that has ended may still wait to be asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_where_nobody_could_continue_it_a_program_is_not_left_stopped(terminal: Open) -> None:
    there = terminal([*RUN, "sh", "-c", "echo ready; cat; echo over"])
    there.see("ready\r\n")
    there.type("none\n")
    there.see("none\r\nnone\r\n")  # a shell that is stopped while it starts a program (vfork) never says so
    there.type("\x1a")
    there.type("one\n")
    there.see("one\r\none\r\n")
    there.type("\x04")
    there.see("over")
    assert there.wait() == 0


# --- the end ----------------------------------------------------------------------------------------------------------


def test_the_program_is_told_when_we_are_killed(terminal: Open, tmp_path: Path) -> None:
    flag = tmp_path / "hung up"
    code = f"signal.signal(signal.SIGHUP, lambda *_: (open({str(flag)!r}, 'w'), os._exit(0)))\nprint('ready')\n"
    there = terminal([*RUN, *python(code + "while True: time.sleep(1)")])
    there.see("ready\r\n")
    there.process.kill()
    there.until(flag.exists, "the end of the program")


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_status_is_passed_on(terminal: Open, code: int) -> None:
    there = terminal([*RUN, "sh", "-c", f"exit {code}"])
    assert there.wait() == code
    assert there.is_as_before()
    assert there.seen == b""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGHUP"])
def test_who_dies_by_a_signal_takes_us_along_and_leaves_the_terminal_in_order(terminal: Open, name: str) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); tty.setraw(0); print('ready', end='\\r\\n')"
    )
    there = terminal([*RUN, *python(f"{code}\nos.read(0, 1); os.kill(os.getpid(), signal.{name})")])
    there.see("ready\r\n")
    assert not there.is_as_before()
    there.type("x")
    assert there.wait() == -signal.Signals[name]
    assert there.is_as_before()


def test_what_a_program_leaves_running_is_not_killed(terminal: Open, tmp_path: Path) -> None:
    done = tmp_path / "done"
    os.mkfifo(tmp_path / "go")
    there = terminal([*RUN, "sh", "-c", f"(read x < {tmp_path}/go; echo $x > {done}) & echo started"])
    assert there.wait() == 0
    (tmp_path / "go").write_text("on\n")
    there.until(lambda: done.exists() and done.read_text() == "on\n", "what was left running")


def test_the_terminal_is_in_order_after_something_unexpected(terminal: Open) -> None:
    code = """
import sys; sys.path.insert(0, sys.argv[1])
from memory_keeper.app.watch import pty
def tend(pty): raise RuntimeError("unexpected")
pty.run(["cat"], "MARK", 0o022, tend)
"""
    there = terminal([sys.executable, "-c", code, str(ROOT / "src")])
    assert there.wait() == 1
    assert b"unexpected" in there.seen
    assert there.is_as_before()


# --- how it is called -------------------------------------------------------------------------------------------------


def test_a_program_that_is_not_there_is_said_in_one_line(terminal: Open) -> None:
    there = terminal([*RUN, "no-such-program", "--help"])
    assert there.wait() == 127
    assert there.seen == b"memory-keeper: no-such-program: not found\r\n"
    assert there.is_as_before()
    piped = subprocess.run([*RUN, "no-such-program"], capture_output=True, text=True)
    assert (piped.returncode, piped.stderr) == (127, "memory-keeper: no-such-program: not found\n")


def test_a_file_that_is_no_program_is_said_in_one_line(terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    there = terminal([*RUN, str(tmp_path / "file")])
    assert there.wait() == 126
    seen = there.seen.replace(b"\r\n  ", b" ")  # where it is wrapped
    assert seen.count(b"\n") == 1 and b"Permission denied" in seen


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


def test_pipes_stay_pipes(terminal: Open) -> None:
    piped = subprocess.run([*RUN, "cat"], input=b"\x00\x04piped\xff", capture_output=True)
    assert (piped.returncode, piped.stdout) == (0, b"\x00\x04piped\xff")
    there = terminal(
        [*RUN, *python("print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdin.read())")], stdin=subprocess.PIPE
    )
    there.process.stdin.write(b"from the pipe")  # type: ignore[union-attr]
    there.process.stdin.close()  # type: ignore[union-attr]
    there.see("False True from the pipe\r\n")
    assert there.wait() == 0
    assert there.is_as_before()


def test_who_writes_into_a_pipe_sees_that_nobody_reads(terminal: Open) -> None:
    words = " ".join([*RUN, "sh", "-c", "'exec <&-; sleep 600'"])
    there = terminal(["sh", "-c", f"(yes; echo the writer has ended >&2) | {words}"])
    there.see("the writer has ended")


@pytest.mark.parametrize("locale", [{}, {"LANG": "C"}, {"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}])
def test_the_environment_is_what_it_was(terminal: Open, tmp_path: Path, locale: dict[str, str]) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "strange", "ODD": "a\nb", **locale}
    tell = "cat /proc/self/environ > environ; umask; pwd; ls -l /proc/self/fd | wc -l"
    runs = [["sh", "-c", tell], [*RUN, "sh", "-c", tell]]
    told = []
    for argv in runs:
        there = terminal(argv, env=env, cwd=tmp_path, umask=0o027)
        assert there.wait() == 0
        variables = dict(word.split("=", 1) for word in (tmp_path / "environ").read_text().split("\0") if word)
        told.append((there.seen, {name: value for name, value in variables.items() if name != "MEMORY_KEEPER_RUN"}))
    assert told[0] == told[1]


# --- for whoever tends the terminal -----------------------------------------------------------------------------------

TEND = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.app.watch import pty
seen = []
def until(pty, so):
    while not so(): pty.sleep(0.02)
def tend(pty):
    if not seen:
        until(pty, lambda: sys.argv[3] in pty.screen())
        seen.append(pty.screen())
        pty.type(b"typed ")
        until(pty, lambda: os.path.exists(sys.argv[2] + ".typed"))
        pty.type(b"by us\\n")
        until(pty, lambda: "<typed by us>" in pty.screen())
        seen.append(pty.screen())
        seen.append(pty.reaches(int(open(sys.argv[2]).read())))
        seen.append(pty.reaches(1))
status = pty.run(sys.argv[4:], "MARK", 0o022, tend)
print(json.dumps([status, *seen]))
"""


def test_who_tends_it_sees_the_screen_and_types_while_the_users_keys_wait(terminal: Open, tmp_path: Path) -> None:
    code = f"""
open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
print("\\x1b[2J\\x1b[3;5Hwhat is your name?", flush=True)
for line in sys.stdin:
    print("<" + line.strip() + ">", flush=True)
    if "end" in line: break
"""
    tend = [sys.executable, "-c", TEND, str(ROOT / "src"), str(tmp_path / "pid"), "name?"]
    there = terminal([*tend, *python(code)], rows=8, columns=40)
    there.see("typed ")
    there.type("by the user\nend\n")
    (tmp_path / "pid.typed").touch()
    there.see("<typed by us>\r\n")
    there.see("<by the user>\r\n")
    there.see("<end>\r\n")
    status, before, after, reaches, others = json.loads(there.see("]"))
    assert before == "\n\n    what is your name?\n\n\n\n\n"
    assert after == "\n\n    what is your name?\ntyped by us\n<typed by us>\n\n\n"
    assert (status, reaches, others) == (0, True, False)


def test_who_tends_it_is_interrupted_by_the_programs_end(terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("1")
    tend = [sys.executable, "-c", TEND, str(ROOT / "src"), str(tmp_path / "pid"), ""]
    there = terminal([*tend, "sh", "-c", "read x; exit 4", "ignored"])
    there.see("typed ")
    there.process.send_signal(signal.SIGTERM)
    assert json.loads(there.see("]"))[0] == signal.SIGTERM


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
        spool.append(home, session, {**start, "born": born(self.pid), "run": True})
        spool.append(home, session, {"event": "AskClear", "at": at, "dir": "/", "why": "test"})


@pytest.fixture
def puppet(terminal: Open, tmp_path: Path) -> Callable[..., Stage]:
    def play(name: str, *, run: list[str] = RUN, **settings: str) -> Stage:
        folder = tmp_path / name
        folder.mkdir()
        words = [f"{key}={value}" for key, value in settings.items()]
        return Stage(terminal([*run, *PUPPET, str(folder), *words], rows=24, columns=80), folder)

    return play


@pytest.mark.parametrize(("draft", "keys"), [("", b"/clear\r"), ("half a thought", b"\x13/clear\r")])
def test_a_clear_is_typed_where_it_was_asked_for(puppet: Callable[..., Stage], draft: str, keys: bytes) -> None:
    stage, other = puppet("claude", draft=draft), puppet("other")
    stage.ask("session")
    stage.there.until(lambda: stage.sent() == "/clear\n", "a clear")
    assert stage.keys() == keys
    assert other.keys() == b""


def test_the_users_keys_come_after_what_we_type(puppet: Callable[..., Stage]) -> None:
    stage = puppet("claude")
    stage.ask("session")
    stage.there.until(lambda: stage.keys().startswith(b"/clear"), "what we type")
    stage.there.type("the user's")
    stage.there.until(lambda: stage.keys().endswith(b"the user's"), "what the user types")
    assert stage.keys() == b"/clear\rthe user's"


IMPATIENT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from memory_keeper.app.commands import run
run.PAUSE = 0.1
from memory_keeper.app.cli import main
main()
"""


def test_a_clear_that_could_not_be_typed_is_tried_again(puppet: Callable[..., Stage]) -> None:
    run = [sys.executable, "-c", IMPATIENT, str(ROOT / "src"), "run", "--"]
    stage = puppet("claude", run=run, deaf="enter")
    stage.ask("session")
    stage.there.until(lambda: stage.keys().count(b"\r") >= 2, "a second try")
    assert stage.keys().startswith(b"/clear\r" + b"\x7f" * 6 + b"/clear\r")
