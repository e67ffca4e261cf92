"""What a hook may load. It runs at every prompt and every tool: a module on this list has been worth its milliseconds.

Over a bare interpreter: `re` 5.5 ms, `json` 7.4, `typing` 9.5, `pathlib` 9.7, `subprocess` 11. Changing a list is fine
when the commit says what it buys.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_keeper import wire
from tests.machine import START, Machine

OWN = "memory_keeper"
# every hook: read the payload, append to the spool, decide
HOOK = {
    "__future__", "_collections", "_json", "fcntl", "zlib",
    OWN, f"{OWN}.app", f"{OWN}.app.hook", f"{OWN}.capture", f"{OWN}.capture.payload", f"{OWN}.config", f"{OWN}.keep",
    f"{OWN}.keep.spool", f"{OWN}.model", f"{OWN}.policy", f"{OWN}.wire",
}  # fmt: skip
# the first hook ever: it makes the home
FIRST = {f"{OWN}.errors", f"{OWN}.keep.home"}
# a hook with text: the gate that says whether there may be a secret in it
GATE = {"_operator", f"{OWN}.capture.redact", f"{OWN}.capture.redact_rules"}
# a start: ask the store. `_functools` comes with `_sqlite3`
ASK = {
    "_functools", "_sqlite3", "_stat", "stat",
    f"{OWN}.capture.project", f"{OWN}.errors", f"{OWN}.keep.archive", f"{OWN}.keep.home", f"{OWN}.keep.migrations",
    f"{OWN}.keep.sqlite", f"{OWN}.keeper",
}  # fmt: skip
# a start that has something to tell; `stat` is what `tail` checks files with
TELL = {
    "_stat", "stat", f"{OWN}.capture.tail", f"{OWN}.reduce", f"{OWN}.reduce.facts", f"{OWN}.tell", f"{OWN}.tell.parts",
    f"{OWN}.text",
}  # fmt: skip
NEVER = (
    "argparse", "collections", "contextlib", "dataclasses", "datetime", "functools", "hashlib", "importlib", "inspect",
    "io", "json", "logging", "os", "pathlib", "random", "re", "shutil", "site", "socket", "sqlite3", "subprocess",
    "tempfile", "threading", "traceback", "typing", "uuid",
)  # fmt: skip


def loaded(*command: str, given: bytes = b"", environ: dict[str, str] | None = None) -> set[str]:
    """The modules that an interpreter imports."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *command],
        input=given,
        capture_output=True,
        env=environ or dict(os.environ),
        timeout=60,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    assert all(line.startswith("import time:") for line in lines)
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """What the interpreter loads for nothing at all."""
    return loaded("-c", "pass")


def hook(machine: Machine, event: str, first: bool = False, **fields: Any) -> set[str]:
    if not first:
        (machine.home / "spool").mkdir(parents=True, exist_ok=True)
    payload = {"session_id": "s9", "cwd": str(machine.project), "hook_event_name": event, **fields}
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(machine.project)}
    return loaded(str(START), "hook", event, given=wire.dumps(payload).encode(), environ=environ)


def check(found: set[str], bare: set[str], *allowed: set[str]) -> None:
    """Not one module more."""
    extra = found - bare - set().union(*allowed)
    assert not extra
    assert not {name for name in NEVER if name in found - bare}


@pytest.mark.parametrize("first", [True, False])
def test_a_tool_call(machine: Machine, bare: set[str], first: bool) -> None:
    found = hook(machine, "PostToolUse", first, tool_name="Bash", tool_use_id="toolu_1")
    check(found, bare, HOOK, FIRST if first else set())


def test_what_is_listed_is_needed(machine: Machine, bare: set[str]) -> None:
    assert hook(machine, "PostToolUse") - bare == HOOK - bare


def test_a_prompt(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "UserPromptSubmit", prompt="Add a retry. 재시도를 넣어 주세요."), bare, HOOK, GATE)


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_the_end_of_a_turn(machine: Machine, bare: set[str], event: str) -> None:
    check(hook(machine, event, last_assistant_message="Done: the retry is in."), bare, HOOK, GATE)


@pytest.mark.parametrize("event", ["SessionEnd", "PreCompact", "PostCompact"])
def test_moments_that_start_the_writer(machine: Machine, bare: set[str], event: str) -> None:
    check(hook(machine, event), bare, HOOK)


def test_the_very_first_start(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK)


def test_a_start_that_is_told_something(machine: Machine, bare: set[str]) -> None:
    session = machine.session()
    session.turn("Add a retry.", "Done.")
    machine.look()
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK, TELL)


def test_an_unreadable_payload(machine: Machine, bare: set[str]) -> None:
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(machine.project)}
    found = loaded(str(START), "hook", "Stop", given=b"[]", environ=environ)
    check(found, bare, HOOK)


def test_nothing_of_the_working_directory_is_loaded(machine: Machine, bare: set[str]) -> None:
    """RT26: a repository cannot bring the modules that its hooks run."""
    for name in ("json.py", "zlib.py", "fcntl.py", "sitecustomize.py", "usercustomize.py", "memory_keeper.py"):
        Path(machine.project, name).write_text(f"open({str(machine.root / 'pwned')!r}, 'w')")
    for name in ("sqlite3", "memory_keeper"):
        Path(machine.project, name).mkdir()
        Path(machine.project, name, "__init__.py").write_text(f"open({str(machine.root / 'pwned')!r}, 'w')")
    path = {"PYTHONPATH": str(machine.project), "PYTHONSTARTUP": str(machine.project / "json.py")}
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        machine.hook(event, {"session_id": "s1", "cwd": str(machine.project), "prompt": "password=x"}, environ=path)
    machine.settle()
    assert not (machine.root / "pwned").exists()
