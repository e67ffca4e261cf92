"""Who may decide: a person at a terminal, or one who has said --yes; nobody in a session."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from io import StringIO
from pathlib import Path

import pytest

import memory_keeper
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person, in_a_session
from tests.machine import Machine

ASKS = "import sys; from memory_keeper.host.consent import in_a_session; print(in_a_session(sys.argv[1]))"


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's session runs these tests, whoever does."""
    monkeypatch.delenv("CLAUDECODE", raising=False)


def test_a_yes_outside_of_any_session(tmp_path: Path) -> None:
    by_a_person(Namespace(home=str(tmp_path), yes=True), "do it")


def test_nobody_is_there_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    with pytest.raises(KeeperError, match="Only you can do it, and there is no terminal"):
        by_a_person(Namespace(home=str(tmp_path), yes=False), "do it")


@pytest.mark.parametrize("name", ["CLAUDECODE", "CLAUDE_PROJECT_DIR"])
def test_in_a_session_no_yes_helps(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(KeeperError, match="runs in a session") as error:
        by_a_person(Namespace(home=str(tmp_path), yes=True), "do it")
    assert error.value.hint == "run it in a terminal of your own"


@pytest.mark.parametrize(("shell", "answer"), [({"CLAUDECODE": "1"}, "True"), ({}, "False")])
def test_the_shell_above_knows_who_started_it(machine: Machine, shell: dict[str, str], answer: str) -> None:
    """The host that the hooks know is above both; only one of the shells is its own."""
    session = machine.session()
    session.start()
    session.prompt("Go on.")
    machine.settle()
    assert not in_a_session(str(machine.home))
    asked = f'env -u CLAUDECODE {sys.executable} -c "{ASKS}" {machine.home}; true'
    environ = {**os.environ, "PYTHONPATH": str(Path(memory_keeper.__file__).parents[1]), **shell}
    done = subprocess.run(["/bin/sh", "-c", asked], env=environ, capture_output=True, text=True)
    assert done.stdout.strip() == answer, done.stderr
