"""Running a program on a disk that fails at a chosen point: the Python side of `faultpoint.c`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.warm import Point, Several

SOURCE = Path(__file__).with_name("faultpoint.c")


class Fault(NamedTuple):
    """What happens to the `at`-th file operation; 0 only counts."""

    at: int
    how: str  # kill, torn, short, or the name of an errno
    lasts: bool = False  # to every later one too
    reads: bool = False  # reading counts as well
    fuse: str = ""  # see faultpoint.c
    under: str = ""  # a folder: only what is done there counts
    log: str = ""  # a file that gets all that is done there

    def environ(self, shim: Path, under: Path, trace: Path) -> dict[str, str]:
        """The environment that makes it happen to what is done below a folder."""
        given = {
            "LD_PRELOAD": shim,
            "FAULT_UNDER": self.under or under.resolve(),
            "FAULT_AT": self.at,
            "FAULT_HOW": self.how,
            "FAULT_LASTS": "1" if self.lasts else "",
            "FAULT_READS": "1" if self.reads else "",
            "FAULT_FUSE": self.fuse,
            "FAULT_TRACE": trace,
            "FAULT_LOG": self.log,
        }
        return {name: str(value) for name, value in given.items()}


class Ran(NamedTuple):
    """How a program ended."""

    code: int
    out: bytes
    err: bytes
    operations: tuple[str, ...] = ()  # "N name path" each, as far as they were counted

    @property
    def killed(self) -> bool:
        """Whether it was killed rather than ended by itself."""
        return self.code == -signal.SIGKILL


def compile_shim(folder: Path) -> Path:
    """The library to preload."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "the faults need a C compiler"
    shim = folder / "faultpoint.so"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", shim, SOURCE], check=True)
    return shim


def run(command: list[str], given: bytes, environ: dict[str, str]) -> Ran:
    """Run a program and wait for it and for everything it left running.

    All of them hold the writing end of a pipe; when the last one is gone, so is the pipe.
    """
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            pass_fds=(writing,),
        ) as process:
            os.close(writing)
            out, err = process.communicate(given)
        os.read(reading, 1)
    finally:
        os.close(reading)
    return Ran(process.returncode, out, err, traced(environ))


def call(
    warm: Several, point: Point, words: list[str], given: bytes, environ: dict[str, str], folder: str = "/"
) -> Ran:
    """The same of a function, in a process that was forked for it."""
    with warm.one() as process:
        ended = process(point, words, given, environ, folder)
    return Ran(*ended, traced(environ))


def traced(environ: dict[str, str]) -> tuple[str, ...]:
    """The operations that were counted."""
    trace = Path(environ.get("FAULT_TRACE") or os.devnull)
    return tuple(trace.read_text().splitlines()) if trace.is_file() else ()
