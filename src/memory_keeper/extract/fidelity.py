"""What a summary kept of the facts of a handoff, and what it lost.

A fact is kept where the names in it stand in the summary, and most of what it speaks of stands in one place there; a
path may be named by its last part. What is lost is told again as whole facts, never as loose names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.facts import KINDS, Fact, say
from memory_keeper.extract.prose import sentences

NEAR = 3  # sentences of a summary that are one place
ENOUGH, NAMED = 0.6, 0.8  # of what a fact speaks of in one place, and of its names anywhere
SHORT = 3  # concepts of a fact that has to stand there whole


class Fidelity(NamedTuple):
    """How true a summary is to a handoff."""

    kept: int  # facts
    lost: int
    facts: list[Fact]  # only what was lost, most needed first


def compare(facts: Sequence[Fact], summary: str, beside: str = "") -> Fidelity:
    """Which facts a summary keeps, and those that it lost.

    `beside` is what else the new context holds: it is not told again, and is no merit of the summary's.
    """
    if not summary:
        return Fidelity(0, len(facts), list(facts))
    places = _places(summary)
    lost = [fact for fact in facts if not _is_kept(fact, places)]
    kept = len(facts) - len(lost)
    told = compare(lost, beside).facts if beside and lost else lost
    return Fidelity(kept, len(lost), told)


def _places(summary: str) -> list[frozenset[str]]:
    """What is said in each place of a summary; last, what is said in all of it."""
    found = [concepts(one.text) for one in sentences(summary)] or [frozenset()]
    near = [frozenset().union(*found[at : at + NEAR]) for at in range(max(1, len(found) - NEAR + 1))]
    lines = [] if any(found) else map(concepts, summary.splitlines())  # it may have no sentence at all
    return [*near, *lines, concepts(summary)]


def _stated(fact: Fact) -> str:
    """What a fact states, without the words of ours that it is told in: a summary need not have those."""
    if fact.kind in ("step", "goal"):
        return fact.text  # what it is about is only how it is introduced
    return f"{fact.text} {fact.about} {fact.why}" if KINDS[fact.kind].work else say(fact)


def _is_kept(fact: Fact, places: Sequence[frozenset[str]]) -> bool:
    wanted = concepts(_stated(fact))
    if not wanted:
        return True
    names = {one for one in wanted if is_name(one)}
    bare = {one for one in names if "/" not in one}  # a path counts by its last part
    if len(bare & places[-1]) < NAMED * len(bare):
        return False
    words = wanted - names
    if len(words) < SHORT:
        return words <= places[-1]
    return max(len(words & place) for place in places[:-1]) >= ENOUGH * len(words)
