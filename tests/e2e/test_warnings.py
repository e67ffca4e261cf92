"""Each level is said once per context: to the model in its next request, to the user on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_keeper.briefs.rules import REMINDER
from tests.e2e.cli import Sandbox, Session
from tests.e2e.model import Model, Request, call, text
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e

SHORT = REMINDER.partition("{")[0]
MODEL = ("--model", "claude-sonnet-4-5", "--allowedTools", "Bash")  # a window of 200,000


def told(request: Request, level: str) -> int:
    """How often the model was told of a level, in all that it can read."""
    return sum(part.count(f'<memory-keeper context="{level}">') for part in request.parts())


def test_prompts_pass_both_levels_and_each_is_told_once_as_are_the_rules(sandbox: Sandbox, api: Model) -> None:
    api.play(text("One.", 139_000), text("Two.", 141_000), text("Three.", 150_000), text("Four.", 161_000))
    api.play(text("Five.", 162_000), text("Six.", 163_000))
    with Tui(sandbox, *MODEL) as tui:
        for number, prompt in enumerate(("one", "two", "three", "four"), 1):
            tui.type(f"Say {prompt}.")
            tui.finish(number)
            if number == 2:
                seen = " ".join(tui.screen().split())
                assert seen.count("Memory Keeper gave this context 5 rules ") == 1
                assert "Rules in force" not in seen and SHORT not in seen, "what the model hears is not for the screen"
        assert [told(request, "warn") for request in api.of("main")] == [0, 0, 1, 1]
        seen = " ".join(tui.screen().split())
        assert seen.count("Memory Keeper: the context is 70 % full (141,000 of 200,000 tokens") == 1
        tui.type("Say five.")
        tui.finish(5)
        seen = " ".join(tui.screen().split())
        assert seen.count("Memory Keeper: the context is 80 % full (161,000 of 200,000 tokens") == 1
        tui.type("Say six.")
        tui.finish(6)
    last = api.of("main")[-1]
    assert (told(last, "warn"), told(last, "critical")) == (1, 1)
    (handoff,) = (sandbox.project / ".claude/memory/handoffs").glob("*.md")
    assert "Say four." in handoff.read_text()


def test_a_long_turn_without_prompts_is_warned_between_its_tools(sandbox: Sandbox, api: Model) -> None:
    tokens = (100_000, 145_000, 150_000, 165_000, 166_000)
    # half a second, as tools take: a response reaches the disk a moment after it came
    steps = [call("Bash", command=f"sleep 0.5; echo {size}")._replace(tokens=size) for size in tokens]
    api.play(*steps, text("Done.", 167_000))
    with Session(sandbox, *MODEL) as session:
        session.ask("Count to five.")
    assert [(told(one, "warn"), told(one, "critical")) for one in api.of("main")] == [
        (0, 0), (0, 0), (1, 0), (1, 0), (1, 1), (1, 1),
    ]  # fmt: skip


def test_a_new_context_is_warned_anew_and_a_subagent_never(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    job = {"description": "d", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": False}
    with Session(sandbox, *MODEL, "Agent") as session:
        api.play(call("Agent", **job), text("Fine.", 20_000), agents=[
            call("Bash", command="echo a")._replace(tokens=190_000), text("Found.", 190_000),
        ])  # fmt: skip
        session.ask("Ask an agent.")
        assert not [one for one in api.of("main", "agent") if told(one, "warn") or told(one, "critical")]
        api.play(text("Full.", 150_000), text("Told.", 151_000))
        session.ask("Fill it.")
        session.ask("Go on.")
        assert told(api.of("main")[-1], "warn") == 1
        session.ask("/compact")
        api.play(text("Full again.", 152_000), text("Told again.", 153_000))
        session.ask("Fill it again.")
        session.ask("Go on again.")
        assert told(api.of("main")[-1], "warn") == 1  # the first one went with the compaction
