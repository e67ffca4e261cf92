"""The floors every time is compared with: a bare Python and a bare Node, spawned in turn with what is measured.

A time on a shared machine says little, a ratio to a floor of the same run says most of it. So all cases are run
interleaved and in a new random order each round, by `posix_spawn` and `wait4`, with a small clean environment. Where
the machine is busy, the ratio of processor times is the steadier one.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
START = ROOT / "src/memory_keeper/hooks/start.py"
# never a shim, which would cost ten times what is measured
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
BARE, NODE = "python -I -S -c pass", "node -e 0"


class Took(NamedTuple):
    """Milliseconds of one run."""

    wall: float
    cpu: float


class Case(NamedTuple):
    """A command to time."""

    name: str
    command: Sequence[str | Path]
    env: dict[str, str] = {}  # noqa: RUF012  (never changed)
    stdin: str | Path = os.devnull
    before: Callable[[], None] | None = None  # not timed


def floors() -> list[Case]:
    """The programs that do nothing."""
    node = shutil.which("node")
    return [Case(BARE, (PYTHON, "-I", "-S", "-c", "pass")), *([Case(NODE, (node, "-e", "0"))] if node else [])]


def interleave(cases: Iterable[Case], runs: int, warm: int = 3) -> dict[str, list[Took]]:
    """Every case, `runs` times."""
    adopt_orphans()
    times: dict[str, list[Took]] = {case.name: [] for case in cases}
    for number in range(runs + warm):
        for case in random.sample(list(cases), len(times)):
            if case.before:
                case.before()
            took = spawn(case)
            if number >= warm:
                times[case.name].append(took)
    return times


def spawn(case: Case) -> Took:
    """A command from its spawn to its end; what it leaves running is ended outside the measured time."""
    command = [os.fspath(part) for part in case.command]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.fspath(case.stdin), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", **case.env}
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env, file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{case.name} failed: {' '.join(command)}")
    end_orphans()
    return Took(wall * 1000, (used.ru_utime + used.ru_stime) * 1000)


def adopt_orphans() -> None:
    """From now on processes that were left behind by those we start are our children."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_orphans() -> None:
    """Nothing that was started may run beside the next one; our detached writer can be killed at any moment."""
    for pid in Path("/proc/thread-self/children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
        os.waitpid(int(pid), 0)


def quantile(values: Sequence[float], share: float) -> float:
    """By interpolation."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (place - low)


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return quantile(values, 0.5)


def ratio(took: Sequence[Took], floor: Sequence[Took]) -> Took:
    """How many times as long as a floor of the same run, by the clock and by the processor; of the medians."""
    of, to = ([median(field) for field in zip(*some, strict=True)] for some in (took, floor))
    return Took(*(one / other for one, other in zip(of, to, strict=True)))


def report(times: dict[str, list[Took]]) -> None:
    """Every case with its ratios to the floors."""
    floor = {name: median([took.wall for took in times[name]]) for name in (BARE, NODE) if name in times}
    bare = median([took.cpu for took in times[BARE]])
    rows = []
    for name, all_of in times.items():
        walls, cpu = [took.wall for took in all_of], median([took.cpu for took in all_of])
        p50, p95 = median(walls), quantile(walls, 0.95)
        ratios = [f"{p50 / floor[one]:.2f}" if one in floor else "-" for one in (BARE, NODE)]
        rows.append((name, f"{p50:.2f}", f"{p95:.2f}", *ratios, f"{cpu:.2f}", f"{cpu / bare:.2f}"))
    table(("", "p50 ms", "p95 ms", "x python", "x node", "cpu ms", "x python"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns, the first to the left and numbers to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells]).rstrip(), flush=True)


def machine() -> str:
    """What it was measured on, and how busy that was."""
    python = os.popen(f"'{PYTHON}' -V").read().strip()
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{python}, {os.cpu_count()} cores, load {load}, {time.strftime('%Y-%m-%d %H:%M')}"


if __name__ == "__main__":
    print(machine())
    report(interleave(floors(), 100))
