"""Find what was kept, at any level. Verb: find.

A query is words; whatever it contains, it is never a syntax error. Each of its terms is looked up in the index, the
newest rows first and never more than some hundreds; what the commonest terms would leave out is found together with
the rarer ones. Then the rows are ranked (`ranking`), and only those that are shown are read.
"""

from __future__ import annotations

from time import time

from memory_keeper.keep.index import months, tag
from memory_keeper.model import EVERYWHERE, ROLES, Hit, Scope
from memory_keeper.search.query import Term, any_of, nearly, read_query, words_in
from memory_keeper.search.ranking import CROWDED, TALK, Ranked, Weighed, hit, rank, rarity, spread
from memory_keeper.search.snippet import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memory_keeper.keep.lookup import Lookup
    from memory_keeper.model import Row
    from memory_keeper.search.moments import Moment

COUNTED = 5_000  # rows of a project that are counted: with more it is large, and how large says little
CAP = (1000, 400)  # rows of one term, of a small and of a large project
MOST = (600, 300)  # rows that are ranked
PLANNED = 20  # terms of a long query that are looked for, the rarest
TOGETHER = 3  # of the common terms that are looked for in pairs
ENOUGH = 20  # rows with a name: its pieces need not be looked for
QUESTION = 3  # words that are more than a name to look up
ROUND = 50  # of the best rows whose neighbours are read too
LEAST = 0.05  # of the best score: what has less is left out
TYPED = (4, 20)  # letters of a word that may have a typing error
DOZENS, NEARLY = 60, 6  # words that are looked up at once, and those with a typing error that are taken
READ = 20_000  # characters of a row that are read for its snippet
# what says again what other rows say, or only that something happened; found when its kind is asked for
LEFT_OUT = frozenset(
    (
        *("queued", "told", "start", "end", "warned", "window", "ask", "blocked", "scored", "ask-compact", "replaced"),
        *("archived", "spent", "handoff"),
    )
)
OWN_TOOL = "memory-keeper_keeper__"  # in the names of our tools, as the host calls them: who asks them is not found
WORDS = "{text parts}"
# the beginnings of words that a query has where it names a time
DATED = tuple(
    f" {word}"
    for word in (
        *("19", "20", "today", "yesterday", "week", "month", "year", "day", "ago"),
        *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    )
)


def find(
    store: Lookup,
    text: str,
    scope: Scope = EVERYWHERE,
    limit: int = 10,
    *,
    regex: bool = False,
    deep: bool = False,
    meaning: bool = False,
) -> list[Hit]:
    """What answers a query best, in this scope: by its words, and where it is wanted and can be, by their meaning."""
    if regex:
        from memory_keeper.search.pattern import find_pattern

        return find_pattern(store, text, scope, limit)
    terms = read_query(text)
    ranked = ask(store, terms, text, scope, deep=deep) if terms else []
    if not ranked and terms and (mended := _mended(store, terms, scope)):
        terms, ranked = mended, ask(store, mended, text, scope, deep=deep)
    if meaning and terms:
        ranked = _by_meaning(store, ranked, terms, text, scope, deep)
    crowded = CROWDED[_is_question(terms)]
    shown = _without_repeats(store, spread(ranked, 2 * limit, crowded), limit)
    texts = store.texts([one.row.key for one in shown], READ)
    marks = [term.marks for term in terms]
    return [hit(one, snippet(texts.get(one.row.key, ""), marks)) for one in shown]


def _by_meaning(
    store: Lookup, ranked: list[Ranked], terms: Sequence[Term], text: str, scope: Scope, deep: bool
) -> list[Ranked]:
    """The same with what means the same in other words, where texts have vectors and there is something to compare."""
    if not store.has_vectors():
        return ranked
    from memory_keeper.search import semantic

    if not semantic.available():
        return ranked
    more = not any(term.must for term in terms)
    return semantic.blend(store, ranked, text, scope, scoped(store, scope, deep), more=more)


def ask(
    store: Lookup,
    terms: Sequence[Term],
    text: str = "",
    scope: Scope = EVERYWHERE,
    *,
    deep: bool = False,
    now: float = 0.0,
) -> list[Ranked]:
    """The rows that have any of the terms, and all that must be, the best first; none of another scope."""
    now = now or time()
    size = store.size(scope.project, COUNTED)
    large = size >= COUNTED
    asked = [_Asked(store, scope, notes, CAP[large]) for notes in _tables(scope)]
    sought = _rarest(_look_up(terms, asked))
    for number, one in enumerate(asked):
        one.join([(term, found[number]) for term, found in sought])
    size = max(size, store.newest_key()) if large else size
    weighed = [_weighed(term, asked, place, size) for place, (term, _) in enumerate(sought)]
    keys = _heaviest(weighed, size, MOST[large])
    must = [one.keys for (term, _), one in zip(sought, weighed, strict=True) if term.must]
    keys = [key for key in keys if all(key in having for having in must)]
    beside = _beside(keys) if _is_question(terms) and not must and not scope.file else {}
    rows = scoped(store, scope, deep)(store.rows([*keys, *beside]))
    ranked = rank(_without_strangers(rows, beside), weighed, size, _moments(text, now), now)
    least = ranked[0].score * LEAST if ranked else 0.0
    return [one for one in ranked if one.score >= least]


