"""`run`: Claude Code in tmux, where a clear that was asked for is typed when it sits idle.

In tmux or GNU screen this process becomes the program, and a watcher behind it types. Elsewhere a tmux of its own is
started first: without a status line, without keys of its own, and gone with the program.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from argparse import REMAINDER, Namespace
from pathlib import Path
from time import sleep, time
from typing import NoReturn

from memory_keeper.capture.host import OURS, TERMINAL, born
from memory_keeper.cli.arguments import argument
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.hooks.problems import complain
from memory_keeper.host.process import read_ancestors
from memory_keeper.terminal import say_problem
from memory_keeper.watch.ask import open_asks
from memory_keeper.watch.clear import Refused
from memory_keeper.watch.process import find_program
from memory_keeper.watch.watcher import TICK, Watcher, alone

EXAMPLE = "memory-keeper run -- claude --model opus"
BEGIN = """
import sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.cli.commands.run import run_within
run_within(sys.argv[2], sys.argv[3:])
"""
INSTALL = "install it (`apt install tmux`, `brew install tmux`), or start the program without `memory-keeper run`"
# as near to a bare terminal as tmux can be
OPTIONS = """\
set -g status off
set -g prefix None
set -g prefix2 None
set -g mouse on
set -g history-limit 50000
set -sg escape-time 10
set -g focus-events on
set -g set-clipboard on
set -g default-terminal screen-256color
set -ga terminal-overrides ",*:Tc"
set -q -s extended-keys on
set -q -g allow-passthrough on
set -g destroy-unattached on
set -g remain-on-exit on
set -q -g remain-on-exit-format ""
set-hook -g pane-died 'capture-pane -e -J -S -; save-buffer FOLDER/screen; \\
    run-shell "echo #{pane_dead_status}/#{pane_dead_signal} >FOLDER/status"; kill-server'
"""
FIRST_LOOK, SELDOM = 1.0, 60.0  # seconds after which tmux is made to look for children that ended
ARGUMENTS = (argument("program", nargs=REMAINDER, metavar="-- PROGRAM ...", help="what to run, and its arguments"),)


def run(args: Namespace) -> int:
    """Run the program; leave as it does."""
    argv = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not argv:
        say_problem("nothing to run", EXAMPLE)
        return 2
    if not os.isatty(0) or not os.isatty(1):
        become(argv, args.umask)  # there is no screen to look at
    if any(map(os.environ.get, TERMINAL)):
        become_watched(argv, args.umask, args.home)
    return run_in_tmux(argv, args.umask, args.home)


def become(argv: list[str], umask: int, more: dict[str, str] | None = None) -> NoReturn:
    """Be the program, from now on."""
    os.umask(umask)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, {**_environment(), **(more or {})})
    except OSError as error:
        raise _not_started(argv, error.errno or errno.EIO) from None


def become_watched(argv: list[str], umask: int, home: str) -> NoReturn:
    """Be the program, with a watcher behind it."""
    start_watcher(home, os.getpid())
    become(argv, umask, {OURS: "1"})


def start_watcher(home: str, pid: int) -> None:
    """Answer what a process asks for, and what runs beneath it, until it ends; in a process that is not its child."""
    birth = born(pid)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            null = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            answer(home, pid, birth)
    finally:
        os._exit(0)


def answer(home: str, pid: int, birth: str) -> None:
    """Answer what a process asks for, unless a `memory-keeper watch` is there to do it."""
    watcher, problems = Watcher(home), set[str]()
    while birth and born(pid) == birth:
        try:
            asks = [ask for ask in open_asks(home, time()) if pid in (ask.pid, *read_ancestors(ask.pid))]
            if asks:
                with alone(home, 0) as lock:
                    watcher.answer(asks, time(), lock)
        except Busy:
            pass
        except Exception as error:  # noqa: BLE001  whatever is wrong with us, the user's program goes on
            if repr(error) not in problems:
                complain(home, "run", error)
            problems.add(repr(error))
        sleep(TICK)


def run_in_tmux(argv: list[str], umask: int, home: str) -> int:
    """Run the program within a tmux of its own; its exit code."""
    if not shutil.which(argv[0]):
        raise _not_started(argv, errno.EACCES if os.path.exists(argv[0]) else errno.ENOENT)
    try:
        tmux = find_program("tmux")
    except Refused:
        raise NotSetUp("`memory-keeper run` needs tmux, which is not on the PATH", hint=INSTALL) from None
    with tempfile.TemporaryDirectory(prefix="memory-keeper-", dir="/tmp") as folder:  # a socket's path must be short
        options, status, screen = (Path(folder, name) for name in ("options", "status", "screen"))
        options.write_text(OPTIONS.replace("FOLDER", folder))
        words = [sys.executable, "-I", "-c", BEGIN, str(Path(__file__).parents[3]), home, *argv]
        words = [word[:-1] + "\\;" if word[-1:] == ";" else word for word in words]  # which would end the command
        server = [tmux, "-u", "-S", f"{folder}/tmux"]
        client = subprocess.Popen([*server, "-f", str(options), "new-session", *words], env=_environment(), umask=umask)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, lambda *_: client.terminate())  # who is unattached is destroyed
        wait_for_end(client, server)
        subprocess.run([*server, "kill-server"], capture_output=True)
        if screen.exists() and (shown := screen.read_text(errors="replace").rstrip()):
            print(shown)
        code, by = status.read_text().strip().split("/") if status.exists() else ("", "")
        return int(code) if code else 128 + int(by) if by else client.returncode or 128 + signal.SIGHUP


def wait_for_end(client: subprocess.Popen[bytes], server: list[str]) -> None:
    """Wait until tmux is gone. It may miss that its first child has ended, and then waits for ever; it asks for all of
    its children whenever one of them ends, so one does now and then, ever more seldom."""
    patience = FIRST_LOOK
    while True:
        try:
            client.wait(patience)
            return
        except subprocess.TimeoutExpired:
            patience = min(2 * patience, SELDOM)
            subprocess.run([*server, "run-shell", ":"], capture_output=True)


def run_within(home: str, argv: list[str]) -> None:
    """Run the program in a pane of our own tmux."""
    try:
        become_watched(argv, os.umask(0o077), home)
    except KeeperError as error:
        say_problem(str(error))
        sys.exit(error.code)


def _not_started(argv: list[str], number: int) -> KeeperError:
    missing = number == errno.ENOENT
    error = KeeperError(f"{argv[0]}: {'not found' if missing else os.strerror(number)}")
    error.code = 127 if missing else 126  # as shells say it
    return error


def _environment() -> dict[str, str]:
    """The environment that we were given: where nothing is said about characters, Python says something."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = b"\0" + file.read()
    except OSError:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if name != "LC_CTYPE" or b"\0LC_CTYPE=" in given}
