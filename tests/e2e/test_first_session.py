"""The first session says in one line what is kept, where, and how to switch it off; and that switches it off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.kept import keeper
from tests.e2e.model import Model, text
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e

KEPT, SWITCH = "Memory Keeper keeps prompts, replies and tool calls in", "/plugin disable memory-keeper"


@pytest.mark.parametrize("name", ["sandbox", "old"])
def test_a_new_user_is_told_once(name: str, request: pytest.FixtureRequest, api: Model, checkout: Path) -> None:
    box: Sandbox = request.getfixturevalue(name)
    api.play(text("Good morning."), text("Good evening."))
    with Tui(box, columns=80) as tui:
        seen = " ".join(tui.wait(SWITCH).split())
        assert f"{KEPT} ~/.local/share/memory-keeper, which only you can read." in seen
        tui.type("Is it morning?")
        tui.wait("Good morning.")
        tui.leave()  # a host that is killed has not always written what was typed
    assert not api.of("main")[-1].saw(KEPT), "the model does not hear of it"
    wait_for(lambda: keeper(box, checkout, "search", "morning", "--kind", "prompt"), "what was typed")
    with Tui(box, columns=80) as tui:
        tui.type("Is it evening?")
        assert KEPT not in " ".join(tui.wait("Good evening.").split())


def test_what_it_says_switches_it_off(sandbox: Sandbox, api: Model) -> None:
    with Tui(sandbox) as tui:
        tui.wait(SWITCH)
        tui.type(SWITCH)
        tui.wait("Disabled Memory Keeper")
    assert json.loads((sandbox.home / ".claude/settings.json").read_text())["enabledPlugins"] == {
        "memory-keeper@memory-keeper": False
    }
    api.play(text("Good morning."))
    with Session(sandbox) as session:
        (init,) = [event for event in session.ask("Is it morning?") if event.get("subtype") == "init"]
    assert init["mcp_servers"] == [] and not api.of("main")[-1].saw("memory-keeper")


def test_a_program_is_not_shown_it(sandbox: Sandbox, api: Model) -> None:
    api.play(text("Good morning."))
    with Session(sandbox) as session:
        told = session.ask("Is it morning?")
    assert KEPT not in json.dumps(told)
