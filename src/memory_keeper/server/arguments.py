"""The arguments of a model's calls: read as they may be written, and if they are wrong, what they should have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory_keeper.dates import ALLOWED, read_when
from memory_keeper.errors import KeeperError
from memory_keeper.model import KINDS, NOTES, Json
from memory_keeper.server.protocol import SCHEMAS

IDS = 10
QUERY, TEXT, LONGEST = 1_000, 2_000, 200  # characters of a query, of what is remembered, of any other word


def check(name: str, given: Any, at: float) -> Json:
    """The arguments of a call as they should be; KeeperError says what they should have been."""
    given = {} if given is None else given
    takes = SCHEMAS[name].get("properties", {})
    if not isinstance(given, dict) or not takes.keys() >= given.keys():
        raise KeeperError(f"{name} takes {', '.join(takes) or 'no arguments'}, and nothing else")
    found = {}
    for argument, value in given.items():
        if value is None:
            continue
        read, allowed = ARGUMENTS[argument]
        choices = takes[argument].get("enum", [value])
        try:
            if value not in choices:
                allowed = f"one of {', '.join(choices)}"
                raise ValueError
            found[argument] = read(value, at)
        except ValueError:
            raise KeeperError(f"{argument} is {allowed}") from None
    missing = [argument for argument in SCHEMAS[name].get("required", ()) if argument not in found]
    if missing:
        raise KeeperError(f"{name} needs {missing[0]}: {ARGUMENTS[missing[0]][1]}")
    return found


def _words(most: int) -> Callable[[Any, float], str]:
    def read(value: Any, at: float) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise ValueError
        return value.strip()

    return read


def _number(least: int, most: int) -> Callable[[Any, float], int]:
    def read(value: Any, at: float) -> int:
        if isinstance(value, str) and value.isdecimal() and len(value) < 12:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError
        return value

    return read


def _kind(value: Any, at: float) -> str:
    if not isinstance(value, str) or value not in {**KINDS, **NOTES}:
        raise ValueError
    return value


def _flag(value: Any, at: float) -> bool:
    if value not in (True, False, "true", "false"):
        raise ValueError
    return value in (True, "true")


def _moment(value: Any, at: float) -> float:
    if not isinstance(value, str):
        raise ValueError
    return read_when(value[:LONGEST], at)


def _ids(value: Any, at: float) -> list[str]:
    """A list of ids, or one with commas between them."""
    ids = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(ids, list) or not 0 < len(ids) <= IDS:
        raise ValueError
    return list(dict.fromkeys(_words(LONGEST)(id, at) for id in ids))


# how each argument is read, whatever the tool, and what it may be
ARGUMENTS: dict[str, tuple[Callable[[Any, float], Any], str]] = {
    "query": (_words(QUERY), f"words to look for, at most {QUERY:,} characters"),
    "text": (_words(TEXT), f"what to remember, at most {TEXT:,} characters"),
    "kind": (_kind, f"one of {', '.join({**KINDS, **NOTES})}"),
    "file": (_words(LONGEST), "a path, or the end of one"),
    "since": (_moment, ALLOWED),
    "session": (_words(LONGEST), "the id of a session, or the beginning of one"),
    "around": (_words(LONGEST), "an id that search, timeline or a brief gave"),
    "ids": (_ids, f"a list of 1 to {IDS} ids that search, timeline or a brief gave"),
    "all_projects": (_flag, "true or false"),
    "raw": (_flag, "true or false"),
    "limit": (_number(1, 50), "a number from 1 to 50"),
    "offset": (_number(0, 1 << 40), "the number that the last answer gave"),
}
