"""`/clear` reaches the session it was asked for and nobody else: real terminals, and every byte that is read there."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memory_keeper.capture.host import born
from memory_keeper.hooks.actions.fullness import WATCHING
from memory_keeper.store import spool
from memory_keeper.watch import clear, screen, tmux
from memory_keeper.watch.ask import Ask
from memory_keeper.watch.box import Box, read_screen
from memory_keeper.watch.clear import send_clear
from memory_keeper.watch.process import find_program
from tests.command import typed
from tests.rows import rows
from tests.watch.puppet import Puppet

SRC = Path(clear.__file__).parents[2]
PUPPET = Path(__file__).with_name("puppet.py")
SENT = b"/clear\r"
PATIENCE = 60.0
# reads keys and writes them down, like every program that is not Claude Code
EAR = """
import os, sys, tty
tty.setraw(0)
os.write(1, b"ready")
while True:
    data = os.read(0, 99)
    with open(sys.argv[1], "ab") as file:
        file.write(data)
"""
T = TypeVar("T")


def wait_for(look: Callable[[], T], what: str) -> T:
    end = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.02)
    return seen


def keys(folder: Path) -> bytes:
    """Every byte that was read there."""
    path = folder / "keys"
    return path.read_bytes() if path.exists() else b""


def sent(folder: Path) -> list[str]:
    path = folder / "sent"
    return path.read_text().splitlines() if path.exists() else []


def command(folder: Path, **settings: str) -> list[str]:
    folder.mkdir()
    return [sys.executable, str(PUPPET), str(folder), *(f"{name}={value}" for name, value in settings.items())]


def pid_of(folder: Path) -> int:
    return int(
        wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), f"a screen of {folder.name}")
    )


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mk-") as made:  # short: the path of a socket may have 100 characters
        yield Path(made)


# --- without any terminal: what is typed, and when --------------------------------------------------------------------


class Script:
    """A terminal in which a puppet plays, without one: what was typed, what stood there, and what was waited."""

    def __init__(self, **settings: str) -> None:
        self.puppet, self.done = Puppet(**settings), list[bytes | float]()

    def screen(self) -> str:
        return self.puppet.screen()

    def type(self, keys: bytes) -> None:
        self.done.append(keys)
        for byte in keys:
            self.puppet.press(bytes([byte]))

    def clear(self) -> str:
        return send_clear(self, self.done.append)

    def typed(self) -> bytes:
        return b"".join(each for each in self.done if isinstance(each, bytes))


def test_enter_follows_the_text_after_a_beat() -> None:
    script = Script()
    assert script.clear() == ""
    at = script.done.index(b"/clear")
    assert script.done[at + 1] == 0.3
    assert script.done[-2:-1] == [b"\r"]


@pytest.mark.parametrize(
    ("settings", "typed", "box"),
    [
        ({}, SENT, ""),
        ({"draft": "half a draft"}, b"\x13/clear\r", "half a draft"),
        ({"draft": "one\ntwo"}, b"\x13/clear\r", "one\ntwo"),
        ({"hint": 'Try "fix lint errors"'}, b"\x13/clear\r", 'Try "fix lint errors"'),
        ({"draft": "abc", "hint": "run the tests"}, b"\x13/clear\r", "abc"),
        ({"stash": "put away"}, SENT, "put away"),
    ],
)
def test_a_draft_is_there_again_after_the_clear(settings: dict[str, str], typed: bytes, box: str) -> None:
    script = Script(**settings)
    assert script.clear() == ""
    assert script.typed() == typed
    assert script.puppet.sent == ["/clear"]
    assert read_screen(script.screen()) == Box(box)


@rows("settings", "why")
def test_no_key_is_typed_where_something_could_be_lost(settings: dict[str, str], why: str) -> None:
    script = Script(**settings)
    before = script.screen()
    assert why in script.clear()
    assert script.typed() == b""
    assert script.screen() == before


@pytest.mark.parametrize(
    ("settings", "why", "typed"),
    [
        ({"own": "1"}, "same name", b"/clear" + b"\x7f" * 6),
        ({"own": "1", "draft": "abc"}, "same name", b"\x13/clear" + b"\x7f" * 6 + b"\x13"),
        ({"own": "1", "draft": "abc", "hint": "ghi"}, "same name", b"\x13/clear" + b"\x7f" * 6 + b"\x13"),
        ({"draft": "abc", "deaf": "stash"}, "did not take it", b"\x13/clear" + b"\x7f" * 6),
        ({"vi": "1"}, "did not take it", b"/clear" + b"\x7f" * 3),
        ({"vi": "1", "draft": "abc"}, "did not take it", b"\x13/clear" + b"\x7f" * 3 + b"\x13"),
        ({"deaf": "enter", "draft": "abc"}, "Enter", b"\x13/clear\r" + b"\x7f" * 6 + b"\x13"),
    ],
)
def test_in_doubt_it_is_taken_back(settings: dict[str, str], why: str, typed: bytes) -> None:
    script = Script(**settings)
    before = script.screen()
    assert why in script.clear()
    assert script.typed() == typed
    assert script.screen() == before
    assert not script.puppet.sent


def test_a_dialog_that_opens_meanwhile_gets_no_key() -> None:
    script = Script(draft="abc", dialog="later")
    assert "busy" in script.clear()
    assert script.typed() == b"\x13/clear"


def test_what_somebody_typed_meanwhile_is_not_erased() -> None:
    script = Script()
    typed: list[bytes | float] = []

    def type_too(seconds: float) -> None:
        typed.append(seconds)
        if script.typed() == b"/clear":
            script.puppet.press(b"x")

    assert send_clear(script, type_too)
    assert script.typed() == b"/clear"
    assert script.puppet.text.startswith("/clearx")


# --- tmux -------------------------------------------------------------------------------------------------------------


class Tmux:
    """A server of its own, with programs in its panes."""

    def __init__(self, folder: Path, name: str = "tmux") -> None:
        self.folder, self.socket, self.panes = folder, folder / name, dict[str, str]()

    def tmux(self, *args: str) -> str:
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/sh", "HOME": "/"}
        words = ["tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", *args]
        return subprocess.run(words, env=env, capture_output=True, check=True, encoding="utf-8").stdout.strip()

    def open(self, name: str, *words: str) -> Path:
        """Run a program in a new pane; where it leaves what it hears."""
        how = ["split-window"] if self.panes else ["new-session", "-x", "90", "-y", "60"]
        self.panes[name] = self.tmux(*how, "-d", "-P", "-F", "#{pane_id}", shlex.join(words))
        if len(self.panes) > 1:
            self.tmux("select-layout", "even-vertical")
        return self.folder / name

    def puppet(self, name: str, **settings: str) -> Ask:
        """A Claude Code in a new pane, and what asks for its clear."""
        pid = pid_of(self.open(name, *command(self.folder / name, **settings)))
        return self.ask(name, pid)

    def ask(self, name: str, pid: int) -> Ask:
        server = self.tmux("display-message", "-p", "#{pid}")
        return Ask(
            f"session-{name}", time.time(), pid, born(pid), f"{self.socket},{server},0", self.panes[name], "", ""
        )

    def ear(self, name: str = "ear") -> Path:
        """Another program in a new pane."""
        (self.folder / name).mkdir()
        self.open(name, sys.executable, "-c", EAR, str(self.folder / name / "keys"))
        wait_for(lambda: "ready" in self.tmux("capture-pane", "-p", "-t", self.panes[name]), "a program that listens")
        return self.folder / name


@pytest.fixture
def server(folder: Path) -> Iterator[Tmux]:
    made = Tmux(folder)
    yield made
    if made.panes:
        made.tmux("kill-server")


def clear_through_tmux(ask: Ask) -> str:
    pane = tmux.find(ask)
    assert pane
    return send_clear(pane)


@pytest.mark.tmux
@pytest.mark.parametrize(
    ("settings", "typed"),
    [({}, SENT), ({"draft": "half a\ndraft"}, b"\x13/clear\r"), ({"hint": "run the tests"}, b"\x13/clear\r")],
)
def test_a_pane_is_cleared_and_no_other_gets_a_key(server: Tmux, settings: dict[str, str], typed: bytes) -> None:
    ask, ear, other = server.puppet("claude", **settings), server.ear(), server.puppet("other")
    assert clear_through_tmux(ask) == ""
    wait_for(lambda: keys(server.folder / "claude").endswith(b"\r"), "Enter")
    assert keys(server.folder / "claude") == typed
    assert sent(server.folder / "claude") == ["/clear"]
    shown = server.tmux("capture-pane", "-p", "-t", ask.pane)
    assert (read_screen(shown) or Box("?")).text == settings.get("draft", settings.get("hint", ""))
    assert keys(ear) == keys(server.folder / other.session.removeprefix("session-")) == b""


@pytest.mark.tmux
@pytest.mark.parametrize(
    ("settings", "why"),
    [({"busy": "1"}, "busy"), ({"dialog": "1"}, "busy"), ({"restless": "1", "draft": "ab"}, "somebody is typing")],
)
def test_a_pane_that_is_not_idle_gets_no_key(server: Tmux, settings: dict[str, str], why: str) -> None:
    assert why in clear_through_tmux(server.puppet("claude", **settings))
    assert keys(server.folder / "claude") == b""


@pytest.mark.tmux
def test_a_command_of_the_same_name_is_not_run(server: Tmux) -> None:
    assert "same name" in clear_through_tmux(server.puppet("claude", own="1", draft="abc"))
    assert sent(server.folder / "claude") == []
    typed = b"\x13/clear" + b"\x7f" * 6 + b"\x13"
    wait_for(lambda: keys(server.folder / "claude") == typed, "a draft that is given back")


@pytest.mark.tmux
def test_forged_requests_get_no_key(server: Tmux) -> None:
    ask, ear, other = server.puppet("claude"), server.ear(), server.puppet("other")
    dead = subprocess.Popen(["/bin/true"])
    dead.wait()
    forged = [
        ask._replace(born="1"),
        ask._replace(born=""),
        ask._replace(pid=dead.pid),
        ask._replace(pid=dead.pid, born=born(dead.pid)),
        ask._replace(pid=0, born=born(0)),
        ask._replace(pid=-1),
        ask._replace(pid=1, born=born(1)),
        ask._replace(pid=os.getpid(), born=born(os.getpid())),
        ask._replace(pane=server.panes["ear"]),
        ask._replace(pane=other.pane),
        ask._replace(pid=other.pid, born=other.born),
        ask._replace(pane="%99"),
        ask._replace(pane=""),
        ask._replace(pane=f"{ask.pane}\ntouch c"),
        ask._replace(pane=f"{ask.pane};kill-server"),
        ask._replace(pane=ask.pane.replace("%", "")),
        ask._replace(pane=":"),
        ask._replace(tmux=""),
        ask._replace(tmux=",,"),
        ask._replace(tmux="tmux,1,0"),
        ask._replace(tmux=f"{server.socket}\n,1,0"),
        ask._replace(tmux=f"{server.folder}/claude/pid,1,0"),
        ask._replace(tmux="/dev/null,1,0"),
    ]
    assert [each for each in forged if tmux.find(each)] == []
    assert keys(ear) == keys(server.folder / "claude") == keys(server.folder / "other") == b""
    assert tmux.find(ask)


@pytest.mark.tmux
def test_a_server_that_is_no_ancestor_is_not_asked(server: Tmux) -> None:
    """A project's settings can name any socket; whoever listens there would hear what we type."""
    ask = server.puppet("claude")
    other = Tmux(server.folder, "tmux2")
    try:
        other.ear()
        assert tmux.find(ask._replace(tmux=f"{other.socket},1,0")) is None
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(server.folder / "false"))
            listener.listen()
            listener.setblocking(False)
            assert tmux.find(ask._replace(tmux=f"{server.folder}/false,1,0")) is None
            with listener.accept()[0] as heard:
                assert heard.recv(99) == b""
            with pytest.raises(BlockingIOError):  # nobody came back with a tmux
                listener.accept()
    finally:
        other.tmux("kill-server")
    assert keys(server.folder / "ear") == b""


