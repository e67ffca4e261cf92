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
    OWN, f"{OWN}.app", f"{OWN}.app.answer", f"{OWN}.app.hook", f"{OWN}.capture", f"{OWN}.capture.payload",
    f"{OWN}.config", f"{OWN}.keep", f"{OWN}.keep.spool", f"{OWN}.moment", f"{OWN}.named", f"{OWN}.policy",
    f"{OWN}.settings", f"{OWN}.wire", "gc",
}  # fmt: skip
# a hook that has the writer started
WRITER = {f"{OWN}.app.detached"}
# the first hook ever: it makes the home
FIRST = {f"{OWN}.errors", f"{OWN}.keep.home"}
# a hook with text: the gate that says whether there may be a secret in it
GATE = {
    "_operator", f"{OWN}.capture.redact", f"{OWN}.capture.redact.gate", f"{OWN}.capture.redact.names",
    f"{OWN}.capture.redact.tokens",
}  # fmt: skip
# a prompt or a tool: how full the context is, so that nobody is surprised by a compaction
GAUGE = {f"{OWN}.app.actions", f"{OWN}.app.actions.fullness", f"{OWN}.capture.gauge", f"{OWN}.keep.context"}
# a prompt: the short line that reminds of the rules, out of a small file, and the record of it
RULES = {
    "_blake2", f"{OWN}.app.actions", f"{OWN}.app.actions.rules", f"{OWN}.app.actions.telling", f"{OWN}.keep.context",
    f"{OWN}.keep.ready",
}  # fmt: skip
# a start: which process it is, so that a clear can be known and answered, what is told by how it began, and whether its
# user has to be told what is kept
START_UP = {
    f"{OWN}.app.actions", f"{OWN}.app.actions.beginning", f"{OWN}.app.actions.handoff", f"{OWN}.app.actions.telling",
    f"{OWN}.app.actions.welcome", f"{OWN}.app.problems", f"{OWN}.capture.host", f"{OWN}.keep.context",
    f"{OWN}.keep.typed", f"{OWN}.tell", f"{OWN}.text",
}  # fmt: skip
# a start: ask the store. `_functools` comes with `_sqlite3`
ASK = {
    "_functools", "_sqlite3", "_stat", "stat",
    f"{OWN}.capture.project", f"{OWN}.errors", f"{OWN}.keep.archive", f"{OWN}.keep.branches", f"{OWN}.keep.home",
    f"{OWN}.keep.leaves", f"{OWN}.keep.matches", f"{OWN}.keep.migrations", f"{OWN}.keep.ready",
    f"{OWN}.keep.sqlite", f"{OWN}.keeper", f"{OWN}.keeper.provisional", f"{OWN}.model",
}  # fmt: skip
# a start that has something to tell; `stat` is what `tail` checks files with, and `files` whether somebody edited one
TELL = {
    "_stat", "stat", f"{OWN}.capture.tail", f"{OWN}.extract", f"{OWN}.extract.facts", f"{OWN}.extract.todos",
    f"{OWN}.extract.touched", f"{OWN}.reduce", f"{OWN}.reduce.kept_note", f"{OWN}.tell", f"{OWN}.tell.files",
    f"{OWN}.tell.handoff", f"{OWN}.tell.parts", f"{OWN}.tell.plans", f"{OWN}.text",
}  # fmt: skip
# which session's handoff that is: an id says whether it is the last, and `_blake2` makes one without all of `hashlib`
BEFORE = {"_blake2", f"{OWN}.app.actions.previous"}
# a session that goes on: what it left is read first, else it would be told again what it knows. About 20 ms
LOOK = {
    "_collections_abc", "_datetime", "_operator", "_sre", "collections", "copyreg", "datetime", "enum", "functools",
    "itertools", "json", "json.decoder", "json.encoder", "json.scanner", "keyword", "math", "operator", "re",
    "re._casefix", "re._compiler", "re._constants", "re._parser", "reprlib", "types",
    f"{OWN}.capture.auto_memory", f"{OWN}.capture.calls", f"{OWN}.capture.claude_code", f"{OWN}.capture.typed",
    f"{OWN}.keep.index", f"{OWN}.keep.telling", f"{OWN}.keeper.moving",
}  # fmt: skip
# a start after somebody edited a page: it is taken apart, which needs `re` and `datetime`, and the new words become a
# note with an id. About 15 ms, until the page is written with the next notes; nothing is composed or outlined here
ADOPT = {
    "_blake2", "_collections_abc", "_datetime", "_sre", "collections", "copyreg", "datetime", "enum",
    "functools", "itertools", "keyword", "math", "operator", "re",
    "re._casefix", "re._compiler", "re._constants", "re._parser", "reprlib", "types",
    "unicodedata", f"{OWN}.app.pages", f"{OWN}.app.pages.adopt", f"{OWN}.keep.index", f"{OWN}.reduce",
    f"{OWN}.reduce.kept_note", f"{OWN}.tell.memory",
}  # fmt: skip
# before a compaction: the handoff is written, and must be when the hook returns. That comes once in a context; a
# project may lie behind links, so `os`
SAVE = {
    "_blake2", "_collections_abc", "genericpath", "os", "posixpath", f"{OWN}.app.actions", f"{OWN}.app.actions.handoff",
    f"{OWN}.app.problems", f"{OWN}.keep.index", f"{OWN}.keeper.handoffs", f"{OWN}.keeper.moving", f"{OWN}.tell.files",
}  # fmt: skip
# and find in words what was decided and what went wrong: some 80 ms, before a compaction that takes seconds
DIGEST = {
    "_operator", "_sre", "_typing", "collections", "collections.abc", "contextlib", "copyreg", "enum", "functools",
    "itertools", "keyword", "math", "operator", "re", "re._casefix", "re._compiler", "re._constants", "re._parser",
    "reprlib", "types", "typing", "warnings",
    "_heapq", "heapq",
    f"{OWN}.capture.calls", f"{OWN}.capture.runs", f"{OWN}.capture.signature", f"{OWN}.capture.typed",
    f"{OWN}.extract.concepts", f"{OWN}.extract.extraction", f"{OWN}.extract.head",
    f"{OWN}.extract.names", f"{OWN}.extract.own_words", f"{OWN}.extract.prose", f"{OWN}.extract.ranker",
    f"{OWN}.extract.spoken", f"{OWN}.extract.work", f"{OWN}.keep.telling", f"{OWN}.reduce.own_commands",
    f"{OWN}.tell.carried",
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
    dear = set().union(*(one for one in (SAVE, DIGEST, ADOPT, LOOK) if one in allowed))
    assert not {name for name in NEVER if name in found - bare} - dear


def at_work(machine: Machine) -> dict[str, Any]:
    """A session whose context fills; what a payload says of it."""
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "The parser is built.")
    session.fill(50_000)
    machine.settle()
    machine.look()
    return {"session_id": session.id, "transcript_path": str(session.path)}


