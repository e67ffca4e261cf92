"""When weeks and months begin and end, by this machine's clock."""

from __future__ import annotations

from time import localtime, mktime


def week_began(now: float) -> float:
    """The last midnight at which a Sunday began."""
    day = localtime(now)
    return mktime((day.tm_year, day.tm_mon, day.tm_mday - (day.tm_wday + 1) % 7, 0, 0, 0, 0, 0, -1))


def month_began(now: float, back: int = 0) -> float:
    """The midnight at which this month began, or one so many months back."""
    year, month = localtime(now)[:2]
    return bounds(year, month - back)[0]


def month_of(at: float) -> tuple[float, float]:
    """When the month of a moment begins and ends."""
    year, month = localtime(at)[:2]
    return bounds(year, month)


def bounds(year: int, month: int) -> tuple[float, float]:
    """When a month begins and ends."""
    begin, end = (mktime((year, number, 1, 0, 0, 0, 0, 0, -1)) for number in (month, month + 1))
    return begin, end
