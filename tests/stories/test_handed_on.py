"""What a context was told at its start is carried over by its own handoff, until its own work takes the place of it."""

from __future__ import annotations

import json
import os

import pytest

from memory_keeper.cli.main import main
from memory_keeper.extract.facts import PARTS, facts_of
from memory_keeper.keeper import Keeper
from memory_keeper.store.context import LINKS
from memory_keeper.text import tokens
from tests.machine import Machine, Session

OTHER = {"ANOTHER": "process"}  # of the host, which is gone when its hook was answered
REQUEST = "Uploads fail for good when the server answers 503 once. Add retry with back-off, at most five tries."
DECIDED = "I decided against tenacity because it is one more dependency."
ASKED = "Should downloads be tried again as well?"
TASK = "Wire it into the uploader (in progress)"


def first_day(machine: Machine) -> Session:
    """A session with a goal, a rule, a decision, a command that failed, a task and a question that are open."""
    session = machine.session()
    session.environ = OTHER
    session.start()
    session.prompt(f"{REQUEST} Never print to stdout in the library.")
    path = f"{session.project}/src/retry.py"
    session.call("Write", {"file_path": path, "content": "def with_retry(call, tries=5):\n    return call()\n"})
    session.call("Bash", {"command": "make check"}, "make: *** No rule to make target 'check'.  Stop.", True)
    session.transcript.todo([("Write with_retry", "completed"), ("Wire it into the uploader", "in_progress")])
    session.reply(f"{DECIDED} The helper with_retry is in src/retry.py. {ASKED}")
    session.end()
    machine.settle()
    return session


def began(machine: Machine, source: str = "startup") -> Session:
    """A session in a process of its own that a test can clear."""
    session = machine.session()
    session.environ = {"CLAUDE_PID": str(os.getppid())}
    session.begun = session.start(source).text  # type: ignore[attr-defined]
    return session


def cleared(session: Session) -> tuple[Session, str]:
    """The session after it, and what that is told."""
    session.end("clear")
    session.machine.settle()
    new = session.machine.session()
    new.environ = session.environ
    return new, new.start("clear").text


def carried(text: str, day: Session) -> tuple[str, str]:
    """What a text tells of a session itself, and what that carried over from the first day."""
    own, heading, rest = text.partition(f"## Carried over from session {day.id[:8]}\n")
    assert heading, text
    return own, rest.partition("\n## ")[0]


def assert_handed_on(text: str, day: Session) -> None:
    """The new context knows of the first day what a reader needs."""
    _, on = carried(text, day)
    assert REQUEST in on
    assert 'The user insists: "Never print to stdout in the library."' in on
    assert "against tenacity" in on
    assert "`make check` failed" in on
    assert TASK in on
    assert ASKED in on
    assert "retry.py" in on


@pytest.mark.parametrize("prompt", ["What did we do last time? See src/retry.py", "hello", "What is next?"])
def test_one_question_and_a_clear_hand_on_what_the_context_began_with(machine: Machine, prompt: str) -> None:
    day = first_day(machine)
    session = began(machine)
    session.turn(prompt, "Retries for uploads.")
    _, text = cleared(session)
    assert_handed_on(text, day)
    assert f'"{prompt}"' in carried(text, day)[0]
    assert text.count("Uploads fail for good") == text.count("against tenacity") == 1


def test_and_so_does_every_clear_after_it(machine: Machine) -> None:
    day = first_day(machine)
    session = began(machine)
    for word in ("hello", "Are you there?"):
        session.turn(word, "Yes.")
        session, text = cleared(session)
        assert_handed_on(text, day)


def test_after_many_clears_the_session_is_named_in_which_it_was_said(machine: Machine) -> None:
    """A handoff tells of the sessions of a process together, as long as they are few."""
    session = began(machine)
    session.turn(f"{REQUEST} Never print to stdout in the library.", DECIDED)
    first = session.id[:8]
    for _ in range(LINKS + 2):
        session, text = cleared(session)
        session.turn("What is the state?", "As before.")
    on = text.partition(f"## Carried over from session {first}\n")[2]
    assert "Uploads fail for good" in on