@pytest.mark.parametrize("first", [True, False])
def test_a_tool_call(machine: Machine, bare: set[str], first: bool) -> None:
    found = hook(machine, "PostToolUse", first, tool_name="Bash", tool_use_id="toolu_1")
    check(found, bare, HOOK, FIRST if first else set())


def test_what_is_listed_is_needed(machine: Machine, bare: set[str]) -> None:
    assert hook(machine, "PostToolUse") - bare == HOOK - bare
    assert hook(machine, "PostToolUse", **at_work(machine)) - bare >= GAUGE


def test_a_tool_call_of_a_context_that_fills(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "PostToolUse", tool_name="Bash", **at_work(machine)), bare, HOOK, GAUGE)


def test_a_tool_call_of_a_subagent_measures_nothing(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "PostToolUse", agent_id="a1", **at_work(machine)), bare, HOOK)


@pytest.mark.usefixtures("rules_on")
def test_a_prompt(machine: Machine, bare: set[str]) -> None:
    hook(machine, "UserPromptSubmit", prompt="The first prompt of a context brings the rules in full.")
    check(hook(machine, "UserPromptSubmit", prompt="Add a retry. 재시도를 넣어 주세요."), bare, HOOK, GATE, RULES)


@pytest.mark.usefixtures("rules_on")
def test_a_prompt_where_there_are_no_rules(machine: Machine, bare: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_KEEPER_RULES_SHIPPED", "false")
    hook(machine, "UserPromptSubmit", prompt="The first prompt of a context finds that out.")
    check(hook(machine, "UserPromptSubmit", prompt="Add a retry."), bare, HOOK, GATE, RULES)


@pytest.mark.usefixtures("rules_on")
def test_a_prompt_of_a_context_that_fills(machine: Machine, bare: set[str]) -> None:
    session = at_work(machine)
    check(hook(machine, "UserPromptSubmit", prompt="Add a retry.", **session), bare, HOOK, GATE, GAUGE, RULES)


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_the_end_of_a_turn(machine: Machine, bare: set[str], event: str) -> None:
    check(hook(machine, event, last_assistant_message="Done: the retry is in."), bare, HOOK, GATE)


@pytest.mark.parametrize("event", ["SessionEnd", "PostCompact"])
def test_moments_that_start_the_writer(machine: Machine, bare: set[str], event: str) -> None:
    # the branch that it ended on; the table of actions, of which one measures a summary, if there is one
    more = f"{OWN}.capture.project" if event == "SessionEnd" else f"{OWN}.app.actions"
    check(hook(machine, event), bare, HOOK, WRITER, {more})


def test_before_a_compaction(machine: Machine, bare: set[str]) -> None:
    found = hook(machine, "PreCompact", trigger="auto", **at_work(machine))
    check(found, bare, HOOK, ASK, GAUGE, TELL, SAVE, DIGEST)


def test_the_very_first_start(machine: Machine, bare: set[str]) -> None:
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK, START_UP)


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


def test_only_when_one_was_killed_its_handoff_is_made_at_a_start(machine: Machine, bare: set[str]) -> None:
    at_work(machine)
    for spooled in (machine.home / "spool").glob("*"):  # the host's process is gone
        spooled.write_bytes(spooled.read_bytes().replace(b'"born":"', b'"born":"1'))
    found = hook(machine, "SessionStart", source="startup")
    check(found, bare, HOOK, ASK, TELL, START_UP, BEFORE, SAVE, DIGEST)
    assert found >= DIGEST
    check(hook(machine, "SessionStart", source="startup"), bare, HOOK, ASK, TELL, START_UP, BEFORE)


def test_a_start_after_somebody_edited_a_page(machine: Machine, bare: set[str]) -> None:
    session = machine.session()
    session.start()
    session.turn("Add a retry.", "Done.")
    session.end()
    machine.settle()
    page = machine.project / ".claude/memory/memory.md"
    page.write_text(page.read_text().replace("Add a retry", "Add two retries – and no more"))
    found = hook(machine, "SessionStart", source="startup")
    check(found, bare, HOOK, ASK, TELL, START_UP, BEFORE, GATE, ADOPT)
    assert found >= ADOPT


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
