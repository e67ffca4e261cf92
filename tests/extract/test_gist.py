"""The gist of a message."""

from __future__ import annotations

from memory_keeper.extract.gist import gist
from tests.notes.story import Story


def test_the_gist_is_what_is_said_and_not_a_list_of_files() -> None:
    files = "\n".join(f"- src/billing/part_{number}/handler_{number}.py" for number in range(12))
    story = Story()
    event = story.reply(f"The handlers read the tax rate from the order now.\n\nFiles Modified:\n\n{files}")
    assert gist(event, 40)[0].text == "The handlers read the tax rate from the order now."
