"""What the hooks module is answered when a session is to be compacted, and when that is done early."""

from __future__ import annotations

import json
import os
from time import time
from typing import Any

import pytest

from memory_keeper.capture.repeated import OPENING
from memory_keeper.hooks.actions.boundary import at_boundary
from memory_keeper.hooks.actions.compaction import describe, find_own, replace, tell
from memory_keeper.hooks.actions.fullness import replaces
from memory_keeper.hooks.actions.turn_end import TTL, settle
from memory_keeper.server.protocol import TOOLS
from memory_keeper.server.worker import Worker
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.home import Lock
from memory_keeper.text import tokens
from tests.machine import Machine, Session
from tests.rows import rows

MODEL = "claude-opus-5-5"
Json = dict[str, Any]


@pytest.fixture
def session(machine: Machine) -> Session:
    """A session that has just ended a turn."""
    made = machine.session()
    made.start()
    made.turn("Please build the parser.", "The parser is built.")
    return made


def environ(machine: Machine, mode: str = "replace", **more: str) -> dict[str, str]:
    return {**os.environ, "MEMORY_KEEPER_COMPACTION_MODE": mode, **more}


def question(session: Session, trigger: str = "auto", **more: Any) -> Json:
    messages = [
        {"role": "assistant", "text": "The parser is built.", "toolUses": []},
        {"role": "user", "text": "Now the lexer.", "toolUses": []},
    ]
    asked = {"session": session.id, "trigger": trigger, "tokens": 123_456, "window": 1_000_000, "model": MODEL}
    return {**asked, "messages": messages, **more}


def ask(session: Session, mode: str = "replace", at: float = 0.0, **more: Any) -> Json:
    machine = session.machine
    return replace(str(machine.home), environ(machine, mode), question(session, **more), session.id, "c1", at or time())


def records(session: Session, event: str) -> list[Json]:
    data = (session.machine.home / f"spool/{session.id}.spool").read_bytes()
    return [record for record in spool.records(data, event) if record["event"] == event]


def leave(session: Session, event: str, ago: float = 0.0, **fields: Any) -> None:
    spool.append(str(session.machine.home), session.id, {"event": event, "at": time() - ago, **fields})


# --- the answer -------------------------------------------------------------------------------------------------------


def test_a_line_and_the_last_messages_take_its_place(session: Session) -> None:
    said = ask(session, at=1234.5)["compact"]
    assert said["text"].startswith(f"{OPENING} (123,456 tokens before)") and "\n" not in said["text"]
    assert said["keep"] == [{"role": "assistant", "text": "The parser is built.", "toolUses": []}, {"at": -1}]
    assert "Please build the parser." in session.handoff.read_text()
    (record,) = records(session, "Replaced")
    assert (record["at"], record["source"], record["tokens"]) == (1234.5, "auto", 123_456)


def test_the_context_is_told_its_handoff_once(session: Session) -> None:
    ask(session)
    assert read_context(str(session.machine.home), session.id).untold
    told = session.start("compact")
    assert 'brief="handoff"' in told.text and "Please build the parser." in told.text
    assert not read_context(str(session.machine.home), session.id).untold
    assert "brief=" not in session.prompt("Now the lexer.").text


def test_the_handoff_does_not_repeat_the_messages_that_stay(session: Session) -> None:
    session.turn("Now the lexer.", "The lexer reads the same grammar file, because both need it.")
    stay = [
        {"role": "user", "text": "Now the lexer.", "toolUses": []},
        {"role": "assistant", "text": "The lexer reads the same grammar file, because both need it.", "toolUses": []},
    ]
    assert ask(session, messages=stay)["compact"]["keep"] == stay
    told = session.start("compact").text
    assert "The parser is built." in told
    assert "both need it" not in told


@pytest.mark.usefixtures("rules_on")
@pytest.mark.parametrize("stays", [True, False])
def test_the_rules_do_not_repeat_what_the_user_says_in_the_messages_that_stay(session: Session, stays: bool) -> None:
    said = "From now on write every date with `format_date`. Now the lexer."
    session.turn(said, "The lexer is built.")
    last = {"role": "user", "text": said if stays else "Now the lexer.", "toolUses": []}
    ask(session, messages=[last, {"role": "assistant", "text": "The lexer is built.", "toolUses": []}])
    told = session.start("compact").text
    assert "Rules in force" in told and ("every date" in told) is not stays


def test_a_context_whose_beginning_nobody_heard_is_told_later(session: Session) -> None:
    ask(session)
    assert "Please build the parser." in session.happen("PostToolUse", tool_name="Bash").text
    assert "brief=" not in session.happen("PostToolUse", tool_name="Bash").text


def test_one_that_was_told_a_handoff_before_is_told_this_one_too(machine: Machine) -> None:
    pid = {"CLAUDE_PID": str(os.getppid())}
    old, session = machine.session(), machine.session()
    old.environ = session.environ = pid
    old.start()
    old.turn("Please build the parser.", "The parser is built.")
    old.end("clear")
    assert 'brief="handoff"' in session.start("clear").text
    session.turn("Now the lexer.", "The lexer is built.")
    ask(session)
    assert "Now the lexer." in session.happen("PostToolUse", tool_name="Bash").text
    assert "brief=" not in session.happen("PostToolUse", tool_name="Bash").text


