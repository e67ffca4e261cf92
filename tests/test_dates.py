"""A moment as people say it."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.dates import read_when

NOW = datetime(2026, 5, 20, 15, 30).timestamp()


def at(*parts: int) -> float:
    return datetime(*parts).timestamp()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("30m", NOW - 1800),
        ("12h", NOW - 43_200),
        ("7d", NOW - 604_800),
        ("2w ago", NOW - 1_209_600),
        ("today", at(2026, 5, 20)),
        ("Yesterday", at(2026, 5, 19)),
        ("2026-01-31", at(2026, 1, 31)),
        (" 2026-01-31T14:05 ", at(2026, 1, 31, 14, 5)),
        ("2026-01-31 14:05:09", at(2026, 1, 31, 14, 5, 9)),
        ("2026-01-31T12:00:00Z", 1_769_860_800.0),
        ("2026-01-31T12:00:00+02:00", 1_769_853_600.0),
        ("999999d", 0.0),
    ],
)
def test_what_people_say(said: str, when: float) -> None:
    assert read_when(said, NOW) == when


@pytest.mark.parametrize(
    "said", ["", " ", "soon", "d", "-1d", "7", "1.5d", "9999999d", "0001-01-01", "9999-12-31", "２d ２"]
)
def test_what_is_no_moment(said: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_when(said, NOW)


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("2026-01-31", at(2026, 2, 1)),
        ("today", at(2026, 5, 21)),
        ("yesterday", at(2026, 5, 20)),
        ("2026-01-31T14:05", at(2026, 1, 31, 14, 5)),
        ("7d", NOW - 604_800),
    ],
)
def test_as_an_end_a_day_is_meant_with_all_of_it(said: str, when: float) -> None:
    assert read_when(said, NOW, end=True) == when


@given(st.text(max_size=40))
def test_it_is_a_moment_or_it_is_none(said: str) -> None:
    try:
        assert 0 <= read_when(said, NOW) < 4_102_444_800
    except ValueError:
        pass
