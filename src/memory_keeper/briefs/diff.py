"""The one place where a file changes, as a unified diff."""

from __future__ import annotations

from memory_keeper.text import clean

CONTEXT = 3  # lines around a change
NOTHING = "/dev/null"  # what a file that is made was, and one that goes will be


def diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """What a change does to a file, for eyes: nothing in it moves the cursor. `None` is no file."""
    old, new = _lines(before), _lines(after)
    most = min(len(old), len(new))
    same = next((number for number in range(most) if old[number] != new[number]), most)
    most -= same
    tail = next((number for number in range(most) if old[-1 - number] != new[-1 - number]), most)
    first, last = max(same - CONTEXT, 0), max(tail - CONTEXT, 0)
    shown = [
        f"--- {path if before is not None else NOTHING}",
        f"+++ {path if after is not None else NOTHING}",
        f"@@ {_range('-', first, len(old) - last)} {_range('+', first, len(new) - last)} @@",
        *(f" {_shown(line)}" for line in old[first:same]),
        *(f"-{_shown(line)}" for line in old[same : len(old) - tail]),
        *(f"+{_shown(line)}" for line in new[same : len(new) - tail]),
        *(f" {_shown(line)}" for line in old[len(old) - tail : len(old) - last]),
    ]
    return "\n".join(shown) + "\n"


def _range(sign: str, first: int, end: int) -> str:
    return f"{sign}{first + (end > first)},{end - first}"


def _lines(data: bytes | None) -> list[bytes]:
    return data.removesuffix(b"\n").split(b"\n") if data else []


def _shown(line: bytes) -> str:
    return clean(line.rstrip(b"\r").decode("utf-8", "replace")).replace("\n", " ")
