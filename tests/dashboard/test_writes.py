"""The few things that can be changed from a page: each once, by the functions of the commands."""

from __future__ import annotations

from typing import Any

import pytest

from tests.command import run
from tests.dashboard.conftest import Browser
from tests.machine import Machine


def keep(machine: Machine, *words: str) -> None:
    assert run(*words, "--home", str(machine.home), "--project", str(machine.project), "--json") == 0


@pytest.fixture
def listed(machine: Machine, asked: Any) -> Any:
    return lambda *words: asked(*words, "--home", str(machine.home), "--project", str(machine.project))


def test_an_observation_is_confirmed_and_becomes_a_rule(browser: Browser, machine: Machine, listed: Any) -> None:
    keep(machine, "observation", "add", "The integration tests need the VPN.")
    fields = browser.fields(browser.get("rules"), "Right once more")
    for _ in range(2):  # once a day
        assert browser.post("confirm", fields).status_code == 303
    assert listed("observation", "list")[0]["confirmations"] == 1
    fields = browser.fields(browser.get("rules"), "Make it a rule")
    assert browser.post("promote", fields).status_code == 303
    assert browser.post("promote", fields).status_code == 404  # it is one by now
    assert [one for one in listed("rule", "list") if "VPN" in one["text"]]


def test_a_rule_is_retired(browser: Browser, machine: Machine, listed: Any) -> None:
    keep(machine, "rule", "add", "Run the tests before you commit.", "--yes")
    page = browser.get("rules")
    own = next(part for part in page.split("<li>") if "Run the tests" in part)
    assert browser.post("retire", browser.fields(own, "Retire")).status_code == 303
    assert not [one for one in listed("rule", "list") if "Run the tests" in one["text"]]


def test_a_task_is_done(browser: Browser, machine: Machine, listed: Any) -> None:
    keep(machine, "task", "add", "Add the SMS handler", "--id", "TASK-42")
    assert browser.post("finish", browser.fields(browser.get("part/tasks"), "Done")).status_code == 303
    assert [one["id"] for one in listed("task", "list", "--done")][:1] == ["TASK-42"]


def test_a_model_cannot_change_anything(browser: Browser, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(machine, "task", "add", "Add the SMS handler", "--id", "TASK-42")
    fields = browser.fields(browser.get("part/tasks"), "Done")
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = browser.post("finish", fields)
    assert answer.status_code == 404 and "Only you can" in answer.text


def test_what_nobody_offers_is_refused(browser: Browser) -> None:
    fields = browser.fields(browser.get("rules"), "Retire")
    assert browser.post("forget", fields).status_code == 404
    assert browser.post("retire", {**fields, "id": "rule-of-nobody"}).status_code == 404
