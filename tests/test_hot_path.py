"""What the processes may load that the host starts: at a session's start and end, after each turn, for the status line.

While a session runs its server answers, so nothing else is a process of its own. Over a bare interpreter: `re` 5.5 ms,
`json` 7.4, `typing` 9.5, `pathlib` 9.7, `subprocess` 11. Changing a list is fine when the commit says what it buys.
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
# every hook: read the payload, append to the spool, decide; which branch is checked out
HOOK = {
    "__future__", "_collections", "_json", "fcntl", "zlib",
    OWN, f"{OWN}.hooks", f"{OWN}.hooks.answer", f"{OWN}.hooks.hook", f"{OWN}.capture", f"{OWN}.capture.payload",
    f"{OWN}.capture.project",
    f"{OWN}.config", f"{OWN}.store", f"{OWN}.store.spool", f"{OWN}.request", f"{OWN}.named", f"{OWN}.policy",
    f"{OWN}.settings", f"{OWN}.wire", "gc",
}  # fmt: skip
# a hook that has the writer started
WRITER = {f"{OWN}.hooks.detached"}
# the first hook ever: it makes the home
FIRST = {f"{OWN}.errors", f"{OWN}.store.home"}
# how full the context is
GAUGE = {f"{OWN}.hooks.actions", f"{OWN}.hooks.actions.fullness", f"{OWN}.capture.gauge", f"{OWN}.store.context"}
# a start: which process it is, so that a clear can be known and answered, what is told by how it began, and whether its
# user has to be told what is kept
START_UP = {
    f"{OWN}.hooks.actions", f"{OWN}.hooks.actions.beginning", f"{OWN}.hooks.actions.handoff",
    f"{OWN}.hooks.actions.telling", f"{OWN}.hooks.actions.welcome", f"{OWN}.hooks.problems",
    f"{OWN}.capture.host", f"{OWN}.store.context", f"{OWN}.briefs", f"{OWN}.text",
}  # fmt: skip
# a start: ask the store. `_functools` comes with `_sqlite3`
ASK = {
    "_functools", "_sqlite3", "_stat", "stat",
    f"{OWN}.capture.project", f"{OWN}.errors", f"{OWN}.store.archive", f"{OWN}.store.events", f"{OWN}.store.home",
    f"{OWN}.store.journal", f"{OWN}.store.rules_cache", f"{OWN}.store.sqlite", f"{OWN}.store.sqlite.connection",
    f"{OWN}.store.sqlite.events",
    f"{OWN}.store.sqlite.fulltext", f"{OWN}.store.sqlite.migrations", f"{OWN}.store.sqlite.notes",
    f"{OWN}.keeper", f"{OWN}.keeper.provisional", f"{OWN}.model", f"{OWN}.provenance",
}  # fmt: skip
# a start that has something to tell; `stat` is what `tail` checks files with, and `files` whether somebody edited one;
# `itertools` is a part of the interpreter and costs nothing
TELL = {
    "_stat", "itertools", "stat", f"{OWN}.capture.tail", f"{OWN}.extract", f"{OWN}.extract.facts",
    f"{OWN}.extract.todos", f"{OWN}.extract.touched", f"{OWN}.notes", f"{OWN}.notes.kept_note", f"{OWN}.briefs",
    f"{OWN}.briefs.files", f"{OWN}.briefs.handoff", f"{OWN}.briefs.parts", f"{OWN}.briefs.plans", f"{OWN}.text",
}  # fmt: skip
# which session's handoff that is: an id says whether it is the last, and `_blake2` makes one without all of `hashlib`
BEFORE = {"_blake2", f"{OWN}.hooks.actions.previous"}
# a session that goes on: what it left is read first, else it would be told again what it knows. About 20 ms
LOOK = {
    "_collections_abc", "_datetime", "_operator", "_sre", "collections", "copyreg", "datetime", "enum", "functools",
    "itertools", "json", "json.decoder", "json.encoder", "json.scanner", "keyword", "math", "operator", "re",
    "re._casefix", "re._compiler", "re._constants", "re._parser", "reprlib", "types",
    f"{OWN}.capture.auto_memory", f"{OWN}.capture.calls", f"{OWN}.capture.claude_code", f"{OWN}.capture.typed",
    f"{OWN}.store.index", f"{OWN}.store.injected", f"{OWN}.keeper.moving", f"{OWN}.regex",
}  # fmt: skip
# a turn is over: whether this context is to be cleared
TURN = {
    f"{OWN}.hooks.actions.turn_end", f"{OWN}.hooks.problems", f"{OWN}.hooks.turn",
    f"{OWN}.capture.tail", f"{OWN}.errors", f"{OWN}.store.home", f"{OWN}.model", "_stat", "stat",
}  # fmt: skip
STATUS_LINE = {f"{OWN}.width", f"{OWN}.hooks.statusline", f"{OWN}.text"}
# the half of the server that the host waits for
FRONT = {
    "__future__", "_collections", "_json", "gc", "select", "_signal", OWN, f"{OWN}.hooks", f"{OWN}.server.front",
    f"{OWN}.server", f"{OWN}.server.protocol", f"{OWN}.named", f"{OWN}.wire",
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
    assert not extra, " ".join(sorted(extra))
    dear = LOOK if LOOK in allowed else set()
    assert not {name for name in NEVER if name in found - bare} - dear


def at_work(machine: Machine) -> dict[str, Any]:
    """A session whose context fills; what a payload says of it."""
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "The parser is built.")
    session.fill(50_000)
    machine.settle()
    machine.catch_up()
    return {"session_id": session.id, "transcript_path": str(session.path)}


def test_the_end_of_a_session(machine: Machine, bare: set[str]) -> None:
    assert hook(machine, "SessionEnd") - bare == (HOOK | WRITER) - bare


def test_the_very_first_start(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK, TELL, START_UP, BEFORE)


def over(machine: Machine) -> dict[str, Any]:
    """A session that has ended, and its handoff is kept; what a payload says of it."""
    session = machine.session()
    session.start()
    session.turn("Add a retry.", "Done.")
    session.end()
    machine.settle()
    return {"session_id": session.id, "transcript_path": str(session.path)}


def test_a_start_that_is_told_something(machine: Machine, bare: set[str]) -> None:
    over(machine)
    found = hook(machine, "SessionStart", source="startup")
    check(found, bare, HOOK, ASK, TELL, START_UP, BEFORE)
    assert found >= BEFORE


def test_a_session_that_goes_on(machine: Machine, bare: set[str]) -> None:
    check(
        hook(machine, "SessionStart", source="resume", **over(machine)), bare, HOOK, ASK, TELL, START_UP, BEFORE, LOOK
    )


def test_a_start_after_one_that_was_killed_makes_its_handoff_once(machine: Machine, bare: set[str]) -> None:
    at_work(machine)
    for spooled in (machine.home / "spool").glob("*"):  # the host's process is gone
        spooled.write_bytes(spooled.read_bytes().replace(b'"born":"', b'"born":"1'))
    assert f"{OWN}.keeper.handoffs" in hook(machine, "SessionStart", source="startup")
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK, TELL, START_UP, BEFORE)


def test_a_turn_that_is_over(machine: Machine, bare: set[str]) -> None:
    given = at_work(machine)
    found = loaded(str(START), "turn", given["session_id"], "200000", "50000", "claude", environ={**os.environ})
    check(found, bare, HOOK, GAUGE, TURN)


def test_the_status_line(machine: Machine, bare: set[str]) -> None:
    given = wire.dumps({**at_work(machine), "workspace": {"project_dir": str(machine.project)}}).encode()
    check(loaded(str(START), "statusline", given=given, environ={**os.environ}), bare, HOOK, GAUGE, STATUS_LINE)


def test_a_server_that_is_greeted(bare: set[str]) -> None:
    asked = [{"jsonrpc": "2.0", "id": 1, "method": method} for method in ("initialize", "ping", "prompts/list")]
    given = b"".join(wire.dumps(line).encode() + b"\n" for line in asked)
    check(loaded(str(START), "mcp", given=given, environ={**os.environ}), bare, FRONT)


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
