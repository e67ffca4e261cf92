"""What a context is told when it begins, and only what it lacks."""

from __future__ import annotations

import pytest

from memory_keeper.store.events import session_events
from tests.machine import Machine, Session


def work(session: Session, name: str) -> None:
    """A piece of work that can be recognised."""
    session.prompt(f"Please build the {name}.")
    session.call("Edit", {"file_path": f"/app/{name}.py", "old_string": "a", "new_string": "b"})
    session.transcript.todo([(f"Write the {name}", "completed"), (f"Test the {name}", "in_progress")])
    session.reply(f"The {name} is built.")


def test_the_very_first_session_is_told_nothing(machine: Machine) -> None:
    assert machine.session().start().out == b""


def test_the_next_session_is_told_what_the_last_did(machine: Machine) -> None:
    first = machine.session()
    first.start()
    work(first, "parser")
    first.end()
    text = machine.session().start().text
    assert text.startswith("<memory-keeper ")
    assert "Please build the parser." in text
    assert "The parser is built." in text
    assert "/app/parser.py" in text
    assert "Next: 1 of 2 tasks of the list done; Test the parser (in progress) [" in text
    assert "Write the parser" not in text, "what is done is not open"


def test_right_after_the_end_it_is_told_all_the_same(machine: Machine) -> None:
    """The writer that the end started may not have begun yet."""
    first = machine.session()
    work(first, "parser")
    first.end("clear")
    assert "Please build the parser." in machine.session().start("clear").text


def test_a_session_that_ended_without_a_word_is_told(machine: Machine) -> None:
    """No SessionEnd: the terminal was closed, the machine went down."""
    first = machine.session()
    work(first, "parser")
    assert "The parser is built." in machine.session().start().text


def test_lines_that_no_hook_announced_are_told(machine: Machine) -> None:
    first = machine.session()
    work(first, "parser")
    machine.catch_up()
    first.transcript.prompt("One more thing: the lexer.")
    first.transcript.reply("The lexer is built.")
    first.write()
    text = machine.session().start().text
    assert "One more thing: the lexer." in text
    assert "The lexer is built." in text


def test_a_transcript_that_came_after_the_last_hook_is_read(machine: Machine) -> None:
    """At the first prompt there is no file yet; whoever looks then must come back to it."""
    first = machine.session()
    first.start()
    first.happen("UserPromptSubmit", prompt="Build the parser.")
    machine.catch_up()
    first.transcript.prompt("Build the parser.")
    first.transcript.reply("I begin with the tokens.")
    first.write()  # and then it was killed
    assert "I begin with the tokens." in machine.session().start().text
    with machine.store() as store:
        assert [event.text for event in session_events(store, first.id) if event.kind == "prompt"] == [
            "Build the parser."
        ]


def test_after_a_resume_only_what_is_new(machine: Machine) -> None:
    first, second = machine.session(), machine.session()
    work(first, "parser")
    first.end()
    text = first.start("resume").text
    assert text.count("<memory-keeper ") == text.count('brief="handoff"') == 1, "only where it stood"
    assert "session 00000001, " in text and "Test the parser (in progress)" in text
    work(second, "lexer")
    second.end()
    text = first.start("resume").text
    assert "Please build the lexer." in text
    assert "parser" not in text, "the host says again what was told before"


def test_after_a_compaction_its_own(machine: Machine) -> None:
    first, second = machine.session(), machine.session()
    work(first, "parser")
    first.end()
    second.start()
    work(second, "lexer")
    second.happen("PreCompact", trigger="auto")
    text = second.start("compact").text
    assert "Please build the lexer." in text
    assert "/app/lexer.py" in text
    own, mark, handed_on = text.partition("## Carried over from session ")
    assert "parser" not in own and mark and "Please build the parser." in handed_on, "it was told that at its start"


def test_a_compaction_of_the_first_session_ever(machine: Machine) -> None:
    only = machine.session()
    only.start()
    work(only, "parser")
    only.happen("PreCompact", trigger="manual")
    assert "Please build the parser." in only.start("compact").text


def test_a_compaction_is_told_what_the_transcript_lacks_yet(machine: Machine) -> None:
    only = machine.session()
    work(only, "parser")
    only.happen("UserPromptSubmit", prompt="And now the lexer, quickly.")
    only.happen("PostToolUse", tool_name="Bash")  # in the middle of a turn the host keeps only its last call
    only.happen("PreCompact", trigger="auto")
    assert "And now the lexer, quickly." in only.start("compact").text


def test_a_fork_repeats_nothing(machine: Machine) -> None:
    """R7: the lines it shares with its origin are kept once, and belong to both."""
    first = machine.session()
    work(first, "parser")
    machine.catch_up()
    fork = Session(machine, machine.project, first.transcript.fork("f0f0f0f0-0000-4000-8000-00000000000f"))
    fork.write()
    fork.start("fork")
    work(fork, "lexer")
    with machine.store() as store:
        shared = [event.id for event in session_events(store, first.id)]
        mine = [event.id for event in session_events(store, fork.id)]
        assert len(set(mine)) == len(mine)
        assert [id for id in mine if id in shared] == [
            id for id in shared if not id.startswith(("start", "end", "told", "h-"))
        ]
        assert store.counts()["kinds"]["prompt"] == 2
    text = machine.session().start().text
    assert text.count("Please build the parser.") <= 2, "once as a prompt, once as what its session was about"


