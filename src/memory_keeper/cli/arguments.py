"""What commands take: the shared arguments, and how their values are read."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable
from time import time
from typing import Any, NamedTuple

from memory_keeper.dates import ALLOWED, read_when
from memory_keeper.terminal import near

MOST = 1 << 60
Argument = tuple[tuple[str, ...], dict[str, Any]]


def argument(*names: str, **given: Any) -> Argument:
    """An argument, as a parser wants it."""
    return names, given


class Verb(NamedTuple):
    """What can be done with a resource."""

    run: Callable[[Namespace], int]
    help: str
    example: str
    takes: tuple[Argument, ...] = ()
    aliases: tuple[str, ...] = ()


# --- values ----------------------------------------------------------------------------------------------------------


def number(least: int = 1, most: int = MOST) -> Callable[[str], int]:
    """A reader of a number between two."""
    what = f"a number from {least} to {most}" if most < MOST else f"a number above {least - 1}"

    def read(given: str) -> int:
        if not given.isdecimal() or len(given) > len(str(most)) or not least <= int(given) <= most:
            raise ArgumentTypeError(f"{given!r} is not {what}")
        return int(given)

    return read


positive = number()


def one_of(names: Iterable[str], hidden: Iterable[str] = ()) -> Callable[[str], str]:
    """A reader of one of some names, or of others that the help does not list."""
    listed, known = tuple(names), {*names, *hidden}

    def read(given: str) -> str:
        if given and given not in known:  # argparse reads a default too
            hint = near(given, sorted(known, key=listed.__contains__, reverse=True), f"choose from {', '.join(listed)}")
            raise ArgumentTypeError(f"invalid choice: {given!r}; {hint}")
        return given

    return read


def since(given: str) -> float:
    """When a time begins."""
    return _time(given, end=False)


def until(given: str) -> float:
    """When a time is over."""
    return _time(given, end=True)


def _time(given: str, end: bool) -> float:
    try:
        return read_when(given, time(), end)
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is not {ALLOWED}") from None


# --- arguments -------------------------------------------------------------------------------------------------------


def limit(usual: int, what: str = "at most so many", most: int = MOST) -> Argument:
    """How many of something."""
    span = f"1 to {most}; " if most < MOST else ""
    return argument("--limit", type=number(1, most), default=usual, metavar="N", help=f"{what} ({span}default {usual})")


ID = argument("id", metavar="ID", help="its id, or the beginning of it")
SESSION = argument("--session", default="", metavar="ID", help="default: the one that runs this, else the newest")
ALL_PROJECTS = argument("--all-projects", action="store_true", help="not only this project")
SINCE = argument("--since", type=since, default=0.0, metavar="WHEN", help="from then on: 7d, yesterday, 2026-01-31, …")
UNTIL = argument("--until", type=until, default=0.0, metavar="WHEN", help="before then; a day counts in full")
BUDGET = argument("--budget", type=positive, default=0, metavar="N", help="tokens it may cost")
USERS = argument("--user", action="store_true", help="in all of your projects, not only in this one")
YES = argument("--yes", action="store_true", help="do not ask")
DRY_RUN = argument("--dry-run", action="store_true", help="only say what would change")
