"""The tutorial, followed to the letter: in a clean home, with the real CLI, everything typed into one terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.pages import missing, steps
from tests.docs.terminal import Terminal
from tests.e2e.cli import Sandbox
from tests.e2e.model import Model, Reply, Request, call, flat, text

pytestmark = pytest.mark.e2e

TUTORIAL = Path(__file__).resolve().parents[2] / "docs/tutorial.md"
GREET = 'def greet(name):\n    return "Hello, " + name\n\n\nprint(greet("you"))\n'
ALLOWED = {"model": "claude-sonnet-4-6", "permissions": {"allow": ["Edit", "Write", "Bash(python3 greet.py)"]}}
REASON = "Because it has to run on Python 3.5: you said so when greet.py was written."
WENT_ON = "greet() says Good day to an empty name; nothing else is open."


def play(request: Request) -> Reply:
    """What a model would do that reads what it is told."""
    last = request.body["messages"][-1]["content"]
    if isinstance(last, list) and any(block["type"] == "tool_result" for block in last):
        return text("That is done.")
    asked = flat(last)
    if "Go on." in asked:  # beside it stands what was handed over, which quotes the others
        return text(WENT_ON if request.saw("Let greet() say") else "I cannot know.")
    if "Write greet.py" in asked:
        return call("Write", file_path="greet.py", content=GREET)
    if "From now on" in asked:
        return call("Bash", command="python3 greet.py")
    if "Why does" in asked:
        return text(REASON if request.saw("it has to run on Python 3.5") else "I cannot know.")
    if "Let greet()" in asked:
        changed = 'return "Hello, " + name if name else "Good day"'
        return call("Edit", file_path="greet.py", old_string='return "Hello, " + name', new_string=changed)
    return text("I cannot know.")


def first_id(seen: str) -> str:
    found = re.search(r"^([0-9a-f]{8})\b", seen, re.MULTILINE)
    assert found, seen
    return found[1]


def test_the_tutorial_ends_where_it_says(bare: Sandbox, api: Model, checkout: Path) -> None:
    (bare.home / ".claude/settings.json").write_text(json.dumps(ALLOWED))
    api.play(*[play] * 20)
    seen, id = "", "ID"
    with Terminal(bare, checkout, bare.home / "greeter") as terminal:
        for number, (kind, lines) in enumerate(steps(TUTORIAL), 1):
            if kind == "sh":
                seen = "".join(terminal.run(line.replace("ID", id)) for line in lines)
                id = first_id(seen) if "memory-keeper search" in lines[-1] else id
            elif kind == "claude":
                terminal.ask(*lines)
                seen = terminal.screen()
                assert "I cannot know" not in seen, f"block {number}: the model was not told"
            else:
                assert missing(lines, seen) == [], f"block {number}: {seen}"
    assert json.loads((bare.home / ".claude/settings.json").read_text()) == ALLOWED
    assert not (bare.home / ".local/bin/memory-keeper").exists()
    assert (bare.home / ".local/share/memory-keeper/store.db").exists()