def _look_up(terms: Sequence[Term], asked: Sequence[_Asked]) -> list[tuple[Term, list[list[int]]]]:
    """What each table has of each term; the pieces of a name are looked for only where the name is hardly found."""
    found: dict[str, list[list[int]]] = {}
    for term in sorted(terms, key=lambda term: bool(term.of)):
        if not term.of or sum(map(len, found[term.of])) < ENOUGH:
            found[term.match] = [one.keys(term.match) for one in asked]
    return [(term, found[term.match]) for term in terms if term.match in found]


def _moments(text: str, now: float) -> list[Moment]:
    """The times that a query names; most name none, and then nothing has to be loaded for it."""
    low = " " + text.lower()
    if not any(word in low for word in DATED):
        return []
    from memory_keeper.search.moments import read_moments

    return read_moments(text, now)


def _beside(keys: Sequence[int]) -> dict[int, int]:
    """What stands next to the heaviest rows, and next to which: an answer may share no word with its question."""
    found = {key + step: key for key in keys[:ROUND] if key > 0 for step in (1, -1, 2, -2)}
    for key in keys:
        found.pop(key, None)
    return found


def _without_strangers(rows: Sequence[Row], beside: Mapping[int, int]) -> list[Row]:
    """The rows without those that only stand next to another in the store: in one talk they share a session."""
    session = {row.key: row.session for row in rows}
    return [
        row
        for row in rows
        if row.key not in beside or (row.kind in TALK and session.get(beside[row.key]) == row.session)
    ]


def _is_question(terms: Sequence[Term]) -> bool:
    """Whether what stands beside a match may be the answer; who asks for a word or two wants these."""
    return sum(term.weight >= 1 for term in terms) >= QUESTION


class _Asked:
    """What one of the two tables said to each term."""

    def __init__(self, store: Lookup, scope: Scope, notes: bool, cap: int) -> None:
        self.store, self.notes, self.within, self.cap = store, notes, _within(scope, notes), cap
        self.found: list[set[int]] = []  # the rows of each term, as far as they are known
        self.full: list[bool] = []  # whether there may be more
        self.oldest: list[int] = []  # of those that came

    def keys(self, match: str) -> list[int]:
        return self.store.matching(f"{WORDS} : ({match}){self.within}", self.cap, self.notes)

    def join(self, sought: Sequence[tuple[Term, list[int]]]) -> None:
        """Keep what was found. Of a term that many rows have only the newest came: so those that also have a rarer one,
        or another such, are asked for."""
        self.found = [set(keys) for _, keys in sought]
        self.full = [len(keys) >= self.cap for _, keys in sought]
        self.oldest = [keys[-1] if keys else 0 for _, keys in sought]
        rare = [place for place, full in enumerate(self.full) if not full and self.found[place]]
        common = [place for place, full in enumerate(self.full) if full]
        some = " OR ".join(sought[place][0].match for place in rare)
        for place in common:
            if some:
                self.found[place].update(self.keys(f"({some}) AND {sought[place][0].match}"))
        pairs = [(one, other) for one in common[:TOGETHER] for other in common[:TOGETHER] if one < other]
        for one, other in pairs if len(rare) < TOGETHER else ():
            both = self.keys(f"{sought[one][0].match} AND {sought[other][0].match}")
            self.found[one].update(both)
            self.found[other].update(both)


def _tables(scope: Scope) -> list[bool]:
    """Which tables are asked: False is events, True is notes."""
    if scope.level:
        return [True]
    if scope.tool or scope.role:
        return [False]
    return [False, True]


def _within(scope: Scope, notes: bool) -> str:
    """The part of an expression that keeps a search inside its scope, as far as the index knows it."""
    found: list[str] = []
    if scope.project is not None:
        found.append(tag("p", scope.project))
    if scope.session:
        found.append(tag("s", scope.session))
    kinds = (scope.kind,) if scope.kind else ROLES.get(scope.role, ())
    if kinds:
        found.append(_either(tag("k", kind) for kind in kinds))
    if notes and scope.level is not None:
        found.append(f"l{scope.level}")
    if scope.since and not notes:
        span = list(months(scope.since, scope.until or time() + 86400))[:240]
        found.append(_either(span) if span else "none")
    said = f" AND tags : ({' AND '.join(found)})" if found else ""
    if scope.file:
        words = " ".join(words_in(scope.file)[-4:])
        said += f' AND text : "{words}"'
    return said


