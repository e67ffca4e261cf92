"""What a call was given is read back from its text."""

from __future__ import annotations

from hypothesis import given

from memory_keeper.capture.calls import (
    command_of,
    commits,
    core,
    ends_with,
    fields,
    first_step,
    quiet_commit,
    steps,
    typed,
    undone,
)
from memory_keeper.model import Event
from tests.notes.story import Story, sessions
from tests.rows import rows


def test_the_fields_of_a_call() -> None:
    story = Story()
    edit = story.edit("/p/a.py", "x: 1\ny", "z")
    assert fields(edit) == {"file_path": "/p/a.py", "old_string": "x: 1\ny", "new_string": "z"}
    assert fields(story.call("Unknown", given="x")) == {}
    assert command_of(story.run("make test")) == "make test"
    assert command_of(edit) == ""


def test_a_command_line_and_its_heart() -> None:
    line = "cd a && FOO=1 npm test -- --watch 2>&1 | tail -3"
    assert first_step(line) == "npm test -- --watch"
    assert core(line) == "npm test"
    assert typed(line, 60) == "FOO=1 npm test -- --watch"
    assert steps("a && b; c | d")[:2] == ["a", "b"]
    assert core("ls -la") == ""


def test_edits_that_were_taken_back() -> None:
    story = Story()
    first, kept = story.edit("/p/a.py", "a", "b"), story.edit("/p/a.py", "c", "d")
    back = story.edit("/p/a.py", "b", "a")
    assert undone(story.events) == {first.id, back.id}
    story.run("git checkout -- a.py")
    assert undone(story.events) == {first.id, back.id, kept.id}


def test_what_was_committed_is_not_taken_back_by_a_checkout() -> None:
    story = Story()
    story.edit("/p/a.py", "a", "b")
    story.run("git commit -qam x")
    story.run("git checkout -- a.py")
    assert undone(story.events) == set()


@rows("line", "commit")
def test_which_lines_make_a_commit(line: str, commit: bool) -> None:
    assert commits(line) == commit


def test_a_line_that_only_speaks_of_commits_keeps_no_edit() -> None:
    story = Story()
    edit = story.edit("/p/a.py", "a", "b")
    story.run("echo 'git commit'")
    story.run("git checkout -- a.py")
    assert undone(story.events) == {edit.id}


@rows("line", "subject")
def test_the_subject_of_a_quiet_commit(line: str, subject: str) -> None:
    assert quiet_commit(line) == subject


def test_a_path_ends_with_a_shorter_form_of_it() -> None:
    assert ends_with("/p/src/a.py", "src/a.py")
    assert not ends_with("/p/src/a.py", "rc/a.py")
    assert not ends_with("a.py", "a.py")


@given(sessions())
def test_any_events_can_be_asked(events: list[Event]) -> None:
    assert undone(events) <= {event.id for event in events}
    assert all(isinstance(command_of(event), str) for event in events)
