"""A clear is asked for when it is due and nothing runs, and only as long as somebody could still want it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from time import time
from typing import Any

import pytest

from memory_keeper.hooks.actions.turn_end import PAUSE, TTL, ask, is_idle, may_be_answered, settle
from memory_keeper.request import Context
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from tests.machine import START, Machine, Session

FULL, CLEAR = 120_000, "clear"
IDLE = Context(begun=1000.0, prompted=1010.0, stopped=1020.0)


@pytest.fixture
def session(machine: Machine) -> Session:
    """A session that has just ended a turn, full enough to be cleared."""
    made = machine.session()
    made.start()
    made.prompt("Please build the parser.")
    made.fill(FULL)
    made.happen("Stop", last_assistant_message="I go on.")
    return made


def decide(session: Session, mode: str = CLEAR, **said: Any) -> str:
    environ = {**os.environ, "MEMORY_KEEPER_COMPACTION_MODE": mode}
    return settle(str(session.machine.home), environ, session.id, **said)


def records(session: Session, event: str) -> list[dict[str, Any]]:
    data = (session.machine.home / f"spool/{session.id}.spool").read_bytes()
    return [record for record in spool.records(data, event) if record["event"] == event]


def leave(session: Session, event: str, ago: float = 0.0, **fields: Any) -> None:
    spool.append(str(session.machine.home), session.id, {"event": event, "at": time() - ago, **fields})


# --- whether ----------------------------------------------------------------------------------------------------------


def test_a_full_context_is_to_be_cleared_and_its_handoff_is_written(session: Session) -> None:
    assert decide(session)
    (record,) = records(session, "AskClear")
    assert (record["why"], record["dir"]) == ("due", str(session.project))
    assert "Please build the parser." in session.handoff.read_text()


def test_it_is_asked_for_once(session: Session) -> None:
    assert decide(session) and decide(session) and decide(session)
    assert len(records(session, "AskClear")) == 1


def test_only_modes_that_clear_do(session: Session) -> None:
    assert not decide(session, "supplement")
    assert not decide(session, "block"), "nobody refused a compaction"
    leave(session, "Blocked")
    assert not decide(session, "supplement")
    assert decide(session, "block")


def test_a_context_with_room_goes_on(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.turn("Please build the parser.", "The parser is built.")
    assert not decide(session)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse"])
def test_not_while_a_turn_runs(session: Session, event: str) -> None:
    session.happen(event, prompt="Go on.", tool_name="Bash")
    assert not decide(session)
    session.happen("Stop", last_assistant_message="Done.")
    assert decide(session)


def test_the_module_may_know_of_the_end_before_the_server(session: Session) -> None:
    session.happen("UserPromptSubmit", prompt="Go on.")
    Timer(0.2, leave, (session, "Stop")).start()
    assert decide(session, window=200_000, tokens=FULL) == "clear"


@pytest.mark.parametrize("tasks", [[{"id": "b1"}], '[{"id":"b1"}]'], ids=["list", "text"])
def test_not_while_something_runs_in_the_background(session: Session, tasks: object) -> None:
    session.happen("Stop", last_assistant_message="It runs.", background_tasks=tasks)
    assert not decide(session)


def test_not_in_the_middle_of_a_turn_that_was_compacted(session: Session) -> None:
    session.happen("UserPromptSubmit", prompt="Go on.")
    session.start("compact")
    ask(str(session.machine.home), session.id, time(), "restart")
    assert not decide(session)
    session.happen("Stop", last_assistant_message="Done.")
    assert decide(session)


def test_not_when_it_has_ended(session: Session) -> None:
    session.end()
    assert not decide(session)


def test_not_again_soon_after_a_clear(session: Session) -> None:
    where = {"dir": str(session.project), "transcript": str(session.path), "source": "clear", "ours": True}
    leave(session, "SessionStart", ago=PAUSE - 5, **where)
    leave(session, "Stop")
    assert not decide(session), "it would be cleared for ever"
    leave(session, "SessionStart", ago=PAUSE + 5, **where)
    leave(session, "Stop")
    assert decide(session)


def test_a_session_that_was_brought_back_is_not_cleared_at_once(session: Session) -> None:
    where = {"dir": str(session.project), "transcript": str(session.path), "source": "resume"}
    leave(session, "SessionStart", ago=PAUSE - 5, **where)
    leave(session, "Stop")
    assert not decide(session)


def test_a_refused_compaction_is_followed_by_a_clear_whenever_it_comes(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_KEEPER_COMPACTION_MODE", "block")
    where = {"dir": str(session.project), "transcript": str(session.path), "source": "clear", "ours": True}
    leave(session, "SessionStart", ago=60, **where)
    leave(session, "Blocked", ago=30)
    leave(session, "Stop")
    assert decide(session)


def test_what_the_host_says_counts(machine: Machine) -> None:
    """At the end of a turn its last response is seldom on the disk."""
    session = machine.session()
    session.start()
    session.turn("Please build the parser.", "The parser is built.")
    assert not decide(session, window=1_000_000, tokens=99_999, model="claude-opus-5-5")
    assert decide(session, window=1_000_000, tokens=100_000, model="claude-opus-5-5")
    (said,) = records(session, "Window")
    assert (said["window"], said["model"]) == (1_000_000, "claude-opus-5-5")


def test_a_session_nobody_knows(machine: Machine) -> None:
    assert not settle(str(machine.home), {**os.environ}, "s9", 200_000, 190_000, "claude-x")


def test_without_a_handoff_nothing_is_cleared(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.happen("Stop")
    assert not decide(session, window=200_000, tokens=190_000)
    assert not records(session, "AskClear")


# --- for how long -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "idle"),
    [
        (IDLE, True),
        (IDLE._replace(prompted=0.0, stopped=0.0), True),
        (IDLE._replace(prompted=1021.0), False),
        (IDLE._replace(busy=1), False),
        (IDLE._replace(ended="other"), False),
        (Context(), False),
    ],
)
def test_who_sits_idle(context: Context, idle: bool) -> None:
    assert is_idle(context) == idle
    assert may_be_answered(context._replace(asked=1020.0), 1021.0) == idle


@pytest.mark.parametrize(
    ("asked", "now", "answered"),
    [
        (0.0, 1021.0, False),
        (1015.0, 1021.0, True),
        (1015.0, 1019.9 + TTL, True),
        (1015.0, 1020.1 + TTL, False),
        (1500.0, 1499.9 + TTL, True),
        (1500.0, 1500.1 + TTL, False),
    ],
)
def test_how_long_it_may_be_answered(asked: float, now: float, answered: bool) -> None:
    """From the end of the turn in which it was asked for, as nobody can before."""
    assert may_be_answered(IDLE._replace(asked=asked), now) == answered


def test_who_goes_on_does_not_want_it_any_more(session: Session) -> None:
    leave(session, "Stop", ago=TTL + 20)
    leave(session, "AskClear", ago=TTL + 30)
    leave(session, "Stop", ago=TTL + 10)
    leave(session, "UserPromptSubmit", ago=5.0)
    leave(session, "Stop")
    assert not decide(session, "supplement")


# --- the module's door ------------------------------------------------------------------------------------------------


def turn(*said: str, environ: dict[str, str] | None = None) -> bytes:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(START), "turn", *said],
        env={**os.environ, "MEMORY_KEEPER_COMPACTION_MODE": CLEAR, **(environ or {})},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_the_module_is_told_to_clear(session: Session) -> None:
    assert turn(session.id, "200000", str(FULL), "claude-sonnet-4-5") == b'{"run":"clear"}'
    assert read_context(str(session.machine.home), session.id).module


def test_the_module_is_told_nothing_when_there_is_room(session: Session) -> None:
    assert turn(session.id, "200000", "5000") == b""
    assert turn(session.id, "200000", str(FULL), environ={"MEMORY_KEEPER_COMPACTION_MODE": "supplement"}) == b""


def test_the_module_is_told_nothing_in_a_bot_that_resets_its_own_contexts(session: Session) -> None:
    assert turn(session.id, "200000", str(FULL), "claude-sonnet-4-5", environ={"MEMORY_KEEPER_INSIDE": "1"}) == b""


@pytest.mark.parametrize(
    "said", [(), ("",), ("s9",), ("../../etc", "x", "-5", "\udcff"), ("s9", "9" * 5000, "9" * 20, "m" * 5000, "more")]
)
def test_the_door_survives_what_it_is_told(machine: Machine, said: tuple[str, ...]) -> None:
    assert turn(*said) == b""


@pytest.mark.parametrize("home", ["/dev/null/x", "/proc/x", "relative"])
def test_the_door_survives_a_home_that_cannot_be(session: Session, home: str, tmp_path: Path) -> None:
    assert turn(session.id, "200000", str(FULL), environ={"MEMORY_KEEPER_HOME": home}) == b""


def test_the_door_survives_a_broken_store(session: Session) -> None:
    session.machine.settle()
    for path in session.machine.home.glob("store.db*"):
        path.unlink()
    (session.machine.home / "store.db").write_bytes(b"not a database " * 100)
    assert turn(session.id, "200000", str(FULL)) == b""
    assert not records(session, "AskClear")
    assert '"turn"' in (session.machine.home / "problems.log").read_text()
