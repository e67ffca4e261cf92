"""No field of a payload can choose a path, block or crash: what is wrong is ignored, what is odd becomes a hash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.payload import NAME, read_payload, read_summary, safe_name
from memory_keeper.request import Call
from tests.machine import Machine
from tests.rows import rows

HOSTILE_NAMES = (
    "../../../../tmp/pwned",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb; rm -rf /",
    "$(touch pwned)",
    "x" * 100_000,
    "\ud83d",
    "한국어",
    "C:",
    " ",
    "-rf",
    "s1.spool",
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "session_id", "transcript_path", "cwd", "project_dir", "agent_id", "source", "reason", "trigger", "prompt",
    "last_assistant_message", "tool_use_id", "prompt_id", "hook_event_name",
)  # fmt: skip


def call(event: str = "Stop", environ: dict[str, str] | None = None, **fields: Any) -> Call:
    read = read_payload(event, {"session_id": "s1", **fields}, environ or {})
    assert read is not None
    return read


def test_an_ordinary_payload() -> None:
    read = call(
        "UserPromptSubmit",
        transcript_path="/h/.claude/projects/-p/s1.jsonl",
        cwd="/p/src",
        prompt="Add a retry.",
        prompt_id="p1",
        permission_mode="default",
        tomorrow={"unknown": True},
    )
    assert read == Call(
        event="UserPromptSubmit",
        session="s1",
        transcript="/h/.claude/projects/-p/s1.jsonl",
        folder="/p/src",
        agent="",
        source="",
        text="Add a retry.",
        ref="p1",
    )


def test_the_project_does_not_follow_a_cd() -> None:
    assert call(cwd="/p/src", environ={"CLAUDE_PROJECT_DIR": "/p"}).folder == "/p"


def test_which_text_is_provisional() -> None:
    texts: dict[str, Any] = {"prompt": "asked", "last_assistant_message": "answered"}
    assert call("UserPromptSubmit", **texts).text == "asked"
    assert call("Stop", **texts).text == "answered"
    assert call("SubagentStop", **texts).text == "answered"
    assert call("PostToolUse", **texts).text == ""
    assert call("SessionStart", **texts).text == ""


@rows("interrupt", "text")
def test_what_went_wrong_unless_the_user_stopped_it(interrupt: object, text: str) -> None:
    assert call("PostToolUseFailure", error="Exit code 1", is_interrupt=interrupt).text == text


def test_how_it_began_or_ended() -> None:
    assert call("SessionStart", source="resume").source == "resume"
    assert call("SessionEnd", reason="clear").source == "clear"
    assert call("PreCompact", trigger="auto").source == "auto"


@pytest.mark.parametrize("payload", [None, [], "x", 7, {}, {"session_id": ""}, {"session_id": 7}, {"session_id": None}])
def test_without_a_session_there_is_nothing_to_keep(payload: object) -> None:
    assert read_payload("Stop", payload, {}) is None


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: ascii(name[:20]))
def test_a_hostile_session_id_is_hashed(name: str) -> None:
    read = read_payload("Stop", {"session_id": name, "agent_id": name, "source": name, "prompt_id": name}, {})
    assert read is not None
    for safe in (read.session, read.agent, read.source, read.ref):
        assert NAME.issuperset(safe)
        assert 0 < len(safe) <= 64
    if name != "-rf":
        assert read.session.startswith("x-")


def test_names_stay_apart() -> None:
    names = {safe_name(name) for name in HOSTILE_NAMES}
    assert len(names) == len(HOSTILE_NAMES)
    assert safe_name("d2d4ab90-0000-4000-8000-000000000001") == "d2d4ab90-0000-4000-8000-000000000001"
    assert safe_name("x" * 64) == "x" * 64
    assert safe_name("x" * 65) != "x" * 65


@given(st.text(max_size=200))
def test_any_name_is_safe(name: str) -> None:
    assert NAME.issuperset(safe_name(name))
    assert 0 < len(safe_name(name)) <= 64


@pytest.mark.parametrize(
    "path",
    [
        "/dev/zero",
        "/proc/self/environ",
        "relative.jsonl",
        "",
        "/h/a\0.jsonl",
        "/h/notes.txt",
        "file:///h/a.jsonl",
        "/half \ud83d.jsonl",
        7,
        None,
    ],
)
def test_a_path_that_can_be_no_transcript_is_ignored(path: object) -> None:
    assert call(transcript_path=path).transcript == ""


@given(
    st.dictionaries(st.sampled_from(FIELDS), ODD), st.sampled_from(["Stop", "UserPromptSubmit", "SessionStart", "?"])
)
def test_wrong_types_are_ignored(payload: dict[str, Any], event: str) -> None:
    read = read_payload(event, payload, {})
    if read is None:
        assert not isinstance(payload.get("session_id"), str) or not payload["session_id"]
        return
    numbers = ("busy", "quiet", "tokens")
    assert all(isinstance(value, str) for name, value in read._asdict().items() if name not in numbers)
    assert read.busy >= 0 and read.quiet >= -1 and read.tokens >= 0
    assert NAME.issuperset(read.session + read.agent + read.source + read.ref)


@pytest.mark.parametrize("path", ["relative", "a\0b", "/a\0b", "/half \ud83d", "", 7])
def test_a_directory_that_no_system_call_takes_is_ignored(path: object) -> None:
    assert call(cwd=path, project_dir=path).folder == ""


# --- through the real entry -------------------------------------------------------------------------------------------


def test_hostile_payloads_through_the_hook(machine: Machine) -> None:
    """RT27: nothing outside our home, nothing read that is no transcript, never an error."""
    os.mkfifo(machine.root / "pipe.jsonl")
    before = {path for path in machine.root.rglob("*") if machine.home not in path.parents}
    for name in ("../../../../tmp/pwned-by-session", "a\0b", "x" * 100_000):
        machine.hook("Stop", {"session_id": name, "cwd": str(machine.project)})
    for path in ("/dev/zero", "/proc/self/environ", str(machine.root / "pipe.jsonl"), "/dev/zero/x.jsonl"):
        payload = {"session_id": "s1", "transcript_path": path, "cwd": str(machine.project)}
        machine.hook("Stop", payload)
        machine.hook("SessionStart", {**payload, "source": "startup"})
    for folder in ("/tmp/$(touch pwned-by-cwd)\n`id`", "/a\0b", "/half \ud83d"):
        payload = {"session_id": "s2", "cwd": folder, "transcript_path": folder + ".jsonl"}
        machine.hook("Stop", payload, environ={"CLAUDE_PROJECT_DIR": ""})
    machine.catch_up()
    after = {path for path in machine.root.rglob("*") if machine.home not in path.parents and path != machine.home}
    assert after == before
    assert not Path("/tmp/pwned-by-session").exists()
    assert all(
        path.parent in (machine.home, machine.home / "spool", machine.home / "archive") for path in machine.files()
    )


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"\xff\xfe",
        b"{" * 100_000,
        b'{"session_id":"s1","cwd":' + b"9" * 5000 + b"}",
        b'{"session_id":"\\ud83d"}',
    ],
    ids=lambda payload: ascii(payload[:12]),
)
def test_broken_payloads_through_the_hook(machine: Machine, payload: bytes) -> None:
    assert machine.hook("PostToolUse", payload).out == b""


def test_a_huge_payload_through_the_hook(machine: Machine) -> None:
    answer = machine.hook("Stop", {"session_id": "s1", "last_assistant_message": "word " * 2_000_000})
    assert answer.out == b""
    assert sum(path.stat().st_size for path in machine.files()) < 1 << 20


@pytest.mark.parametrize("event", ["", "Tomorrow", "../x", "PreToolUse"])
def test_unknown_events_are_ignored(machine: Machine, event: str) -> None:
    assert machine.hook(event, {"session_id": "s1", "cwd": str(machine.project)}).out == b""


@rows("said", "summary")
def test_a_summary_is_what_the_context_has_of_it(said: str, summary: str) -> None:
    assert read_summary(said) == summary


@given(st.text())
def test_a_summary_may_be_any_text(said: str) -> None:
    assert read_summary(said) in said
    assert read_summary(f"<analysis>x</analysis><summary>{said}</summary>") == said.partition("</summary>")[0].strip()
