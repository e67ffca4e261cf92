"""How wide a text is on a terminal: a status line and a table have only so many cells."""

from __future__ import annotations

NARROW = frozenset("▓░│·…")  # of one cell, which our own lines have


def columns(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if all(char < "\u0300" or char in NARROW for char in text):
        return len(text)
    from unicodedata import category, east_asian_width

    width = before = 0
    for char in text:
        if char == "\ufe0f":  # makes a picture of what stands before it
            wide = 2 - before
        elif category(char) in ("Mn", "Me", "Cf"):
            continue
        else:
            wide = before = 2 if east_asian_width(char) in ("W", "F") else 1
        width += wide
    return width
