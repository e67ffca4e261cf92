"""What a context is told can be listed, and whatever id a screen prints can be shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memory_keeper.cli.main import main
from tests.machine import Machine

pytestmark = pytest.mark.usefixtures("rules_on")

Run = Callable[..., str]


@pytest.fixture
def run(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Run:
    def told(*words: str, code: int = 0, err: bool = False) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([*words, "--home", str(machine.home), "--project", str(machine.project)])
        said = capsys.readouterr()
        assert left.value.code == code, said.err
        return said.err if err or code else said.out

    return told


@pytest.fixture
def said(machine: Machine) -> str:
    """A session in which the user said something for good just now, and which has no note yet."""
    session = machine.session()
    session.start()
    session.turn("Write the docs. From now on use pnpm, never npm.", "The docs are written.")
    machine.catch_up()
    return session.id


def test_what_was_said_just_now_is_listed_and_shown(run: Run, said: str) -> None:
    assert "use pnpm, never npm" in run("brief", "rules")
    (one,) = json.loads(run("observe", "list", "--json"))
    assert one["text"] == "use pnpm, never npm" and one["by"] == "said"
    shown = run("show", one["id"])
    assert "use pnpm, never npm" in shown and said in shown and "observation" in shown
    refused = run("observe", "promote", one["id"], "--yes", code=1)
    assert "is not written yet" in refused and "memory-keeper save" in refused
    run("save")
    assert [known["id"] for known in json.loads(run("observe", "list", "--json"))] == [one["id"]]
    run("observe", "promote", one["id"], "--yes")


def test_every_id_that_why_prints_can_be_shown(machine: Machine, run: Run, said: str) -> None:
    session = machine.session()
    assert "use pnpm, never npm" in session.prompt("Install the packages.").text
    told: list[dict[str, Any]] = json.loads(run("why", "--session", session.id, "--json"))
    ids = {id for telling in told for line in telling["lines"] for id in (line["id"], *line["cites"]) if id}
    assert {"rule-shipped-1"} < ids and any(id.startswith("note-") for id in ids)
    for id in ids:
        assert id.partition(":")[0] in run("show", id)
    page = run("why", "--session", session.id)
    assert "unknown" not in page and "the user said it before, and has not taken it back" in page


def test_show_names_a_project_by_its_folder(machine: Machine, run: Run, said: str) -> None:
    (hit,) = json.loads(run("search", "docs", "--kind", "prompt", "--json"))
    shown = run("show", hit["id"])
    assert f"project: {machine.project}" in shown and "level: 0" not in shown
    assert json.loads(run("show", hit["id"], "--json"))["project"] == hit["project"]


@pytest.mark.parametrize(
    ("prompt", "why"), [("Thanks, go on.", "names no file"), ("Fix src/nowhere.py", "no earlier session has something")]
)
def test_a_recall_of_nothing_says_why(run: Run, said: str, prompt: str, why: str) -> None:
    assert run("brief", "recall", prompt) == ""
    assert why in run("brief", "recall", prompt, err=True)


def test_no_observations_says_how_they_come_about(run: Run) -> None:
    assert "found by themselves in what you tell a session" in run("observe", "list")
