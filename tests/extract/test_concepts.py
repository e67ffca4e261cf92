"""What a text speaks of: names as they are, words without their endings, nothing that every text has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.concepts import concepts, is_name
from tests.rows import rows


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call upload_part of src/up.py", {"upload_part", "src/up.py", "up.py"}),
        ("It listens on 127.0.0.1:5433", {"127.0.0.1:5433"}),
        ("see #412 and v2.1.3", {"#412", "v2.1.3"}),
        ("RetryPolicy is in the pool", {"retrypolicy"}),
        ("just words, nothing else", set()),
    ],
)
def test_names_and_numbers(text: str, names: set[str]) -> None:
    assert {one[1:] for one in concepts(text) if is_name(one)} == names


@rows("one", "other")
def test_the_same_in_other_forms(one: str, other: str) -> None:
    shared = concepts(one) & concepts(other)
    assert shared and shared in (concepts(one), concepts(other))


@pytest.mark.parametrize("text", ["", " ", "...", "the a of it", "is was been", "—", "`", "\u200b"])
def test_nothing_is_spoken_of(text: str) -> None:
    assert concepts(text) == frozenset()


@given(st.text(max_size=80), st.text(max_size=80))
def test_more_text_speaks_of_more(one: str, other: str) -> None:
    assert concepts(one) | concepts(other) == concepts(f"{one} \n {other}")


@given(st.text(max_size=200))
def test_every_concept_is_a_name_or_a_word(text: str) -> None:
    for one in concepts(text):
        assert one and (not is_name(one) or len(one) > 1)
