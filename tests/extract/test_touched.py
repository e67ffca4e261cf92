"""The files of some calls: those that were changed before those that were only read."""

from __future__ import annotations

from hypothesis import given

from memory_keeper.extract.touched import touched
from memory_keeper.model import WRITES, Event
from tests.notes.story import Story, sessions


def newest_first(story: Story) -> list[Event]:
    return [event for event in reversed(story.events) if event.kind == "call"]


def test_changed_files_come_first_and_are_counted() -> None:
    story = Story()
    story.edit("/p/a.py", "x", "y")
    story.edit("/p/a.py", "y", "z")
    newest = story.call("Read", file_path="/p/b.py")
    assert [(one.path, one.changes, one.reads) for one in touched(newest_first(story))] == [
        ("/p/a.py", 2, 0),
        ("/p/b.py", 0, 1),
    ]
    assert touched(newest_first(story))[1].cite == newest.id


def test_a_folder_and_a_search_touch_no_file() -> None:
    story = Story()
    story.call("Read", file_path="/p/")
    story.call("Grep", pattern="x", path="/p/a.py")
    assert touched(newest_first(story)) == []


@given(sessions())
def test_each_file_once_with_the_newest_call_about_it(events: list[Event]) -> None:
    found = touched(events)
    assert len({one.path for one in found}) == len(found)
    for one in found:
        assert one.cite == next(event.id for event in events if event.path == one.path)
        assert one.changes == sum(event.tool in WRITES for event in events if event.path == one.path)
