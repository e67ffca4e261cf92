"""Which sources each sentence of a model's rests on: the fewest that name all that it names.

A sentence that names nothing is held against the words of the sources. One that rests on nothing at all is left out:
whoever reads a note can look up every line of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.prose import split
from memory_keeper.notes.checks.grounding import Known, named, ungrounded

ALIKE = 2  # words that a sentence without names has to share with a source


class Record(NamedTuple):
    """Something that a note is about, and all that it says."""

    id: str
    texts: tuple[str, ...]


class Linked(NamedTuple):
    """A sentence, and the sources it rests on."""

    sentence: str
    cites: tuple[str, ...]


def link(said: str, sources: Sequence[Record]) -> list[Linked]:
    """The sentences of an accepted answer that rest on something, and on what."""
    library = Library(sources)
    found = (Linked(one, library.cite(one)) for line in said.splitlines() for one in split(line))
    return [one for one in found if one.cites]


class Library:
    """Sources, made easy to look something up in."""

    def __init__(self, sources: Sequence[Record]) -> None:
        self.sources = sources
        self.known = [Known(one.texts) for one in sources]
        self.words = [concepts(" ".join(one.texts)) for one in sources]
        self.often: dict[str, int] = {}
        for said in self.words:
            for concept in said:
                self.often[concept] = self.often.get(concept, 0) + 1

    def cite(self, sentence: str) -> tuple[str, ...]:
        """The sources that a sentence rests on, in their order; empty when there are none."""
        things = list(named(sentence, ()))
        said = concepts(sentence)
        chosen = self._naming(things, said) if things else self._speaking(said)
        texts = [text for number in chosen for text in self.sources[number].texts]
        if not chosen or ungrounded(sentence, texts):
            return ()
        return tuple(self.sources[number].id for number in sorted(chosen))

    def _naming(self, things: list[tuple[str, str, bool]], said: frozenset[str]) -> set[int]:
        """The fewest sources, about, that together name these things; of equals the one that shares most words."""
        having = {
            number: {place for place, thing in enumerate(things) if known.has(*thing)}
            for number, known in enumerate(self.known)
        }
        missing, chosen = set(range(len(things))), set()
        while missing:
            best = max(having, key=lambda number: (len(having[number] & missing), self._shared(number, said), -number))
            if not having[best] & missing:
                break  # named only by two of them together, if at all
            missing -= having[best]
            chosen.add(best)
        return chosen

    def _speaking(self, said: frozenset[str]) -> set[int]:
        """The source that shares most words with a sentence that names nothing, if it shares enough."""
        best = max(range(len(self.sources)), key=lambda number: (self._shared(number, said), -number), default=-1)
        enough = best >= 0 and len(self.words[best] & said) >= min(ALIKE, max(1, len(said)))
        return {best} if enough else set()

    def _shared(self, number: int, said: frozenset[str]) -> float:
        """How much of a sentence's words a source has; a word that few sources have says more."""
        return sum(log(1 + len(self.sources) / self.often[concept]) for concept in said & self.words[number])
