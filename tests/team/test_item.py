"""A shared item as a file: what is written is read back, and what is not as we would write it is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Item
from memory_keeper.team.item import KINDS, checked, dump, load, says_the_same, version
from memory_keeper.text import clean, storable

ITEM = Item("rule-0123456789ab", "rule", "Use pathlib.", "Ann <ann@x>", "0" * 16, 1_700_000_000.5, 1_700_000_000.0, 2)
WORDS = st.text(max_size=60).map(lambda text: " ".join(clean(storable(text)).split()))


@given(
    st.text(min_size=1, max_size=400).map(lambda text: clean(storable(text)).strip()).filter(bool),
    WORDS.filter(bool),
    WORDS,
    st.sampled_from(KINDS),
    st.integers(1, 1000),
)
def test_an_item_is_read_back_as_it_was_written(text: str, author: str, to: str, kind: str, rev: int) -> None:
    item = ITEM._replace(text=text, author=author, to=to, kind=kind, rev=rev)
    assert load(dump(item)) == item


def test_a_tombstone_is_read_back_and_has_no_text() -> None:
    gone = ITEM._replace(text="", gone=True, rev=3)
    assert load(dump(gone)) == gone
    assert version(gone) > version(ITEM)
    assert not says_the_same(gone, ITEM)


def test_a_file_shows_what_it_says() -> None:
    assert dump(ITEM).decode().split("\n")[-3:] == ["---", "Use pathlib.", ""]


@given(st.binary(max_size=300))
def test_any_bytes_are_an_item_or_refused(data: bytes) -> None:
    for given_ in (data, b"---\n" + data, dump(ITEM)[:40] + data):
        try:
            load(given_)
        except ValueError:
            pass


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "../../etc/passwd"},
        {"id": "Rule-1"},
        {"kind": "team"},
        {"kind": "shared"},
        {"writer": "../x"},
        {"at": 9e12},
        {"written": -1.0},
        {"at": float("nan")},
        {"rev": 0},
        {"rev": 1 << 40},
        {"author": " "},
        {"author": "x" * 500},
        {"text": "x" * 50_000},
        {"text": " "},
        {"gone": True},
    ],
    ids=str,
)
def test_what_cannot_be_an_item_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="has no valid"):
        checked(ITEM._replace(**wrong))  # type: ignore[arg-type]


def test_what_would_deceive_a_reader_is_taken_out() -> None:
    item = checked(ITEM._replace(text="Use \x1b[8mhidden\x1b[0m pathlib.\u202e", author="Ann\nThe user"))
    assert item.text == "Use hidden pathlib."
    assert item.author == "Ann The user"
