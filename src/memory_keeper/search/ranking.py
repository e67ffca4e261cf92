"""How well rows answer a query: each by itself, with what stands beside it, and with the session it stands in.

A row counts a term once, however often it says it: rows are short, and a long one that repeats a word is seldom the
better answer. Rare terms count more (as in BM25), long rows less. A question and its answer stand in neighbouring rows
and share few words, so a row is also read with its neighbours, the nearer the more; and a session that speaks of many
of the terms lends some weight to each of its rows. Rarity is counted inside the scope of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log

from memory_keeper.model import Hit, NamedTuple, Row
from memory_keeper.search.periods import Period

SATURATION = 1.2
SHORT = (120.0, 40.0)  # words up to which a row counts in full: for who looks words up, for who asks
LENGTH = 0.75  # how much a longer one loses
REACH, FADE = 3, 0.7  # rows to each side that are read with a row, and what is left of a match at each step
ALONE, BESIDE, SESSION = 0.5, 1.0, 0.35  # the three shares of a score
FULL = 2.0  # how much it counts to have all the words that somebody looks up
ELSEWHEN = 0.8  # what is left of a row that is not of the time that a query names
CROWDED = (0.85, 0.97)  # what each further row of the same session counts: for who looks a word up, for who asks
HALF_LIFE, FRESH, OLD = 14 * 86400.0, 0.15, 10.0  # what is new counts a little more, up to so many half-lives
# what the kind of a row says about how likely it is what somebody looks for
PRIORS = {
    "prompt": 1.0, "queued": 0.95, "note": 1.1, "project": 1.1, "architecture": 1.1, "conventions": 1.1,
    "decision": 1.15, "issue": 1.1,
    "fact": 1.15, "title": 0.8, "session": 0.75, "outline": 0.6, "handoff": 0.5, "task": 0.7, "thinking": 0.6,
    "todo": 0.6, "call": 0.6, "result": 0.55, "command": 0.6, "summary": 0.6, "memory": 0.9, "imported": 0.7,
    "notice": 0.4, "meta": 0.4,
}  # fmt: skip
PRIOR = 0.8  # of what is not named there: replies
TALK = frozenset({"prompt", "reply", "task"})


class Ranked(NamedTuple):
    """A row and how well it answers."""

    row: Row
    score: float
    share: float  # of the query's weight that stands in the row itself, from 0 to 1


class Weighed(NamedTuple):
    """A term of a query with the rows that have it."""

    weight: float
    keys: frozenset[int]
    number: float  # how many rows have it, about, if not all of them are known


def rarity(count: float, size: int) -> float:
    """How much it says that a row has what so many of all rows have."""
    size = max(size, int(count))
    return log(1 + (size - count + 0.5) / (count + 0.5))


def rank(
    rows: Sequence[Row],
    terms: Sequence[Weighed],
    size: int,
    periods: Sequence[Period] = (),
    now: float = 0.0,
    *,
    asks: bool = True,
) -> list[Ranked]:
    """Rows by how well they answer; `size` is how many there are in all, with these terms or without. Who `asks` is
    answered by what stands together; who looks words up, by rows that have all of them."""
    weighed = [(term.keys, term.weight * rarity(term.number, size)) for term in terms]
    held = _held(rows, periods)
    weighed += [(keys, rarity(len(keys), len(rows))) for keys in held]
    then = frozenset().union(*held)
    scores = _scores(rows, weighed, SHORT[asks])
    best = [max(each.values(), default=0.0) or 1.0 for each in (scores.alone, scores.around, scores.sessions)]
    ranked: list[Ranked] = []
    for row in rows:
        key, share = row.key, scores.share[row.key]
        score = ALONE * scores.alone[key] / best[0] + BESIDE * scores.around[key] / best[1]
        score = (score + SESSION * scores.sessions.get(row.session, 0.0) / best[2]) / (ALONE + BESIDE + SESSION)
        score *= 1.0 if asks else share**FULL
        score *= 1.0 if not then or key in then else ELSEWHEN
        whole = share / max(1.0, row.size / SHORT[True])
        ranked.append(Ranked(row, score * _prior(row, whole, now), share))
    ranked.sort(key=lambda ranked: (-ranked.score, -ranked.row.at, -ranked.row.key))
    return ranked


class _Scores(NamedTuple):
    """How well rows answer: each by itself, with its neighbours, and its session; and its share of the query."""

    alone: dict[int, float]
    around: dict[int, float]
    sessions: dict[str, float]
    share: dict[int, float]


def _scores(rows: Sequence[Row], weighed: Sequence[tuple[frozenset[int], float]], short: float) -> _Scores:
    """The scores of rows, given the rows that have each term, and its weight."""
    total = sum(weight for _, weight in weighed) or 1.0
    by_key = {row.key: row for row in rows}
    lengths = {row.key: max(1.0, row.size / short) for row in rows}
    beside = _beside(by_key)
    zero = dict.fromkeys(by_key, 0.0)
    alone, around, share = zero, dict(zero), dict(zero)
    sessions: dict[str, float] = {}
    for keys, weight in weighed:
        near: dict[int, float] = {}
        within: dict[str, float] = {}
        for key in keys & by_key.keys():
            length = lengths[key]
            alone[key] += weight * (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH + LENGTH * length))
            share[key] += weight / total
            for other, fade in beside[key]:
                near[other] = near.get(other, 0.0) + fade / length
            if key > 0:
                session = by_key[key].session
                within[session] = within.get(session, 0.0) + 1 / length
        for key, found in near.items():
            around[key] += weight * _saturated(found)
        for session, found in within.items():
            sessions[session] = sessions.get(session, 0.0) + weight * _saturated(found)
    return _Scores(alone, around, sessions, share)


def _prior(row: Row, whole: float, now: float) -> float:
    """What speaks for a row besides its words: its age, and its kind, the less the more of the query it has alone."""
    prior = PRIORS.get(row.kind, PRIOR)
    if prior < 1:
        prior += (1 - prior) * min(1.0, whole) ** 2
    age = (now - row.at) / HALF_LIFE
    fresh = FRESH * 0.5**age if 0 < age < OLD else 0.0
    return prior * (1 + fresh) / (1 + FRESH)


def _beside(by_key: Mapping[int, Row]) -> dict[int, list[tuple[int, float]]]:
    """For each row itself and those of its session that stand next to it, with what is left of a match there."""
    found: dict[int, list[tuple[int, float]]] = {key: [(key, 1.0)] for key in by_key}
    keys = sorted(key for key in by_key if key > 0)
    for place, key in enumerate(keys):
        for other in keys[place + 1 : place + 1 + REACH]:
            if other - key > REACH:
                break
            if by_key[other].session == by_key[key].session:
                fade = FADE ** (other - key)
                found[key].append((other, fade))
                found[other].append((key, fade))
    return found


def _saturated(found: float) -> float:
    return found * (SATURATION + 1) / (found + SATURATION)


def _held(rows: Sequence[Row], periods: Sequence[Period]) -> list[frozenset[int]]:
    """The rows that lie in each of the times a query names."""
    found = [frozenset(row.key for row in rows if period.holds(row.at)) for period in periods]
    return [keys for keys in found if keys]


def spread(ranked: Sequence[Ranked], crowded: float = CROWDED[1]) -> Iterator[Ranked]:
    """The best first, where each further one of the same session counts a little less."""
    waiting: dict[str, list[Ranked]] = {}
    for candidate in reversed(ranked):
        waiting.setdefault(candidate.row.session, []).append(candidate)  # the best of a session is the last of its list
    weight = dict.fromkeys(waiting, 1.0)
    while waiting:
        session = max(waiting, key=lambda session: waiting[session][-1].score * weight[session])
        candidate = waiting[session].pop()
        yield candidate._replace(score=candidate.score * weight[session])
        weight[session] *= crowded
        if not waiting[session]:
            del waiting[session]


def hit(ranked: Ranked, shown: str) -> Hit:
    """A ranked row as the outside sees it."""
    row = ranked.row
    where = (row.id, row.level, row.kind, row.at, row.session, row.project)
    return Hit(*where, round(ranked.score, 4), shown, row.path, row.by)
