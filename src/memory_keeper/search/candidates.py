"""The rows that may answer a query, found term by term: some hundreds, whatever the store has.

Of a term that many rows have only the newest come. Those that matter lie elsewhere too, with the rarer terms of the
query or with the other common ones, so these are asked for as well. How many rows have a common term is told by how far
back the newest ones reach, beside all rows of the scope.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.model import EVERYWHERE, Filter, NamedTuple, Phrase, Scope
from memory_keeper.search.query import Term
from memory_keeper.search.ranking import Weighed, rarity
from memory_keeper.search.scope import tables
from memory_keeper.store.store import Store

COUNTED = 5_000  # rows of a project that are counted: with more it is large, and how large is estimated
CAP = (1000, 400)  # rows of one term, of a small and of a large project
MOST = (600, 240)  # rows that are ranked
PLANNED = 20  # terms of a long query that are looked for, the rarest
TOGETHER = 3  # of the common terms that are looked for in pairs
ENOUGH = 20  # rows with a name: its pieces need not be looked for
SHARE = 0.9  # of all rows that a term can have at most


class Candidates(NamedTuple):
    """Rows that may answer, the heaviest first, with what they were found by."""

    keys: list[int]
    terms: list[Weighed]
    size: int  # of all that there is in the scope, about


def find_candidates(store: Store, terms: Sequence[Term], scope: Scope, deep: bool = False) -> Candidates:
    """The rows that have any of the terms, and every one that must be."""
    size = store.count(Filter(scope.project, limit=COUNTED))
    large = size >= COUNTED
    asked = [_Asked(store, scope, notes, CAP[large], deep) for notes in tables(scope)]
    sought = _rarest(_look_up(terms, asked))
    for number, table in enumerate(asked):
        table.join([(term, found[number]) for term, found in sought])
    events = next((table for table in asked if not table.notes), None)
    common = events is not None and any(events.full)
    newest, density = _density(events, scope) if events and (common or large) else (0, 1.0)
    size = max(size, int(store.newest_key() * density)) if large else size
    weighed: list[Weighed] = []
    for place, (term, _) in enumerate(sought):
        keys: set[int] = set().union(*(table.found[place] for table in asked))
        about = float(len(keys))
        if events and events.full[place]:
            near = events.cap / max(1, newest - events.oldest[place] + 1)
            about = max(about, size * min(SHARE, near / density))
        weighed.append(Weighed(term.weight, frozenset(keys), about))
    must = [weight.keys for (term, _), weight in zip(sought, weighed, strict=True) if term.must]
    return Candidates(_heaviest(weighed, must, size, MOST[large]), weighed, size)


def _density(events: _Asked, scope: Scope) -> tuple[int, float]:
    """The newest row of a scope, and how many of the newest rows of the store are of that scope."""
    scope = scope._replace(level=None, file="")
    if scope == EVERYWHERE:
        return events.store.newest_key(), 1.0
    newest = events.store.matching((), scope, events.cap, deep=True)
    return (newest[0], len(newest) / (newest[0] - newest[-1] + 1)) if newest else (0, 1.0)


class _Asked:
    """What one of the two tables said to each term."""

    def __init__(self, store: Store, scope: Scope, notes: bool, cap: int, deep: bool) -> None:
        self.store, self.scope, self.notes, self.cap, self.deep = store, scope, notes, cap, deep
        self.found: list[set[int]] = []  # the rows of each term, as far as they are known
        self.full: list[bool] = []  # whether there may be more
        self.oldest: list[int] = []  # of those that came

    def keys(self, *wanted: Sequence[Phrase]) -> list[int]:
        return self.store.matching(wanted, self.scope, self.cap, self.notes, deep=self.deep)

    def join(self, sought: Sequence[tuple[Term, list[int]]]) -> None:
        """Keep what was found, and ask for the rows of common terms that also have a rarer one, or another such."""
        self.found = [set(keys) for _, keys in sought]
        self.full = [len(keys) >= self.cap for _, keys in sought]
        self.oldest = [keys[-1] if keys else 0 for _, keys in sought]
        rare = [place for place, full in enumerate(self.full) if not full and self.found[place]]
        common = [place for place, full in enumerate(self.full) if full]
        some = [phrase for place in rare for phrase in sought[place][0].match]
        for place in common:
            if some:
                self.found[place].update(self.keys(some, sought[place][0].match))
        if len(common) > 2 and not rare:
            every = self.keys(*(term.match for term, _ in sought))
            for place in common:
                self.found[place].update(every)
        pairs = [(number, other) for number in common[:TOGETHER] for other in common[:TOGETHER] if number < other]
        for number, other in pairs if len(rare) < TOGETHER else ():
            both = self.keys(sought[number][0].match, sought[other][0].match)
            self.found[number].update(both)
            self.found[other].update(both)


def _look_up(terms: Sequence[Term], asked: Sequence[_Asked]) -> list[tuple[Term, list[list[int]]]]:
    """What each table has of each term; the pieces of a name are looked for only where the name is hardly found."""
    found: dict[tuple[Phrase, ...], list[list[int]]] = {}
    for term in sorted(terms, key=lambda term: bool(term.of)):
        if sum(map(len, found.get(term.of, ()))) < ENOUGH:
            found[term.match] = [table.keys(term.match) for table in asked]
    return [(term, found[term.match]) for term in terms if term.match in found]


def _rarest(sought: list[tuple[Term, list[list[int]]]]) -> list[tuple[Term, list[list[int]]]]:
    """The terms that are looked for, of a long query those that fewest rows have; the rarest first."""
    known = [term for term in sought if any(term[1])]
    known.sort(key=lambda pair: (not pair[0].must, sum(map(len, pair[1]))))
    lacking = [term for term in sought if not any(term[1])]
    return known[:PLANNED] + lacking


def _heaviest(weighed: Sequence[Weighed], must: Sequence[frozenset[int]], size: int, most: int) -> list[int]:
    """The rows that are ranked: those whose terms weigh most, and of equals the newest; all have what must be."""
    mass: dict[int, float] = {}
    for term in weighed:
        weight = term.weight * rarity(term.number, size)
        for key in term.keys:
            mass[key] = mass.get(key, 0.0) + weight
    keys = mass.keys() if not must else mass.keys() & frozenset.intersection(*must)
    newest_first = sorted(keys, reverse=True)
    newest_first.sort(key=mass.__getitem__, reverse=True)
    return newest_first[:most]
