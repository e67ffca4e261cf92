"""Where nothing is kept yet: every command says what brings the first of it, and promises nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands.test_doctor import installed
from tests.command import typed
from tests.machine import Machine
from tests.old_memories import predecessor

__all__ = ["installed"]
ASKING = ("status", "session list", "search hello", "why", "timeline", "brief start", "usage", "report")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path / "keeper"


@pytest.mark.parametrize("line", ASKING)
def test_nothing_is_promised_where_nothing_is_installed(machine: Machine, line: str) -> None:
    done = typed(machine.project, *line.split())
    assert (done.returncode, done.stdout) == (3, "")
    first, hint = done.stderr.splitlines()
    assert first == "memory-keeper: Nothing is kept yet"
    assert hint == ("  hint: run `memory-keeper install` and start Claude Code, or `memory-keeper import transcripts`")


def test_after_an_install_it_begins_with_the_next_session(installed: Path) -> None:
    for line in ASKING:
        done = typed(Path.cwd(), *line.split())
        assert "it begins with the next session, or `memory-keeper import transcripts`" in done.stderr, line


def test_an_older_memory_is_named(machine: Machine) -> None:
    predecessor(machine.project)
    assert "`memory-keeper import memory-keeper`: 5 sections" in typed(machine.project, "search", "hello").stderr
