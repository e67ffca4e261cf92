"""A day with the real CLI: tools, a subagent, a compaction; all of it is kept once, and the next session is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli import Json, Sandbox, Session
from tests.e2e.kept import assert_all_kept_once, keeper
from tests.e2e.model import Model, call, calls, text

pytestmark = pytest.mark.e2e

TOOLS = ["--allowedTools", "Bash", "Read", "Edit", "Agent"]
AGENT = {"subagent_type": "general-purpose"}
ASKED = "Make greet() in greeting.py polite, without changing its name."


def work(sandbox: Sandbox, api: Model) -> list[Json]:
    """A first session with a bit of everything; what the CLI told of it."""
    greeting = sandbox.project / "greeting.py"
    greeting.write_text("def greet():\n    return 'Hi'\n")
    api.play(
        calls(("Read", {"file_path": str(greeting)}), ("Bash", {"command": "ls", "description": "look around"})),
        call("Edit", file_path=str(greeting), old_string="'Hi'", new_string="'Good day'"),
        call("Agent", description="check", prompt="Is it polite?", run_in_background=False, **AGENT),
        text("greet() now says 'Good day'; the name stayed."),
        call("Bash", command="exit 3", description="fail"),
        text("The check ended with 3."),
        text("Nothing is left to do."),
        agents=[
            calls(("Bash", {"command": "ls", "description": "see"}), ("Read", {"file_path": str(greeting)})),
            text("It is polite."),
        ],
    )
    prompts = (ASKED, "Run the check.", "/compact", "Anything left?")
    with Session(sandbox, *TOOLS) as session:
        return [told for prompt in prompts for told in session.ask(prompt)]


def session_of(told: list[Json]) -> str:
    return str(next(event["session_id"] for event in told if event.get("subtype") == "init"))


def problems(told: list[Json]) -> list[Json]:
    """What the CLI says of hooks that failed."""
    return [event for event in told if event["type"] == "system" and "error" in json.dumps(event).lower()]


def test_everything_is_kept_once_and_told_to_the_next_session(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    told = work(sandbox, api)
    first = session_of(told)
    assert problems(told) == []
    assert len(api.of("agent")) == 2
    assert_all_kept_once(sandbox, first)

    api.play(text("I remember."))
    with Session(sandbox) as session:
        told = session.ask("Good morning.")
    assert problems(told) == []
    reminded = api.of("main")[-1]
    for needle in ("Memory Keeper", ASKED, "Nothing is left to do.", "greeting.py"):
        assert reminded.saw(needle), needle
    assert_all_kept_once(sandbox, first)  # looking again adds nothing
    assert_all_kept_once(sandbox, session_of(told))

    hits = keeper(sandbox, checkout, "search", "polite")
    assert {hit["session"] for hit in hits} >= {first}
    shown = keeper(sandbox, checkout, "show", hits[0]["id"])
    assert "polite" in json.dumps(shown)
