"""A text is taken apart into what a reader would quote; code, logs and layout are passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.prose import SENTENCE, sentences, split
from tests.extract.hostile import PIECES

# a text, and what it says: the words, what they are, and what they stand under
TEXTS: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "sentences": (
        "The pool leaks. It never closes a connection!",
        [("The pool leaks.", "prose", ""), ("It never closes a connection!", "prose", "")],
    ),
    "a short form ends no sentence": (
        "Use a queue, e.g. Redis, for this.",
        [("Use a queue, e.g. Redis, for this.", "prose", "")],
    ),
    "a name in marks of code ends none": (
        "Call `a. B. c` first. Then go on.",
        [("Call `a. B. c` first.", "prose", ""), ("Then go on.", "prose", "")],
    ),
    "a list under its heading": (
        "## Next steps\n1. Write the tests.\n2. Document the option.",
        [("Write the tests.", "item", "Next steps"), ("Document the option.", "item", "Next steps")],
    ),
    "a list under the line that introduces it": (
        "What is left to do:\n- write the tests\n- document the option",
        [
            ("What is left to do:", "prose", ""),
            ("write the tests", "item", "What is left to do:"),
            ("document the option", "item", "What is left to do:"),
        ],
    ),
    "a heading in bold": (
        "**Root cause**\n\nThe pool is never closed.",
        [("The pool is never closed.", "prose", "Root cause")],
    ),
    "a table without its head": (
        "| Issue | State |\n|---|---|\n| pool leak | fixed |\n| slow start | open |",
        [("pool leak · fixed", "row", ""), ("slow start · open", "row", "")],
    ),
    "a line that was wrapped": (
        "The uploader keeps a connection for every part of a file that it sends, and\nnever gives one back.",
        [
            (
                "The uploader keeps a connection for every part of a file that it sends, and never gives one back.",
                "prose",
                "",
            )
        ],
    ),
    "code is passed over": (
        "Look at this.\n\n```python\nfor part in parts:\n    send(part)\n```\n\nIt leaks.",
        [("Look at this.", "prose", ""), ("It leaks.", "prose", "")],
    ),
    "commands to run are not": (
        "Then run this:\n\n```bash\nmake test\n```",
        [("Then run this:", "prose", ""), ("make test", "code", "Then run this:")],
    ),
    "a diff is passed over": (
        "Changed as you said.\n--- a/src/up.py\n+++ b/src/up.py\n@@ -1,2 +1,2 @@\n-old line\n+new line",
        [("Changed as you said.", "prose", "")],
    ),
    "a trace is passed over": (
        'It raised this.\nTraceback (most recent call last):\n  File "a.py", line 1, in run\n    go()',
        [("It raised this.", "prose", "")],
    ),
    "layout goes": (
        "> The **pool** leaks, see [the issue](https://example.org/1).",
        [("The pool leaks, see the issue.", "prose", "")],
    ),
    "a number at the end": (
        "It is 107.04, not 107.06. That is true of v1 and v2. Switch to v2",
        [
            ("It is 107.04, not 107.06.", "prose", ""),
            ("That is true of v1 and v2.", "prose", ""),
            ("Switch to v2", "prose", ""),
        ],
    ),
    "the number of the next item": (
        "Close the pool.2. Run the tests.",
        [("Close the pool.", "prose", ""), ("Run the tests.", "prose", "")],
    ),
    "Korean": (
        "풀을 닫지 않습니다. 그래서 멈춥니다.",
        [("풀을 닫지 않습니다.", "prose", ""), ("그래서 멈춥니다.", "prose", "")],
    ),
    "Japanese": (
        "接続を閉じていません。それが原因です。",
        [("接続を閉じていません。", "prose", ""), ("それが原因です。", "prose", "")],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_text_says(name: str) -> None:
    text, wanted = TEXTS[name]
    assert [(one.text, one.kind, one.under) for one in sentences(text)] == wanted


@pytest.mark.parametrize(
    "heading", ["Remaining:", "## Remaining", "**Remaining**", "**Remaining:**", "Remaining work:"]
)
def test_a_list_knows_what_it_stands_under_however_that_is_written(heading: str) -> None:
    found = list(sentences(f"All of it reads.\n\n{heading}\n- quoted fields\n- the docs of it\n"))
    assert [one.text for one in found if one.under.startswith("Remaining")] == ["quoted fields", "the docs of it"]


@pytest.mark.parametrize("mark", ["- [x]", "* [X]", "✓", "✅", "☑"])
def test_an_item_that_is_ticked_is_done(mark: str) -> None:
    (done, open) = sentences(f"{mark} write the parser\n- [ ] write the docs")
    assert (done.text, done.done) == ("write the parser", True)
    assert (open.text, open.done) == ("write the docs", False)


def test_places_go_up_in_the_order_of_the_text() -> None:
    places = [one.place for one in sentences("One is here. Two is here.\n\n- three is here\n\n## Head\nFour is here.")]
    assert places == sorted(set(places))


@given(st.text(max_size=400) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_text_can_be_taken_apart_and_every_word_stands_in_it(text: str) -> None:
    known = [char for char in text if char.isalnum()]
    for one in sentences(text):
        assert one.text == one.text.strip() and len(one.text) > 0
        assert len(one.text) <= SENTENCE or one.kind in ("row", "code")
        rest = iter(known)
        assert all(char in rest for char in one.text if char.isalnum()), "its letters, in their order"


@given(st.text(max_size=300))
def test_nothing_is_lost_where_sentences_part(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())
