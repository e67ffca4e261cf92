"""A moment as people and models say it: `7d`, `yesterday`, `2026-01-31`, `2026-01-31 14:05`."""

from __future__ import annotations

from datetime import datetime, timedelta

UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
DAYS = {"today": 0, "yesterday": 1}
ALLOWED = "a time such as 7d, 12h, yesterday, 2026-01-31 or 2026-01-31T14:05"
LATEST = 4102444800.0  # the year 2100


def read_when(said: str, now: float) -> float:
    """Epoch seconds; ValueError when it is no moment. A day begins where the clock of this machine says so."""
    said = said.strip().lower().removesuffix(" ago")
    if said in DAYS:
        day = datetime.fromtimestamp(now).date() - timedelta(days=DAYS[said])
        return datetime(day.year, day.month, day.day).timestamp()
    number, unit = said[:-1].strip(), said[-1:]
    if unit in UNITS and number.isdecimal() and len(number) < 7:
        return max(0.0, now - int(number) * UNITS[unit])
    try:
        at = datetime.fromisoformat(said.upper()).timestamp()
    except (OverflowError, OSError):
        raise ValueError(said) from None
    if not 0 <= at < LATEST:
        raise ValueError(said)
    return at