def test_and_a_new_session_after_ones_that_only_said_hello(machine: Machine) -> None:
    day = first_day(machine)
    for word in ("hello", "Are you there?"):
        session = machine.session()
        session.environ = OTHER
        assert "Uploads fail for good" in session.start().text
        session.turn(word, "Yes.")
        session.end()
        machine.settle()
    session = machine.session()
    session.environ = OTHER
    text = session.start().text
    assert_handed_on(text, day)
    assert text.count("Uploads fail for good") == 1
    assert 'Asked last: "Are you there?"' in text
    assert "hello" not in text.partition("## Notes of sessions")[0], "what somebody said in passing is not handed on"


def test_a_clear_that_nobody_could_connect_hands_on_as_well(machine: Machine) -> None:
    """The plugin was installed in the middle of a session: its context is told it as the newest handoff."""
    day = first_day(machine)
    session = began(machine, "clear")
    assert f"Handoff of session {day.id[:8]}" in session.begun  # type: ignore[attr-defined]
    session.turn("What is next?", "VAT is in the cart.")
    _, text = cleared(session)
    assert_handed_on(text, day)


def worked(session: Session, prompt: str) -> None:
    """Work of its own."""
    session.prompt(prompt)
    path = f"{session.project}/src/labels.py"
    session.call("Edit", {"file_path": path, "old_string": "a", "new_string": "b"})
    session.reply("The label printer listens on port 9100 now.")


LABELS = "Please make the label printer listen on port 9100, and say so in its log when it begins."


def test_what_is_carried_over_is_told_by_a_new_session_s_brief(machine: Machine) -> None:
    day = first_day(machine)
    session = machine.session()
    session.environ = OTHER
    session.start()
    worked(session, LABELS)
    session.end()
    machine.settle()
    new = machine.session()
    new.environ = OTHER
    _, on = carried(new.start().text, day)
    for said in (REQUEST, "Never print to stdout in the library.", DECIDED):
        assert said in on


def test_a_rule_is_told_as_one_when_handed_over_and_when_carried_over(machine: Machine) -> None:
    rule = "From now on always run make check before you say that something is done."
    session = machine.session()
    session.environ = OTHER
    session.start()
    worked(session, LABELS)
    session.turn(rule, "Understood.")
    session.end()
    machine.settle()
    for number in range(2):  # handed over, then carried over
        session = machine.session()
        session.environ = OTHER
        text = session.start().text
        assert text.count(f'The user insists: "{rule}"') == 1, number
        session.turn("What is next?", "Nothing.")
        session.end()
        machine.settle()


def test_work_of_its_own_hands_on_only_what_outlives_it(machine: Machine) -> None:
    day = first_day(machine)
    session = began(machine)
    worked(session, LABELS)
    _, text = cleared(session)
    own, on = carried(text, day)
    assert "Please make the label printer" in own and "Uploads" not in own
    assert "Uploads fail for good" in on and "Never print to stdout" in on and "against tenacity" in on
    assert "make check" in on
    assert TASK in on, "no list says otherwise"
    assert ASKED not in text, "it may be settled"
    assert "with_retry is in src/retry.py" not in text


def test_what_is_only_gone_on_with_keeps_its_goal(machine: Machine) -> None:
    day = first_day(machine)
    session = began(machine)
    worked(session, "Go on with the uploader")
    _, text = cleared(session)
    own, on = carried(text, day)
    assert "Uploads fail for good" in on
    assert 'Asked last: "Go on with the uploader"' in own and "src/labels.py" in own


