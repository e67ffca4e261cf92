"""Fit the weights of the ranker (`src/memory_keeper/data/ranker.json`) on transcripts of sessions that were compacted.

python -m bench.train_ranker --data DIR [--probes FILE ...] [--out FILE] [--folds DIR]

Needs numpy, which nothing else here does: run it in an environment of your own that has it. The target of a sentence
is how much of what it speaks of stands in one sentence of Claude's own summary, or in the answer to one question about
the session; of a concept, whether summary, answers and the work that followed have it. Both models are linear (ridge).

It prints how well the ranking holds for repositories that were left out of the fit (five folds, by repository). With
--folds, the weights of each fold are written too, one file per left-out repository: `./dev bench probes --weights DIR`
measures each repository with weights that have not seen it.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools import transcripts
from bench.tools.cuts import sessions
from memory_keeper.extract import ranker
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.prose import sentences
from memory_keeper.extract.spoken import spoken

FOLDS, RIDGE = 5, 10.0
LEAST = 3  # repositories in which a word must come up to be no name of a project
SLACK = 5.0  # added to what a sentence speaks of: one of two words is no find


class Boundary(NamedTuple):
    """What is known of one compaction: the features and targets of its sentences, and of its concepts."""

    repository: str
    sentences: list[list[float]]
    targets: list[float]
    concepts: list[list[float]]
    wanted: list[float]


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    transcripts.argument(parser)
    parser.add_argument("--probes", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=Path(ranker.WEIGHTS))
    parser.add_argument("--folds", type=Path)
    args = parser.parse_args()
    files = transcripts.paths(args.data)
    answers: dict[str, list[str]] = collections.defaultdict(list)
    for path in args.probes:
        for line in path.read_text(encoding="utf-8").splitlines():
            probe = json.loads(line)
            answers[probe["boundary"].replace("-", ":")].append(probe["answer"])
    rarity, unseen = rarities(files)
    found = list(boundaries(files, answers, rarity, unseen))
    repositories = sorted({one.repository for one in found}, key=lambda name: (-_count(found, name), name))
    folds = [repositories[number::FOLDS] for number in range(FOLDS)]
    print(f"{len(found)} compactions of {len(repositories)} repositories")
    print(f"{sum(len(one.targets) for one in found):,} sentences, {sum(len(one.wanted) for one in found):,} concepts")
    scores = []
    for fold in folds:
        fitted = fit([one for one in found if one.repository not in fold])
        scores += [score(one, fitted) for one in found if one.repository in fold]
        if args.folds:
            args.folds.mkdir(parents=True, exist_ok=True)
            for name in fold:
                write(args.folds / f"{name}.json", fitted, rarity, unseen)
    for number, what in enumerate(("rank correlation of sentences", "worth of the best 60", "correlation of concepts")):
        print(f"{what}, on repositories left out: {sum(one[number] for one in scores) / len(scores):.3f}")
    write(args.out, fit(found), rarity, unseen)


def _count(found: Sequence[Boundary], name: str) -> int:
    return sum(one.repository == name for one in found)


def rarities(files: Sequence[Path]) -> tuple[dict[str, float], float]:
    """How rare a word is, by the number of repositories that use it; one that few use is a name of theirs."""
    seen: dict[str, set[str]] = collections.defaultdict(set)
    for session in sessions(list(files)):
        lines = (json.dumps(entry).encode() for entry in session.lines)
        for one in spoken(list(transcripts.events(lines, session.path.name)))[0]:
            for concept in concepts(one.fact.text):
                seen[concept].add(repository(session.path))
    total = len({name for names in seen.values() for name in names})
    rare = {
        concept: round(math.log((total + 1) / (len(names) + 0.5)), 2)
        for concept, names in sorted(seen.items())
        if len(names) >= LEAST
    }
    return rare, round(math.log((total + 1) / 1.5), 2)


def repository(path: Path) -> str:
    """The folder a transcript lies in names its repository."""
    return path.parent.name


def boundaries(
    files: Sequence[Path], answers: dict[str, list[str]], rarity: dict[str, float], unseen: float
) -> Iterable[Boundary]:
    """Every compaction once, with what there is to learn from it."""
    seen = set()
    for session in sessions(list(files)):
        for compaction in session.compactions():
            if compaction.uuid in seen:
                continue
            seen.add(compaction.uuid)
            cut = session.cut(compaction.name, compaction.place, compaction.summary)
            said, _ = spoken(cut.events)
            looked = ranker.Session(said, cut.events, rarity, unseen)
            told = [found for one in sentences(compaction.summary) if len(found := concepts(one.text)) > 2]
            told += [concepts(answer) for answer in answers.get(compaction.name, ())]
            after = session.steps[compaction.place + 1 : compaction.next][:200]
            later = frozenset[str]().union(
                *(concepts(step.text[:3000]) for step in after if step.kind in ("say", "call", "user"))
            )
            asked = frozenset[str]().union(*map(concepts, answers.get(compaction.name, ())))
            kept = concepts(compaction.summary)
            yield Boundary(
                repository(session.path),
                [looked.sentence(one, found) for one, found in zip(said, looked.concepts, strict=True)],
                [aligned(found, told, looked) for found in looked.concepts],
                [looked.concept(one) for one in looked.first],
                [wanted(one, kept, later, asked) for one in looked.first],
            )


def aligned(found: frozenset[str], told: Sequence[frozenset[str]], session: ranker.Session) -> float:
    """How much of what a sentence speaks of stands in one sentence of those that were told."""
    best = max((sum(map(session.weight, found & one)) for one in told), default=0.0)
    return best / (sum(map(session.weight, found)) + SLACK)


def wanted(concept: str, kept: frozenset[str], later: frozenset[str], asked: frozenset[str]) -> float:
    """Whether a concept was kept, needed or asked for."""
    if asked:
        return 0.4 * (concept in kept) + 0.2 * (concept in later) + 0.8 * (concept in asked)
    return 0.7 * (concept in kept) + 0.3 * (concept in later)


def fit(found: Sequence[Boundary]) -> tuple[Any, Any]:
    """The weights of both models; every repository counts by the root of its compactions."""
    counts = collections.Counter(one.repository for one in found)
    return (
        ridge([(one.sentences, one.targets, counts[one.repository]) for one in found]),
        ridge([(one.concepts, one.wanted, counts[one.repository]) for one in found]),
    )


def ridge(rows: Sequence[tuple[list[list[float]], list[float], int]]) -> Any:
    """Weighted ridge regression, on features brought to one scale; the first weight stands alone."""
    import numpy  # type: ignore[import-not-found, unused-ignore]

    rows = [row for row in rows if row[0]]
    matrix = numpy.concatenate([numpy.array(features) for features, _, _ in rows])
    target = numpy.concatenate([numpy.array(targets) for _, targets, _ in rows])
    weight = numpy.concatenate([numpy.full(len(targets), 1 / len(targets) / count**0.5) for _, targets, count in rows])
    weight *= len(weight) / weight.sum()
    mean, scale = matrix.mean(0), matrix.std(0) + 1e-6
    scaled = numpy.column_stack([numpy.ones(len(matrix)), (matrix - mean) / scale])
    penalty = numpy.diag([0.0, *[RIDGE] * matrix.shape[1]])
    solved = numpy.linalg.solve((scaled * weight[:, None]).T @ scaled + penalty, (scaled * weight[:, None]).T @ target)
    slopes = solved[1:] / scale
    return numpy.concatenate([[solved[0] - (slopes * mean).sum()], slopes])


def score(one: Boundary, fitted: tuple[Any, Any]) -> tuple[float, float, float]:
    """Rank correlation of sentences, the worth of the 60 best against the best possible, correlation of concepts."""
    import numpy  # type: ignore[import-not-found, unused-ignore]

    target = numpy.array(one.targets)
    guess = numpy.array(one.sentences) @ fitted[0][1:] + fitted[0][0]
    best = target[numpy.argsort(-guess)[:60]].mean() / numpy.sort(target)[::-1][:60].mean()
    ranks = [numpy.argsort(numpy.argsort(values)) for values in (guess, target)]
    concept = numpy.array(one.concepts) @ fitted[1][1:] + fitted[1][0]
    return numpy.corrcoef(*ranks)[0, 1], best, numpy.corrcoef(concept, one.wanted)[0, 1]


def write(path: Path, fitted: tuple[Any, Any], rarity: dict[str, float], unseen: float) -> None:
    """The weights as the product reads them."""
    names = (("bias", *ranker.SENTENCE), ("bias", *ranker.CONCEPT))
    sentence, concept = (
        {name: round(float(weight), 5) for name, weight in zip(those, weights, strict=True)}
        for those, weights in zip(names, fitted, strict=True)
    )
    learnt = {"other": {"unseen": unseen}, "sentence": sentence, "concept": concept, "rarity": rarity}
    path.write_text(json.dumps(learnt, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
