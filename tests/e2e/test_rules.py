"""The rules in the real CLI: in full with the first prompt and after a compaction, in short when the context grew."""

from __future__ import annotations

import json

import pytest

from memory_keeper.briefs.rules import OPENING, REMINDER, SHIPPED
from memory_keeper.policy import BEGINS, FADES
from memory_keeper.text import tokens
from tests.e2e.cli import Sandbox, Session
from tests.e2e.model import Model, Request, flat, text

pytestmark = pytest.mark.e2e

PREDECESSOR = 778  # tokens that it told with every prompt
SHORT = REMINDER.partition("{")[0]
OWN = "Run make lint before every commit."
FULL = 190_000  # tokens; the CLI is told that its window has 200,000


@pytest.fixture(params=["sandbox", "old"])
def box(request: pytest.FixtureRequest) -> Sandbox:
    """A home of each CLI with our plugin installed, in which contexts are compacted early."""
    made: Sandbox = request.getfixturevalue(request.param)
    made.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    return made


def heard(request: Request) -> str:
    """What stands in a request after the model's last words."""
    said = request.body["messages"]
    last = max((place for place, one in enumerate(said) if one["role"] == "assistant"), default=-1)
    return "\n".join(flat(one["content"]) for one in said[last + 1 :])


def test_a_hundred_prompts(sandbox: Sandbox, api: Model) -> None:
    """They fill the window as far as the first warning."""
    api.play(*(text(f"Answer {number}.", 40_000 + 900 * number) for number in range(100)))
    with Session(sandbox) as session:
        told = [one for number in range(100) for one in session.ask(f"Question {number}?")]
    first, *others = api.of("main")
    assert len(others) == 99
    assert OPENING in heard(first) and all(rule in heard(first) for _, rule in SHIPPED)
    assert not any(OPENING in heard(request) for request in others)
    reminded = [40_000 + 900 * number for number, request in enumerate(others) if SHORT in heard(request)]
    assert len(reminded) == 2 and BEGINS + FADES <= reminded[0] <= reminded[1] - FADES
    assert sum("Memory Keeper gave this context" in json.dumps(one) for one in told) <= 1, (
        "at most once; the screen shows it"
    )
    said = "\n".join(flat(one["content"]) for one in others[-1].body["messages"])
    ours = [line for line in said.splitlines() if line.startswith(SHORT)]
    full = said[said.index('<memory-keeper brief="rules"') :].partition("</memory-keeper>")[0]
    assert said.count('<memory-keeper brief="rules"') == 1
    assert tokens(full) + sum(tokens(line) + 1 for line in ours) <= PREDECESSOR * 100 // 200


def test_in_full_after_a_compaction_and_when_they_change(box: Sandbox, api: Model, checkout: object) -> None:
    api.play(text("One.", FULL), text("Two."), text("Three."), text("Four."), text("Five."))
    with Session(box) as session:
        session.ask("First?")
        session.ask("/compact")
        session.ask("Second?")
        session.ask("Third?")
        added = box.net.run(
            [f"{checkout}/memory-keeper", "rule", "add", OWN, "--yes"],
            env={name: value for name, value in box.env.items() if not name.startswith("CLAUDE")},
            cwd=box.project,
        )
        assert added.returncode == 0, added.stderr
        session.ask("Fourth?")
        session.ask("Fifth?")
    first, *rest = api.of("main")
    assert OPENING in heard(first)
    after, third, changed, last = rest[-4:]
    assert "\n".join(after.parts()).count(OPENING) == 1, "the compaction took the first away"
    assert OPENING not in heard(third)
    assert OPENING in heard(changed) and OWN in heard(changed)
    assert OPENING not in heard(last)
