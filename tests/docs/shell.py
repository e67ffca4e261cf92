"""A shell for many commands: one warm process forks for each, so that a call costs what it does and not Python's start.

What is called is the program's own `main`, with streams, directory and exit code of its own, as in a terminal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import memory_keeper

SRC = Path(memory_keeper.__file__).parents[1]
PATIENCE = 60

WARM = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.cli import main as cli
cli.build_parser()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["cwd"])
        for number, name in enumerate(("in", "out", "err")):
            flags = os.O_RDONLY if not number else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(asked[name], flags, 0o600), number)
        sys.stdin = open(0, closefd=False)
        try:
            cli.main(asked["argv"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Done(NamedTuple):
    """What became of a call."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its one JSON document."""
        return json.loads(self.out)


class Shell:
    """Calls `memory-keeper` in one environment."""

    def __init__(self, environ: dict[str, str], folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        command = [sys.executable, "-I", "-c", WARM, str(SRC)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, text=True, cwd=folder
        )

    def __call__(self, *argv: str, cwd: Path, given: str = "") -> Done:
        streams = {name: self.folder / name for name in ("in", "out", "err")}
        streams["in"].write_text(given, encoding="utf-8")
        asked = {"argv": argv, "cwd": str(cwd), **{name: str(path) for name, path in streams.items()}}
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        return Done(code, *(streams[name].read_text(encoding="utf-8") for name in ("out", "err")))

    def close(self) -> None:
        self.process.communicate(timeout=PATIENCE)