def test_when_the_host_compacts_after_all_it_is_the_hosts(session: Session) -> None:
    ask(session)
    session.happen("PreCompact", trigger="auto")
    assert not read_context(str(session.machine.home), session.id).replaced


@pytest.mark.parametrize("mode", ["supplement", "clear", "block"])
def test_in_other_modes_it_is_not_ours(session: Session, mode: str) -> None:
    told = ask(session, mode)
    assert [*told] == ["instructions"] and told == ask(session, mode, trigger="precompute")
    assert not records(session, "Replaced")


def test_what_the_module_has_told_the_summarizer_no_hook_tells_again(session: Session) -> None:
    """The host shows the user what a hook says there."""
    told = ask(session, "supplement")["instructions"]
    assert session.happen("PreCompact", trigger="auto").out.decode().strip() == told
    assert session.happen("PreCompact", trigger="manual").out == b"", "what the user typed it for is theirs to say"
    assert session.happen("PreCompact", trigger="auto", custom_instructions=f"Mind the gap.\n\n{told}").out == b""


def test_nothing_is_computed_ahead(session: Session) -> None:
    assert ask(session, trigger="precompute").keys() == {"skip"}
    assert not records(session, "Replaced")


@pytest.mark.parametrize("messages", [[], None, "x", [{"role": "user", "text": "<command-name>/x</command-name>"}]])
def test_without_a_message_that_stays_it_is_not_ours(session: Session, messages: Any) -> None:
    assert ask(session, trigger="manual", messages=messages) == {}
    assert not records(session, "Replaced")


def test_without_a_handoff_it_is_not_ours(machine: Machine) -> None:
    fresh = machine.session()
    fresh.start()
    assert ask(fresh) == {} and not records(fresh, "Replaced")


def test_a_repository_cannot_have_it(session: Session) -> None:
    folder = session.project / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "memory-keeper.json").write_text('{"compaction": {"mode": "replace", "keepTokens": 9}}')
    (folder / "settings.json").write_text('{"env": {"MEMORY_KEEPER_COMPACTION_MODE": "replace"}}')
    home, mine = str(session.machine.home), {**os.environ, "CLAUDE_PROJECT_DIR": str(session.project)}
    assert not replaces(home, mine, session.id)
    assert not replaces(home, {**mine, "MEMORY_KEEPER_COMPACTION_MODE": "replace"}, session.id)


def test_what_the_user_wants_kept_stands_in_the_line() -> None:
    assert describe(0, "").startswith(f"{OPENING}: ")
    said = describe(5, "the port\nand \x1b[31mthe name " + "x" * 900)
    assert '"the port and the name x' in said and "\n" not in said and tokens(said) < 250


# --- the server -------------------------------------------------------------------------------------------------------


