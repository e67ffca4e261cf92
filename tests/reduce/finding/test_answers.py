"""What a reader is told of an answer, and of a turn that broke off."""

from __future__ import annotations

import pytest

from memory_keeper.reduce.finding.answers import announced, doing, statement
from memory_keeper.reduce.notes.digest import digest
from tests.reduce.story import Story


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Fixed. `total` rounded each line. Now it rounds once.", "`total` rounded each line. Now it rounds once."),
        ("Now let me commit:", ""),
        ("No response requested.", ""),
        ("Want me to fix this?", ""),
        ("Three of them fail. Let me look at the first:", "Three of them fail."),
        ("It works:\n- the parser reads all of the files now\n- short", "the parser reads all of the files now"),
    ],
)
def test_a_statement_tells_something(said: str, told: str) -> None:
    assert statement(said, 60).removesuffix(" …") == told


def test_a_turn_that_broke_off_says_what_it_was_doing() -> None:
    story = Story()
    story.prompt("Extract the rounding of `total` into a module of its own and use it in `cart.ts`.")
    story.reply("The module is there. Now let me use it in `cart.ts`:")
    story.run("npm run test", None)
    call, begun = doing(story.events), announced(story.events)
    assert call and call.tool == "Bash"
    assert begun and begun[0] == "Now let me use it in `cart.ts`"
    lines = [one.text for one in digest(story.events, 500)]
    assert 'Next, as the model said: "Now let me use it in `cart.ts`"' in lines
    assert 'Last said: "The module is there."' in lines
    assert "Was doing: Bash npm run test" in lines
    story.reply("All is used.")
    assert doing(story.events) is None and announced(story.events) is None
