"""How rows are ranked: by their words, what stands beside them, their kind, their age, and who said enough already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Row
from memory_keeper.search.ranking import CROWDED, HALF_LIFE, Ranked, Weighed, rank, rarity, spread

SIZE = 1000


def row(key: int, kind: str = "reply", session: str = "s", at: float = 0.0, size: int = 10) -> Row:
    return Row(key, f"e{key}:0", 0, kind, at, session, "p", size, "", "", "", False, "")


def term(*keys: int, weight: float = 1.0, number: float = 0.0) -> Weighed:
    return Weighed(weight, frozenset(keys), number or float(len(keys)))


def order(rows: Sequence[Row], terms: Sequence[Weighed], now: float = 0.0, asks: bool = False) -> list[int]:
    return [one.row.key for one in rank(rows, terms, SIZE, now=now, asks=asks)]


@pytest.mark.parametrize("asks", [False, True])
def test_more_words_are_better(asks: bool) -> None:
    rows = [row(10, session="a"), row(20, session="b"), row(30, session="c")]
    assert order(rows, [term(10, 20, 30), term(10, 20), term(10)], asks=asks) == [10, 20, 30]


def test_rare_words_count_more() -> None:
    rows = [row(10, session="a"), row(20, session="b")]
    assert order(rows, [term(10, number=500), term(20, number=2)]) == [20, 10]
    assert rarity(1, SIZE) > rarity(10, SIZE) > rarity(500, SIZE) > rarity(SIZE, SIZE) >= 0
    assert rarity(50, 10) >= 0, "more than we thought there are"


def test_short_rows_are_better_than_long_ones() -> None:
    rows = [row(10, session="a", size=5000), row(20, session="b", size=10)]
    assert order(rows, [term(10, 20)]) == [20, 10]


def test_the_kind_of_a_row_counts() -> None:
    rows = [row(10, "notice", "a"), row(20, "prompt", "b"), row(30, "reply", "c"), row(-4, "decision", "d")]
    ranked = order(rows, [term(10, 20, 30, -4), term(number=5)])
    assert ranked.index(20) < ranked.index(30) < ranked.index(10)


def test_what_is_new_counts_a_little_more() -> None:
    now = 100 * HALF_LIFE
    rows = [row(10, session="a", at=now - 50 * HALF_LIFE), row(20, session="b", at=now - 10)]
    assert order(rows, [term(10, 20)], now) == [20, 10]
    assert order(rows, [term(10, 20), term(10)], now) == [10, 20], "words count more"


def test_a_row_is_read_with_what_stands_beside_it() -> None:
    rows = [row(10, session="a"), row(11, session="a"), row(12, session="a"), row(50, session="b")]
    ranked = order(rows, [term(10, 50), term(11)], asks=True)
    assert ranked.index(10) < ranked.index(50), "the other word stands next to it"
    apart = [row(10, session="a"), row(11, session="b"), row(50, session="c")]
    first, second = (one for one in rank(apart, [term(10, 50)], SIZE) if one.row.key in (10, 50))
    assert first.score == pytest.approx(second.score), "another session's row is no neighbour"


def test_notes_have_no_neighbours() -> None:
    rows = [row(-10, "fact", "a"), row(-11, "fact", "a"), row(-50, "fact", "b")]
    scores = {one.row.key: one.score for one in rank(rows, [term(-10, -50), term(-11)], SIZE)}
    assert scores[-10] == pytest.approx(scores[-50])


def test_of_equals_the_newest_comes_first() -> None:
    rows = [row(10, session="a", at=5.0), row(20, session="b", at=9.0), row(30, session="c", at=7.0)]
    assert order(rows, [term(10, 20, 30)]) == [20, 30, 10]


def test_nothing_ranks_as_nothing() -> None:
    assert rank([], [], SIZE) == []
    assert [one.score for one in rank([row(1)], [], SIZE)] == [0.0]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.sampled_from("abc")), max_size=30, unique_by=lambda one: one[0]),
    st.lists(st.frozensets(st.integers(1, 60)), max_size=4),
    st.booleans(),
)
def test_scores_are_shares_and_every_row_has_one(
    made: list[tuple[int, str]], having: list[frozenset[int]], asks: bool
) -> None:
    rows = [row(key, session=session) for key, session in made]
    ranked = rank(rows, [Weighed(1.0, keys, float(len(keys))) for keys in having], SIZE, asks=asks)
    assert sorted(one.row.key for one in ranked) == sorted(key for key, _ in made)
    assert all(0 <= one.score <= 1.2 and 0 <= one.share <= 1 + 1e-9 for one in ranked)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


# --- spread -----------------------------------------------------------------------------------------------------------


def ranked(*scores: tuple[str, float]) -> list[Ranked]:
    rows = [Ranked(row(number, session=session), score, 1.0) for number, (session, score) in enumerate(scores, 1)]
    return sorted(rows, key=lambda one: -one.score)


def test_one_session_does_not_crowd_out_the_others() -> None:
    many = ranked(*[("a", 1.0 - n / 1000) for n in range(20)], ("b", 0.8), ("c", 0.7))
    best = [one.row.session for one in list(spread(many, CROWDED[0]))[:5]]
    assert best[0] == "a" and {"b", "c"} <= set(best)


def test_the_best_stays_the_best() -> None:
    many = ranked(("a", 0.9), ("a", 0.8), ("b", 0.3))
    assert [one.row.session for one in spread(many)] == ["a", "a", "b"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=40))
def test_everything_comes_once_in_the_order_of_its_session(scores: list[tuple[str, float]]) -> None:
    many = ranked(*scores)
    found = list(spread(many))
    assert sorted(one.row.key for one in found) == sorted(one.row.key for one in many)
    for session in "abcd":
        keys = [one.row.key for one in many if one.row.session == session]
        assert [one.row.key for one in found if one.row.session == session] == keys
    for one, other in pairwise(found):
        assert one.score >= other.score - 1e-9
