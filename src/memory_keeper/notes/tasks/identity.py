"""What tells one task from another: its id, else its words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2s

from memory_keeper.extract.concepts import concepts
from memory_keeper.text import clean, one_line

TASK_ID = re.compile(r"\bTASK-\d+\b")
LONGEST = 300  # characters of a task that tell it from another
LIKE, NEAR = 0.75, 0.51  # the share of their words that a commit and its task have; that two wordings under an id have
DULL = frozenset(("feat", "chor", "refactor"))


def split(text: str, ids: Iterable[str] = ()) -> tuple[str, str]:
    """The id that a task's text has, one of its own or one of some that are known, and what it says beside it."""
    line = one_line(clean(text[: 4 * LONGEST]), LONGEST)
    begins = line.lstrip("[(#")
    found = TASK_ID.search(line)
    id = found[0] if found else next((id for id in ids if id and begins[: len(id) + 1].rstrip(":]) ") == id), "")
    rest = begins.removeprefix(id).lstrip(")]:-–— ") if id and begins.startswith(id) else line
    return id, rest or line


def short_id(text: str) -> str:
    """A short id that the same words always have."""

    return f"T-{blake2s(folded(text).encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


def is_same(one: str, other: str) -> bool:
    """Whether two texts under one id are of the same task."""
    return folded(one) == folded(other) or likeness(one, other) >= NEAR


def folded(text: str) -> str:
    """The words of a task as far as they tell it from others."""
    return text.casefold().strip(" .!✓✅…")


def likeness(one: str, other: str) -> float:
    """The share of its words that the shorter of two texts has in common with the other."""
    mine, theirs = words_of(one), words_of(other)
    return len(mine & theirs) / min(len(mine), len(theirs)) if mine and theirs else 0.0


@lru_cache(1024)
def words_of(text: str) -> frozenset[str]:
    """What a task speaks of, beside what kind of change it is."""
    return concepts(text) - DULL