@pytest.mark.tmux
@rows("make")
def test_a_pane_that_would_not_pass_keys_on_is_left_alone(server: Tmux, make: list[str]) -> None:
    ask, ear = server.puppet("claude"), server.ear()
    pane = tmux.find(ask)
    assert pane
    server.tmux(make[0], "-t", ask.pane, *make[1:])
    assert tmux.find(ask) is None
    assert "cannot be typed into" in send_clear(pane)
    assert keys(server.folder / "claude") == keys(ear) == b""


@pytest.mark.tmux
def test_nothing_is_typed_once_the_program_is_in_the_background(server: Tmux) -> None:
    """Who is stopped or gone leaves the pane to a shell, which must not get its keys."""
    folder = server.folder / "claude"
    server.panes["shell"] = server.tmux(
        "new-session", "-d", "-x", "90", "-y", "40", "-P", "-F", "#{pane_id}", "bash --norc --noprofile -i"
    )
    words = shlex.join(command(folder))
    wait_for(lambda: "$" in server.tmux("capture-pane", "-p") or "#" in server.tmux("capture-pane", "-p"), "a prompt")
    server.tmux("send-keys", "-l", words)
    server.tmux("send-keys", "Enter")
    pid = pid_of(folder)
    ask = server.ask("shell", pid)
    pane = tmux.find(ask)
    assert pane
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: "Stopped" in server.tmux("capture-pane", "-p"), "a stopped job")
    assert tmux.find(ask) is None
    assert "foreground" in send_clear(pane)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: born(pid) != ask.born, "its end")
    assert send_clear(pane)
    assert keys(folder) == b""
    assert "/clear" not in server.tmux("capture-pane", "-p").replace(words, "")


