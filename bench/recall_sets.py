"""Whether search finds what it should, on sets of questions that come with the places of their answers.

./dev bench recall_sets --data DIR [--missed N] [--no-captions] [--json]

DIR has the sets as .jsonl.gz: `locomo*` (LoCoMo: conversations with questions, evidence per turn), `beam*_docs` and
`beam*_queries` (BEAM: messages, and questions with the ids of the messages that answer them). A set that is missing is
skipped, and said to be.

Every conversation is a project in a real store, every meeting of it a session, every turn an event; the questions are
asked as a user's are, with nothing set for a set. The baselines are FTS5 over the same texts, each conversation in an
index of its own, in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from bench.tools import sets
from bench.tools.baselines import (
    PLAIN,
    PORTER,
    Ranked,
    all_words,
    fused,
    of_sessions,
    rows_of,
    session_documents,
    sessions_of,
    telling,
)
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.judging import DEEP, Method, Outcome, best_of, judge, mean, missed, show
from bench.tools.sets import Space
from memory_keeper.model import Hit, Scope
from memory_keeper.search import find
from memory_keeper.store.store import Store

# what others say of these sets, over more or other questions than are asked here
PUBLISHED_SESSIONS = {
    "deja-vu, its own harness, 10 conversations": {"hit@1": 0.698, "hit@5": 0.858, "MRR": 0.768},
    "FTS5 session documents, 10 conversations": {"hit@1": 0.710, "hit@5": 0.915, "recall@10": 0.934, "MRR": 0.802},
    "FTS5 fused 1 .5 .5, 10 conversations": {"hit@1": 0.745, "hit@5": 0.932, "recall@10": 0.935, "MRR": 0.826},
    "FTS5 porter, date, neighbours, 10 conversations": {"recall@10": 0.938},
    "MemPalace, embeddings raw": {"recall@10": 0.603},
    "MemPalace, hybrid": {"recall@10": 0.889},
    "MemPalace, bge-large hybrid": {"recall@10": 0.924},
}
PUBLISHED_TURNS = {
    "FTS5 porter, date, neighbours, 10 conversations": {"recall@10": 0.720},
    "all-MiniLM alone, 10 conversations": {"recall@10": 0.414},
}
PUBLISHED_BEAM = {"FTS5": {"recall@10": 0.557}, "FTS5 + MiniLM int8 by rank": {"recall@10": 0.616}}
# the name of a figure, its set, its measure, and what it should be
QUOTED = (
    ("locomo_hit1", "LoCoMo, sessions", "hit@1", ">= 0.75"),
    ("locomo_hit5", "LoCoMo, sessions", "hit@5", ">= 0.93"),
    ("locomo_mrr", "LoCoMo, sessions", "MRR", ">= 0.83"),
    ("locomo_recall10", "LoCoMo, sessions", "recall@10", ""),
    ("locomo_turns_recall10", "LoCoMo, turns", "recall@10", ""),
    ("beam_user_recall10", "BEAM, user messages", "recall@10", ""),
    ("beam_recall10", "BEAM, all messages", "recall@10", ""),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    sets.argument(parser)
    parser.add_argument(
        "--missed", type=int, default=0, metavar="N", help="print N questions that a baseline does best"
    )
    parser.add_argument("--no-captions", action="store_true", help="LoCoMo without the captions of its pictures")


def run(args: argparse.Namespace) -> Figures:
    """Every set that is there."""
    found: dict[str, Outcome] = {}
    for measured in (locomo, beam):
        try:
            for outcome in measured(args):
                show(outcome)
                missed(outcome, args.missed)
                found[outcome.title] = outcome
        except LeftOutError as why:
            print(f"\n{measured.__name__} skipped: {why}")
    if not found:
        raise LeftOutError(f"no locomo*.jsonl.gz and no beam*.jsonl.gz below {args.data}")
    return {
        name: figure
        for key, title, column, target in QUOTED
        if title in found
        for name, figure in pair(key, found[title], column, target)
    }


def pair(key: str, outcome: Outcome, column: str, target: str) -> Iterator[tuple[str, Figure]]:
    """Ours, and the best that FTS5 alone does."""
    yield key, Figure(mean(outcome.scores[outcome.ours], column), target=target)
    yield f"{key}_fts5", Figure(mean(outcome.scores[best_of(outcome, column)], column))


# --- the sets ---------------------------------------------------------------------------------------------------------


def locomo(args: argparse.Namespace) -> Iterator[Outcome]:
    """LoCoMo, by sessions and by turns."""
    spaces = sets.locomo(args.data, not args.no_captions)
    count = sum(len(space.questions) for space in spaces)
    about = (
        f"{len(spaces)} conversations, {sum(len(s.sessions()) for s in spaces)} sessions,"
        f" {sum(len(s.turns) for s in spaces)} turns; {count} questions that have evidence"
    )
    with sets.kept(spaces) as store:
        ours = ask(store)
        by_session = (
            Method("search", lambda space, text: sessions_of(space, ours(space, text)), ours=True),
            Method("FTS5, session documents", session_documents(PLAIN, all_words)),
            Method("FTS5, session documents, porter", session_documents(PORTER, telling)),
            Method("FTS5, turns", of_sessions(rows_of(PLAIN, all_words))),
            Method("FTS5, turns, porter", of_sessions(rows_of(PORTER, telling))),
            Method("FTS5, session + turn + 4 turns, 1 .5 .5", fused(PORTER, telling)),
            Method("FTS5, session + turn + 4 turns, by rank", fused(PORTER, telling, by_rank=True)),
        )
        # what is gold of a session is that one of its turns is
        sessions = [space._replace(questions=[sets.lift(space, one) for one in space.questions]) for space in spaces]
        yield judge("LoCoMo, sessions", about, sessions, by_session, PUBLISHED_SESSIONS, ("hit@1", "hit@5", "MRR"))
        by_turn = (
            Method("search", ours, ours=True),
            Method("FTS5, turns", rows_of(PLAIN, all_words)),
            Method("FTS5, turns, porter", rows_of(PORTER, telling)),
            Method("FTS5, turns, porter, date, neighbours .5", rows_of(PORTER, telling, dated=True, near=0.5)),
        )
        yield judge("LoCoMo, turns", about, spaces, by_turn, PUBLISHED_TURNS, ("recall@10", "MRR"))
        steady(store, spaces)


def beam(args: argparse.Namespace) -> Iterator[Outcome]:
    """BEAM, ranking what the user said, and everything."""
    spaces = sets.beam(args.data)
    about = (
        f"{len(spaces)} conversations, {sum(len(s.sessions()) for s in spaces)} sessions,"
        f" {sum(len(s.turns) for s in spaces)} messages;"
        f" {sum(len(s.questions) for s in spaces)} questions"
    )
    with sets.kept(spaces) as store:
        users = (
            Method("search --role user", ask(store, "user"), ours=True),
            Method("FTS5", rows_of(PLAIN, all_words, role="user")),
            Method("FTS5, porter", rows_of(PORTER, telling, role="user")),
        )
        note = f"{about}; an answer that the assistant gave counts as missed"
        yield judge("BEAM, user messages", note, spaces, users, PUBLISHED_BEAM, ("recall@10", "MRR"))
        everything = (
            Method("search", ask(store), ours=True),
            Method("FTS5", rows_of(PLAIN, all_words)),
            Method("FTS5, porter", rows_of(PORTER, telling)),
            Method("FTS5, porter, date, neighbours .5", rows_of(PORTER, telling, dated=True, near=0.5)),
        )
        yield judge("BEAM, all messages", about, spaces, everything, {}, ("recall@10", "MRR"))


# --- ours -------------------------------------------------------------------------------------------------------------


def ask(store: Store, role: str = "", limit: int = DEEP) -> Callable[[Space, str], Ranked]:
    """The ids that our search answers with."""

    def rank(space: Space, text: str) -> Ranked:
        hits = search(store, text, f"dir:/{space.name}", limit, role)
        return list(dict.fromkeys(hit.id.rpartition(":")[0] for hit in hits))

    return rank


def search(store: Store, text: str, project: str | None, limit: int, role: str = "") -> list[Hit]:
    """Ask as any caller does."""
    return find(store, text, Scope(project=project, role=role), limit)


def steady(store: Store, spaces: Sequence[Space]) -> None:
    """Whether who asks for ten gets the ten that these figures rest on."""
    deep, few = ask(store), ask(store, limit=10)
    asked = [(space, one.text) for space in spaces for one in space.questions][::10]
    same = sum(deep(space, text)[:10] == few(space, text) for space, text in asked)
    print(f"{same} of {len(asked)} questions have the same first ten whether 10 or {DEEP} are asked for")
