"""A timer of the user's own systemd: it catches up when the machine was off."""

from __future__ import annotations

import re

from memory_keeper.app.schedule import DAYS, MARK, Job, Machine, When, drop, read, write
from memory_keeper.errors import KeeperError

UNIT = "memory-keeper-upkeep"
TIMER = f"{UNIT}.timer"
WANTS = f"timers.target.wants/{TIMER}"  # what `enable` makes
SERVICE = """# {mark}
[Unit]
Description=Memory Keeper: observations, tasks and reports of all projects

[Service]
Type=oneshot
Nice=10
ExecStart={command}
"""
CLOCK = """# {mark}
[Unit]
Description=Memory Keeper: when its upkeep is run

[Timer]
OnCalendar={when}
Persistent=true

[Install]
WantedBy=timers.target
"""
ON_CALENDAR = re.compile(r"^OnCalendar=(?:(\w{3}) )?\*-\*-\* (\d\d):(\d\d):00$", re.MULTILINE)


def problem(machine: Machine) -> str:
    """Containers and old sessions have the program, and no manager that it could ask."""
    if not machine.has("systemctl"):
        return "there is no systemctl"
    return "no manager of the user's runs" if machine.run("systemctl", "--user", "show-environment").returncode else ""


def texts(machine: Machine, job: Job) -> dict[str, str]:
    """The two units."""
    folder, when = _folder(machine), job.when
    day = f"{DAYS[when.day]} " if when.day >= 0 else ""
    command = " ".join(map(escaped, job.command))
    return {
        f"{folder}/{UNIT}.service": SERVICE.format(mark=MARK, command=command),
        f"{folder}/{TIMER}": CLOCK.format(mark=MARK, when=f"{day}*-*-* {when.hour:02}:{when.minute:02}:00"),
    }


def escaped(word: str) -> str:
    """In quotes, where a backslash escapes; `%` begins a specifier and `$` a variable, also there."""
    for char, instead in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(char, instead)
    return f'"{word}"'


def found(machine: Machine) -> dict[str, str]:
    """The units that are there."""
    paths = [f"{_folder(machine)}/{name}" for name in (f"{UNIT}.service", TIMER)]
    return {path: text for path in paths if (text := read(path))}


def when(texts: dict[str, str]) -> When | None:
    """From the timer."""
    said = ON_CALENDAR.search("\n".join(texts.values()))
    if not said:
        return None
    return When(DAYS.index(said[1]) if said[1] in DAYS else -1, int(said[2]), int(said[3]))


def install(machine: Machine, job: Job) -> None:
    """Write the units and have the manager start the timer."""
    write(texts(machine, job))
    try:
        machine.check("systemctl", "--user", "daemon-reload")
        machine.check("systemctl", "--user", "enable", TIMER)
        machine.check("systemctl", "--user", "restart", TIMER)  # one that runs would keep its old time
    except KeeperError:
        remove(machine)
        raise


def remove(machine: Machine) -> None:
    """Stop the timer, and delete the units and what the manager made for them; also where none runs."""
    here, ours = not problem(machine), found(machine)
    if here and ours:
        machine.run("systemctl", "--user", "disable", "--now", TIMER)
    if f"{_folder(machine)}/{TIMER}" in ours:
        drop(f"{_folder(machine)}/{WANTS}", f"{_place(machine, 'DATA', '.local/share')}/systemd/timers/stamp-{TIMER}")
    drop(*ours)
    if here and ours:
        machine.run("systemctl", "--user", "daemon-reload")


def _folder(machine: Machine) -> str:
    return f"{_place(machine, 'CONFIG', '.config')}/systemd/user"


def _place(machine: Machine, name: str, usual: str) -> str:
    given = machine.environ.get(f"XDG_{name}_HOME", "")
    return given if given.startswith("/") else f"{machine.home}/{usual}"
