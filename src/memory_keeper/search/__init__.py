"""Find what was kept, at any level. Verb: find.

A query is words; whatever it contains, it is never a syntax error. Its terms (`query`) are looked up in the index, in
their scope (`scope`), never more than some hundreds of rows (`candidates`); these are ranked (`ranking`), and only the
best are read, each for its `snippet`. `periods` are the times that a query names, `pattern` reads everything, and
`semantic` finds by meaning.

What is asked in other ways than by a query: `recall` what a prompt names, `files` where it will lead, `how` a command
was run, what `fixes` an error (`staleness`), and `blame` who touched a file (`edits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from time import time

from memory_keeper.model import APART, ELSEWHERE, EVERYWHERE, Hit, Phrase, Row, Scope
from memory_keeper.search import semantic
from memory_keeper.search.candidates import find_candidates
from memory_keeper.search.pattern import find_pattern
from memory_keeper.search.periods import Period, read_periods
from memory_keeper.search.query import Term, is_question, literals, nearly, read_query, says_nothing
from memory_keeper.search.ranking import CROWDED, TALK, Ranked, hit, rank, spread
from memory_keeper.search.scope import scoped, tables
from memory_keeper.search.snippet import LARGEST, ON, snippet
from memory_keeper.store.store import Store

ROUND = 30  # of the heaviest rows whose neighbours are read too
LITERAL, WHOLE = 0.8, 0.6  # what it adds to have the query's names letter by letter, and the whole query
LOOKED = (60, 300)  # rows that are looked at for that: for the whole query, and for names
LETTERS = 4000  # characters of each
TYPED = (4, 20)  # letters of a word that may have a typing error
DOZENS, NEARLY = 60, 6  # words that are looked up at once, and those with a typing error that are taken
READ = 20_000  # characters of a row that are read for its snippet
SAME = 400  # characters by which two texts of the same length are the same
# the beginnings of words that a query has where it names a time
DATED = tuple(
    f" {word}"
    for word in (
        *("19", "20", "today", "yesterday", "week", "month", "year", "day", "ago", "this", "last"),
        *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    )
)


def find(
    store: Store,
    text: str,
    scope: Scope = EVERYWHERE,
    limit: int = 10,
    *,
    regex: bool = False,
    deep: bool = False,
    meaning: bool = False,
) -> list[Hit]:
    """What answers a query best, in this scope: by its words, and where it is wanted and can be, by their meaning.

    What came in from elsewhere is found too, as what it is; not where the user has the same.
    """
    found = _find(store, text, scope, limit, regex, deep, meaning)
    beside = scope._replace(project=APART + scope.project) if scope.project else None
    if beside and store.recent_sources(APART + (scope.project or ""), 1):
        found = sorted(
            [*found, *_find(store, text, beside, limit, regex, deep, meaning)], key=lambda result: -result.score
        )
    own = [hit for hit in found if not (hit.session.endswith(ELSEWHERE) and _is_theirs(store, hit))]
    return own[:limit]


def _is_theirs(store: Store, result: Hit) -> bool:
    """Whether the user has the session that this is a copy of."""
    return bool(store.project_of(result.session.removesuffix(ELSEWHERE)))


def _find(store: Store, text: str, scope: Scope, limit: int, regex: bool, deep: bool, meaning: bool) -> list[Hit]:
    if regex:
        return find_pattern(store, text, scope, limit, deep=deep)
    terms, ranked = _by_words(store, text, scope, limit, deep, time())
    if meaning and terms:
        ranked = _by_meaning(store, ranked, terms, text, scope, deep)
    shown = _without_repeats(store, spread(ranked, CROWDED[is_question(text, terms)]), limit)
    marks = [term.marks for term in terms]
    found = _snippets(store, [ranked.row.key for ranked in shown], marks, READ)
    # of a large output the word may stand far behind its beginning
    unmarked = [key for key, shown in found.items() if ON not in shown and shown.endswith("…")]
    found |= _snippets(store, unmarked, marks, LARGEST)
    return [hit(ranked, found.get(ranked.row.key, "")) for ranked in shown]


def _snippets(store: Store, keys: Sequence[int], marks: Sequence[tuple[str, ...]], most: int) -> dict[int, str]:
    """What shows best why each of some rows was found, of so much of their texts."""
    return {key: snippet(text, marks) for key, text in store.texts(keys, most).items()} if keys else {}


def _by_words(
    store: Store, text: str, scope: Scope, limit: int, deep: bool, now: float
) -> tuple[Sequence[Term], list[Ranked]]:
    """The terms of a query and the rows that answer it; where it names a time and nothing else, what was asked then."""
    periods = _periods(text, now)
    terms = read_query(_without(text, periods))
    if periods and says_nothing(terms):
        if then := _of_times(store, periods, scope, limit):
            return [], then
        terms = read_query(text)
    ranked = ask(store, terms, text, scope, deep=deep, periods=periods, now=now) if terms else []
    if terms and not ranked and (mended := _mended(store, terms, scope)):
        return mended, ask(store, mended, text, scope, deep=deep, periods=periods, now=now)
    return terms, ranked


def ask(
    store: Store,
    terms: Sequence[Term],
    text: str = "",
    scope: Scope = EVERYWHERE,
    *,
    deep: bool = False,
    periods: Sequence[Period] = (),
    now: float = 0.0,
) -> list[Ranked]:
    """The rows that have any of the terms, and all that must be, the best first; none of another scope."""
    found, asks = find_candidates(store, terms, scope, deep), is_question(text, terms)
    beside = _beside(found.keys) if asks and not scope.file and not scope.tool else {}
    rows = _without_strangers(scoped(scope, deep)(store.rows([*found.keys, *beside])), beside)
    ranked = rank(rows, found.terms, found.size, periods, now or time(), asks=asks)
    return _to_the_letter(store, ranked, literals(text, terms))


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


def _to_the_letter(store: Store, ranked: list[Ranked], literal: tuple[tuple[str, ...], str]) -> list[Ranked]:
    """Those first that have the names of a query, or all of it, as it writes them: the index knows only words."""
    names, whole = literal
    if not ranked or not (names or whole):
        return ranked
    texts = store.texts([candidate.row.key for candidate in ranked[: LOOKED[bool(names)]]], LETTERS)
    found: list[Ranked] = []
    for candidate in ranked:
        text = texts.get(candidate.row.key, "").lower()
        more = LITERAL * sum(name in text for name in names) / len(names) if names else 0.0
        more += WHOLE if whole and whole in text else 0.0
        found.append(candidate._replace(score=candidate.score * (1 + more)))
    best = max(ranked.score for ranked in found) or 1.0
    top = ranked[0].score
    found = [ranked._replace(score=ranked.score / best * max(top, min(1.0, best))) for ranked in found]
    return sorted(found, key=lambda ranked: -ranked.score)


def _by_meaning(
    store: Store, ranked: list[Ranked], terms: Sequence[Term], text: str, scope: Scope, deep: bool
) -> list[Ranked]:
    """The same with what means the same in other words, where texts have vectors and there is something to compare."""
    if not store.has_vectors():
        return ranked

    if not semantic.available():
        return ranked
    more = not any(term.must for term in terms)
    try:
        return semantic.blend(store, ranked, text, scope, scoped(scope, deep), more=more)
    except (OSError, ValueError, KeyError):  # what compares is broken: words still find
        return ranked


# --- times ------------------------------------------------------------------------------------------------------------


def _periods(text: str, now: float) -> list[Period]:
    """The times that a query names; most name none, and then nothing has to be loaded for it."""
    low = " " + text.lower()
    if not any(word in low for word in DATED):
        return []

    return read_periods(text, now)


def _without(text: str, periods: Sequence[Period]) -> str:
    """A query without the words for times that are known from the calendar; a month alone may be meant as a word."""
    for period in periods:
        if period.last:
            text = text.replace(period.said, " ")
    return text if any(char.isalnum() for char in text) else ""


def _of_times(store: Store, periods: Sequence[Period], scope: Scope, limit: int) -> list[Ranked]:
    """What was asked in the times that a query names, when that is all it says; the newest first."""
    found: list[Ranked] = []
    for period in periods:
        if period.last:
            there = scope._replace(since=max(scope.since, period.first), until=period.last)
            there = there if there.kind or there.role else there._replace(kind="prompt")
            rows = scoped(there)(store.rows(store.matching((), there, 10 * limit)))
            found += [Ranked(row, 1.0, 1.0) for row in rows]
    return sorted(found, key=lambda ranked: -ranked.row.at)


# --- words that nobody said -------------------------------------------------------------------------------------------


def _mended(store: Store, terms: Sequence[Term], scope: Scope) -> list[Term]:
    """The terms with words that somebody did say in the place of those that nobody said: begun so, or misspelt."""
    found: list[Term] = []
    for term in terms:
        word = term.marks[0] if len(term.marks) == 1 else ""
        if not word.isascii() or not word.isalnum() or not TYPED[0] <= len(word) <= TYPED[1]:
            found.append(term._replace(of=()))
            continue
        begun = (Phrase(word, begins=True),)
        if _is_said(store, begun, scope):
            found.append(Term(begun, term.weight, (word,)))
            continue
        near = _nearly_said(store, word, scope)
        found.append(Term(tuple(map(Phrase, near)), term.weight, near) if near else term._replace(of=()))
    return found if [term.match for term in found] != [term.match for term in terms] else []


def _is_said(store: Store, phrases: Sequence[Phrase], scope: Scope) -> bool:
    return any(store.matching([phrases], scope, 1, notes) for notes in tables(scope))


def _nearly_said(store: Store, word: str, scope: Scope) -> tuple[str, ...]:
    """The words one typing error away that somebody said; asked for by the dozen, as hardly any was."""
    found: list[str] = []
    words = nearly(word)
    for start in range(0, len(words), DOZENS):
        some = words[start : start + DOZENS]
        if _is_said(store, [Phrase(near) for near in some], EVERYWHERE):
            found += [near for near in some if _is_said(store, [Phrase(near)], scope)]
        if len(found) >= NEARLY:
            break
    return tuple(found[:NEARLY])


def _without_repeats(store: Store, ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """What says the same again is left out: the newest of equals came first."""
    seen: set[tuple[str, int, str]] = set()
    found: list[Ranked] = []
    rest = iter(ranked)
    while len(found) < limit and (some := list(islice(rest, limit))):
        beginnings = store.texts([ranked.row.key for ranked in some], SAME)
        for candidate in some:
            same = candidate.row.project, candidate.row.size, " ".join(beginnings.get(candidate.row.key, "").split())
            if same not in seen:
                seen.add(same)
                found.append(candidate)
    return found[:limit]
