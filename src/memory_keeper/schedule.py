"""The weekly upkeep without a session: the crontab line that runs it, and what older versions installed for it.

Those wrote a systemd timer, a launchd agent or lines in the crontab, each with our mark, which is how they are found.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from memory_keeper import config
from memory_keeper.errors import KeeperError
from memory_keeper.host.registration import CURRENT
from memory_keeper.notes.summarizers import program

WORK = ("compact", "--observations", "--tasks", "--all-projects")
USUAL = ("/usr/local/bin", "/usr/bin", "/bin")
LONGEST = 30.0  # seconds for a program
# of older versions
MARK = "made by `memory-keeper schedule install`"
BEGIN, END = (re.escape(f"# memory-keeper {mark}".encode()) for mark in (f"begin: {MARK}", "end"))
BLOCK = re.compile(rb"^%s\n(?:(?!%s|%s).*\n)*%s\n" % (BEGIN, BEGIN, END, END), re.MULTILINE)
CRONTAB, TIMER, LABEL = "crontab", "memory-keeper-upkeep.timer", "memory-keeper.upkeep"


class Machine(NamedTuple):
    """Where programs are found and files lie: the user's, whatever a project's settings say."""

    environ: dict[str, str]
    root: str  # the project that it is asked in: no program of that is ever run

    @property
    def home(self) -> str:
        return self.environ.get("HOME") or os.path.expanduser("~")

    def folder(self, name: str, usual: str) -> str:
        """One of the folders that XDG names."""
        given = self.environ.get(f"XDG_{name}_HOME", "")
        return given if given.startswith("/") else f"{self.home}/{usual}"

    def run(self, *command: str, given: bytes = b"") -> bytes:
        """What a program prints; nothing when it is not there or fails."""
        found = program.find(command[0], self.environ, self.root)
        words, environ = [found, *command[1:]], {**self.environ, "LC_ALL": "C"}
        try:
            if found:
                done = subprocess.run(words, input=given, capture_output=True, env=environ, timeout=LONGEST, check=True)
                return done.stdout
        except (OSError, subprocess.SubprocessError):
            pass
        return b""


def machine_at(folder: str, environ: dict[str, str]) -> Machine:
    """The machine of a user who asks from a folder."""
    root = config.find_root(folder)
    return Machine(config.own_environ(environ, root), root)


def cron_line(home: str, environ: dict[str, str]) -> str:
    """The line for a crontab: the launcher behind a link that an update of the plugin moves along, with a PATH on which
    it finds the interpreter that runs now."""
    python = os.path.dirname(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))
    variables = {"PATH": ":".join(dict.fromkeys((python, *USUAL)))}
    if folder := environ.get("CLAUDE_CONFIG_DIR"):
        variables["CLAUDE_CONFIG_DIR"] = folder
    # through sh: `env` would take a launcher with `=` in its path for a variable
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()), "/bin/sh", _launcher(home)]
    words += [*WORK, "--home", home]
    if any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for word in words for char in word):
        raise KeeperError(f"{home!r} is no path for a crontab", hint="set MEMORY_KEEPER_HOME to another")
    return f"0 0 * * 0 {' '.join(map(escape, words))} >/dev/null"


def escape(word: str) -> str:
    """As the shell reads it, after cron has.

    To most crons `%` ends the command unless there is a backslash before it, and some take away one of two backslashes.
    So `%` stands outside the quotes, where a backslash that cron leaves does no harm, and no two backslashes meet.
    """
    quoted = shlex.quote(word)
    if not quoted.startswith("'"):
        return quoted.replace("%", "\\%")
    return quoted.replace("\\", "\\''").replace("%", "'\\%'")


def installed(machine: Machine) -> dict[str, str]:
    """What older versions installed, by the place where it stands."""
    block = BLOCK.search(machine.run("crontab", "-l"))
    found = {CRONTAB: block[0].decode("utf-8", "replace")} if block else {}
    return found | {path: text for path in _files(machine) if MARK in (text := _read(path))}


def uses(machine: Machine, home: str) -> bool:
    """Whether the crontab, or what an older version installed, runs the launcher in this home."""
    texts = [machine.run("crontab", "-l").decode("utf-8", "replace"), *installed(machine).values()]
    return any(_plain(_launcher(home)) in _plain(text) for text in texts)


def remove(machine: Machine) -> list[str]:
    """Take away what older versions installed, and only that; every other byte of a crontab stays. What it was."""
    places = [*installed(machine)]
    if CRONTAB in places:
        rest = BLOCK.sub(b"", machine.run("crontab", "-l"))
        machine.run("crontab", "-", given=rest) if rest else machine.run("crontab", "-r")
    units = [place for place in places if "/systemd/" in place]
    if units:
        machine.run("systemctl", "--user", "disable", "--now", TIMER)
        _drop(f"{os.path.dirname(units[0])}/timers.target.wants/{TIMER}")
        _drop(f"{machine.folder('DATA', '.local/share')}/systemd/timers/stamp-{TIMER}")
    if any(place.endswith(".plist") for place in places):
        machine.run("launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}")
    for place in places:
        if place != CRONTAB:
            _drop(place)
    if units:
        machine.run("systemctl", "--user", "daemon-reload")
    if left := installed(machine):
        raise KeeperError(f"{', '.join(left)} could not be taken away")
    return places


def _files(machine: Machine) -> list[str]:
    units = f"{machine.folder('CONFIG', '.config')}/systemd/user"
    service = TIMER.replace(".timer", ".service")
    return [f"{units}/{service}", f"{units}/{TIMER}", f"{machine.home}/Library/LaunchAgents/{LABEL}.plist"]


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _drop(path: str) -> None:
    """Take a file of ours away, and the folders around it that systemd made for it alone: two, at most."""
    if not os.path.lexists(path):
        return
    os.unlink(path)
    folders = [os.path.dirname(path), os.path.dirname(os.path.dirname(path))] if "/systemd/" in path else []
    for folder in folders:
        if not os.listdir(folder):
            os.rmdir(folder)


def _launcher(home: str) -> str:
    """The path of the plugin's launcher that outlives an update."""
    return f"{home}/{CURRENT}/plugin/launch"


def _plain(text: str) -> str:
    """A text without what the ways to quote a path add to it."""
    return re.sub(r"[^\w/.-]", "", text)
