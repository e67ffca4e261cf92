"""`why` in the real CLI: exactly what the model was sent of ours, line by line."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.conftest import ROOT
from tests.e2e.model import Model, Request, text
from tests.e2e.test_recall import DECIDED, last_week

pytestmark = pytest.mark.e2e

OURS = re.compile(r"<memory-keeper (?:brief|context)=.*?</memory-keeper>", re.S)
REMINDER = re.compile(r"Memory Keeper: rules in force: [^\n<]*")


def sent(request: Request) -> Counter[str]:
    """What the model could read of ours."""
    all = "\n".join(request.parts())
    return Counter([*OURS.findall(all), *REMINDER.findall(all)])


def why(box: Sandbox, *words: str) -> str:
    done = box.net.run([str(ROOT / "memory-keeper"), "why", *words], env=box.env, cwd=box.project)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def words(told: dict[str, Any]) -> str:
    return "\n".join(line["text"] for line in told["lines"])


def test_it_lists_exactly_what_the_model_was_sent(sandbox: Sandbox, api: Model) -> None:
    last_week(sandbox)
    sandbox.env["MEMORY_KEEPER_RULES_EVERY"] = "1"
    api.play(text("It is fine."), text("The discount is there."), text("Done."))
    with Session(sandbox) as session:
        session.ask("Is the weather fine?")
        session.ask("Please add a discount to src/billing/invoice.py.")
        session.ask("And the weather now?")
    told = json.loads(why(sandbox, "--json"))
    assert Counter(map(words, told)) == sent(api.of("main")[-1])
    assert [one["brief"] for one in told] == ["start", "rules", "reminder", "recall", "reminder"]
    assert [one["event"] for one in told] == ["SessionStart", *["UserPromptSubmit"] * 4]
    (line,) = [line for line in told[3]["lines"] if DECIDED in line["text"]]
    assert (line["source"], line["session"][:8]) == ("reply", "0000000a")
    shown = why(sandbox)
    for label in ("start (startup): start", "prompt 1: rules", "prompt 2: recall", "prompt 3: reminder"):
        assert label in shown
