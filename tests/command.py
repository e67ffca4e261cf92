"""A command, run in this process: `run` gives the code that it leaves, the fixture `asked` what it answers as JSON, and
`typed` all that it leaves where there is no terminal."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from memory_keeper.cli.main import main
from tests.machine import Machine, in_process


class Done(NamedTuple):
    """How a command ended, in the words of `subprocess`."""

    returncode: int
    stdout: str
    stderr: str


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*argv])
    return int(ended.value.code or 0)


def typed(folder: Path, *argv: str, given: str = "", **environ: str) -> Done:
    """A command of the user's, typed in a folder and given something to read; there is no terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")),
        redirect_stdout(out),
        redirect_stderr(err),
        in_process({**os.environ, **environ}, folder),
    ):
        code = run(*argv)
    return Done(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def memory_keeper(machine: Machine, *argv: str, **environ: str) -> str:
    """The same in a machine's project, of a command that must succeed; what it prints."""
    done = typed(machine.project, *argv, **environ)
    assert done.returncode == 0, done.stderr
    return done.stdout
