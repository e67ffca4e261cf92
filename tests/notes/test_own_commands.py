"""What is left of a session without our own commands and what came of them."""

from __future__ import annotations

from memory_keeper.notes.note import write
from memory_keeper.notes.own_commands import others
from tests.notes.story import Story
from tests.rows import rows

OURS = "<command-message>why</command-message>\n<command-name>/memory-keeper:why</command-name>"
THEIRS = "<command-name>/cost</command-name>\n<command-message>cost</command-message>"


def asked_us() -> Story:
    """A request, then a command of ours."""
    story = Story()
    story.prompt("Make the parser strict.")
    story.reply("It is strict.")
    story.add("command", OURS)
    story.run("memory-keeper why", "155 tokens")
    story.reply("It cost 155 tokens.")
    return story


def test_what_comes_of_our_own_commands_is_left_out() -> None:
    story = asked_us()
    assert list(others(story.events)) == story.events[:2]
    assert list(others(story.events[2:])) == []
    assert write(story.events[2:], 700).text == ""


@rows("kind", "text")
def test_until_something_else_is_taken_up(kind: str, text: str) -> None:
    story = asked_us()
    story.add(kind, text)
    story.reply("The lexer is strict as well.")
    assert list(others(story.events)) == story.events[:2] + story.events[-2:]


def test_an_agent_s_own_prompts_say_nothing_about_it() -> None:
    story = asked_us()
    story.agent = "a1"
    story.prompt("Look it up.")
    assert list(others(story.events)) == story.events[:2]
