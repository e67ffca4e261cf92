"""What search by meaning adds to search by words, on the sets of `recall_sets`; needs the extra `semantic`.

./dev bench meaning --data DIR [--cache FILE] [--json]

The same store, the same questions, asked with the vectors and without. Making the vectors of BEAM takes some minutes
on one core: `--cache` keeps them from one run to the next.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import recall_sets as sets
from memory_keeper.keep import vectors
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Scope
from memory_keeper.search import find, minilm, semantic


def main() -> int:
    """Tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets.arguments(parser)
    parser.add_argument("--cache", default=":memory:", help="a file that keeps vectors between runs")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not semantic.available():
        print(f"the model is not installed: {minilm.INSTALL}", file=sys.stderr)
        return 3
    minilm.check()
    found = {}
    for outcome in measured(args.data, args.cache, quiet=args.json):
        found[outcome.title] = sets.digest(outcome)
        if not args.json:
            sets.show(outcome)
    if args.json:
        print(json.dumps(found, indent=2))
    return 0


def measured(folder: Path, cache: str = ":memory:", quiet: bool = False) -> Iterator[sets.Outcome]:
    """Each set by words, and by words and meaning."""
    talks = [sets.conversation(row, True) for row in sets.read(folder, "locomo*.jsonl.gz")]
    docs, queries = (sets.read(folder, f"beam*_{part}.jsonl.gz") for part in ("docs", "queries"))
    for title, spaces in (("LoCoMo", talks), ("BEAM", list(sets.messages(docs, queries)))):
        if not spaces:
            continue
        with sets.kept(spaces) as store:
            spent = embed(store, cache)
            about = f"{len(spaces)} conversations, vectors in {spent:.0f} s"
            yield judged(f"{title}, turns", about, store, spaces)
            if title == "BEAM":
                yield judged("BEAM, user messages", about, store, spaces, "user")
                continue
            lifted = [space._replace(questions=[sets.lift(space, one) for one in space.questions]) for space in spaces]
            yield judged(f"{title}, sessions", about, store, lifted, by_session=True)


def judged(
    title: str, about: str, store: SqliteStore, spaces: Sequence[sets.Space], role: str = "", by_session: bool = False
) -> sets.Outcome:
    """One set, both ways."""
    ways = {"words and meaning": ranking(store, role, True), "words": ranking(store, role, False)}
    methods = [
        sets.Method(name, sets.of_sessions(rank) if by_session else rank, ours=name != "words")
        for name, rank in ways.items()
    ]
    return sets.judge(title, about, spaces, methods, {}, ("hit@1", "hit@5", "recall@10", "MRR"))


def ranking(store: SqliteStore, role: str, meaning: bool) -> Callable[[sets.Space, str], sets.Ranked]:
    """The ids that search answers with; the vectors count or not."""

    def rank(space: sets.Space, text: str) -> sets.Ranked:
        scope = Scope(project=f"dir:/{space.name}", role=role)
        hits = find(store, text, scope, sets.DEEP, meaning=meaning)
        return list(dict.fromkeys(hit.id.rpartition(":")[0] for hit in hits))

    return rank


def embed(store: SqliteStore, cache: str = ":memory:") -> float:
    """Give every text of a store its vector; how many seconds that took."""
    begin = time.perf_counter()
    known = sqlite3.connect(cache)
    known.execute("create table if not exists known (text text primary key, data blob not null)")
    while rows := vectors.lacking(store.db, semantic.BATCH):
        names = [hashlib.sha256(text.encode()).hexdigest() for _, text in rows]
        marks = ", ".join("?" * len(names))
        found = dict(known.execute(f"select text, data from known where text in ({marks})", names))
        new = [(name, text) for name, (_, text) in zip(names, rows, strict=True) if name not in found]
        made = dict(zip((name for name, _ in new), semantic.embed([text for _, text in new]), strict=True))
        with known:
            known.executemany("insert into known values (?, ?) on conflict do nothing", made.items())
        found |= made
        vectors.keep(store, minilm.MODEL, [(key, found[name]) for (key, _), name in zip(rows, names, strict=True)])
    known.close()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