@pytest.mark.tmux
def test_a_program_that_ends_between_two_keys_leaves_no_enter_for_its_shell(server: Tmux) -> None:
    ask, ear = server.puppet("claude"), server.ear()
    pane = tmux.Pane(ask)

    class Ending:
        """Its program ends as soon as it has taken the command."""

        screen = pane.screen

        def type(self, typed: bytes) -> None:
            pane.type(typed)
            wait_for(lambda: keys(server.folder / "claude") == b"/clear", "the keys")
            os.kill(ask.pid, signal.SIGKILL)
            wait_for(lambda: born(ask.pid) != ask.born, "its end")

    assert send_clear(Ending()) == "its process has ended"
    assert keys(server.folder / "claude") == b"/clear"
    assert keys(ear) == b""


@pytest.mark.tmux
def test_a_program_behind_a_terminal_of_its_own_is_not_typed_at(server: Tmux) -> None:
    """As in another tmux, in `memory-keeper run` or in an agent's view: the pane is not its terminal."""
    folder = server.folder / "claude"
    inner = "import pty, sys; pty.spawn(sys.argv[1:])"
    server.open("outer", sys.executable, "-c", inner, *command(folder))
    assert tmux.find(server.ask("outer", pid_of(folder))) is None
    assert keys(folder) == b""


