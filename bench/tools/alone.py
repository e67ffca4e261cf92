"""A measurement in a process of its own, so that neither its memory nor its warmth is that of another."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Spent = dict[str, Any]
CODE = """import importlib, json, pathlib, sys
module, name, folder = sys.argv[1:]
print(json.dumps(getattr(importlib.import_module(module), name)(pathlib.Path(folder))))"""


def alone(measured: Callable[[Path], Spent], folder: Path) -> Spent:
    """What a function of a benchmark says of a folder, when it is all that a process does."""
    command = [sys.executable, "-P", "-c", CODE, measured.__module__, measured.__name__, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def timed(work: Callable[[], Spent]) -> Spent:
    """What it said, how many seconds it took, and the most memory that the process ever had, in MB."""
    wall, cpu = time.perf_counter(), time.process_time()
    said = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {**said, "wall": wall, "cpu": cpu, "peak": peak()}


def peak(pid: int | str = "self") -> float:
    """The highest RSS of a process so far, in MB."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def parse(files: list[Path]) -> Spent:
    """The floor of all reading: parse every line and forget it."""

    def work() -> Spent:
        lines = 0
        for path in files:
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)
                    lines += 1
        return {"lines": lines}

    return timed(work)
