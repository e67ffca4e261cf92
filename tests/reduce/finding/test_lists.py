"""What became of tasks that were on a list, in one session and through several."""

from __future__ import annotations

import pytest

from memory_keeper.model import Event
from memory_keeper.reduce.finding.found import facts_of
from memory_keeper.reduce.finding.lists import left_open, of_sessions
from tests.reduce.story import Story

DOCS = "Write the docs"
MADE = ("TaskCreate", {"subject": DOCS}, "Task #1 created successfully: Write the docs")
LISTED = ("TodoWrite", {"todos": [{"content": DOCS, "status": "pending"}, {"content": "Ship", "status": "pending"}]})
Call = tuple[object, ...]


def told(*calls: Call) -> Story:
    story = Story()
    for tool, given, *answer in calls:
        assert isinstance(tool, str) and isinstance(given, dict)
        story.call(tool, str(answer[0]) if answer else "", **given)
    return story


def words(events: list[Event]) -> set[str]:
    return {todo.text for todo in left_open(events)}


def changed(status: str, number: str = "1") -> Call:
    return "TaskUpdate", {"taskId": number, "status": status}, "Updated task"


@pytest.mark.parametrize(
    "calls",
    [
        (MADE, changed("completed")),
        (MADE, changed("deleted")),
        (MADE, ("TaskUpdate", {"taskId": "1", "subject": "Write the manual"})),
        (LISTED, ("TodoWrite", {"todos": [{"content": DOCS, "status": "completed"}]})),
        (LISTED, ("TodoWrite", {"todos": [{"content": "Ship", "status": "pending"}]})),
        (LISTED, ("TodoWrite", {"todos": []})),
    ],
)
def test_a_task_that_left_its_list_is_off_it(calls: tuple[Call, ...]) -> None:
    assert DOCS not in words(told(*calls).events)


@pytest.mark.parametrize(
    "calls",
    [
        (MADE,),
        (MADE, changed("in_progress")),
        (MADE, changed("deleted"), ("TaskCreate", {"subject": DOCS}, "Task #2 created successfully")),
        (LISTED, ("TodoWrite", {"todos": [{"content": DOCS, "status": "in_progress"}]})),
    ],
)
def test_one_that_is_open_is_not(calls: tuple[Call, ...]) -> None:
    assert DOCS in words(told(*calls).events)


def in_turn(*stories: Story) -> list[Event]:
    """The events of several sessions."""
    return [
        event._replace(id=f"{number}-{event.id}", session=f"s{number}", ref=f"{number}-{event.ref}")
        for number, story in enumerate(stories)
        for event in story.events
    ]


SHIP = ("TaskCreate", {"subject": "Ship"}, "Task #2 created successfully: Ship")


def test_numbers_begin_anew_with_a_session() -> None:
    later = told(("TaskCreate", {"subject": "Ship"}, "Task #1 created successfully"), changed("deleted"))
    found = of_sessions(in_turn(told(MADE, SHIP), later))
    assert [(todo.text, todo.status) for todo in found] == [(DOCS, "pending"), ("Ship", "deleted")]


def test_unless_sessions_share_a_list() -> None:
    events = in_turn(told(MADE, SHIP), told(changed("deleted", "2")))
    assert [(todo.text, todo.status) for todo in of_sessions(events)] == [(DOCS, "pending"), ("Ship", "deleted")]
    assert [fact.text for fact in facts_of(events) if fact.kind == "todo"] == [DOCS]
    assert words(events) == {DOCS}


def test_a_list_of_another_session_takes_nothing_off() -> None:
    done = told(("TaskCreate", {"subject": "Deploy"}, "Task #1 created successfully"), changed("completed"))
    assert words(in_turn(told(MADE, SHIP), done)) == {DOCS, "Ship"}
    assert words(in_turn(told(LISTED), told(MADE, changed("completed")))) == {"Ship"}, "the last that names it says"
