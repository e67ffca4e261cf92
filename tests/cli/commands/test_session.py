"""`sessions` and `handoff`: what there was, the newest first, and what each left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.command import run
from tests.machine import Machine


@pytest.fixture
def worked(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a session that is over and one that goes on."""
    monkeypatch.chdir(machine.project)
    for text, over in (("Build the parser.", True), ("Write the docs.", False)):
        session = machine.session()
        session.start()
        session.turn(text, "It is done.")
        if over:
            session.end()
        machine.settle()
    machine.catch_up()
    return machine


def test_the_sessions_of_a_project(worked: Machine, asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    newest, oldest = asked("sessions")
    assert (newest["title"], oldest["title"]) == ("Write the docs.", "Build the parser.")
    assert (newest["turns"], oldest["state"]) == (1, "ended")
    assert newest["state"] != "ended" and newest["at"] >= oldest["at"] and newest["tokens"] >= 0
    assert asked("sessions", "--limit", "1") == asked("session", "list", "--limit", "1") == [newest]
    assert asked("session", "show", newest["id"][:8])["id"] == newest["id"]
    assert run("sessions") == 0
    shown = capsys.readouterr().out
    assert newest["id"][:8] in shown and "1 turn" in shown and "Build the parser." in shown
    assert run("sessions", "--limit", "0") == 2


def test_handoffs_are_listed_and_shown(worked: Machine, asked: Any) -> None:
    written = asked("handoff")
    assert "Write the docs." in written["text"]
    assert written["id"] in [one["id"] for one in asked("handoff", "list")]
    assert asked("handoff", "show", written["session"][:8])["text"] == written["text"]
    assert asked("handoff", "show", written["id"])["id"] == written["id"]
    assert asked("handoff", "show")["id"] == written["id"], "the newest"
    assert run("handoff", "show", "nobody") == 1


def test_where_nothing_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("sessions", "status", "search"):
        assert run(command, *(["x"] if command == "search" else [])) == 3
        assert "memory-keeper install" in capsys.readouterr().err
