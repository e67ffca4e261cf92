"""How large a context was before and after, by one rule, whatever the host left out."""

from __future__ import annotations

import json

import pytest

from memory_keeper.model import Event, Usage
from memory_keeper.notes.usage.compactions import measure, sizes


def mark(at: float, kind: str = "compact", **about: object) -> Event:
    return Event(f"m{at}:0", at, kind, "s", "p", "", extra=json.dumps(about) if about else "")


def response(at: float, size: int, agent: str = "") -> Usage:
    return Usage(f"r{at}", at, "s", "p", agent, "claude", 1, size - 3, 2, 50)


def test_the_host_s_own_figure_comes_first_and_then_its_responses() -> None:
    usages = [response(1, 120_000), response(3, 30_000), response(4, 31_000)]
    (said,) = measure([mark(2, preTokens=121_000, postTokens=9_000)], usages)
    assert (said.before, said.after, said.requests) == (121_000, 30_000, 2)
    (silent,) = measure([mark(2)], usages)
    assert (silent.before, silent.after) == (120_000, 30_000)


def test_until_a_response_follows_it_is_what_the_host_says_it_left() -> None:
    (one,) = measure([mark(2, postTokens=9_000)], [response(1, 120_000)])
    assert (one.before, one.after, one.requests) == (120_000, 9_000, 0)


def test_each_one_ends_where_the_context_is_compacted_again() -> None:
    marks = [mark(2), mark(4, "archived"), mark(5), mark(7, "end")]
    usages = [response(1, 90_000), response(3, 20_000), response(6, 10_000)]
    found = measure(marks, usages)
    assert [(one.before, one.after) for one in found if one.at in (2, 5)] == [(90_000, 20_000), (20_000, 10_000)]
    assert [one.before for one in found] == [90_000, 20_000, 20_000, 10_000]


def test_what_was_left_is_before_the_next_one_even_in_the_same_moment() -> None:
    found = measure([mark(2, preTokens=90_000, postTokens=8_000), mark(2, "archived")], [])
    assert [one.before for one in found] == [90_000, 8_000]


@pytest.mark.parametrize("odd", [0, -1, True, "9", None, 1.5])
def test_what_is_no_number_is_unknown(odd: object) -> None:
    (one,) = measure([mark(2, preTokens=odd, postTokens=odd)], [])
    assert (one.before, one.after) == (None, None)


def test_subagents_have_contexts_of_their_own() -> None:
    empty = Usage("r9", 9.0, "s", "p", "", "claude", 0, 0, 0, 5)
    assert sizes([response(1, 10), response(2, 99, agent="a1"), empty]) == [(1, 10)]
