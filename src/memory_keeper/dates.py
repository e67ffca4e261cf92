"""A time as people and models write it (`7d`, `yesterday`, `2026-01-31 14:05`), and when weeks and months begin."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from time import localtime, mktime

from memory_keeper.model import LATEST

UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
DAYS = {"today": 0, "yesterday": 1}
ALLOWED = "a time such as 7d, 12h, yesterday, 2026-01-31 or 2026-01-31T14:05"


def read_when(text: str, now: float, end: bool = False) -> float:
    """Epoch seconds; ValueError when it is no moment. A day begins where the clock of this machine says so; as the
    `end` of a time it is meant with all of it."""
    text = text.strip().lower().removesuffix(" ago")
    number, unit = text[:-1].strip(), text[-1:]
    if unit in UNITS and number.isdecimal() and len(number) < 7:
        return max(0.0, now - int(number) * UNITS[unit])
    try:
        day = _day(text, now)
        at = _begin(day + timedelta(days=end)) if day else datetime.fromisoformat(text.upper()).timestamp()
    except (OverflowError, OSError):
        raise ValueError(text) from None
    if not 0 <= at < LATEST:
        raise ValueError(text)
    return at


def _day(text: str, now: float) -> date | None:
    if text in DAYS:
        return datetime.fromtimestamp(now).date() - timedelta(days=DAYS[text])
    try:
        return date.fromisoformat(text.upper())
    except ValueError:
        return None


def _begin(day: date) -> float:
    return datetime(day.year, day.month, day.day).timestamp()


def week_began(now: float) -> float:
    """The last midnight at which a Sunday began."""
    day = localtime(now)
    return mktime((day.tm_year, day.tm_mon, day.tm_mday - (day.tm_wday + 1) % 7, 0, 0, 0, 0, 0, -1))


def month_of(at: float, back: int = 0) -> tuple[float, float]:
    """When the month of a time begins and ends, or one so many months before it."""
    year, month = localtime(at)[:2]
    return bounds(year, month - back)


def bounds(year: int, month: int) -> tuple[float, float]:
    """When a month begins and ends."""
    begin, end = (mktime((year, number, 1, 0, 0, 0, 0, 0, -1)) for number in (month, month + 1))
    return begin, end
