"""Items that nobody ever shared."""

from __future__ import annotations

from memory_keeper.model import Item

WRITER = "0123456789abcdef"


def an_item(number: int | str, text: str = "", writer: str = WRITER, rev: int = 1, at: float = 0.0) -> Item:
    at = at or 1000.0 + rev
    return Item(f"fact-{number}", "fact", text, "Somebody <s@host>", writer, at, 1000.0, rev, gone=not text)
