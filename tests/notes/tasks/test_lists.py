"""The tasks of a session: each once, in one list, whatever the model's lists forgot."""

from __future__ import annotations

from hypothesis import given

from memory_keeper.model import Event
from memory_keeper.notes.tasks.lists import tasks
from tests.notes.story import Story, sessions


def listed(story: Story, *items: tuple[str, str]) -> None:
    story.call("TodoWrite", "ok", todos=[{"content": text, "status": status} for text, status in items])


def found(story: Story) -> list[tuple[str, str]]:
    return [(task.text, task.status) for task in tasks(story.events)]


def test_what_an_earlier_list_completed_stays_completed() -> None:
    story = Story()
    listed(story, ("Clean up", "completed"), ("Fix imports", "in_progress"))
    listed(story, ("Fix imports", "completed"))
    listed(story, ("Write scenarios", "in_progress"), ("Deploy", "pending"))
    assert found(story) == [
        ("Clean up", "completed"),
        ("Fix imports", "completed"),
        ("Write scenarios", "in_progress"),
        ("Deploy", "pending"),
    ]


def test_what_a_list_drops_unfinished_is_gone() -> None:
    story = Story()
    listed(story, ("Try bcrypt", "in_progress"), ("Write tests", "pending"))
    listed(story, ("Write tests", "in_progress"))
    assert found(story) == [("Write tests", "in_progress")]


def test_a_task_that_is_opened_again_is_open_only() -> None:
    story = Story()
    listed(story, ("Fix imports", "completed"))
    listed(story, ("Fix imports", "pending"))
    assert found(story) == [("Fix imports", "pending")]


def test_an_id_is_one_task_however_it_is_worded() -> None:
    story = Story()
    listed(story, ("TASK-3: scoring analytics", "in_progress"))
    listed(story, ("TASK-3: scoring analytics, 40% done", "in_progress"))
    listed(story, ("TASK-3 done: 43/46 tests pass", "completed"))
    assert found(story) == [("TASK-3 done: 43/46 tests pass", "completed")]


def test_two_tasks_under_one_id_are_two() -> None:
    story = Story()
    listed(story, ("TASK-7: handler", "completed"), ("TASK-7: tests", "pending"))
    assert found(story) == [("TASK-7: handler", "completed"), ("TASK-7: tests", "pending")]


def test_the_newer_tools_number_their_tasks() -> None:
    story = Story()
    for number, subject in enumerate(("Write the parser", "Write the lexer"), 4):  # a session that goes on
        story.call("TaskCreate", f"Task #{number} created successfully: {subject}", subject=subject)
    story.call("TaskUpdate", "Updated task #5 status", taskId="5", status="completed")
    story.call("TaskUpdate", "Updated task #4 status", taskId="4", status="in_progress")
    assert found(story) == [("Write the lexer", "completed"), ("Write the parser", "in_progress")]


def test_when_a_task_was_in_hand_is_known() -> None:
    story = Story()
    listed(story, ("A", "pending"))
    story.run("make")
    listed(story, ("A", "in_progress"))
    begun = story.events[-1].at
    story.run("make")
    listed(story, ("A", "completed"))
    (task,) = tasks(story.events)
    assert begun - 1 <= task.begun <= begun < task.ended


@given(sessions())
def test_no_task_is_there_twice_or_in_two_lists(events: list[Event]) -> None:
    made = tasks([event for event in events if event.kind in ("todo", "result")])
    texts = [task.text for task in made]
    assert len({text.casefold() for text in texts}) == len(texts)
    assert all(bool(task.ended) == (task.status == "completed") for task in made)
