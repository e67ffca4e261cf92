"""A context is cleared: the one in its place is told its handoff, and no other one's."""

from __future__ import annotations

import json
import os
from time import time
from typing import Any

import pytest

from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.events import session_events
from tests.command import memory_keeper
from tests.machine import Machine, Session

PID = {"CLAUDE_PID": str(os.getppid())}
OTHER = {"ANOTHER": "process"}
STEPS = ("lexer", "parser", "scopes", "types", "folding", "inlining", "registers", "emitter", "linker", "debugger")


def started(machine: Machine, environ: dict[str, str] | None = None, **where: Any) -> Session:
    session = machine.session(**where)
    session.environ = environ or PID
    session.start()
    return session


def work(session: Session, name: str) -> None:
    session.prompt(f"Please build the {name}.")
    session.call("Edit", {"file_path": f"{session.project}/{name}.py", "old_string": "a", "new_string": "b"})
    session.call("Bash", {"command": f"pytest {name}"}, f"{name}: 2 failed", failed=True)
    session.transcript.todo([(f"Write the {name}", "completed"), (f"Test the {name}", "in_progress")])
    session.reply(f"The {name} is built.")


def after_clear(old: Session, environ: dict[str, str] | None = None, **where: Any) -> tuple[Session, str]:
    """/clear in the old session's process; what the new one is told."""
    old.end("clear")
    new = old.machine.session(**where)
    new.environ = environ or old.environ
    return new, new.start("clear").text


def test_the_new_context_is_told_the_old_one_s_handoff(machine: Machine) -> None:
    old = started(machine)
    work(old, "parser")
    _, text = after_clear(old)
    assert text.startswith('<memory-keeper brief="handoff" ')
    assert f"Handoff of session {old.id[:8]}" in text
    for said in ("Please build the parser.", "The parser is built.", "Test the parser"):
        assert said in text
    assert "last check `pytest parser` failed: parser: 2 failed" in text, "what went wrong"
    assert "Next: 1 of 2 tasks of the list done; Test the parser (in progress) [" in text
    assert "Write the parser" not in text, "what is done is not open"
    assert "Please build the parser." in old.handoff.read_text()


def test_only_that_session_is_told_of(machine: Machine) -> None:
    """Next door another one works in the same project."""
    old, other = started(machine), started(machine, OTHER)
    work(old, "parser")
    work(other, "lexer")
    other.end("clear")
    _, text = after_clear(old)
    assert "parser" in text
    assert "lexer" not in text


def test_a_long_session_s_first_wish_is_handed_on(machine: Machine) -> None:
    old = started(machine)
    old.turn("The goal: a compiler for the small language.", "Understood.")
    steps = [f"Write src/{name}.py with the tests of it." for name in STEPS]
    answers = [f"{name.capitalize()} works, all cases of {name}_cases pass." for name in STEPS]
    for step, answer in zip(steps, answers, strict=True):
        old.transcript.at = time()
        old.turn(step, answer)
    _, text = after_clear(old)
    assert 'First asked: "The goal: a compiler for the small language."' in text
    for step, answer in zip(steps[:-1], answers[:-1], strict=True):
        assert text.count(f'"{step}"') == text.count(answer) == 1 and text.index(step) < text.index(answer)
    assert f'Asked last: "{steps[-1]}"' in text and text.count(answers[-1]) == 1


def test_an_answer_that_is_not_on_the_disk_yet_belongs_to_one_prompt(machine: Machine) -> None:
    old = started(machine)
    old.turn("Please build the parser.", "It descends recursively, in src/descent.py.")
    old.transcript.at = time()
    old.prompt("And the lexer.")
    old.happen("Stop", last_assistant_message="It is a table of states, in src/states.py.")
    _, text = after_clear(old)
    assert text.count('First asked: "Please build the parser."') == text.count('Asked last: "And the lexer."') == 1
    assert not [line for line in text.splitlines() if "states" in line and "descent" in line]
    assert "It descends" in text and "It is a table" in text


def test_what_the_transcript_lacks_is_handed_on(machine: Machine) -> None:
    old = started(machine)
    work(old, "parser")
    old.happen("UserPromptSubmit", prompt="And now the lexer, quickly.")
    _, text = after_clear(old)
    assert "And now the lexer, quickly." in text


