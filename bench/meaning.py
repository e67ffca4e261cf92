"""What search by meaning adds to search by words, on the sets of `recall_sets`; needs the extra `semantic`.

./dev bench meaning --data DIR [--cache FILE] [--json]

The same store, the same questions, asked with the vectors and without. Making the vectors of BEAM takes some minutes
on one core: `--cache` keeps them from one run to the next.
"""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.tools import sets
from bench.tools.baselines import Ranked, of_sessions
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.judging import DEEP, Method, Outcome, judge, mean, show
from bench.tools.sets import Space
from memory_keeper.model import Scope
from memory_keeper.search import find, semantic
from memory_keeper.store.store import Store


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    sets.argument(parser)
    parser.add_argument("--cache", default=":memory:", help="a file that keeps vectors between runs")


def run(args: argparse.Namespace) -> Figures:
    """The same questions, both ways."""
    if not semantic.available():
        raise LeftOutError(f"the model is not installed: {semantic.INSTALL}")
    said: Figures = {}
    for key, column, outcome in measured(args.data, args.cache):
        show(outcome)
        said[key] = Figure(mean(outcome.scores[outcome.ours], column))
        said[f"{key}_words"] = Figure(mean(outcome.scores["words"], column))
    return said


def measured(folder: Path, cache: str = ":memory:") -> Iterator[tuple[str, str, Outcome]]:
    """Each set by words, and by words and meaning; the name of its figure, and the measure that counts."""
    talks = sets.locomo(folder)
    with sets.kept(talks) as store:
        about = f"{len(talks)} conversations, vectors in {embed(store, cache):.0f} s"
        yield "locomo_turns_recall10", "recall@10", judged("LoCoMo, turns", about, store, talks)
        lifted = [space._replace(questions=[sets.lift(space, one) for one in space.questions]) for space in talks]
        yield "locomo_hit1", "hit@1", judged("LoCoMo, sessions", about, store, lifted, by_session=True)
    spaces = sets.beam(folder)
    with sets.kept(spaces) as store:
        about = f"{len(spaces)} conversations, vectors in {embed(store, cache):.0f} s"
        yield "beam_recall10", "recall@10", judged("BEAM, all messages", about, store, spaces)
        yield "beam_user_recall10", "recall@10", judged("BEAM, user messages", about, store, spaces, "user")


def judged(
    title: str, about: str, store: Store, spaces: Sequence[Space], role: str = "", by_session: bool = False
) -> Outcome:
    """One set, both ways."""
    ways = {"words and meaning": ranking(store, role, True), "words": ranking(store, role, False)}
    methods = [
        Method(name, of_sessions(rank) if by_session else rank, ours=name != "words") for name, rank in ways.items()
    ]
    return judge(title, about, spaces, methods, {}, ("hit@1", "hit@5", "recall@10", "MRR"))


def ranking(store: Store, role: str, meaning: bool) -> Callable[[Space, str], Ranked]:
    """The ids that search answers with; the vectors count or not."""

    def rank(space: Space, text: str) -> Ranked:
        scope = Scope(project=f"dir:/{space.name}", role=role)
        hits = find(store, text, scope, DEEP, meaning=meaning)
        return list(dict.fromkeys(hit.id.rpartition(":")[0] for hit in hits))

    return rank


def embed(store: Store, cache: str = ":memory:") -> float:
    """Give every text of a store its vector; how many seconds that took."""
    begin = time.perf_counter()
    known = sqlite3.connect(cache)
    known.execute("create table if not exists known (text text primary key, data blob not null)")
    while rows := store.lacking(semantic.BATCH):
        names = [hashlib.sha256(text.encode()).hexdigest() for _, text in rows]
        marks = ", ".join("?" * len(names))
        found = dict(known.execute(f"select text, data from known where text in ({marks})", names))
        new = [(name, text) for name, (_, text) in zip(names, rows, strict=True) if name not in found]
        made = dict(zip((name for name, _ in new), semantic.embed([text for _, text in new]), strict=True))
        with known:
            known.executemany("insert into known values (?, ?) on conflict do nothing", made.items())
        found |= made
        store.keep_vectors(semantic.MODEL, [(key, found[name]) for (key, _), name in zip(rows, names, strict=True)])
    known.close()
    return time.perf_counter() - begin
