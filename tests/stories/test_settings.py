"""Settings change what they name; a broken file is told of, left alone, and costs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.text import tokens
from tests.machine import Machine


@pytest.fixture
def worked(machine: Machine) -> Machine:
    """A machine on which there is a lot to tell."""
    session = machine.session()
    for number in range(12):
        session.transcript.prompt(" ".join(f"What does rule_{number}_{part} say to the parser?" for part in range(6)))
        session.transcript.reply(" ".join(f"It takes token_{number}_{part} that comes next." for part in range(6)))
    session.write()
    session.happen("Stop")
    machine.catch_up()
    return machine


def set_budget(folder: Path, value: Any) -> Path:
    path = folder / ".claude/memory-keeper.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps({"tell": {"startBudget": value}}))
    return path


def test_a_project_chooses_how_much_it_is_told(worked: Machine) -> None:
    usual = tokens(worked.session().start().text)
    set_budget(worked.project, 400)
    assert 200 < tokens(worked.session().start().text) <= 400
    set_budget(worked.project, 4000)
    assert usual < tokens(worked.session().start().text) <= 4000


@pytest.mark.parametrize("value", [0, -5, 1, 10**12])
def test_no_budget_breaks_a_start(worked: Machine, value: int) -> None:
    set_budget(worked.project, value)
    answer = worked.session().start()
    assert not answer.message
    assert tokens(answer.text) <= max(value, 1500)


@pytest.mark.parametrize("broken", ["{", "null", "[]", "\0", "{" * 50_000])
def test_a_broken_file_is_told_of_and_left_alone(worked: Machine, broken: str) -> None:
    path = set_budget(worked.project, broken)
    answer = worked.session().start()
    assert str(path) in answer.message
    assert "\n" not in answer.message
    assert "rule_11_0" in answer.text
    assert path.read_text() == broken


def test_a_settings_file_that_is_a_link_is_not_read(worked: Machine) -> None:
    elsewhere = worked.root / "elsewhere.json"
    elsewhere.write_text(json.dumps({"tell": {"startBudget": 300}}))
    (worked.project / ".claude").mkdir()
    (worked.project / ".claude/memory-keeper.json").symlink_to(elsewhere)
    assert tokens(worked.session().start().text) > 300
