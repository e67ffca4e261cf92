"""An agent of the user's launchd, on a Mac: it catches up when the machine slept."""

from __future__ import annotations

import os
import plistlib
import sys
from typing import Any
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape

from memory_keeper.app.schedule import MARK, Job, Machine, When, read, write
from memory_keeper.errors import KeeperError

LABEL = "memory-keeper.upkeep"


def problem(machine: Machine) -> str:
    """Only macOS has it."""
    return "" if machine.has("launchctl") else "there is no launchctl" if sys.platform == "darwin" else "this is no Mac"


def texts(machine: Machine, job: Job) -> dict[str, str]:
    """The property list, with our mark after its first line."""
    moment = {"Hour": job.when.hour, "Minute": job.when.minute}
    if job.when.day >= 0:
        moment["Weekday"] = job.when.day
    agent: dict[str, Any] = {
        "Label": LABEL,
        "ProgramArguments": [*job.command],
        "StartCalendarInterval": moment,
        "ProcessType": "Background",
    }
    first, rest = plistlib.dumps(agent).decode().split("\n", 1)
    return {_path(machine): f"{first}\n<!-- {MARK} -->\n{rest}"}


def escaped(word: str) -> str:
    """As XML has it."""
    return f"<string>{escape(word)}</string>"


def found(machine: Machine) -> dict[str, str]:
    """The property list that is there."""
    text = read(_path(machine))
    return {_path(machine): text} if text else {}


def when(texts: dict[str, str]) -> When | None:
    """From the property list."""
    try:
        moment = plistlib.loads("".join(texts.values()).encode())["StartCalendarInterval"]
        return When(moment.get("Weekday", -1) % 7 if "Weekday" in moment else -1, moment["Hour"], moment["Minute"])
    except (ValueError, KeyError, TypeError, AttributeError, ExpatError):
        return None


def install(machine: Machine, job: Job) -> None:
    """Write the property list and have launchd read it."""
    write(texts(machine, job))
    try:
        machine.run("launchctl", "bootout", f"{_domain()}/{LABEL}")  # one that is loaded is not read again
        machine.check("launchctl", "bootstrap", _domain(), _path(machine))
    except KeeperError:
        remove(machine)
        raise


def remove(machine: Machine) -> None:
    """Have launchd forget it, and delete it."""
    if not found(machine):
        return
    if not problem(machine):
        machine.run("launchctl", "bootout", f"{_domain()}/{LABEL}")
    os.unlink(_path(machine))  # its folder is there on every Mac


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _path(machine: Machine) -> str:
    return f"{machine.home}/Library/LaunchAgents/{LABEL}.plist"
