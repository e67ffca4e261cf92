"""A conversation as the host hands it to its plugins: read once, and forgivingly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_keeper.model import Json, NamedTuple


class Message(NamedTuple):
    """A message of the conversation, as the host hands it to its plugins: one block of one."""

    place: int  # from the end: -1 is the last
    role: str
    text: str
    uses: tuple[tuple[str, str, Any], ...] = ()  # id, tool, what it was given
    results: tuple[tuple[str, str, bool], ...] = ()  # id, text, whether it failed


def read(given: Any) -> list[Message]:
    """The messages of a question, read forgivingly; none when they make no sense."""
    listed = given if isinstance(given, list) else []
    return [
        Message(place, entry["role"], _text(entry.get("text")), tuple(_uses(entry)), tuple(_results(entry)))
        for place, entry in enumerate(listed, -len(listed))
        if isinstance(entry, dict) and entry.get("role") in ("user", "assistant")
    ]


def _uses(message: Json) -> Iterator[tuple[str, str, Any]]:
    for use in _dicts(message.get("toolUses")):
        if id := _text(use.get("tool_use_id")):
            yield id, _text(use.get("tool")), use.get("input")


def _results(message: Json) -> Iterator[tuple[str, str, bool]]:
    for result in _dicts(message.get("toolResults")):
        if id := _text(result.get("tool_use_id")):
            yield id, _text(result.get("text")), result.get("isError") is True


def _dicts(value: Any) -> list[Json]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
