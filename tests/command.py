"""A command, run in this process: `run` gives the code that it leaves, the fixture `asked` what it answers as JSON."""

from __future__ import annotations

import pytest

from memory_keeper.cli.main import main


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*argv])
    return int(ended.value.code or 0)
