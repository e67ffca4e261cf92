"""Every question asked of every way to rank: where the answers stand, and how sure a difference between two ways is."""

from __future__ import annotations

import collections
import math
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from bench.tools import measure
from bench.tools.baselines import Ranked
from bench.tools.sets import Question, Space

DEEP = 100  # hits that are asked for: twenty different sessions must be able to come
COLUMNS = ("hit@1", "hit@5", "recall@1", "recall@5", "recall@10", "recall@20", "NDCG@10", "MRR")
RESAMPLES = 2000

Scores = dict[str, float]


class Method(NamedTuple):
    """A way to rank, over one set."""

    name: str
    rank: Callable[[Space, str], Ranked]
    ours: bool = False


class Outcome(NamedTuple):
    """What one set showed."""

    title: str
    about: str
    scores: dict[str, list[Scores]]  # method -> one for each question
    questions: list[Question]
    published: dict[str, Scores]
    ours: str
    decisive: tuple[str, ...]  # the measures that the set is judged by
    seconds: dict[str, float]


def judge(
    title: str,
    about: str,
    spaces: Sequence[Space],
    methods: Sequence[Method],
    published: dict[str, Scores],
    decisive: tuple[str, ...],
) -> Outcome:
    """Ask every question of every method."""
    scores: dict[str, list[Scores]] = {}
    seconds = {}
    for method in methods:
        begin = time.perf_counter()
        scores[method.name] = [
            score(method.rank(space, one.text), one.gold) for space in spaces for one in space.questions
        ]
        seconds[method.name] = time.perf_counter() - begin
    questions = [one for space in spaces for one in space.questions]
    ours = next(method.name for method in methods if method.ours)
    return Outcome(title, about, scores, questions, published, ours, decisive, seconds)


def score(ranked: Ranked, gold: frozenset[str]) -> Scores:
    """One question: where in the ranking its answers are."""
    places = [place for place, id in enumerate(ranked[:DEEP], 1) if id in gold]
    found = {at: sum(place <= at for place in places) for at in (1, 5, 10, 20)}
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), 10) + 1))
    return {
        "hit@1": float(found[1] > 0),
        "hit@5": float(found[5] > 0),
        **{f"recall@{at}": count / len(gold) for at, count in found.items()},
        "NDCG@10": sum(1 / math.log2(place + 1) for place in places if place <= 10) / best,
        "MRR": 1 / places[0] if places else 0.0,
    }


def mean(scores: Sequence[Scores], measured: str) -> float:
    """Over all questions."""
    return sum(one[measured] for one in scores) / len(scores)


def best_of(outcome: Outcome, measured: str) -> str:
    """The baseline that is best in a measure."""
    others = [name for name in outcome.scores if name != outcome.ours]
    return max(others, key=lambda name: mean(outcome.scores[name], measured))


def interval(outcome: Outcome, measured: str) -> tuple[str, float, float, float]:
    """The best baseline, and how much better we are than it: the mean, and where 95 % of resamplings lie."""
    other = best_of(outcome, measured)
    pairs = zip(outcome.scores[outcome.ours], outcome.scores[other], strict=True)
    gains = [mine[measured] - theirs[measured] for mine, theirs in pairs]
    random = Random(6)
    means = sorted(sum(random.choices(gains, k=len(gains))) / len(gains) for _ in range(RESAMPLES))
    return other, sum(gains) / len(gains), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def show(outcome: Outcome) -> None:
    """One table of methods and one of kinds of questions."""
    print(f"\n{outcome.title}: {outcome.about}")
    rows = [(name, *(f"{mean(scores, one):.3f}" for one in COLUMNS)) for name, scores in outcome.scores.items()]
    rows += [
        (f"published: {name}", *(shown(scores.get(one)) for one in COLUMNS))
        for name, scores in outcome.published.items()
    ]
    measure.table(("", *COLUMNS), rows)
    for measured in outcome.decisive:
        other, gain, low, high = interval(outcome, measured)
        print(f"{measured}: {gain:+.3f} [{low:+.3f} to {high:+.3f}, 95 %] beside {other}")
    leading = outcome.decisive[-1]
    other = best_of(outcome, leading)
    by_category = [
        (category, str(count), *(f"{of[name, category]:.3f}" for name in (outcome.ours, other)))
        for of in [split(outcome, leading)]
        for category, count in sorted(collections.Counter(one.category for one in outcome.questions).items())
    ]
    measure.table((leading, "questions", outcome.ours, other), by_category)
    print("; ".join(f"{name} {spent:.1f} s" for name, spent in outcome.seconds.items()))


def missed(outcome: Outcome, count: int) -> None:
    """The questions where the best baseline is furthest ahead of us."""
    measured = outcome.decisive[-1]
    other = best_of(outcome, measured)
    pairs = zip(outcome.scores[outcome.ours], outcome.scores[other], outcome.questions, strict=True)
    worst = sorted(pairs, key=lambda pair: pair[0][measured] - pair[1][measured])
    for mine, theirs, asked in worst[:count]:
        where = " ".join(sorted(asked.gold))
        print(f"{mine[measured]:.2f} v {theirs[measured]:.2f}  [{asked.category}] {asked.text}  ({where})")


def shown(value: object) -> str:
    """A cell."""
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def split(outcome: Outcome, measured: str) -> dict[tuple[str, str], float]:
    """The mean of each method for each kind of question."""
    found: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
    for name, scores in outcome.scores.items():
        for asked, one in zip(outcome.questions, scores, strict=True):
            found[name, asked.category].append(one[measured])
    return {key: sum(values) / len(values) for key, values in found.items()}
