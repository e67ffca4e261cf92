"""The times that a query names: `in May 2023`, `on 8 May`, `2026-11-03`, `yesterday`, `three days ago`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from memory_keeper import regex as re
from memory_keeper.model import NamedTuple

CALENDAR = """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    zero one two three four five six seven eight nine ten
"""
MONTHS, DAYS, COUNTS = (line.split() for line in CALENDAR.strip().splitlines())
NUMBERS = {word: number for number, word in enumerate(COUNTS)}
ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d?)(?:-(\d\d?))?\b")
MONTH = re.compile(
    r"(?:\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?"
    r"\b(" + "|".join(f"{month}|{month[:3]}" for month in MONTHS) + r")\b\.?"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b(?!:))?,?(?: ((?:19|20)\d\d)\b)?",
    re.I,
)
YEAR = re.compile(r"\b(?:in|of|during|since|from) ((?:19|20)\d\d)\b", re.I)
AGO = re.compile(r"\b(\d{1,3}|an?|" + "|".join(NUMBERS) + r") (day|week|month|year)s? ago\b", re.I)
NEAR = re.compile(r"\b(today|yesterday|(?:this|last) (?:week|month|year|" + "|".join(DAYS) + r"))\b", re.I)
LENGTH = {"day": 1, "week": 7, "month": 30, "year": 365}


class Period(NamedTuple):
    """A time that a query names: whether a moment lies in it."""

    said: str
    holds: Callable[[float], bool]
    first: float = 0.0  # where it begins and ends, if that is known: a month may be of any year
    last: float = 0.0


def read_periods(text: str, now: float) -> list[Period]:
    """The times that a query names."""
    text = text[:4096]
    found: list[Period] = []
    for match in ISO.finditer(text):
        found.append(_date(match[0], int(match[1]), int(match[2]), int(match[3] or 0)))
    for match in MONTH.finditer(text):
        day = int(match[1] or match[3] or 0)
        # `may` is a verb, `mar` and `dec` are names, unless written as a month or with a day or a year
        if not (day or match[4] or (match[2][0].isupper() and (len(match[2]) > 3 or match[2] == "May"))):
            continue
        number = next(number for number, name in enumerate(MONTHS, 1) if name.startswith(match[2].lower()[:3]))
        found.append(_date(match[0], int(match[4] or 0), number, day))
    found += [_date(match[0], int(match[1]), 0, 0) for match in YEAR.finditer(text)]
    found += [_ago(match, now) for match in AGO.finditer(text)]
    found += [_near(match[0].lower(), now) for match in NEAR.finditer(text)]
    return found


def _date(text: str, year: int, month: int, day: int) -> Period:
    """A date of which only some parts may be known."""

    def holds(at: float) -> bool:
        then = datetime.fromtimestamp(at)
        return (not year or then.year == year) and (not month or then.month == month) and (not day or then.day == day)

    try:
        first = datetime(year, month or 1, day or 1)
        last = (
            first + timedelta(days=1) if day else datetime(year + (month in (0, 12)), month % 12 + 1 if month else 1, 1)
        )
        return Period(text, holds, first.timestamp(), last.timestamp())
    except (ValueError, OverflowError, OSError):
        return Period(text, holds)  # without a year, or no such day


def _ago(match: re.Match[str], now: float) -> Period:
    count = NUMBERS.get(match[1].lower(), 1 if match[1][0] in "aA" else int(match[1]) if match[1].isdigit() else 1)
    length = LENGTH[match[2].lower()]
    return _between(match[0], now - (count + 0.5) * length * 86400, now - (count - 0.5) * length * 86400)


def _near(text: str, now: float) -> Period:
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    which, _, unit = text.partition(" ")
    if text == "today" or text == "yesterday":
        first = today - timedelta(days=text == "yesterday")
        return _between(text, first.timestamp(), (first + timedelta(days=1)).timestamp())
    if unit in DAYS:
        back = (today.weekday() - DAYS.index(unit)) % 7 or 7
        first = today - timedelta(days=back)
        return _between(text, first.timestamp(), (first + timedelta(days=1)).timestamp())
    length = LENGTH[unit] * 86400.0
    end = now if which == "this" else now - length * 0.3  # loosely: who says last week may mean five days ago
    return _between(text, now - length * (1 if which == "this" else 2), end)


def _between(text: str, first: float, last: float) -> Period:
    return Period(text, lambda at: first <= at < last, first, last)
