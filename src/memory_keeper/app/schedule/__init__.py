"""A weekly upkeep without a session: the machine's own scheduler runs it, where the user asks for that. Verb: install.

Each member knows one scheduler: `systemd`, `launchd`, `cron`. What is installed bears our mark, and is all that is ever
taken away again; whether there is something is asked of the scheduler, and kept nowhere else.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from memory_keeper import config
from memory_keeper.app.host.files import write_file
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.keep.home import Lock
from memory_keeper.model import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    class Scheduler(Protocol):
        """A module that knows one scheduler of a machine."""

        __name__: str

        def problem(self, machine: Machine) -> str:
            """Why it cannot be used here; empty when it can."""

        def texts(self, machine: Machine, job: Job) -> dict[str, str]:
            """What it is given, by the place where that stands."""

        def found(self, machine: Machine) -> dict[str, str]:
            """What of ours it has, by the place where that stands."""

        def when(self, texts: dict[str, str]) -> When | None:
            """The moment that what it has names; None when somebody has changed that."""

        def escaped(self, word: str) -> str:
            """A word of a command as it stands there."""

        def install(self, machine: Machine, job: Job) -> None:
            """Have a job run; nothing of it stays where that fails."""

        def remove(self, machine: Machine) -> None:
            """Take away what is ours, and only that."""


MARK = "made by `memory-keeper schedule install`"
DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
WEEKLY = "Sun 00:00"
MOMENT = re.compile(r"(?:(daily|(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*) +)?(\d{1,2}):(\d\d)", re.IGNORECASE | re.ASCII)
WORK = ("compact", "--observations", "--tasks", "--all-projects")
SCHEDULERS = ("launchd", "systemd", "cron")  # the first that a machine has
USUAL = ("/usr/local/bin", "/usr/bin", "/bin")
PATIENCE, LONGEST = 10.0, 30.0  # seconds for the writer's lock, and for a program


class When(NamedTuple):
    """A moment that comes again."""

    day: int  # of the week, 0 is Sunday; -1: every day
    hour: int
    minute: int

    def __str__(self) -> str:
        return f"{DAYS[self.day] if self.day >= 0 else 'daily'} {self.hour:02}:{self.minute:02}"


class Job(NamedTuple):
    """What is to be run, and when."""

    command: tuple[str, ...]
    when: When


class Machine(NamedTuple):
    """Where programs are found and files lie: the user's, whatever a project's settings say."""

    environ: dict[str, str]
    root: str  # the project that it is asked in: no program of that is ever run

    @property
    def home(self) -> str:
        return self.environ.get("HOME") or os.path.expanduser("~")

    def has(self, name: str) -> bool:
        """Whether there is such a program."""
        return bool(self._find(name))

    def run(self, *command: str, said: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end; its exit code is the caller's to look at."""
        program = self._find(command[0])
        if not program:
            raise NotSetUp(f"There is no `{command[0]}` on this machine", hint="--with names another scheduler")
        environ = {**self.environ, "LC_ALL": "C"}
        try:
            return subprocess.run(
                [program, *command[1:]], input=said, capture_output=True, env=environ, timeout=LONGEST
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise KeeperError(f"{command[0]} failed: {error}") from None

    def check(self, *command: str, said: bytes = b"") -> bytes:
        """What a program printed; a failure is one of ours."""
        done = self.run(*command, said=said)
        if done.returncode:
            lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
            raise KeeperError(f"{' '.join(command)} failed: {lines[-1] if lines else done.returncode}")
        return done.stdout

    def _find(self, name: str) -> str:
        from memory_keeper.reduce.summarizers.program import find

        return find(name, self.environ, self.root)


class Installed(NamedTuple):
    """A job that a scheduler has."""

    by: str
    at: str  # empty: somebody has changed it to something that we do not say
    texts: dict[str, str]  # by the place where they stand


def machine_at(folder: str, environ: dict[str, str]) -> Machine:
    """The machine of a user who asks from a folder."""
    root = config.find_root(folder)
    return Machine(config.own_environ(environ, root), root)


def read_weekly(said: str) -> When:
    """`Sun 00:00`, or `00:00` for every day."""
    found = MOMENT.fullmatch(said.strip())
    if not found or int(found[2]) > 23 or int(found[3]) > 59:
        raise KeeperError(f"{said!r} is no moment of a week", hint=f'as in --at "{WEEKLY}" or --at 03:30')
    day = (found[1] or "")[:3].title()
    return When(DAYS.index(day) if day in DAYS else -1, int(found[2]), int(found[3]))


def command_in(home: str, environ: dict[str, str]) -> tuple[str, ...]:
    """What is run: the launcher behind a link that an update of the plugin moves along, with a PATH on which it finds
    the interpreter that runs now, or a newer one."""
    python = os.path.dirname(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))
    given = {"PATH": ":".join(dict.fromkeys((python, *USUAL)))}
    if folder := environ.get("CLAUDE_CONFIG_DIR"):
        given["CLAUDE_CONFIG_DIR"] = folder
    # through sh: `env` would take a launcher with `=` in its path for a variable
    words = ("/usr/bin/env", *(f"{name}={value}" for name, value in given.items()), "/bin/sh", launcher(home))
    command = (*words, *WORK, "--home", home)
    if any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for word in command for char in word):
        raise KeeperError(
            f"{home!r} is no path that a scheduler can be given", hint="set MEMORY_KEEPER_HOME to another"
        )
    return command


