"""The plugin's hooks module asks after each turn whether to clear, does as it is told, and is not heard of else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tests.e2e.cli import Json, Sandbox, Session, wait_for
from tests.e2e.conftest import ship
from tests.e2e.model import Model, Reply, Request, Step, call, text
from tests.e2e.net import Net
from tests.e2e.tui import SIGN, Tui

pytestmark = pytest.mark.e2e

CLEAR = '{"run": "clear"}'
CLEARED = f"{SIGN} /clear"  # as it stands in the transcript
ODD = ("nonsense", "null", "[]", '{"run": "exit"}', '{"run": {"run": "clear"}}', "")
# the launcher as it is, but for the answer at a turn's end
DOOR = """#!/bin/sh
here=$(dirname "$0")
[ "$1" = turn ] || exec "$here/launch.real" "$@"
echo "$@" >> "$here/asked"
cat "$here/says"
echo trouble >&2
exit 1
"""


class Plugin:
    """A copy of the plugin whose answer at a turn's end we choose."""

    def __init__(self, root: Path) -> None:
        self.root = ship(root)
        folder = self.root / "plugin"
        (folder / "launch").rename(folder / "launch.real")
        (folder / "launch").write_text(DOOR)
        (folder / "launch").chmod(0o755)
        self._says, self._asked = folder / "says", folder / "asked"
        self.say("")

    def say(self, answer: str) -> None:
        """What it answers from now on."""
        self._says.write_text(answer)

    def asked(self) -> list[list[str]]:
        """What it was asked so far."""
        return [line.split() for line in self._asked.read_text().splitlines()] if self._asked.exists() else []

    def wait(self, times: int) -> list[list[str]]:
        """What it was asked, once it was asked that often."""
        return wait_for(lambda: asked if len(asked := self.asked()) >= times else [], f"question {times}")


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """The plugin, where a path can be at its worst."""
    return Plugin(tmp_path / "check out é")


@pytest.fixture
def old(old_cli: Path, net: Net, api: Model) -> Iterator[Sandbox]:
    """A home with the CLI that has no modules."""
    made = Sandbox(old_cli, net, api.url)
    yield made
    made.close()


def draft(tui: Tui, words: str) -> None:
    """Type without Enter."""
    there = tui.box()
    tui._tmux("send-keys", "-l", words)
    wait_for(lambda: tui.box() == there + words, f"{words!r} in the input box")


def send(tui: Tui) -> None:
    """Press Enter until what was typed is taken."""
    there = tui.box()
    wait_for(lambda: tui._enter() != there, f"{there!r} taken")


def when(gate: Event, reply: Reply) -> Step:
    """A model that thinks until it may answer."""

    def think(_: Request) -> Reply:
        assert gate.wait(60)
        return reply

    return think


def ended(told: list[Json]) -> list[str]:
    """The sessions of the results among what the CLI told."""
    return [event["session_id"] for event in told if event["type"] == "result"]


def test_the_module_is_valid(bare: Sandbox, checkout: Path) -> None:
    said = bare.plugin("validate", str(checkout))
    assert "Validation passed" in said
    assert "/module.js hooks: turn.start, turn.complete, session.compact" in said


def test_asks_once_per_turn_of_the_main_thread_with_the_hosts_own_figures(
    bare: Sandbox, api: Model, plugin: Plugin
) -> None:
    spawn = call("Agent", description="look", prompt="Look.", subagent_type="general-purpose", run_in_background=False)
    api.play(text("One.", 12_345), spawn, text("Two.", 23_456), agents=[text("Found.", 77_777)])
    told: list[Json] = []
    with Session(bare, "--plugin-dir", str(plugin.root), "--model", "claude-opus-5-5") as session:
        for times, prompt in enumerate(("First.", "Ask an agent."), 1):
            told += session.ask(prompt)
            plugin.wait(times)
        told += session.ask("/compact")
    (name,) = {*ended(told)}
    assert plugin.asked() == [["turn", name, "1000000", tokens, "claude-opus-5-5"] for tokens in ("12345", "23456")]


def test_an_odd_answer_changes_nothing_and_shows_nothing(bare: Sandbox, api: Model, plugin: Plugin) -> None:
    api.play(*(text(f"Answer {number}.") for number in range(len(ODD))))
    with Tui(bare, "--plugin-dir", str(plugin.root), "--permission-mode", "acceptEdits") as tui:
        for number, answer in enumerate(ODD):
            plugin.say(answer)
            tui.type(f"Prompt {number}.")
            tui.finish(number + 1)
            plugin.wait(number + 1)
        screen = tui.screen()
    assert len({session for _, session, *_ in plugin.asked()}) == 1
    assert "trouble" not in screen and "rror" not in screen and CLEARED not in screen
    assert api.of("main")[-1].saw("Prompt 0.")


def test_clear_keeps_the_draft(bare: Sandbox, api: Model, plugin: Plugin) -> None:
    gate = Event()
    api.play(when(gate, text("Done.")), text("Again."))
    plugin.say(CLEAR)
    with Tui(bare, "--plugin-dir", str(plugin.root), "--permission-mode", "acceptEdits") as tui:
        tui.type("Go.")
        draft(tui, "half a thought")
        gate.set()
        tui.wait(CLEARED)
        wait_for(lambda: "Done." not in tui.screen(), "an empty conversation")
        assert tui.box() == "half a thought"
        plugin.say("")
        draft(tui, ", and the rest")
        send(tui)
        tui.wait("Again.")
        (_, first, *_), (_, second, *_) = plugin.wait(2)
    assert first != second
    last = api.of("main")[-1]
    assert last.saw("half a thought, and the rest")
    assert "assistant" not in {message["role"] for message in last.body["messages"]}


def test_a_prompt_that_waits_is_answered_in_the_old_context(bare: Sandbox, api: Model, plugin: Plugin) -> None:
    gate = Event()
    api.play(when(gate, text("One.")), text("Two."))
    plugin.say(CLEAR)
    with Tui(bare, "--plugin-dir", str(plugin.root), "--permission-mode", "acceptEdits") as tui:
        tui.type("First thing.")
        draft(tui, "Second thing.")
        send(tui)
        gate.set()
        tui.wait(CLEARED)
        asked = plugin.wait(2)
    assert len({session for _, session, *_ in asked}) == 1
    assert [request.saw("Second thing.") for request in api.of("main")] == [False, True]
    assert api.of("main")[-1].saw("First thing.")


def test_a_cli_without_modules_says_nothing_of_it(old: Sandbox, api: Model, plugin: Plugin) -> None:
    assert "Validation passed" in old.plugin("validate", str(plugin.root))
    api.play(text("Answered."))
    plugin.say(CLEAR)
    done = old.claude("-p", "Anything?", "--plugin-dir", str(plugin.root))
    assert (done.stdout.strip(), done.stderr) == ("Answered.", "")
    assert not plugin.asked()
