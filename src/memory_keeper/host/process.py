"""What the system says about a process: its parent, its terminal, its owner."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

PATIENCE = 5.0  # seconds for `ps`
GENERATIONS = 64


class Process(NamedTuple):
    """A process, as far as it matters to whom keys go."""

    parent: int
    group: int
    terminal: int  # device number; 0: none
    front: int  # the group that gets the terminal's keys
    owner: int


def read_process(pid: int) -> Process | None:
    """A process; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # the name, in brackets, may have blanks and brackets in it
            words = file.read().rpartition(b")")[2].split()
        parent, group, _, number, front = map(int, words[1:6])
        owner = os.stat(f"/proc/{pid}").st_uid
    except (OSError, ValueError):
        return None if os.path.exists("/proc/self/stat") else _ask_ps(pid)
    terminal = os.makedev(number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00) if number else 0
    return Process(parent, group, terminal, front, owner)


def _ask_ps(pid: int) -> Process | None:
    """The same where there is no /proc."""
    try:
        ps = ["/bin/ps", "-o", "ppid=,pgid=,tpgid=,uid=,tty=", "-p", str(pid)]
        words = subprocess.run(ps, capture_output=True, text=True, cwd="/", timeout=PATIENCE).stdout.split()
        parent, group, front, owner = map(int, words[:4])
        terminal = os.stat(os.path.join("/dev", words[4])).st_rdev
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None
    return Process(parent, group, terminal, front, owner)


def read_ancestors(pid: int) -> list[int]:
    """The parent of a process, its parent, and so on."""
    found: list[int] = []
    while len(found) < GENERATIONS and (process := read_process(pid)) and process.parent > 1:
        pid = process.parent
        found.append(pid)
    return found
