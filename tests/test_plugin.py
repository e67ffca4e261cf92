"""All of the plugin comes along, however it is installed, and its agent can do nothing but read."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from memory_keeper.app.host.registration import assemble

ROOT = Path(__file__).parents[1]
AGENT = "plugin/agents/delta-summarizer.md"
SKILL = "plugin/skills/memory-delta/SKILL.md"


def test_the_wheel_has_every_part() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    parts = {f"plugin/{path.name}" for path in (ROOT / "plugin").iterdir() if not path.name.startswith(".")}
    assert {name for name in carried if name.startswith("plugin/")} == parts


def test_the_manifest_names_every_agent() -> None:
    manifest = json.loads((ROOT / ".claude-plugin/plugin.json").read_text())
    agents = sorted(f"./plugin/agents/{path.name}" for path in (ROOT / "plugin/agents").glob("*.md"))
    assert manifest["agents"] == agents  # a folder there would keep the whole plugin from being loaded
    assert manifest["skills"] == "./plugin/skills"


def test_install_copies_agents_and_skills(tmp_path: Path) -> None:
    made = Path(assemble(str(tmp_path)))
    for name in (AGENT, SKILL):
        assert (made / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_agent_only_reads_and_says_when_there_is_nothing() -> None:
    head, body = (ROOT / AGENT).read_text().removeprefix("---\n").split("\n---\n")
    about = dict(line.split(": ", 1) for line in head.splitlines())
    assert (about["tools"], about["model"]) == ("Read", "haiku")
    assert len(about["description"]) < 60  # every session reads it
    assert "`ERROR: delta_temp.txt not found or empty`" in body


def test_the_server_s_tools_are_always_loaded() -> None:
    manifest = json.loads((ROOT / ".claude-plugin/plugin.json").read_text())
    assert manifest["mcpServers"]["keeper"]["alwaysLoad"] is True


def test_a_skill_that_every_session_reads_of_is_short() -> None:
    head = (ROOT / "plugin/skills/recall/SKILL.md").read_text().split("\n---\n")[0]
    (description,) = (line for line in head.splitlines() if line.startswith("description: "))
    assert len(description) < 120


def test_only_the_user_starts_the_skill() -> None:
    head = (ROOT / SKILL).read_text().split("\n---\n")[0]
    assert "disable-model-invocation: true" in head  # so its description costs nothing, too
