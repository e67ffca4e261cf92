"""The block in CLAUDE.md as the real CLI reads it: the user's words and the rules, without our markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_keeper.briefs.claude_md import HEADING
from tests.e2e.cli import Sandbox, Session
from tests.e2e.model import Model, text

pytestmark = pytest.mark.e2e

MINE = b"# App\r\n\r\nMy own words"


def test_the_model_reads_the_rules_and_no_marker(sandbox: Sandbox, api: Model, checkout: object) -> None:
    file = Path(sandbox.project, "CLAUDE.md")
    file.write_bytes(MINE)
    environ = {name: value for name, value in sandbox.env.items() if not name.startswith("CLAUDE")}

    def rule(*args: str) -> None:
        ran = sandbox.net.run([f"{checkout}/memory-keeper", "rule", *args], env=environ, cwd=sandbox.project)
        assert ran.returncode == 0, ran.stderr

    rule("add", "Tabs, not spaces.", "--yes")
    rule("sync", "--yes")
    api.play(text("One."))
    with Session(sandbox) as session:
        session.ask("First?")
    read = "\n".join(api.of("main")[0].parts()).partition("Contents of ")[2]
    assert "My own words" in read and f"{HEADING}\n" in read.replace("\r", "") and "1. Tabs, not spaces." in read
    assert "memory-keeper:rules:" not in read and "not here" not in read
    rule("sync", "--remove", "--yes")
    assert file.read_bytes() == MINE