class Asking:
    """A server that a host talks to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = Worker(environ(session.machine, CLAUDE_PID=str(os.getppid())))

    def say(self, tool: str, id: str = "", **given: Any) -> str:
        call = {"name": tool, "arguments": given, **({"_meta": {"claudecode/toolUseId": id}} if id else {})}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        (part,) = json.loads(self.worker.answer(line.encode(), time()))["result"]["content"]
        return str(part["text"])

    def hook(self, event: str, **fields: Any) -> str:
        return self.say("hook", **self.session.payload(event, **fields))

    def module(self, **more: Any) -> Json:
        answer = json.loads(self.say("handoff", "toolu_plugin_0123", **question(self.session, **more)))
        assert isinstance(answer, dict)
        return answer


def test_the_module_is_answered(session: Session) -> None:
    server = Asking(session)
    server.hook("Stop", last_assistant_message="Done.")
    assert server.module()["compact"]["text"].startswith(OPENING)


def test_a_server_that_was_killed_leaves_it_to_the_host(session: Session) -> None:
    server = Asking(session)
    assert server.module() == {}, "the host has started it again for this very question"
    server.hook("UserPromptSubmit", prompt="Go on.")
    assert server.module()


def test_a_session_that_was_brought_back_may_be_compacted_at_once(session: Session) -> None:
    session.start("resume")
    assert Asking(session).module()


def test_a_damaged_store_leaves_it_to_the_host(session: Session) -> None:
    server = Asking(session)
    server.hook("Stop", last_assistant_message="Done.")
    with Lock(str(session.machine.home), 60.0):  # the server may be writing
        for path in session.machine.home.glob("store.db*"):
            path.unlink()
        (session.machine.home / "store.db").write_bytes(b"not a database " * 100)
    assert server.module() == {} and not records(session, "Replaced")
    assert '"handoff"' in (session.machine.home / "problems.log").read_text()


def test_a_model_gets_its_handoff_and_no_more(session: Session) -> None:
    server = Asking(session)
    said = server.say("handoff", "toolu_01", **question(session), budget=500)
    assert 'brief="handoff"' in said and "Please build the parser." in said and tokens(said) <= 500
    assert not records(session, "Replaced")
    assert find_own(str(session.machine.home), {"CLAUDE_PID": "1"}) == ""
    assert tell(str(session.machine.home), environ(session.machine), "nobody", 0) == ""


@pytest.mark.parametrize("born", ["", "1"])
@pytest.mark.parametrize("own", [False, True])
def test_a_process_that_only_has_the_same_number_gets_nothing(machine: Machine, own: bool, born: str) -> None:
    """Containers share a home, and count their processes from one."""
    pid = os.getpid() if own else 0
    spool.append(str(machine.home), "s1", {"event": "SessionStart", "at": time(), "pid": pid, "born": born})
    assert find_own(str(machine.home), {"CLAUDE_PID": str(pid)}) == ""


def test_a_model_is_not_told_that_its_session_was_compacted(session: Session) -> None:
    said = Asking(session).say("handoff", "toolu_01")
    assert "compacted" not in said and f"andoff of session {session.id[:8]}" in said


def test_a_model_s_handoff_is_as_long_as_the_user_wants(session: Session) -> None:
    for number in range(20):
        session.turn(f"Please build part {number} of the parser.", f"Part {number} of the parser is built.")
    home, mine = str(session.machine.home), environ(session.machine, MEMORY_KEEPER_TELL_HANDOFFBUDGET="300")
    assert 0 < tokens(tell(home, mine, session.id, 0), "claude-4") <= 300 < tokens(tell(home, mine, session.id, 900))


def test_what_a_module_asks_is_no_work(session: Session) -> None:
    server = Asking(session)
    before = len(records(session, "PostToolUse"))
    assert server.hook("PostToolUse", tool_name="mcp__x", tool_use_id="toolu_plugin_0123") == "{}"
    server.hook("PostToolUse", tool_name="Bash", tool_use_id="toolu_0123")
    assert len(records(session, "PostToolUse")) == before + 1


def test_every_context_pays_for_the_tool() -> None:
    (tool,) = (tool for tool in TOOLS if tool["name"] == "handoff")
    assert tokens(json.dumps(tool)) < 150


# --- between two turns ------------------------------------------------------------------------------------------------


def decide(session: Session, size: int = 120_000, **more: str) -> str:
    return settle(str(session.machine.home), environ(session.machine, **more), session.id, 1_000_000, size, MODEL)


def test_a_large_context_is_compacted_when_its_turn_is_over(session: Session) -> None:
    assert decide(session, 99_999) == ""
    assert decide(session) == "compact"
    (record,) = records(session, "AskCompact")
    assert record["tokens"] == 120_000 and session.handoff.exists()


def test_turns_that_are_not_followed_by_one_leave_no_handoffs(session: Session) -> None:
    """Each is a note of all that happened: a long session would have hundreds."""
    session.transcript.todo([("Build the parser", "in_progress")])
    for number in range(3):
        session.turn(f"Go on with part {number}.", "On.")
        assert decide(session, 99_999) == "" == decide(session, 120_000)
    with session.machine.store() as store:
        assert store.handoff(session.id) is None
    assert not session.handoff.exists()


def test_it_is_not_asked_for_again_at_once(session: Session) -> None:
    assert decide(session) == "compact"
    assert decide(session) == ""
    leave(session, "AskCompact", ago=TTL + 1)
    assert decide(session) == "compact"


def test_not_while_something_runs(session: Session) -> None:
    session.happen("Stop", last_assistant_message="It runs.", background_tasks=[{"id": "b1"}])
    assert decide(session) == ""
    session.happen("UserPromptSubmit", prompt="Go on.")
    assert decide(session) == ""


def test_only_the_module_can(session: Session) -> None:
    assert settle(str(session.machine.home), environ(session.machine), session.id) == ""


def test_a_context_that_is_large_when_it_begins_is_not_compacted_for_ever(session: Session) -> None:
    leave(session, "Replaced", ago=60.0)
    session.start("compact")
    session.fill(90_000)
    session.happen("Stop", last_assistant_message="On.")
    assert decide(session) == ""
    assert decide(session, 180_000) == "compact"


@rows("status", "command", "failed", "boundary")
def test_the_end_of_a_task(machine: Machine, status: str, command: str, failed: bool, boundary: bool) -> None:
    session = machine.session()
    session.start()
    session.prompt("Build it.")
    session.transcript.todo([("Build the parser", status)])
    session.call("Bash", {"command": command}, "said", failed)
    session.reply("On.")
    with machine.store() as store:
        assert at_boundary(store, session.id) == boundary
    assert decide(session) == ("compact" if boundary else "")
    assert decide(session, 150_000) == ("" if boundary else "compact")  # it has been asked for, or has waited enough


def test_a_commit_of_an_earlier_turn_does_not_count(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.prompt("Build it.")
    session.transcript.todo([("Build the parser", "in_progress")])
    session.call("Bash", {"command": "git commit -m done"})
    session.turn("Go on.", "On.")
    with machine.store() as store:
        assert not at_boundary(store, session.id)


def test_without_a_list_of_tasks_the_end_of_a_turn_is_one(session: Session) -> None:
    with session.machine.store() as store:
        assert at_boundary(store, session.id)
