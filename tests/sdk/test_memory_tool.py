"""The memory tool of the API: its six commands, and the notes that its files are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.sdk import memory_tool
from tests.machine import Machine

FILE = "/memories/people/anna.md"


@pytest.fixture
def tool(tmp_path: Path) -> Any:
    return memory_tool(tmp_path / "project")


def test_the_six_commands(tool: Any) -> None:
    def do(command: str, **given: Any) -> str:
        return str(tool.call({"command": command, **given}))

    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert do("create", path=FILE, file_text="Anna\nlikes tea\n") == f"File created successfully at: {FILE}"
    assert do("create", path=FILE, file_text="") == f"Error: File {FILE} already exists"
    assert do("str_replace", path=FILE, old_str="tea", new_str="coffee").startswith("The memory file has been edited.")
    assert "did not appear verbatim" in do("str_replace", path=FILE, old_str="tea", new_str="milk")
    assert do("insert", path=FILE, insert_line=1, insert_text="lives in Turku\n").endswith("has been edited.")
    assert "range of lines of the file: [0, 4]" in do("insert", path=FILE, insert_line=9, insert_text="x")
    assert do("view", path=FILE).splitlines()[1:] == [
        "     1\tAnna",
        "     2\tlives in Turku",
        "     3\tlikes coffee",
        "     4\t",
    ]
    assert do("view", path=FILE, view_range=[2, 2]).splitlines()[1:] == ["     2\tlives in Turku"]
    assert [line.partition("\t")[2] for line in do("view", path="/memories").splitlines()[1:]] == [
        "/memories",
        "/memories/people",
        FILE,
    ]
    assert "Successfully renamed" in do("rename", old_path="/memories/people", new_path="/memories/users")
    assert do("view", path=FILE) == f"The path {FILE} does not exist. Please provide a valid path."
    assert "Turku" in do("view", path="/memories/users/anna.md")
    assert do("delete", path="/memories/users") == "Successfully deleted /memories/users"
    assert do("view", path="/memories").splitlines()[1:] == ["0.0K\t/memories"]
    assert do("create", path=FILE, file_text="Anna again") == f"File created successfully at: {FILE}"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/memories/../x", "/memories/%2e%2e/x", "memories/x", "/memories//x", "/memories2/x", ""]
)
def test_no_path_leads_elsewhere(tool: Any, path: str) -> None:
    for command in ("view", "create", "delete"):
        assert tool.call({"command": command, "path": path, "file_text": ""}).startswith("Error: ")


@pytest.mark.parametrize("given", [{}, {"command": "format"}, {"command": "insert", "path": FILE}, {"command": "view"}])
def test_what_makes_no_sense_is_answered(tool: Any, given: dict[str, Any]) -> None:
    assert tool.call(given)


def test_a_file_is_a_note_without_its_secrets(machine: Machine, asked: Callable[..., Any]) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 11 + "-AA"
    tool = memory_tool(machine.project)
    tool.call({"command": "create", "path": FILE, "file_text": f"Anna ships the Bluebird parser. Key: {key}"})
    (hit,) = asked("search", "Bluebird", "--project", str(machine.project))
    assert hit["kind"] == "file"
    assert key not in tool.call({"command": "view", "path": FILE})
