"""When two wordings are one wish, when a later one reverses it, and when they have nothing to do with each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from memory_keeper.model import Event
from memory_keeper.rules.instructions import hints, instructions
from memory_keeper.rules.wishes import REVERSES, SAME, Wish, compare, marks, pack, read, unpack
from tests.rows import rows


def wish(text: str, at: float = 1.0) -> Wish:
    """The only thing that a prompt wants for good, or hints at."""
    prompt = Event(f"e{at:g}", at, "prompt", f"s{at:g}", "p", text)
    (one,) = instructions(prompt) or hints(prompt)
    return one


def compared(older: str, newer: str) -> str:
    new, old = wish(newer, 2.0), wish(older, 1.0)
    how = compare(new, old)
    assert not how or {*marks(new)} & {*marks(old)}, "who looks for it by its marks finds it"
    return how


@rows("wordings")
def test_one_wish_in_other_words(wordings: list[str]) -> None:
    for older, newer in combinations(wordings, 2):
        assert (older, newer, compared(older, newer)) == (older, newer, SAME)
        assert (newer, older, compared(newer, older)) == (newer, older, SAME)


@rows("older", "newer")
def test_what_reverses_a_wish(older: str, newer: str) -> None:
    assert compared(older, newer) == REVERSES


@rows("older", "newer")
def test_what_has_nothing_to_do_with_a_wish(older: str, newer: str) -> None:
    assert compared(older, newer) == ""


@rows("said", "mood", "topic", "wanted", "rejected")
def test_a_wording_taken_apart(said: str, mood: str, topic: list[str], wanted: list[str], rejected: list[str]) -> None:
    one = read(said, said)
    assert [one.mood, *map(list, (one.topic, one.wanted, one.rejected))] == [mood, topic, wanted, rejected]
    assert unpack(one.text, [*pack(one)]) == one


@pytest.mark.parametrize("said", ["yes, please", "pnpm", "please fix the parser", "pnpm, please, for all of it", ""])
def test_what_hints_at_nothing(said: str) -> None:
    assert not hints(Event("e", 1.0, "prompt", "s", "p", said))
