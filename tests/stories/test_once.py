"""Over all that one context is told, nothing stands there twice."""

from __future__ import annotations

import os
from typing import Any

import pytest

from memory_keeper.capture.payload import read_payload
from memory_keeper.hooks.answer import answer
from tests.machine import Machine, Session
from tests.stories.test_tasks import shell

pytestmark = pytest.mark.usefixtures("rules_on")

PNPM, LINT = "Use pnpm, never npm", "Always run make lint before a commit"


def ask(session: Session, prompt: str) -> str:
    """What a prompt brings from a server that is there all the time."""
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(session.project), **session.environ}
    call = read_payload("UserPromptSubmit", session.payload("UserPromptSubmit", prompt=prompt), environ)
    assert call
    answered: Any = answer(call, str(session.machine.home), environ, catch_up=lambda *_: None, resident=True)
    return str((answered or {}).get("hookSpecificOutput", {}).get("additionalContext", ""))


def worked(machine: Machine) -> None:
    """A session in which the user said what is to hold, and that ended."""
    session = machine.session()
    session.start()
    session.turn(f"{PNPM}. Please build the parser in src/parser.py.", "The parser is built.")
    session.turn(f"{LINT}. Then add the lexer.", "The lexer is added.")
    session.end()
    machine.settle()


def test_what_the_user_insists_on_is_not_repeated_by_the_rules(machine: Machine) -> None:
    worked(machine)
    new = machine.session()
    begun = new.start().text
    assert PNPM in begun and LINT in begun
    rules = ask(new, "Go on with the lexer.")
    assert "NEVER delete files" in rules
    assert "pnpm" not in rules and "make lint" not in rules
    assert "The user said before" not in rules, "nothing is left to be said under it"


def test_a_rule_in_force_stands_with_the_rules_alone(machine: Machine) -> None:
    worked(machine)
    shell(machine, "rule", "add", LINT, "--yes")
    new = machine.session()
    (insists,) = [line for line in new.start().text.splitlines() if "The user insists: " in line]
    assert PNPM in insists and LINT not in insists
    assert LINT in ask(new, "Go on with the lexer.")


def test_a_context_that_is_told_no_rules_is_handed_them(machine: Machine) -> None:
    worked(machine)
    shell(machine, "rule", "add", LINT, "--yes")
    shell(machine, "config", "set", "rules.enabled", "false")
    (insists,) = [line for line in machine.session().start().text.splitlines() if "The user insists: " in line]
    assert LINT in insists


def test_a_context_that_was_handed_nothing_is_told_what_the_user_said(machine: Machine) -> None:
    worked(machine)
    new = machine.session()
    rules = ask(new, "Go on with the lexer.")
    assert "pnpm" in rules and "make lint" in rules


def test_what_the_rules_said_is_not_recalled_besides(machine: Machine) -> None:
    old = machine.session()
    old.start()
    old.turn("From now on write every date with `format_date`, never with strftime.", "I will.")
    old.end()
    machine.settle()
    new = machine.session()
    text = ask(new, "Does `format_date` know time zones?")
    assert text.count("write every date with `format_date`") == 1