def _either(names: Iterable[str]) -> str:
    return "(" + " OR ".join(names) + ")"


def _rarest(sought: list[tuple[Term, list[list[int]]]]) -> list[tuple[Term, list[list[int]]]]:
    """The terms that are looked for, of a long query those that fewest rows have; the rarest first."""
    known = [one for one in sought if any(one[1])]
    known.sort(key=lambda one: (not one[0].must, sum(map(len, one[1]))))
    lacking = [one for one in sought if not any(one[1])]
    return known[:PLANNED] + [one for one in lacking if one[0].must] + [one for one in lacking if not one[0].must]


def _weighed(term: Term, asked: Sequence[_Asked], place: int, size: int) -> Weighed:
    """A term with its rows, and about how many more there are: the newest came, so how far back they reach tells."""
    keys: set[int] = set().union(*(one.found[place] for one in asked))
    number = float(len(keys))
    for one in asked:
        if one.full[place] and not one.notes:
            oldest = one.oldest[place]
            number = max(number, min(size * 0.9, one.cap * size / max(1, one.store.newest_key() - oldest + 1)))
    return Weighed(term.weight, frozenset(keys), number)


def _heaviest(weighed: Sequence[Weighed], size: int, most: int) -> list[int]:
    """The rows that are ranked: those whose terms weigh most, and of equals the newest."""
    mass: dict[int, float] = {}
    for term in weighed:
        weight = term.weight * rarity(term.number, size)
        for key in term.keys:
            mass[key] = mass.get(key, 0.0) + weight
    newest_first = sorted(mass, reverse=True)
    newest_first.sort(key=mass.__getitem__, reverse=True)
    return newest_first[:most]


def scoped(store: Lookup, scope: Scope, deep: bool = False) -> Callable[[Sequence[Row]], list[Row]]:
    """What a scope lets through; the index may have been too generous, and knows nothing of some filters."""
    kinds = {scope.kind} if scope.kind else set(ROLES.get(scope.role, ()))

    def allowed(row: Row) -> bool:
        return (
            (scope.project is None or row.project == scope.project)
            and (not scope.session or row.session == scope.session)
            and (row.kind in kinds if kinds else deep or row.kind not in LEFT_OUT)
            and (OWN_TOOL not in row.tool or scope.tool == row.tool)
            and (scope.level is None or row.level == scope.level)
            and (not scope.since or row.at >= scope.since)
            and (not scope.until or row.at < scope.until)
        )

    def through(rows: Sequence[Row]) -> list[Row]:
        found = [row for row in rows if allowed(row)]
        return store.of_tool(found, scope.tool) if scope.tool else found

    return through


def _mended(store: Lookup, terms: Sequence[Term], scope: Scope) -> list[Term]:
    """The terms with words that somebody did say in the place of those that nobody said: begun so, or misspelt."""
    found: list[Term] = []
    within = _within(scope, False)
    for term in terms:
        word = term.marks[0] if len(term.marks) == 1 else ""
        if not word.isascii() or not word.isalnum() or not TYPED[0] <= len(word) <= TYPED[1]:
            found.append(term)
            continue
        begun = Term(f'"{word}" *', term.weight, (word,))
        if store.matching(f"{WORDS} : ({begun.match}){within}", 1):
            found.append(begun)
            continue
        near = _said(store, nearly(word), within)
        found.append(Term(any_of(near), term.weight, near) if near else term)
    return found if found != list(terms) else []


def _said(store: Lookup, words: Sequence[str], within: str) -> tuple[str, ...]:
    """Those of some words that somebody said; asked for by the dozen, as hardly any was."""
    found: list[str] = []
    for start in range(0, len(words), DOZENS):
        some = tuple(words[start : start + DOZENS])
        if store.matching(f"{WORDS} : {any_of(some)}", 1):
            found += [one for one in some if store.matching(f'{WORDS} : ("{one}"){within}', 1)]
        if len(found) >= NEARLY:
            break
    return tuple(found[:NEARLY])


def _without_repeats(store: Lookup, ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """What says the same again is left out: the newest of equals came first."""
    beginnings = store.texts([one.row.key for one in ranked], 400)
    seen: set[tuple[str, str]] = set()
    found: list[Ranked] = []
    for one in ranked:
        said = one.row.project, " ".join(beginnings.get(one.row.key, "").split())
        if said in seen:
            continue
        seen.add(said)
        found.append(one)
    return found[:limit]
