"""One key in the text of a JSON object: found, read and set, while every other byte stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from memory_keeper.errors import KeeperError

BOM = "\ufeff"


class Member(NamedTuple):
    """Where a key and its value stand in the text of an object."""

    key: str
    start: int
    value: int
    end: int


def refuse(name: str) -> Any:
    """Take none of the words that Python would read as numbers: `NaN`, `Infinity`."""
    raise ValueError(f"{name} is no JSON")


# numbers are left as they are written: only where a value ends is asked for
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=refuse)
_SPACE = " \t\r\n"


def read_members(text: str | None, path: str = "the file") -> list[Member]:
    """The keys of the one object that a text is, in order; a text with nothing in it has none."""
    if text is None or not text.strip(BOM + _SPACE):
        return []
    try:
        return list(_scan(text))
    except (ValueError, IndexError, RecursionError):
        hint = "nothing was changed; make it valid JSON first"
        raise KeeperError(f"{path} is not a JSON object", hint=hint) from None


def _scan(text: str) -> Iterator[Member]:
    at = _skip(text, _expect(text, _skip(text, len(BOM) * text.startswith(BOM)), "{"))
    first = True
    while text[at] != "}":
        if not first:
            at = _skip(text, _expect(text, at, ","))
        start, first = at, False
        _expect(text, start, '"')
        key, at = _DECODER.raw_decode(text, start)
        value = _skip(text, _expect(text, _skip(text, at), ":"))
        _, end = _DECODER.raw_decode(text, value)
        yield Member(key, start, value, end)
        at = _skip(text, end)
    if _skip(text, at + 1) != len(text):
        raise ValueError("more after the object")


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _expect(text: str, at: int, char: str) -> int:
    if text[at] != char:
        raise ValueError(f"no {char} at {at}")
    return at + 1


def find(text: str | None, key: str) -> Member | None:
    """Where a key stands; of two with one name the last one counts, as everywhere."""
    return next((member for member in reversed(read_members(text)) if member.key == key), None)


def text_of(text: str | None, key: str) -> str | None:
    found = find(text, key)
    return text[found.value : found.end] if text and found else None


def value_of(text: str | None, member: Member | None) -> Any:
    try:
        return json.loads(text[member.value : member.end]) if text and member else None
    except ValueError as error:  # a number of thousands of digits
        raise KeeperError(f"The settings cannot be read: {error}", hint="nothing was changed") from None


def is_set(text: str | None, key: str, values: list[Any]) -> bool:
    """Whether a key has one of these values."""
    found = find(text, key)
    return found is not None and any(same(value_of(text, found), one) for one in values)


def same(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def put(text: str | None, key: str, value: Any) -> str:
    """The text with a key set, laid out as its neighbours are."""
    if text is None or not text.strip(BOM + _SPACE):
        return (text or "")[:1].strip(_SPACE) + _lay_out({key: value}, "  ", "\n") + "\n"
    end = "\r\n" if "\r\n" in text else "\n"
    members, found = read_members(text), find(text, key)
    if not members:
        return text[: text.index("{")] + _lay_out({key: value}, "  ", end) + text[text.rindex("}") + 1 :]
    near = found or members[-1]
    # what stands between a key and the comma or brace before it is how this file begins a member
    before = text[len(text[: near.start].rstrip(_SPACE)) : near.start]
    indent = before.rpartition("\n")[2] if "\n" in before else ""
    laid = _lay_out(value, indent, end, indent)
    if found:
        return text[: found.value] + laid + text[found.end :]
    roomy = ": " in text[near.start : near.value]
    if "\n" in before:
        before = end + indent  # without the empty lines
    elif roomy and len(members) == 1:
        before = " "  # no comma has shown it yet
    return f"{text[: near.end]},{before}{json.dumps(key)}{': ' if roomy else ':'}{laid}{text[near.end :]}"


def _lay_out(value: Any, indent: str, end: str, margin: str = "") -> str:
    if not indent:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", end + margin)
