"""The README, followed to the letter in a clean home with the real CLI; and it stays short."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.figures import value
from memory_keeper.briefs.rules import SHIPPED
from memory_keeper.config import find_home
from memory_keeper.server.protocol import TOOLS
from memory_keeper.settings import DEFAULTS
from tests.docs.pages import commands
from tests.docs.terminal import Terminal
from tests.e2e.cli import OLD, VERSION, Sandbox
from tests.e2e.model import Model, text

README = Path(__file__).resolve().parents[2] / "README.md"
LONGEST = 150
OURSELVES = "./dev test"  # what runs this
SEEN = {  # what the screen says after a command that the README gives
    "./memory-keeper demo": "0 model requests",
    "./memory-keeper install": "It works from the next session on",
    "memory-keeper doctor": "OK",
    "memory-keeper status": "1 session",
    "memory-keeper why": "What Memory Keeper took of contexts",
    'memory-keeper rule add "Run make lint before every commit."': "In force:",
}


def test_it_is_short_and_its_parts_are_there() -> None:
    page = README.read_text(encoding="utf-8")
    assert page.count("\n") <= LONGEST
    sections = ["Install", "What you will see", "What it costs", "The idea", "Develop", "Roadmap", "More"]
    assert [heading for heading in sections if f"\n## {heading}" not in page] == []
    for picture in re.findall(r'(?:src="|!\[[^]]*\]\()([^")]+)', page):
        assert (README.parent / picture).exists(), picture


def test_what_it_says_it_costs_was_measured() -> None:
    page = README.read_text(encoding="utf-8")
    first, other, line = (value(f"cost.{name}_newest") for name in ("first_prompt", "prompt", "reminder"))
    named = DEFAULTS["tell.recallBudget"]
    assert f"| at most {DEFAULTS['rules.budget']:,} once ({first} measured, " in page
    assert f", then {other}, or {line} for the line; at most {named} for what you name |" in page
    assert f"| {value('cost.schema_newest')}, always on |" in page


def test_what_it_counts_is_so() -> None:
    page = README.read_text(encoding="utf-8")
    tools = [tool["name"] for tool in TOOLS]
    assert f"six tools: {', '.join(tools)} |" in page and len(tools) == 6
    assert "Five rules come with it" in page and len(SHIPPED) == 5
    warn, critical = DEFAULTS["context.warnPercent"], DEFAULTS["context.criticalPercent"]
    assert f"a warning at {warn} and {critical} % of the window" in page
    for budget in ("start", "compact", "handoff"):
        assert f"| at most {DEFAULTS[f'tell.{budget}Budget']:,} |" in page
    assert "Python 3.11 or newer" in page and f"tried with Claude Code {OLD} and {VERSION};" in page
    assert f"`~{find_home({'HOME': '/me'}).removeprefix('/me')}`" in page


def test_every_slash_command_is_named() -> None:
    page = README.read_text(encoding="utf-8")
    (said,) = re.findall(r"slash commands, each as `/memory-keeper:NAME`: (.*)\.", page)
    there = {path.stem for path in (README.parent / "plugin/commands").glob("*.md")}
    assert {*re.findall(r"`([\w-]+)`", said)} == there - {"search-memory"}  # another name of `search`


@pytest.mark.parametrize("sign", ["restored what went before", "restored what the summary left out", "restored where"])
def test_the_lines_it_shows_are_those_on_the_screen(sign: str) -> None:
    sources = (README.parent / "src/memory_keeper/hooks/actions").glob("*.py")
    words = sign.removeprefix("restored ")
    assert f"Memory Keeper {sign}" in README.read_text(encoding="utf-8")
    assert any(words in path.read_text(encoding="utf-8") for path in sources)


@pytest.mark.e2e
def test_its_commands_do_what_it_says(bare: Sandbox, api: Model, checkout: Path) -> None:
    (bare.home / ".claude/settings.json").write_text(json.dumps({"model": "claude-sonnet-4-6"}))
    project = bare.home / "work"
    project.mkdir()
    said = [line for line in commands(README) if line != OURSELVES]
    assert said == [*SEEN]
    with Terminal(bare, checkout, project) as terminal:
        terminal.run('export PATH="$HOME/.local/bin:$PATH"')
        for line, sign in SEEN.items():
            if line == "memory-keeper status":  # from here on there is something to see
                terminal.run(f"cd {project}")
                terminal.run("claude")
                api.play(text("We do without."))
                terminal.ask("Should we take tenacity?")
                terminal.ask("/exit")
            assert sign in terminal.run(line), line
        assert "Unregistered." in terminal.run("memory-keeper uninstall")
