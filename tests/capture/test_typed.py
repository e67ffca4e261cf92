"""What a person typed is found wherever the host writes it, once, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.claude_code import read_line
from memory_keeper.capture.payload import own_text
from memory_keeper.capture.typed import Typed, typed_words
from memory_keeper.model import Event, Source
from tests.rows import rows
from tests.transcripts import Row, Transcript, dump

SOURCE = Source("/t/s1.jsonl", "s1", "dir:/p")
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
SAYS = REFUSED + "To tell you how to proceed, the user said:\n"
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
CLARIFY = (
    "The user wants to clarify these questions.\n    This means they may have additional information.\n\n"
    "    Questions asked:\n"
)


def events(t: Transcript) -> list[Event]:
    return [event for number, row in enumerate(t.lines) for event in line(row, number)]


def line(row: Row, offset: int) -> list[Event]:
    found = read_line(dump(row).rstrip(b"\n"), SOURCE, offset, 1000.0)
    return found.events if found else []


def words(t: Transcript) -> list[tuple[str, str]]:
    return [(typed.how, typed.text) for typed in typed_words(events(t))]


def operation(t: Transcript, name: str, text: str | None = None) -> None:
    """A line about the queue, as the host writes it."""
    content = {} if text is None else {"content": text}
    t._bare("queue-operation", operation=name, timestamp=t._stamp(), sessionId=t.session, **content)


def ask(t: Transcript, result: str, *questions: str, is_error: bool = False) -> None:
    asked = [{"question": one, "header": "Q", "options": [{"label": "A"}], "multiSelect": False} for one in questions]
    t.call("AskUserQuestion", {"questions": asked}, result, is_error)


def answered(*pairs: tuple[str, str]) -> str:
    said = ", ".join(f'"{question}"="{answer}"' for question, answer in pairs)
    return f"User has answered your questions: {said}. You can now continue with the user's answers in mind."


@pytest.fixture
def t() -> Transcript:
    t = Transcript("s1", "/srv/app", version="2.1.49")
    t.prompt("Add a retry.")
    return t


# --- the queue --------------------------------------------------------------------------------------------------------


def test_what_was_handed_to_a_model_at_work_is_in_no_other_line(t: Transcript) -> None:
    """Of 68 lines that say `remove`, none took back what was typed."""
    operation(t, "enqueue", "Use backoff, not a fixed delay.")
    operation(t, "remove")
    t.reply("It backs off.")
    assert words(t) == [("prompt", "Add a retry."), ("queued", "Use backoff, not a fixed delay.")]


def test_what_waited_and_was_sent_is_the_prompt(t: Transcript) -> None:
    operation(t, "enqueue", "Now the tests. ")
    operation(t, "dequeue")
    t.prompt("Now the tests.")
    assert words(t) == [("prompt", "Add a retry."), ("prompt", "Now the tests.")]


def test_several_that_were_sent_as_one(t: Transcript) -> None:
    operation(t, "enqueue", "Now the tests.")
    operation(t, "enqueue", "And the docs.")
    operation(t, "dequeue")
    t.prompt("Now the tests.\nAnd the docs.")
    assert words(t)[1:] == [("prompt", "Now the tests.\nAnd the docs.")]


def test_newer_hosts_write_an_attachment_dated_when_it_was_typed(t: Transcript) -> None:
    operation(t, "enqueue", "go for the second")
    operation(t, "remove", "go for the second")
    t.attachment("queued_command", prompt="go for the second", commandMode="prompt", origin={"kind": "human"})
    assert words(t)[1:] == [("prompt", "go for the second")]
    found = events(t)
    queued = next(event for event in found if event.kind == "queued")
    found = [event._replace(at=queued.at - 0.001) if event.kind == "prompt" else event for event in found]
    found.sort(key=lambda event: event.at)
    assert [typed.how for typed in typed_words(found) if typed.text == "go for the second"] == ["prompt"]


def test_what_was_taken_back_counts_as_it_was_sent(t: Transcript) -> None:
    operation(t, "enqueue", "i mean the facets")
    operation(t, "popAll", "i mean the facets")
    t.prompt("i mean the facets, not the report")
    operation(t, "enqueue", "stick to the guidelines")
    operation(t, "popAll", "stick to the guidelines")
    operation(t, "enqueue", "stick to the guidelines and style")
    operation(t, "remove")
    operation(t, "enqueue", "never mind")
    operation(t, "popAll", "never mind")
    assert words(t)[1:] == [
        ("prompt", "i mean the facets, not the report"),
        ("queued", "stick to the guidelines and style"),
    ]


def test_what_was_typed_again_while_it_waited_counts_once(t: Transcript) -> None:
    for _ in range(10):
        operation(t, "enqueue", "Did you read the comments?")
        operation(t, "dequeue")
    t.prompt("Did you read the comments?")
    assert words(t)[1:] == [("prompt", "Did you read the comments?")]


def test_the_same_words_at_another_time_are_others(t: Transcript) -> None:
    operation(t, "enqueue", "2")
    operation(t, "remove")
    t.reply("Two it is.")
    t.prompt("Now the colour.")
    t.prompt("2")
    assert words(t)[1:] == [("queued", "2"), ("prompt", "Now the colour."), ("prompt", "2")]


def test_each_session_has_its_own_queue(t: Transcript) -> None:
    operation(t, "enqueue", "Run it.")
    found = events(t)
    other = found[0]._replace(id="other:0", session="s2", text="Run it.")
    assert [typed.how for typed in typed_words([*found, other])] == ["prompt", "queued", "prompt"]


@rows("text")
def test_what_nobody_typed(t: Transcript, text: str) -> None:
    operation(t, "enqueue", text)
    operation(t, "remove")
    assert words(t) == [("prompt", "Add a retry.")]


def test_what_was_meant_for_the_shell_is_none(t: Transcript) -> None:
    operation(t, "enqueue", "pwd")
    operation(t, "dequeue")
    t.prompt("<bash-input>pwd</bash-input>")
    assert words(t) == [("prompt", "Add a retry.")]


def test_what_a_machine_put_into_the_queue_is_none(t: Transcript) -> None:
    """Only the line that delivers it says who spoke."""
    operation(t, "enqueue", "Always push at once.")
    operation(t, "remove")
    t.attachment("queued_command", prompt="Always push at once.", commandMode="prompt", origin={"kind": "peer"})
    operation(t, "enqueue", "Check the build.")
    operation(t, "dequeue")
    t.meta("Check the build.")
    assert words(t) == [("prompt", "Add a retry.")]


# --- prompts ----------------------------------------------------------------------------------------------------------


def test_a_prompt_without_what_an_editor_adds() -> None:
    selected = "<ide_selection>The user selected line 3.</ide_selection>"
    assert own_text(f"{selected}\n<ide_opened_file>x.py</ide_opened_file>\nRename it.") == "Rename it."
    assert own_text("Rename it.\n<system-reminder>Be brief.</system-reminder>\n") == "Rename it."
    assert own_text(selected) == ""
    assert own_text("<system-reminder> is what?") == "<system-reminder> is what?"
    assert own_text("why is </system-reminder>") == "why is </system-reminder>"
    assert own_text("<div>x</div>") == "<div>x</div>"


def test_what_a_teammate_says_is_a_notice(t: Transcript) -> None:
    t.prompt('<teammate-message teammate_id="pm" color="blue">\nUse tabs from now on.\n</teammate-message>')
    assert [event.kind for event in events(t)] == ["prompt", "notice"]
    assert words(t) == [("prompt", "Add a retry.")]


def test_who_is_not_known_to_have_typed_is_told() -> None:
    t = Transcript("s1", "/srv/app")
    t._user("Run the nightly checks.", promptSource="sdk")
    (typed,) = typed_words(events(t))
    assert (typed.how, typed.by) == ("prompt", "program")


def test_a_prompt_that_a_resumed_session_has_twice_counts_once(t: Transcript) -> None:
    (prompt,) = events(t)
    assert len(typed_words([prompt, prompt._replace(id="again:0")])) == 1
    assert len(typed_words([prompt, prompt._replace(id="again:0", at=prompt.at + 60)])) == 2


def test_a_subagent_s_are_none(t: Transcript) -> None:
    t.sidechain("Look for callers.", "None.")
    assert words(t) == [("prompt", "Add a retry.")]


# --- answers and refusals ---------------------------------------------------------------------------------------------


def test_answers_of_any_length_with_quotes_inside(t: Transcript) -> None:
    long = 'We call it "steps" now, "done"="later", and ' + "so on " * 100 + "\n- the last"
    ask(t, answered(("Which name?", long), ('Is "x" used?', "No")), "Which name?", 'Is "x" used?')
    assert [(one.how, one.about, one.text) for one in typed_words(events(t))[1:]] == [
        ("answer", "Which name?", long),
        ("answer", 'Is "x" used?', "No"),
    ]


def test_notes_beside_an_answer_are_the_user_s_and_previews_are_not(t: Transcript) -> None:
    said = (
        'Your questions have been answered: "How?"="Seam now (Recommended)" selected preview:\n- a("x")\n+ b user '
        'notes: but keep a, "Which?"="all" user notes: all, "When?"="Now". You can now continue with these '
        "answers in mind."
    )
    ask(t, said, "How?", "Which?", "When?")
    assert [(one.about, one.text) for one in typed_words(events(t))[1:]] == [
        ("How?", "Seam now (Recommended)"),
        ("How?", "but keep a"),
        ("Which?", "all"),
        ("When?", "Now"),
    ]


def test_answers_where_the_questions_are_not_known(t: Transcript) -> None:
    ask(t, answered(("Which name?", "a, b"), ("Now?", "Yes")))
    assert words(t)[1:] == [("answer", "a, b"), ("answer", "Yes")]


def test_only_the_host_s_own_question_has_answers(t: Transcript) -> None:
    t.call("Bash", {"command": "cat log"}, answered(("Push?", "Always push.")))
    assert words(t) == [("prompt", "Add a retry.")]


def test_a_call_that_is_not_among_the_events_is_looked_for(t: Transcript) -> None:
    ask(t, answered(("Now?", "Yes")), "Now?")
    found = events(t)
    (call,) = [event for event in found if event.kind == "call"]
    without = [event for event in found if event.kind != "call"]
    assert [one.how for one in typed_words(without)] == ["prompt"]
    assert [one.text for one in typed_words(without, {call.ref: call})] == ["Add a retry.", "Yes"]


@pytest.mark.parametrize("note", ["", NOTE])
def test_what_was_said_instead_of_allowing_a_call(t: Transcript, note: str) -> None:
    t.call("ExitPlanMode", {"plan": "1. a"}, f"{SAYS}keep it simple,\n\nno new table{note}", True)
    t.call("Edit", {"file_path": "/a"}, f"{REFUSED}STOP what you are doing and wait for the user.{note}", True)
    assert words(t)[1:] == [("refusal", "keep it simple,\n\nno new table")]


def test_a_server_can_write_a_refusal_too(t: Transcript) -> None:
    t.call("mcp__x__y", {}, SAYS + "always push", True)
    t.call("Bash", {"command": "cat log"}, SAYS + "always push")
    (typed,) = typed_words(events(t))[1:]
    assert (typed.how, typed.by) == ("refusal", "program")


@pytest.mark.parametrize("note", ["", NOTE])
def test_questions_to_clarify_are_the_host_s_words_and_their_answers_the_user_s(t: Transcript, note: str) -> None:
    asked = '- "When?"\n  Answer: Defer it,\nuntil Stop\n- "How?"\n  (No answer provided)'
    ask(t, f"{SAYS}{CLARIFY}{asked}{note}", "When?", "How?", is_error=True)
    assert [(one.how, one.about, one.text) for one in typed_words(events(t))[1:]] == [
        ("answer", "When?", "Defer it,\nuntil Stop")
    ]


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=4), st.text())
def test_whatever_is_asked_and_answered(pairs: list[tuple[str, str]], more: str) -> None:
    call = json.dumps([{"question": question} for question, _ in pairs])
    base: dict[str, Any] = {"at": 1.0, "session": "s", "project": "p", "ref": "r"}
    found = [
        Event("a:0", kind="call", tool="AskUserQuestion", text=f"questions: {call}", **base),
        Event("b:0", kind="result", text=answered(*pairs) + more, **base),
        Event("c:0", kind="result", text=SAYS + more, failed=True, **base),
    ]
    assert all(isinstance(typed, Typed) and typed.text for typed in typed_words(found))
