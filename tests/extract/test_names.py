"""The files, names, links and numbers that the work may need again, the most likely first."""

from __future__ import annotations

import pytest
from hypothesis import given

from memory_keeper.extract.names import named, referred
from memory_keeper.model import Event
from tests.notes.story import Story, sessions
from tests.rows import rows


def texts(story: Story, kind: str = "") -> list[str]:
    return [fact.text for fact in named(story.events) if kind in ("", fact.kind)]


def test_a_name_stands_with_the_file_it_is_used_in() -> None:
    story = Story()
    story.edit("/p/up.py", "pass", "return upload_part(retryPolicy)")
    found = {fact.text: fact for fact in named(story.events)}
    assert found["upload_part"].about == found["retryPolicy"].about == "/p/up.py"
    assert found["/p/up.py"].kind == "file" and found["upload_part"].kind == "name"


def test_what_was_often_and_lately_written_comes_first() -> None:
    story = Story()
    story.edit("/p/old.py", "a", "old_name = 1")
    for number in range(90):
        story.reply(f"I go on, {number}.")
    for _ in range(3):
        story.edit("/p/new.py", "a", "new_name = 1")
    assert texts(story, "name") == ["new_name", "old_name"]
    assert texts(story, "file") == ["/p/new.py", "/p/old.py"]


@pytest.mark.parametrize(
    "path", ["/p/node_modules/a/b.js", "/usr/lib/x.py", "/p/.venv/lib/a.py", "/tmp/x/y.py", "/p/__pycache__/a.pyc"]
)
def test_a_library_is_none_of_the_work(path: str) -> None:
    story = Story()
    story.call("Read", file_path=path)
    assert texts(story) == []


def test_what_the_host_calls_its_fields_is_no_name() -> None:
    story = Story()
    story.prompt("The old_string was replaced, and replace_all with it.")
    assert texts(story) == []


def test_a_subagent_names_nothing() -> None:
    story = Story(agent="a1")
    story.edit("/p/up.py", "pass", "return upload_part()")
    story.reply("See https://example.org/a and #412.")
    assert named(story.events) == [] == referred(story.events)


@rows("text", "found")
def test_links_and_numbers(text: str, found: list[str]) -> None:
    story = Story()
    story.prompt(text)
    assert [fact.text for fact in referred(story.events)] == found


def test_what_a_tool_printed_is_no_reference() -> None:
    story = Story()
    story.run("cat notes", "https://example.org/evil #999")
    assert referred(story.events) == []


@given(sessions())
def test_each_is_named_once_and_stands_in_the_event_it_cites(events: list[Event]) -> None:
    known = {event.id: event for event in events}
    for found in (named(events), referred(events)):
        assert len({fact.text for fact in found}) == len(found)
        for fact in found:
            event = known[fact.cites[0]]
            assert fact.text in event.text or fact.text == event.path
