"""The model's lists of tasks: what a session's calls left behind, and the lists of several sessions as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from memory_keeper.extract.todos import left_open, of_sessions, todos
from memory_keeper.model import Event
from tests.notes.story import Story, sessions


def listed(story: Story, *items: tuple[str, str]) -> Event:
    return story.call("TodoWrite", todos=[{"content": text, "status": status} for text, status in items])


def created(story: Story, number: int, subject: str) -> Event:
    return story.call("TaskCreate", f"Task #{number} created successfully: {subject}", subject=subject)


def updated(story: Story, number: int, **given: Any) -> Event:
    return story.call("TaskUpdate", f"Updated task #{number}", taskId=str(number), **given)


def test_a_list_that_is_written_anew_takes_the_place_of_the_one_before() -> None:
    story = Story()
    listed(story, ("Write it", "in_progress"), ("Test it", "pending"))
    last = listed(story, ("Write it", "completed"), ("Test it", "in_progress"))
    found = todos(story.events)
    assert [(todo.text, todo.status, todo.cite) for todo in found] == [
        ("Write it", "completed", last.id),
        ("Test it", "in_progress", last.id),
    ]
    assert [todo.text for todo in left_open(story.events)] == ["Test it"]


def test_a_task_is_changed_by_its_number() -> None:
    story = Story()
    created(story, 7, "Write it")
    created(story, 8, "Test it")
    updated(story, 7, status="completed")
    updated(story, 8, subject="Test it well")
    assert [(todo.text, todo.status) for todo in todos(story.events)] == [
        ("Write it", "completed"),
        ("Test it well", "pending"),
    ]


def test_one_that_was_made_and_changed_rests_on_both() -> None:
    story = Story()
    made = created(story, 1, "Write it")
    changed = updated(story, 1, status="in_progress")
    (todo,) = todos(story.events)
    assert {todo.cite, todo.made} == {made.id, changed.id}


def test_a_call_that_failed_changes_nothing() -> None:
    story = Story()
    listed(story, ("Write it", "in_progress"))
    story.call("TodoWrite", "<tool_use_error>no</tool_use_error>", failed=True, todos=[])
    assert [todo.text for todo in todos(story.events)] == ["Write it"]


@pytest.mark.parametrize("end", ["completed", "deleted"])
def test_a_task_of_several_sessions_is_what_the_last_says(end: str) -> None:
    first, second = Story(), Story()
    listed(first, ("Write it", "in_progress"), ("Test it", "pending"))
    listed(second, ("Write it", end))
    events = [*first.events, *(event._replace(id="x" + event.id, session="t") for event in second.events)]
    assert [todo.text for todo in left_open(events)] == ["Test it"]
    assert ("Write it", end) in [(todo.text, todo.status) for todo in of_sessions(events)]


@pytest.mark.parametrize("read", [todos, of_sessions, left_open])
@given(events=sessions())
def test_no_calls_are_an_error(read: Callable[[list[Event]], object], events: list[Event]) -> None:
    read(events)
