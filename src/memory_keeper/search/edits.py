"""What an edit changed, in a few words: its file, and the lines that differ."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper import wire
from memory_keeper.capture.calls import fields
from memory_keeper.capture.project import short_path
from memory_keeper.model import Event
from memory_keeper.text import clean, one_line

CUT = 60  # characters of a side of an edit


def describe(call: Event, roots: Sequence[str] = ()) -> str:
    """The file of an edit, and what it changed in it."""
    path = one_line(clean(short_path(call.path, roots)), 120)
    old, new = changed_part(call)
    return f"{path}: `{old}` -> `{new}`" if old or new else path


def changed_part(call: Event) -> tuple[str, str]:
    """What an edit took away and what it put there: the lines that differ, each side on one line."""
    given = fields(call) if call.tool == "Edit" else {}
    if not given and call.tool == "MultiEdit":
        edits = wire.read_object('{"edits":' + fields(call).get("edits", "[]") + "}").get("edits")
        first = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else {}
        given = {key: str(value) for key, value in first.items()}
    old, new = given.get("old_string", "").split("\n"), given.get("new_string", "").split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    before, after = (one_line(clean(" ".join(side)), CUT) for side in (old, new))
    return before, after
