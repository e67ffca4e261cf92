"""All of the plugin comes along, however it is installed; its commands are of one style and cost little."""

from __future__ import annotations

import json
import re
import struct
import tomllib
from pathlib import Path

import pytest

from docs.render.plugin import Piece, line, pieces
from memory_keeper.host.registration import PAGES, assemble
from memory_keeper.text import tokens

ROOT = Path(__file__).parents[1]
AGENT = "plugin/agents/delta-summarizer.md"
SKILL = "plugin/skills/memory-delta/SKILL.md"
COMMANDS = [piece for piece in pieces() if piece.kind == "command"]


def test_the_wheel_has_every_part() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    parts = {f"plugin/{path.name}" for path in (ROOT / "plugin").iterdir() if not path.name.startswith(".")}
    assert {name for name in carried if name.startswith("plugin/")} == parts
    assert {name for name in carried if name.startswith("docs/")} == {f"docs/{page}" for page in PAGES}


def test_the_manifest_names_every_agent() -> None:
    manifest = json.loads((ROOT / ".claude-plugin/plugin.json").read_text())
    agents = sorted(f"./plugin/agents/{path.name}" for path in (ROOT / "plugin/agents").glob("*.md"))
    assert manifest["agents"] == agents  # a folder there would keep the whole plugin from being loaded
    assert manifest["skills"] == "./plugin/skills"


def test_install_copies_agents_and_skills(tmp_path: Path) -> None:
    made = Path(assemble(str(tmp_path)))
    for name in (AGENT, SKILL, "docs/tutorial.md", "docs/how-to/rules.md"):
        assert (made / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_agent_only_reads_and_says_when_there_is_nothing() -> None:
    (agent,) = (piece for piece in pieces() if piece.kind == "agent")
    assert (agent.about["tools"], agent.about["model"]) == ("Read", "haiku")
    assert len(agent.about["description"]) < 60  # every session reads it
    assert "`ERROR: delta_temp.txt not found or empty`" in agent.body


def test_the_server_s_tools_are_always_loaded() -> None:
    manifest = json.loads((ROOT / ".claude-plugin/plugin.json").read_text())
    assert manifest["mcpServers"]["keeper"]["alwaysLoad"] is True


def test_what_every_session_reads_of_is_short() -> None:
    listed = [piece for piece in pieces() if piece.kind != "agent"]
    assert tokens("\n".join(map(line, listed))) <= 300  # as `claude plugin details` counts: those too that are yours
    told = [piece for piece in pieces() if not piece.is_yours]
    assert tokens("\n".join(map(line, told))) <= 80


@pytest.mark.parametrize("command", COMMANDS, ids=lambda piece: piece.name)
def test_a_command_is_the_user_s_to_start_and_in_one_style(command: Piece) -> None:
    assert command.is_yours
    said = command.about["description"]
    assert re.fullmatch(r"[A-Z][^.]{10,48}", said)
    assert "Do nothing else" in command.body


@pytest.mark.parametrize("command", COMMANDS, ids=lambda piece: piece.name)
def test_a_command_asks_for_no_more_than_it_runs(command: Piece) -> None:
    allowed = re.match(r'Bash\(("\S+" .*):\*\)$', command.about["allowed-tools"])
    lines = re.findall(r"^!`(.*)`$", command.body, re.M)
    assert len(lines) == bool(allowed)
    for ran in lines:
        assert allowed and ran.startswith(allowed[1])
        assert ran.endswith(" || true"), "what fails is told; else the host shows an error and asks no model"
        assert "$ARGUMENTS" not in ran, "what a user types is no command line"


def test_search_has_two_names() -> None:
    search, alias = (next(one for one in COMMANDS if one.name == name) for name in ("search", "search-memory"))
    assert alias.body == search.body
    assert {**alias.about, "description": ""} == {**search.about, "description": ""}


def test_only_the_user_starts_the_skill() -> None:
    head = (ROOT / SKILL).read_text().split("\n---\n")[0]
    assert "disable-model-invocation: true" in head  # so its description costs nothing, too


def test_the_icon_is_one_that_the_plugin_directory_takes() -> None:
    data = (ROOT / ".claude-plugin/icon.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) < 2 << 20
    width, height = struct.unpack(">II", data[16:24])
    assert width == height >= 512