def launcher(home: str) -> str:
    """The path of the plugin's launcher that outlives an update."""
    return f"{home}/current/plugin/launch"


def scheduler(name: str) -> Scheduler:
    """The member of a name."""
    from importlib import import_module

    member: Scheduler = import_module(f"{__name__}.{name}")
    return member


def pick(machine: Machine, wanted: str = "") -> Scheduler:
    """The scheduler that is wanted, else the first that works here."""
    problems = {}
    for name in [wanted] if wanted else SCHEDULERS:
        member = scheduler(name)
        problems[name] = member.problem(machine)
        if not problems[name]:
            return member
    said = "; ".join(f"{name}: {why}" for name, why in problems.items())
    hint = "without one, sessions do the upkeep themselves when they begin and end"
    raise NotSetUp(f"No scheduler can be used here ({said})", hint=hint)


def installed(machine: Machine) -> Iterator[Installed]:
    """The jobs of ours that the machine has: one, as a rule."""
    for name in SCHEDULERS:
        member = scheduler(name)
        if texts := member.found(machine):
            yield Installed(name, str(member.when(texts) or ""), texts)


def uses(machine: Machine, home: str) -> bool:
    """Whether a job of ours runs what is in this home."""
    return any(
        scheduler(one.by).escaped(launcher(home)) in text for one in installed(machine) for text in one.texts.values()
    )


def install(home: str, machine: Machine, member: Scheduler, when: When) -> bool:
    """Have the upkeep run then, by this scheduler alone; False when it was so already."""
    from memory_keeper.app.host.registration import point_current

    job = Job(command_in(home, machine.environ), when)
    with Lock(home, PATIENCE):
        point_current(home)
        before = [*installed(machine)]
        member.install(machine, job)
        for one in before:
            if scheduler(one.by) is not member:
                scheduler(one.by).remove(machine)
    return [one.texts for one in before] != [member.texts(machine, job)]


def remove(home: str, machine: Machine) -> list[Installed]:
    """Take the jobs of ours away; what they were."""
    with Lock(home, PATIENCE):
        gone = [*installed(machine)]
        for one in gone:
            scheduler(one.by).remove(machine)
    return gone


def write(texts: dict[str, str]) -> None:
    """Put files of ours in their places. KeeperError where something lies in one of them that is not ours."""
    for path in texts:
        if os.path.lexists(path) and not read(path):
            raise KeeperError(f"{path} is not ours", hint="move it away, or name another scheduler with --with")
    for path, text in texts.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, text.encode(), 0o644)


def drop(*paths: str) -> None:
    """Take files away that are there, and the folders around each that this leaves empty: two, at most."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        os.unlink(path)
        for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if not os.listdir(folder):
                os.rmdir(folder)


def read(path: str) -> str:
    """The text of a file of ours; empty when there is none, or somebody else's."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 16)
    except OSError:
        return ""
    return text if MARK in text else ""