@pytest.mark.tmux
def test_only_constants_are_typed(server: Tmux) -> None:
    pane = tmux.find(server.puppet("claude"))
    assert pane
    for text in (b"rm -rf /\r", b"/clear\r", b"\n", b""):
        with pytest.raises(KeyError):
            pane.type(text)
    assert keys(server.folder / "claude") == b""


def test_a_project_does_not_bring_its_own_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    for name in ("bin", ".git"):
        (project / name).mkdir(parents=True)
    for brought in (project / "tmux", project / "bin/tmux"):
        brought.write_text("#!/bin/sh\ntouch ran\n")
        brought.chmod(0o755)
    (tmp_path / "real").mkdir()
    (tmp_path / "real/tmux").symlink_to("/bin/true")
    monkeypatch.chdir(project / "bin")
    monkeypatch.setenv("PATH", f".:{project}/bin::{tmp_path}/real")
    assert find_program("tmux") == f"{tmp_path}/real/tmux"
    monkeypatch.setenv("PATH", f".:{project}/bin:")
    with pytest.raises(clear.Refused):
        find_program("tmux")


# --- GNU screen -------------------------------------------------------------------------------------------------------


class Gnu:
    """A session of GNU screen, with programs in its windows."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.env = folder, {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8", "SCREENRC": "/dev/null"}
        self.windows: list[str] = []

    def screen(self, *args: str) -> str:
        done = subprocess.run(["screen", *args], env=self.env, capture_output=True, encoding="utf-8", cwd=self.folder)
        return done.stdout

    def open(self, name: str, *words: str) -> Path:
        if self.windows:
            self.screen("-S", "mk", "-X", "screen", "-t", name, *words)
        else:
            self.screen("-dmS", "mk", "-U", "-t", name, *words)
        self.windows.append(name)
        return self.folder / name

    def puppet(self, name: str, **settings: str) -> Ask:
        pid = pid_of(self.open(name, *command(self.folder / name, **settings)))
        sty = next(word for word in self.screen("-ls").split() if word.endswith(".mk"))
        ask = Ask(f"session-{name}", time.time(), pid, born(pid), "", "", sty, str(self.windows.index(name)))
        self.be_quiet(ask)
        return ask

    def be_quiet(self, ask: Ask) -> None:
        """Nobody has typed there for a while, the system says."""
        os.utime(f"/proc/{ask.pid}/fd/0", (1, 1))


@pytest.fixture
def gnu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnu]:
    sockets = folder / "S"
    sockets.mkdir(mode=0o700)
    monkeypatch.setenv("SCREENDIR", str(sockets))
    made = Gnu(folder)
    yield made
    made.screen("-S", "mk", "-X", "quit")


def clear_through_screen(ask: Ask) -> str:
    window = screen.find(ask)
    assert window
    return send_clear(window)


@pytest.mark.screen
@pytest.mark.parametrize(
    ("settings", "typed"),
    [({}, SENT), ({"draft": "half a draft"}, b"\x13/clear\r"), ({"hint": "run the tests"}, b"\x13/clear\r")],
)
def test_a_window_is_cleared_and_no_other_gets_a_key(gnu: Gnu, settings: dict[str, str], typed: bytes) -> None:
    gnu.puppet("other")
    ask = gnu.puppet("claude", **settings)
    gnu.puppet("third")
    assert clear_through_screen(ask) == ""
    wait_for(lambda: keys(gnu.folder / "claude").endswith(b"\r"), "Enter")
    assert keys(gnu.folder / "claude") == typed
    assert sent(gnu.folder / "claude") == ["/clear"]
    assert keys(gnu.folder / "other") == keys(gnu.folder / "third") == b""


@pytest.mark.screen
@pytest.mark.parametrize(("settings", "why"), [({"busy": "1"}, "busy"), ({"dialog": "1"}, "busy")])
def test_a_window_that_is_not_idle_gets_no_key(gnu: Gnu, settings: dict[str, str], why: str) -> None:
    assert why in clear_through_screen(gnu.puppet("claude", **settings))
    assert keys(gnu.folder / "claude") == b""


@pytest.mark.screen
def test_a_window_gets_no_enter_for_a_command_of_the_same_name(gnu: Gnu) -> None:
    assert "same name" in clear_through_screen(gnu.puppet("claude", own="1"))
    wait_for(lambda: keys(gnu.folder / "claude") == b"/clear" + b"\x7f" * 6, "all of it taken back")


@pytest.mark.screen
def test_windows_that_changed_their_numbers_are_not_cleared(gnu: Gnu) -> None:
    ask, other = gnu.puppet("claude"), gnu.puppet("other")
    gnu.screen("-S", "mk", "-p", "0", "-X", "number", "1")
    assert "does not reach it" in clear_through_screen(ask)
    assert keys(gnu.folder / "claude") == b""
    wait_for(lambda: keys(gnu.folder / "other") == b"/clear" + b"\x7f" * 6, "all of it taken back")
    assert sent(gnu.folder / "other") == []
    assert other.window == "1"


@pytest.mark.screen
def test_where_somebody_has_just_typed_nothing_is_typed(gnu: Gnu) -> None:
    ask = gnu.puppet("claude")
    os.utime(f"/proc/{ask.pid}/fd/0")
    with pytest.raises(clear.Refused, match="just typed"):
        screen.Window(ask)
    assert keys(gnu.folder / "claude") == b""


@pytest.mark.screen
def test_forged_requests_for_a_window_get_no_key(gnu: Gnu) -> None:
    ask, other = gnu.puppet("claude"), gnu.puppet("other")
    forged = [
        ask._replace(born="1"),
        ask._replace(pid=other.pid),
        ask._replace(pid=other.pid, born=other.born),
        ask._replace(pid=os.getpid(), born=born(os.getpid())),
        ask._replace(window="1"),
        ask._replace(window=""),
        ask._replace(window="0\ntouch c"),
        ask._replace(window="-"),
        ask._replace(sty=""),
        ask._replace(sty="mk"),
        ask._replace(sty=f"{ask.sty}\n"),
        ask._replace(sty=f"{os.getpid()}.mk"),
        ask._replace(sty="../../x"),
        ask._replace(sty="1.mk"),
    ]
    assert [each for each in forged if screen.find(each)] == []
    assert keys(gnu.folder / "claude") == keys(gnu.folder / "other") == b""
    assert screen.find(ask)


# --- the command ------------------------------------------------------------------------------------------------------


def request(home: Path, ask: Ask) -> None:
    """What hooks leave when a session has stopped and a clear is wanted."""
    now = time.time() - 5
    terminal = [ask.tmux, ask.pane, ask.sty, ask.window]
    about = {"dir": "/work", "source": "startup", "pid": ask.pid, "born": ask.born, "terminal": terminal}
    spool.append(str(home), ask.session, {"event": "SessionStart", "at": now - 2, **about})
    spool.append(str(home), ask.session, {"event": "UserPromptSubmit", "at": now - 1, "dir": "/work"})
    spool.append(str(home), ask.session, {"event": "Stop", "at": now, "dir": "/work"})
    spool.append(str(home), ask.session, {"event": "AskClear", "at": now, "dir": "/work", "why": "due"})


def watch(home: Path, *args: str) -> subprocess.Popen[str]:
    words = [
        sys.executable,
        "-c",
        "from memory_keeper.cli.main import main; main()",
        "watch",
        "--home",
        str(home),
        *args,
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(SRC)}, stdout=pipe, stderr=pipe, text=True)


def once(home: Path, *args: str) -> tuple[int, list[dict[str, Any]]]:
    done = typed(home.parent, "watch", "--home", str(home), "--once", "--json", *args)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def here() -> Ask:
    """A request for a process that lives, and runs in no terminal that we could type into."""
    return Ask("session-here", 0.0, os.getpid(), born(os.getpid()), "", "", "", "")


def test_nothing_is_asked(tmp_path: Path) -> None:
    assert once(tmp_path / "keeper") == (0, [])


@pytest.mark.tmux
def test_watch_clears_what_was_asked_for_and_only_once(server: Tmux, tmp_path: Path) -> None:
    ask, ear = server.puppet("claude", draft="half a draft"), server.ear()
    request(tmp_path / "keeper", ask)
    code, told = once(tmp_path / "keeper")
    assert (code, [(each["done"], each["via"], each["session"]) for each in told]) == (0, [(True, "tmux", ask.session)])
    assert keys(server.folder / "claude") == b"\x13/clear\r"
    request(tmp_path / "keeper", ask)
    code, told = once(tmp_path / "keeper")
    assert code == 5
    assert "ten minutes" in told[0]["why"]
    assert keys(server.folder / "claude") == b"\x13/clear\r"
    assert keys(ear) == b""


@pytest.mark.screen
def test_watch_clears_in_gnu_screen(gnu: Gnu, tmp_path: Path) -> None:
    request(tmp_path / "keeper", gnu.puppet("claude"))
    code, told = once(tmp_path / "keeper")
    assert (code, told[0]["via"]) == (0, "screen")
    assert keys(gnu.folder / "claude") == SENT


@pytest.mark.tmux
def test_watch_takes_the_way_it_is_told(server: Tmux, tmp_path: Path) -> None:
    request(tmp_path / "keeper", server.puppet("claude"))
    code, told = once(tmp_path / "keeper", "--via", "screen")
    assert (code, told[0]["why"]) == (5, "screen: it does not run in GNU screen")
    assert keys(server.folder / "claude") == b""


@pytest.mark.tmux
def test_a_thousand_forged_requests_get_no_key(server: Tmux, tmp_path: Path) -> None:
    ask, ear = server.puppet("claude", busy="1"), server.ear()
    kinds = [
        ask._replace(pane=server.panes["ear"]),
        ask._replace(born="1"),
        ask._replace(pid=999_999_999),
        ask._replace(pane=f"{ask.pane}\ntouch c\n"),
        ask._replace(tmux="/tmp/\n\ntouch c,1,0"),
        here()._replace(tmux=ask.tmux, pane=ask.pane),
        ask._replace(tmux="", pane=""),
        ask._replace(tmux="", pane="", sty="1.x", window="0"),
        ask._replace(tmux=f"{tmp_path}/none,1,0"),
        ask,
    ]
    for number in range(1000):
        request(tmp_path / "keeper", kinds[number % len(kinds)]._replace(session=f"forged-{number}"))
    code, told = once(tmp_path / "keeper")
    assert code == 5
    assert len(told) == 800  # two kinds have no process
    assert not any(each["done"] for each in told)
    assert keys(server.folder / "claude") == keys(ear) == b""


@pytest.mark.tmux
def test_a_watcher_says_each_thing_once_and_ends_on_ctrl_c(server: Tmux, tmp_path: Path) -> None:
    ask = server.puppet("claude", draft="ab", stash="cd")
    request(tmp_path / "keeper", ask)
    process = watch(tmp_path / "keeper", "--json")
    assert process.stdout
    first = json.loads(process.stdout.readline())
    assert (first["done"], first["session"]) == (False, ask.session)
    assert "stashed" in first["why"]
    second = server.puppet("other")
    request(tmp_path / "keeper", second)
    assert json.loads(process.stdout.readline())["done"] is True
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0
    assert keys(server.folder / "claude") == b""
    assert keys(server.folder / "other") == SENT


@pytest.mark.tmux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watcher_that_is_interrupted_does_not_leave_half_of_it(server: Tmux, tmp_path: Path, number: int) -> None:
    request(tmp_path / "keeper", server.puppet("claude", draft="ab"))
    process = watch(tmp_path / "keeper")
    wait_for(lambda: keys(server.folder / "claude").endswith(b"/clear"), "a half")
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert sent(server.folder / "claude") == ["/clear"]


def test_one_watcher_is_enough(tmp_path: Path) -> None:
    first = watch(tmp_path / "keeper")
    try:
        assert first.stdout
        assert "watching" in first.stdout.readline()
        second = watch(tmp_path / "keeper", "--once")
        out, err = second.communicate(timeout=PATIENCE)
        assert (second.returncode, out) == (4, "")
        assert "Another watcher" in err
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=PATIENCE)
    assert once(tmp_path / "keeper") == (0, [])
    assert stat.S_IMODE((tmp_path / "keeper" / WATCHING).stat().st_mode) == 0o600


# --- the signal for Windows -------------------------------------------------------------------------------------------


@pytest.fixture
def given(private_home: Path) -> Path:
    """Where the script looks."""
    (private_home / ".claude").mkdir()
    return private_home / ".claude/clear-signal"


def test_a_signal_is_one_private_line(given: Path, tmp_path: Path) -> None:
    request(tmp_path / "keeper", here())
    before = time.time()
    code, told = once(tmp_path / "keeper", "--via", "signal")
    assert (code, told[0]["via"], told[0]["done"]) == (0, "signal", True)
    (line,) = given.read_text().splitlines()
    said = json.loads(line)
    assert said == {"session": "session-here", "at": said["at"], "pid": os.getpid()}
    assert before <= said["at"] <= time.time()
    assert stat.S_IMODE(given.stat().st_mode) == 0o600
    assert [path.name for path in given.parent.iterdir()] == [given.name]


def test_a_signal_that_was_taken_is_not_given_again(given: Path, tmp_path: Path) -> None:
    request(tmp_path / "keeper", here())
    once(tmp_path / "keeper", "--via", "signal")
    given.unlink()
    assert once(tmp_path / "keeper", "--via", "signal")[0] == 5
    assert not given.exists()


@pytest.mark.parametrize("stale", ["old", "not asked for", "of the future"])
def test_a_stale_signal_of_ours_goes_away(given: Path, tmp_path: Path, stale: str) -> None:
    at = {"old": 3600.0, "not asked for": 0.0, "of the future": -3600.0}[stale]
    session = "gone" if stale == "not asked for" else "session-here"
    given.write_text(json.dumps({"session": session, "at": time.time() - at, "pid": 1}) + "\n")
    request(tmp_path / "keeper", here())
    assert once(tmp_path / "keeper", "--via", "signal")[0] == 0
    assert json.loads(given.read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("kind", ["text", "json", "link", "dangling", "folder", "fifo"])
def test_what_is_not_ours_is_neither_written_nor_removed(given: Path, tmp_path: Path, kind: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    if kind == "text":
        given.write_text("mine")
    elif kind == "json":
        given.write_text('{"session": "x", "at": 1, "pid": 1, "mine": true}')
    elif kind in ("link", "dangling"):
        given.symlink_to(precious if kind == "link" else tmp_path / "nothing")
    elif kind == "folder":
        given.mkdir()
    else:
        os.mkfifo(given)
    before = given.lstat()
    request(tmp_path / "keeper", here())
    code, told = once(tmp_path / "keeper", "--via", "signal")
    assert (code, told[0]["done"]) == (5, False)
    after = given.lstat()
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)
    assert precious.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_a_watcher_that_ends_takes_its_signal_away(given: Path, tmp_path: Path) -> None:
    request(tmp_path / "keeper", here())
    process = watch(tmp_path / "keeper", "--via", "signal")
    assert process.stdout
    assert "watching" in process.stdout.readline()
    assert "signalled" in process.stdout.readline()
    assert given.exists()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert not given.exists()


def test_the_script_for_windows_sends_constants_and_reads_the_same_file() -> None:
    folder = SRC.parent / "plugin/windows"
    script = (folder / "auto-clear-watcher.ps1").read_bytes().decode("ascii")  # older ones read it as ANSI
    assert "'/clear', '{ENTER}'" in script
    assert script.count("SendWait") == 1
    assert "clear-signal" in script
    assert "auto-clear-watcher.ps1" in (folder / "start-auto-clear.bat").read_text()
