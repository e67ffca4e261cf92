"""A text is taken apart into what a reader would quote; code, logs and layout are passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.prose import SENTENCE, sentences, split
from tests.extract.hostile import PIECES
from tests.rows import rows


@rows("text", "wanted")
def test_what_a_text_says(text: str, wanted: list[list[str]]) -> None:
    """The words, what they are, and what they stand under."""
    assert [[one.text, one.kind, one.under] for one in sentences(text)] == wanted


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("But `__init__.py` still **calls** it", "But `__init__.py` still calls it"),
        (
            "The method __init__() of `f(**kwargs)` is **new and `x**2` too**",
            "The method __init__() of `f(**kwargs)` is new and `x**2` too",
        ),
        ("It is __not a name__ there", "It is not a name there"),
    ],
)
def test_a_name_is_no_emphasis(line: str, said: str) -> None:
    assert [one.text for one in sentences(line)] == [said]


def test_a_block_without_a_language_tells_its_commands_and_no_drawing() -> None:
    drawn = "├── metadata.json\nremaining = [b, c]\n→ touched is empty\n2. Somebody commits A"
    block = f"```\nmake test\n{drawn}\n$ shop rewind\n```"
    assert [one.text for one in sentences(f"It runs.\n\n{block}")] == ["It runs.", "make test", "$ shop rewind"]
