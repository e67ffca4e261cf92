"""`mcp` and `hook` as somebody types them: their options hold, and what was asked before the end is answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.hooks.options import Given, read_options
from tests.machine import START, Machine

HELLO: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
NOTICE: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(id: int, tool: str, **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": given}}


def run(*words: str, asked: bytes = b"", cwd: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    """Type a command, with this on stdin and then its end."""
    command = [sys.executable, "-I", "-S", str(START), *words]
    done = subprocess.run(command, input=asked, capture_output=True, cwd=cwd, timeout=60, env=dict(os.environ))
    assert done.returncode == code, done.stderr
    return done


def serve(*options: str, asked: list[dict[str, Any]], end: str = "\n", cwd: Path | None = None) -> dict[int, Any]:
    """What a server answers, by number."""
    done = run("mcp", *options, asked=("\n".join(map(json.dumps, asked)) + end).encode(), cwd=cwd)
    assert done.stderr == b""
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["id"]: answer["result"] for answer in answers}


@pytest.mark.parametrize("words", [["show"], ["how"], ["blame"], ["note", "get"], ["timeline", "--around"]])
def test_what_is_typed_in_no_utf_8_is_not_found_and_that_is_all(machine: Machine, words: list[str]) -> None:
    run("note", "add", "fact", "The café opens at nine.", cwd=machine.project)
    command = [*map(os.fsencode, [sys.executable, "-I", "-S", str(START), *words]), b"caf\xe9"]
    done = subprocess.run(command, capture_output=True, cwd=machine.project, timeout=60, env=dict(os.environ))
    assert done.returncode in (0, 1)
    assert b"Error" not in done.stderr and b"bug" not in done.stderr


@pytest.mark.parametrize("end", ["\n", ""])
def test_what_was_asked_before_the_end_is_answered(machine: Machine, end: str) -> None:
    asked = [HELLO, NOTICE, *(call(number, "remember", text=f"Fact {number}.") for number in range(2, 7))]
    answers = serve(asked=asked, end=end, cwd=machine.project)
    assert [*answers] == [1, 2, 3, 4, 5, 6]
    assert all("Kept as note-" in answers[number]["content"][0]["text"] for number in range(2, 7))


def test_a_host_that_asked_nothing_more_is_not_kept_waiting(machine: Machine) -> None:
    assert serve(asked=[], cwd=machine.project) == {} == serve(asked=[], end="", cwd=machine.project)
    assert not machine.home.exists(), "no worker was started"


@pytest.mark.parametrize("form", ["{name} {value}", "{name}={value}"])
def test_a_server_keeps_to_its_home_and_its_project(machine: Machine, tmp_path: Path, form: str) -> None:
    """Also to a home in the project, and whatever the environment says."""
    home, project = tmp_path / "work/there/.keeper", machine.folder("work/there")
    options = [
        *form.format(name="--home", value=home).split(" "),
        *form.format(name="--project", value=project).split(" "),
    ]
    answers = serve(*options, asked=[call(1, "remember", text="The port is 7311.")], cwd=machine.project)
    assert "Kept as" in answers[1]["content"][0]["text"]
    assert (home / "store.db").exists() and not machine.home.exists()
    answers = serve("--home", str(home), asked=[call(1, "timeline")], cwd=project)
    assert "7311" in answers[1]["content"][0]["text"]
    answers = serve("--home", str(home), asked=[call(1, "timeline")], cwd=machine.project)
    assert "7311" not in answers[1]["content"][0]["text"]


def test_a_relative_home_and_an_abbreviation(machine: Machine) -> None:
    asked = json.dumps(call(1, "remember", text="The port is 7311.")).encode() + b"\n"
    run("mcp", "--home", "here", "--project", ".", asked=asked, cwd=machine.project)
    run("mcp", "--ho", "there", asked=asked, cwd=machine.project)
    assert all((machine.project / name / "store.db").exists() for name in ("here", "there"))
    assert not machine.home.exists()


def test_a_mistake_is_explained(machine: Machine) -> None:
    assert b"unrecognized arguments: --hom-e" in run("mcp", "--hom-e", "x", code=2).stderr
    assert b"expected one argument" in run("mcp", "--home", code=2).stderr


@pytest.mark.parametrize("first", [True, False])
def test_a_hook_keeps_to_its_home(machine: Machine, tmp_path: Path, first: bool) -> None:
    session = machine.session()
    options = ["--home", str(tmp_path / "other"), f"--project={machine.project}"]
    words = ["UserPromptSubmit", *options] if first else [*options, "UserPromptSubmit"]
    asked = json.dumps(session.payload("UserPromptSubmit", prompt="Build the parser.")).encode()
    assert run("hook", *words, asked=asked).stderr == b""
    assert b"Build the parser." in (tmp_path / f"other/spool/{session.id}.spool").read_bytes()
    assert not machine.home.exists()


def test_options_among_words() -> None:
    assert read_options(["Stop", "--home=/a", "--x", "--project", "/b"]) == Given(("Stop", "--x"), "/a", "/b")
    assert read_options(["--home"]) == Given(("--home",))
    assert read_options(["--project=", "x"]) == Given(("--project=", "x"))