def test_what_a_program_asked_is_handed_on_too(machine: Machine) -> None:
    day = machine.session()
    day.environ = OTHER
    day.start()
    day.transcript._user(REQUEST, promptSource="sdk")
    day.write()
    day.reply("Uploads are tried five times now.")
    day.end()
    machine.settle()
    session = began(machine)
    session.turn("hello", "Hello.")
    _, text = cleared(session)
    on = text.partition(f"## Carried over from session {day.id[:8]}\n")[2]
    assert f'Asked last: "{REQUEST}"' in on


def test_a_second_piece_of_work_is_the_end_of_it(machine: Machine) -> None:
    first_day(machine)
    for number, thing in enumerate(("label printer", "cash drawer", "bar code reader")):
        session = machine.session()
        session.environ = OTHER
        session.start()
        worked(session, f"Please make the {thing} work again after the machine was asleep for a while.")
        session.end()
        machine.settle()
        machine.catch_up()
        with Keeper(str(machine.home)) as keeper:
            note = keeper.save(session.id, 2000)
        assert note and ("Uploads fail for good" in note.text) == (number == 0)


def listed_open(machine: Machine, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """What the command says of open tasks."""
    machine.catch_up()
    capsys.readouterr()
    with pytest.raises(SystemExit, match="0"):
        main(["task", "list", "--json", "--home", str(machine.home), "--project", str(machine.project)])
    return [(one["text"], one["state"]) for one in json.loads(capsys.readouterr().out)]


def test_a_task_is_open_through_many_sessions_until_a_list_says_otherwise(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    first_day(machine)
    task = "Wire it into the uploader"
    session, text = began(machine), ""
    for number in range(3):
        session.prompt(f"Please make the label printer number {number} listen on port 9100, and say so in its log.")
        path = f"{session.project}/src/labels.py"
        session.call("Edit", {"file_path": path, "old_string": "a", "new_string": f"b{number}"})
        session.transcript.task_create(f"Clean printer {number}")
        session.transcript.task_update("1", "completed")
        session.reply("It listens.")
        session.end()
        machine.settle()
        session = machine.session()
        session.environ = OTHER
        text = session.start().text
        assert text.partition("## Notes of sessions")[0].count(f"{task} (in progress)") == 1, (
            "a list of its own does not take it off"
        )
        assert listed_open(machine, capsys) == [(task, "doing")], "the command says the same"
        with pytest.raises(SystemExit, match="0"):
            main(["brief", "memory", "--home", str(machine.home), "--project", str(machine.project)])
        assert f"[in_progress] {task}" in capsys.readouterr().out, "and so does memory.md"
    session.prompt("Wire the uploader now.")
    session.transcript.todo([(task, "completed")])
    session.reply("Wired.")
    session.end()
    machine.settle()
    assert listed_open(machine, capsys) == []
    told = machine.session().start().text.partition("## Notes of sessions")[0]
    assert f"{task} (" not in told, "notes say what was open then"


def test_what_was_done_answered_or_changed_since_is_not_handed_on(machine: Machine) -> None:
    first_day(machine)
    session = began(machine)
    session.prompt("Yes, downloads as well.")
    session.transcript.todo([("Write with_retry", "completed"), ("Wire it into the uploader", "completed")])
    session.reply("Noted.")
    session.turn("From now on print to stdout in the library.", "Good.")
    _, text = cleared(session)
    assert "Uploads fail for good" in text
    assert ASKED not in text and TASK not in text
    insists = [line for line in text.splitlines() if line.startswith("| The user insists")]
    assert not any("Never print to stdout" in line for line in insists)
    assert any("From now on print to stdout" in line for line in insists)


def test_a_task_that_was_taken_off_the_list_is_not_handed_on(machine: Machine) -> None:
    first_day(machine)
    session = began(machine)
    session.prompt("What about the uploader?")
    session.transcript.task_create("Wire it into the uploader")
    session.transcript.task_update("1", "deleted")
    session.reply("That is off the list.")
    _, text = cleared(session)
    assert "Uploads fail for good" in text and TASK not in text and "uploader (open)" not in text


@pytest.mark.parametrize(
    ("asked", "answer"), [("hello", "Hello! What shall we do?"), ("who owns billing?", "Alice Kim owns it.")]
)
def test_what_was_asked_in_passing_is_not_handed_on_as_a_goal(machine: Machine, asked: str, answer: str) -> None:
    session = machine.session()
    session.environ = OTHER
    session.start()
    session.turn(asked, answer)
    session.end()
    machine.settle()
    new = began(machine)
    assert asked in new.begun  # type: ignore[attr-defined]
    new.turn("And who owns the label printer?", "Bob does.")
    new, text = cleared(new)
    assert f'"{asked}"' not in text
    worked(new, LABELS)
    _, text = cleared(new)
    assert "make the label printer" in text and f'"{asked}"' not in text


def compacted(session: Session, summary: str) -> str:
    """What a session is told after the host has summarized it, by a subagent of its own."""
    said = f"<analysis></analysis>\n<summary>\n{summary}\n</summary>"
    session.happen("SubagentStop", agent_id="a1", agent_type="", last_assistant_message=said)
    session.transcript.compact(summary)
    session.write()
    return session.start("compact").text


def test_a_compaction_brings_back_what_happened_in_the_session_first(machine: Machine) -> None:
    first_day(machine)
    session = began(machine)
    worked(session, LABELS)
    session.happen("PreCompact", trigger="manual")
    text = compacted(session, "A summary that says nothing.")
    assert text.index("label printer") < text.index("Carried over") < text.index("tenacity"), text
    assert tokens(text) <= 1100


def test_a_compaction_whose_summary_has_what_was_handed_on_brings_back_nothing_of_it(machine: Machine) -> None:
    first_day(machine)
    session = began(machine)
    worked(session, LABELS)
    session.happen("PreCompact", trigger="manual")
    told = session.handoff.read_text()
    assert "tenacity" not in compacted(session, told)


def test_a_resume_is_told_only_where_it_stood_itself(machine: Machine) -> None:
    first_day(machine)
    session = machine.session()
    session.environ = OTHER
    session.start()
    worked(session, LABELS)
    session.end()
    machine.settle()
    assert "Carried over" not in session.start("resume").text


@pytest.mark.git
def test_another_branch_s_handoff_is_not_handed_on(machine: Machine) -> None:
    """It was told in short, as one that may not apply."""
    day = first_day(machine)
    git = machine.project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/other\n")
    session = began(machine)
    session.turn("hello", "Yes.")
    _, text = cleared(session)
    assert (f"of session {day.id[:8]}" in text) == ("may not apply" not in session.begun)  # type: ignore[attr-defined]


def test_why_says_whose_it_was(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    day = first_day(machine)
    session = began(machine)
    session.turn("What is next?", "VAT is in the cart.")
    new, _ = cleared(session)
    machine.catch_up()
    with pytest.raises(SystemExit, match="0"):
        main(["why", "--session", new.id, "--home", str(machine.home), "--project", str(machine.project)])
    assert f"Carried over from session {day.id[:8]}" in capsys.readouterr().out


def test_the_page_and_the_json_say_it_too(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    day = first_day(machine)
    session = began(machine)
    session.turn("What is next?", "VAT is in the cart.")
    cleared(session)
    assert f"## Carried over from session {day.id[:8]}\n- " in session.handoff.read_text()
    with machine.store() as store:
        note = store.handoff(session.id)
    assert note and any(fact.of == day.id for fact in facts_of(note))
    where = ["--home", str(machine.home), "--project", str(machine.project)]
    with pytest.raises(SystemExit, match="0"):
        main(["brief", "handoff", "--session", session.id, "--json", *where])
    said = json.loads(capsys.readouterr().out)
    assert {row["of"] for part in PARTS for row in said[part] if "of" in row} == {day.id}
