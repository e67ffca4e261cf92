"""Recall before it is asked, in the real CLI: what was settled about a file that a prompt names, and what helped before
against an error that a command ends with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.conftest import ROOT
from tests.e2e.model import Model, Request, call, flat, text
from tests.transcripts import Transcript

pytestmark = pytest.mark.e2e

DECIDED = "We decided to round half to even in invoice.py because the tax office does the same."
OTHER = "Write down what changed."
COMMAND = "python3 -m shop.report"
ERROR = "ModuleNotFoundError: No module named 'tabulate'"
OURS = 'brief="recall"'


@pytest.fixture(params=["sandbox", "old"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The current CLI and an older one, each with our plugin."""
    yield request.getfixturevalue(request.param)


def last_week(box: Sandbox) -> None:
    """Sessions of last week: one that settled something, one that met an error, and enough since that no brief tells of
    them."""
    folder = box.root / "before"
    folder.mkdir()
    begin = (datetime.now(UTC) - timedelta(days=8)).timestamp()
    first = Transcript("0000000a-0000-4000-8000-000000000001", str(box.project), start=begin)
    first.prompt("How should src/billing/invoice.py round amounts?")
    first.reply(DECIDED)
    second = Transcript("0000000b-0000-4000-8000-000000000001", str(box.project), start=begin + 3600)
    second.prompt("Print the report.")
    second.call("Bash", {"command": COMMAND}, f"Exit code 1\n{ERROR}", True)
    second.call("Bash", {"command": "pip install tabulate"}, "Successfully installed tabulate-0.9.0")
    second.call("Bash", {"command": COMMAND}, "total 12")
    second.reply("It is printed.")
    rest = [first, second]
    for number in range(12):
        name = f"{number:08x}-0000-4000-8000-000000000002"
        later = Transcript(name, str(box.project), start=begin + 86_400 + 7_200 * number)
        for turn in range(6):
            later.prompt(f"{OTHER} This is part {turn} of chapter {number}, and it is about gardens in the rain.")
            later.reply(f"Chapter {number} has part {turn} now, with all that is known about gardens in the rain.")
        rest.append(later)
    for made in rest:
        made.append_to(folder / made.name)
    done = box.net.run(
        [str(ROOT / "memory-keeper"), "import", "accept", "--yes", str(folder)], env=box.env, cwd=box.project
    )
    assert done.returncode == 0, done.stdout + done.stderr


def lately(request: Request) -> str:
    """What stands in a request after the model's last words."""
    said = request.body["messages"]
    last = max((place for place, one in enumerate(said) if one["role"] == "assistant"), default=-1)
    return "\n".join(flat(one["content"]) for one in said[last + 1 :])


def test_a_prompt_that_names_last_weeks_file_brings_its_decision_and_an_error_what_helped(
    box: Sandbox, api: Model
) -> None:
    last_week(box)
    api.play(text("It is fine."), text("The discount is there."), text("Done."))
    with Session(box) as session:
        session.ask("Is the weather fine?")
        session.ask("Please add a discount to src/billing/invoice.py.")
        session.ask("And a test for src/billing/invoice.py.")
    weather, discount, test = api.of("main")
    assert OURS not in lately(weather) and not weather.saw(DECIDED), "no brief tells of it"
    assert DECIDED in lately(discount) and OURS in lately(discount)
    assert OURS not in lately(test), "once in a context"
    assert test.saw(DECIDED)

    fail = f'echo "{ERROR}" >&2; exit 1'
    api.play(
        call("Bash", command="echo fine", description="works"),
        call("Bash", command=fail, description="fails"),
        call("Bash", command=fail, description="fails again"),
        text("I will install it."),
    )
    with Session(box, "--allowedTools", "Bash") as session:
        told = session.ask("Print it.")
    _, fine, failed, again = api.of("main")[3:]
    assert not again.saw("hook success") and not again.saw("memory-keeper:keeper"), "what says nothing costs nothing"
    assert 'brief="fix"' not in lately(fine)
    assert "Seen before, 7 days ago; fixed by: ran `pip install tabulate`" in lately(failed)
    assert 'brief="fix"' not in lately(again), "once in a context"
    assert not [one for one in told if "hook error" in json.dumps(one)]