def test_the_link_is_kept(machine: Machine) -> None:
    old = started(machine)
    work(old, "parser")
    new, _ = after_clear(old)
    with machine.store() as store:
        (start,) = [event for event in session_events(store, new.id) if event.kind == "start"]
        assert json.loads(start.extra)["after"] == old.id
        assert json.loads(start.extra)["pid"] == os.getppid()
        (told,) = [event for event in session_events(store, new.id) if event.kind == "told"]
        assert json.loads(told.extra)["brief"] == "handoff"


def test_a_chain_of_clears(machine: Machine) -> None:
    session = started(machine)
    for name in ("parser", "lexer", "linker"):
        work(session, name)
        new, text = after_clear(session)
        assert session.id[:8] in text
        assert f"Please build the {name}." in text
        session = new


@pytest.mark.parametrize("environ", [OTHER, {**OTHER, "CLAUDE_PID": "99999999"}], ids=["other", "gone"])
def test_another_process_s_session_is_not_taken_for_it(machine: Machine, environ: dict[str, str]) -> None:
    old = started(machine)
    work(old, "parser")
    new, text = after_clear(old, environ)
    assert text.startswith('<memory-keeper brief="start" '), "it is earlier work on the project, no more"
    assert "its handoff" not in text
    with machine.store() as store:
        (start,) = [event for event in session_events(store, new.id) if event.kind == "start"]
        assert "after" not in json.loads(start.extra)


def test_another_project_s_session_is_never_told(machine: Machine) -> None:
    """Containers that share a home have the same numbers."""
    old = started(machine)
    work(old, "parser")
    elsewhere = machine.folder("work/other")
    _, text = after_clear(old, project=elsewhere)
    assert text == ""
    machine.settle()
    assert not (elsewhere / ".claude").exists()


def test_a_session_that_ended_otherwise_was_not_cleared(machine: Machine) -> None:
    old = started(machine)
    work(old, "parser")
    old.end("logout")
    new = machine.session()
    new.environ = PID
    assert "which was cleared" not in new.start("clear").text


def test_a_clear_of_an_hour_ago_is_not_this_one(machine: Machine) -> None:
    old = started(machine)
    work(old, "parser")
    old.end("clear")
    machine.settle()
    os.utime(machine.home / f"spool/{old.id}.spool", (0, 0))
    new = machine.session()
    new.environ = PID
    assert "which was cleared" not in new.start("clear").text


def test_an_empty_session_hands_on_nothing(machine: Machine) -> None:
    _, text = after_clear(started(machine))
    assert text == ""


# --- by itself --------------------------------------------------------------------------------------------------------


def asked(session: Session) -> float:
    session.machine.settle()
    return read_context(str(session.machine.home), session.id).asked


@pytest.fixture
def clearing(machine: Machine) -> Session:
    """A session in a project whose contexts are cleared by themselves."""
    machine.home.mkdir()
    (machine.home / "config.json").write_text('{"compaction": {"mode": "clear"}}')
    session = started(machine)
    session.prompt("Please build the parser.")
    return session


def test_at_the_threshold_a_clear_is_asked_for_when_the_turn_is_over(clearing: Session) -> None:
    clearing.fill(120_000)
    clearing.happen("PostToolUse", tool_name="Bash")
    clearing.happen("SubagentStop", agent_id="a1")
    assert not asked(clearing)
    clearing.happen("Stop", last_assistant_message="The parser is built.", background_tasks=[])
    assert asked(clearing)
    assert clearing.handoff.exists()


def test_below_it_none_is_asked_for(clearing: Session) -> None:
    clearing.fill(90_000)
    clearing.happen("Stop", last_assistant_message="The parser is built.")
    assert not asked(clearing)


def test_while_something_runs_in_the_background_none_is_asked_for(clearing: Session) -> None:
    clearing.fill(120_000)
    clearing.happen("Stop", last_assistant_message="It runs.", background_tasks=[{"id": "b1", "status": "running"}])
    assert not asked(clearing)
    clearing.happen("Stop", last_assistant_message="It is done.", background_tasks=[])
    assert asked(clearing)


def test_the_context_after_it_has_nothing_asked(clearing: Session) -> None:
    clearing.fill(120_000)
    clearing.happen("Stop", last_assistant_message="The parser is built.")
    assert asked(clearing)
    new, text = after_clear(clearing)
    assert "Please build the parser." in text
    new.prompt("Go on.")
    new.fill(120_000)
    new.happen("Stop", last_assistant_message="Full at once.")
    assert not asked(new), "else it would be cleared for ever"


