"""Questions made of rows: words, phrases, names and typing errors, each as a user types it and as others need it."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from bench.tools.baselines import EMPTY, WORD, telling

NAME = re.compile(r"\b(?:[a-z]+_[a-z_]*[a-z]|[a-z]+[A-Z][a-z]+[A-Za-z]*|[A-Z][a-z]+[A-Z][A-Za-z]+)\b")
LETTERS = re.compile(r"[A-Za-z]{3,}")


class Row(NamedTuple):
    """A piece of a file."""

    path: str
    text: str
    id: str = ""  # of its event


class Query(NamedTuple):
    """One thing to look for."""

    text: str  # as a user types it
    patterns: tuple[str, ...]  # what ripgrep is given, any of which counts
    words: tuple[str, ...]  # what the scan looks for, in lower case
    every: bool = True  # all of the words, or any
    row: str = ""  # the event that it was made of, where that is the one to find


def questions(sample: Sequence[Row], count: int, seed: int) -> dict[str, list[Query]]:
    """So many of each class, made from the rows themselves."""
    random = Random(seed)
    found_in = collections.Counter(word for row in sample for word in {*LETTERS.findall(row.text.lower())})
    often = [word for word, rows in found_in.items() if 0.02 <= rows / len(sample) <= 0.3]
    rare = [word for word, rows in found_in.items() if rows == 1 and len(word) > 4]
    middling = {word for word, rows in found_in.items() if 3 <= rows <= 0.02 * len(sample)}
    makers: dict[str, Callable[[], Query | None]] = {
        "one common word": lambda: words_query([random.choice(often)]),
        "one rare word": lambda: words_query([random.choice(rare)]),
        "two words": lambda: some_of(random, sample, 2, middling),
        "three words": lambda: some_of(random, sample, 3, middling | {*often}),
        "a question": lambda: question(random, sample),
        "a phrase": lambda: phrase(random, sample),
        "an identifier": lambda: identifier(random, sample),
        "a typo": lambda: typo(random, found_in, middling),
    }
    return {name: list(several(make, count)) for name, make in makers.items()}


def several(make: Callable[[], Query | None], count: int) -> Iterator[Query]:
    """As many as there should be."""
    made = (query for _ in itertools.count() if (query := make()))
    return itertools.islice(made, count)


def some_of(random: Random, sample: Sequence[Row], count: int, known: set[str]) -> Query | None:
    """Words of one row."""
    row = random.choice(sample)
    words = sorted({*LETTERS.findall(row.text.lower())} & known - EMPTY)
    if len(words) < count:
        return None
    return words_query(random.sample(words, count), every=count < 3)._replace(row=row.id)


def words_query(words: list[str], every: bool = True) -> Query:
    """Some words: both of two on a line, or any of more."""
    patterns = tuple(words) if len(words) != 2 else (".*".join(words), ".*".join(reversed(words)))
    return Query(" ".join(words), patterns, tuple(word.lower() for word in words), every)


def question(random: Random, sample: Sequence[Row]) -> Query | None:
    """Six to twelve words: a way to ask, and words that follow each other in the text."""
    row = random.choice(sample)
    words = [word.lower() for word in WORD.findall(row.text) if word.isalpha()]
    size = random.randint(4, 10)
    if len(words) < size:
        return None
    start = random.randrange(len(words) - size + 1)
    asked = random.choice(("why does", "how does", "where did", "when was", "what about"))
    text = f"{asked} {' '.join(words[start : start + size])}?"
    kept = telling(text)
    return Query(text, tuple(kept), tuple(kept), every=False, row=row.id)


def phrase(random: Random, sample: Sequence[Row]) -> Query | None:
    """Three or four words that follow each other, in quotes."""
    row = random.choice(sample)
    found = re.findall(r"\b[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,3}\b", row.text)
    if not found:
        return None
    said = random.choice(found)
    return Query(f'"{said}"', (said,), (said.lower(),), row=row.id)


def identifier(random: Random, sample: Sequence[Row]) -> Query | None:
    """A name of more than one word."""
    found = NAME.findall(random.choice(sample).text)
    return words_query([random.choice(found)]) if found else None


def typo(random: Random, found_in: collections.Counter[str], middling: set[str]) -> Query | None:
    """A word with two of its letters the wrong way round, as nobody wrote it."""
    word = random.choice(sorted(middling))
    place = random.randrange(1, max(2, len(word) - 2))
    wrong = word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
    return words_query([wrong]) if len(word) > 5 and wrong not in found_in else None
