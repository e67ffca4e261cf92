"""The process and the terminal that a clear was asked for, and programs that are run without trusting a project."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

from memory_keeper import config
from memory_keeper.host.process import Process, read_process
from memory_keeper.notes.summarizers.program import find
from memory_keeper.watch.ask import Ask, still_there
from memory_keeper.watch.clear import Refused

PATIENCE = 5.0  # seconds that a program may take


def check(ask: Ask) -> Process:
    """The process that a clear was asked for; it must be the one that was meant, ours, and get its terminal's keys."""
    process = read_process(ask.pid)
    if process is None or not still_there(ask):
        raise Refused("its process has ended")
    if process.owner != os.getuid():
        raise Refused("its process is another user's")
    if not process.terminal or process.group != process.front:
        raise Refused("it is not in the foreground of its terminal")
    return process


def is_device(path: str, number: int) -> bool:
    """Whether a terminal is the one of this number."""
    try:
        return os.stat(path).st_rdev == number
    except OSError:
        return False


def find_device(number: int) -> str:
    """The terminal of this number."""
    for folder in ("/dev/pts", "/dev"):
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if (name.isdigit() or name.startswith("tty")) and is_device(path, number):
                return path
    raise Refused("its terminal is not to be found")


def find_program(name: str) -> str:
    """The absolute path of a program that no project brought along."""
    root = ""
    with suppress(FileNotFoundError):  # it is gone, and cannot bring anything along
        root = config.find_root(os.getcwd())
    found = find(name, dict(os.environ), root)
    if not found:
        raise Refused(f"there is no {name} on the PATH")
    return found


def run(*argv: str) -> str:
    """What a program prints; it gets nothing of our environment that it could misunderstand."""
    kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME", "SCREENDIR") if name in os.environ}
    env = {**kept, "PATH": os.defpath, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    program = os.path.basename(argv[0])
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd="/", timeout=PATIENCE)
    except OSError as error:
        raise Refused(f"{program} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"{program} does not answer") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).decode("utf-8", "replace").split("\n")[0].strip()
        raise Refused(f"{program} refuses: {reason or done.returncode}")
    return done.stdout.decode("utf-8", "replace")