def test_two_sessions_at_once_stay_apart(machine: Machine) -> None:
    """R3: alternating in one project, each keeps its own lines, once."""
    one, two = machine.session(), machine.session()
    for number in range(4):
        one.turn(f"one asks {number}", f"one answers {number}")
        two.turn(f"two asks {number}", f"two answers {number}")
    with machine.store() as store:
        for session, name in ((one, "one"), (two, "two")):
            texts = [event.text for event in session_events(store, session.id) if event.kind in ("prompt", "reply")]
            assert texts == [f"{name} {what} {number}" for number in range(4) for what in ("asks", "answers")]
    text = machine.session().start().text
    assert "one asks 3" in text
    assert "two asks 3" in text


def test_what_is_told_is_written_down(machine: Machine) -> None:
    first, second = machine.session(), machine.session()
    work(first, "parser")
    second.start()
    with machine.store() as store:
        (told,) = [event for event in session_events(store, second.id) if event.kind == "told"]
        assert '"brief":"start"' in told.extra


def test_other_projects_are_not_told(machine: Machine) -> None:
    work(machine.session(), "parser")
    elsewhere = machine.session(machine.folder("work/other"))
    assert elsewhere.start().text == ""


# --- what is only in a hook's payload ---------------------------------------------------------------------------------


def test_a_session_killed_before_its_last_answer_was_written(machine: Machine) -> None:
    first = machine.session()
    first.start()
    work(first, "parser")
    first.happen("UserPromptSubmit", prompt="Now rename it to scanner.")
    first.happen("Stop", last_assistant_message="Renamed to scanner everywhere.")
    text = machine.session().start().text
    assert "Now rename it to scanner." in text
    assert "Renamed to scanner everywhere." in text


def test_a_session_that_never_had_a_transcript(machine: Machine) -> None:
    first = machine.session()
    first.start()
    first.happen("UserPromptSubmit", prompt="Only this question.")
    assert "Only this question." in machine.session().start().text


def test_what_arrives_later_is_told_once(machine: Machine) -> None:
    first = machine.session()
    first.start()
    work(first, "parser")
    machine.catch_up()
    machine.catch_up()
    text = machine.session().start().text
    assert text.count("Please build the parser.") == 1
    with machine.store() as store:
        assert not [event for event in session_events(store, first.id) if event.id.startswith("spool-")]


def test_a_running_session_s_last_question_is_told_to_another(machine: Machine) -> None:
    """Two terminals, one project: what is being worked on next door."""
    first = machine.session()
    first.start()
    work(first, "parser")
    first.prompt("Now make it fast.")
    assert "Now make it fast." in machine.session().start().text


@pytest.mark.parametrize("prompt", ["<task-notification>\n<task-id>1</task-id>\n</task-notification>"])
def test_a_finished_task_is_not_what_the_user_asked(machine: Machine, prompt: str) -> None:
    first = machine.session()
    work(first, "parser")
    first.happen("UserPromptSubmit", prompt=prompt)
    text = machine.session().start().text
    assert "task-notification" not in text.partition("## Not in a note yet")[2].partition("## ")[0]


# --- odd moments ------------------------------------------------------------------------------------------------------


def test_a_start_from_somewhere_unknown(machine: Machine) -> None:
    work(machine.session(), "parser")
    assert "parser" in machine.session().start("teleport").text
    assert "parser" in machine.session().happen("SessionStart").text


def test_the_project_is_where_the_session_began_not_where_it_went(machine: Machine) -> None:
    first = machine.session()
    first.start()
    first.happen("UserPromptSubmit", prompt="Go to src.", cwd="/")
    first.transcript.prompt("Go to src.")
    first.transcript.reply("I am there.")
    first.write()
    first.end()
    assert "Go to src." in machine.session().start().text


def test_an_agent_s_work_is_kept_but_is_not_what_the_user_asked(machine: Machine) -> None:
    first = machine.session()
    first.prompt("Find the callers.")
    inner = first.transcript.subagent("a1b2c3", "Search the tree for callers of upload_part.")
    inner.reply("There are two callers.")
    inner.append_to(first.path.parent / inner.name)
    first.happen("SubagentStop", agent_id="a1b2c3", last_assistant_message="There are two callers.")
    first.reply("Two.")
    with machine.store() as store:
        kept = {event.text: (event.kind, event.agent) for event in session_events(store, first.id)}
        assert kept["There are two callers."] == ("reply", "a1b2c3")
        assert kept["Search the tree for callers of upload_part."] == ("task", "a1b2c3")
    assert "Search the tree" not in machine.session().start().text