def test_in_mode_block_a_refused_compaction_is_a_clear(machine: Machine) -> None:
    session = started(machine)
    session.environ = {**PID, "MEMORY_KEEPER_COMPACTION_MODE": "block"}
    session.prompt("Please build the parser.")
    session.fill(165_000)
    session.happen("Stop", last_assistant_message="Nearly.")
    assert not asked(session)
    session.prompt("Go on.")
    assert session.happen("PreCompact", trigger="auto").said["decision"] == "block"
    session.happen("Stop", last_assistant_message="Prompt is too long")
    assert asked(session)
    records = spool.records((machine.home / f"spool/{session.id}.spool").read_bytes(), "AskClear")
    assert [record["why"] for record in records] == ["due"]


def test_the_third_context_knows_what_was_asked_in_the_first(machine: Machine) -> None:
    first = started(machine)
    first.turn("MAINGOAL: port the scheduler, never break the CLI.", "Ported half of it.")
    second, _ = after_clear(first)
    second.turn("Go on.", "Three quarters.")
    third, text = after_clear(second)
    goal, then = text.index('Asked last: "MAINGOAL: port the scheduler'), text.index('Then: "Go on." (to: "Ported half')
    assert goal < then
    _, text = after_clear(third)  # nothing was said in it
    assert "MAINGOAL: port the scheduler" in text and "Three quarters." in text


def test_a_command_of_ours_is_no_prompt_and_its_answer_no_outcome(machine: Machine) -> None:
    session = started(machine)
    session.turn("Run the tests, twice.", "All 480 pass.")
    session.happen("UserPromptSubmit", prompt="/memory-keeper:soft-restart")
    session.transcript.command("memory-keeper:soft-restart")
    session.write()
    session.reply("It says that the context is cleared.")
    _, text = after_clear(session)
    assert "All 480 pass." in text
    assert "soft-restart" not in text and "It says" not in text


def test_a_number_that_was_inherited_from_another_host_is_not_believed(machine: Machine) -> None:
    """Claude Code tells its shells its own number, and whoever is started there has it too."""
    sessions = [started(machine), started(machine)]
    for session, name in zip(sessions, ("parser", "lexer"), strict=True):
        session.environ = {"CLAUDE_PID": "99999999"}
        work(session, name)
    for session, name in zip(sessions, ("parser", "lexer"), strict=True):
        _, text = after_clear(session)
        assert f"Please build the {name}." in text


def test_a_fresh_start_is_told_nothing_once(machine: Machine) -> None:
    first = started(machine, PID | {"CLAUDE_CODE_ENTRYPOINT": "cli"})
    work(first, "parser")
    assert "begins with nothing" in memory_keeper(machine, "restart", "--fresh", "--session", first.id)
    first.end("clear")
    second = machine.session()
    second.environ = first.environ
    told = second.start("clear")
    assert not told.text
    assert (
        f"brought nothing back, as you asked. What was there: memory-keeper handoff show {first.id[:8]}" in told.message
    )
    assert first.handoff.exists(), "nothing is lost"
    work(second, "linker")
    _, text = after_clear(second)
    assert "Please build the linker." in text, "only that once"


def test_a_fresh_start_is_taken_back_by_another_prompt(machine: Machine) -> None:
    session = started(machine)
    work(session, "parser")
    memory_keeper(machine, "restart", "--fresh", "--session", session.id)
    work(session, "lexer")  # the turn after which it would have been cleared
    work(session, "linker")
    _, text = after_clear(session)
    assert "Please build the linker." in text


def test_a_clear_of_the_user_s_may_always_bring_nothing_back(machine: Machine) -> None:
    machine.home.mkdir(exist_ok=True)
    (machine.home / "config.json").write_text(json.dumps({"tell": {"afterClear": False}}))
    session = started(machine)
    work(session, "parser")
    new, text = after_clear(session)
    assert not text
    work(new, "linker")
    memory_keeper(machine, "restart", "--session", new.id)
    _, text = after_clear(new)
    assert "Please build the linker." in text, "a clear that was asked of us goes on"


@pytest.mark.parametrize("source", ["clear", "startup"])
def test_a_budget_of_nothing_tells_nothing(machine: Machine, source: str) -> None:
    machine.home.mkdir(exist_ok=True)
    (machine.home / "config.json").write_text(json.dumps({"tell": {"handoffBudget": 0, "startBudget": 0}}))
    session = started(machine)
    work(session, "parser")
    session.end("clear" if source == "clear" else "other")
    new = machine.session()
    new.environ = session.environ
    assert not new.start(source).text
    assert "Please build the parser." in session.handoff.read_text(), "people can read it all the same"
