"""A shell for many commands: what is called is the program's own `main`, as in a terminal of which nobody looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from memory_keeper.hooks import COMMAND_LINE
from tests.warm import Warm


class Done(NamedTuple):
    """What became of a call."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its one JSON document."""
        return json.loads(self.out)


class Shell(Warm):
    """Calls `memory-keeper` in one environment."""

    def __init__(self, environ: dict[str, str]) -> None:
        super().__init__()
        self.environ = environ

    def run(self, *argv: str, cwd: Path, given: str = "") -> Done:
        ended = self(COMMAND_LINE, [*argv], given.encode(), self.environ, str(cwd))
        return Done(ended.code, ended.out.decode(), ended.err.decode())
