"""Whether search finds what it should, on sets of questions that come with the places of their answers.

./dev bench recall_sets --data DIR [--missed N] [--no-captions] [--json]

DIR has the sets as .jsonl.gz: `locomo*` (LoCoMo: conversations with questions, evidence per turn), `beam*_docs` and
`beam*_queries` (BEAM: messages, and questions with the ids of the messages that answer them), `prompt_files*` (prompts
with the files that were then touched). A set that is missing is skipped, and said to be.

Every conversation is a project in a real store, every meeting of it a session, every turn an event; the questions are
asked as a user's are, with nothing set for a set. The baselines are FTS5 over the same texts, each conversation in an
index of its own, in the same run.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import importlib
import itertools
import json
import math
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench import measure
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Event, Hit, Placed, Scope, Source
from memory_keeper.search import find

DEEP = 100  # hits that are asked for: twenty different sessions must be able to come
WORD = re.compile(r"\w+")
# what a question has that says nothing about its answer
EMPTY = frozenset(
    WORD.findall(
        "a about an and are as at be been by can could did do does for from had has have how in is it its of on or"
        " should that the this to was were what when where which who why will with would"
    )
)
PORTER, PLAIN = "porter unicode61", "unicode61"
COLUMNS = ("hit@1", "hit@5", "recall@1", "recall@5", "recall@10", "recall@20", "NDCG@10", "MRR")
CATEGORIES = {1: "several turns", 2: "time", 3: "common sense", 4: "one turn", 5: "adversarial"}  # LoCoMo's numbers
RESAMPLES = 2000

Scores = dict[str, float]
Ranked = list[str]


class Turn(NamedTuple):
    """Something one side said."""

    id: str
    session: str
    role: str  # user | assistant
    at: float
    text: str
    date: str = ""  # as the set writes it


class Question(NamedTuple):
    """What is asked, and where its answer lies."""

    text: str
    gold: frozenset[str]  # ids of turns
    category: str


class Space(NamedTuple):
    """One conversation with its questions: a project."""

    name: str
    turns: list[Turn]
    questions: list[Question]

    def sessions(self) -> dict[str, list[Turn]]:
        """The turns of each session, in order."""
        found: dict[str, list[Turn]] = {}
        for turn in self.turns:
            found.setdefault(turn.session, []).append(turn)
        return found


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


def run_alone(about: str | None, arguments: Callable[..., None], run: Callable[..., dict[str, Any]]) -> int:
    """One part of the benchmark by itself: its tables, or JSON."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    said = run(args, quiet=args.json)
    if args.json:
        print(json.dumps(said, indent=2))
    return 0


def arguments(parser: argparse.ArgumentParser) -> None:
    """What this part takes."""
    parser.add_argument("--data", type=Path, required=parser.prog.endswith("recall_sets.py"), help="a folder of sets")
    parser.add_argument(
        "--missed", type=int, default=0, metavar="N", help="print N questions that a baseline does best"
    )
    parser.add_argument("--no-captions", action="store_true", help="LoCoMo without the captions of its pictures")


def run(args: argparse.Namespace, quiet: bool = False) -> dict[str, Any]:
    """Every set that is there."""
    say = (lambda *_: None) if quiet else print
    found: dict[str, Any] = {}
    for measured in (locomo, beam):
        for outcome in measured(args, say):
            if not quiet:
                show(outcome)
                missed(outcome, args.missed)
            found[outcome.title] = digest(outcome)
    found["prompt to files"] = prompt_files(args.data, say)
    return found


# --- the sets ---------------------------------------------------------------------------------------------------------


def locomo(args: argparse.Namespace, say: Callable[..., None]) -> Iterator[Outcome]:
    """LoCoMo, by sessions and by turns."""
    rows = read(args.data, "locomo*.jsonl.gz")
    if not rows:
        say(f"\nLoCoMo skipped: no locomo*.jsonl.gz in {args.data}")
        return
    spaces = [conversation(row, not args.no_captions) for row in rows]
    asked = [one for row in rows for one in row["qa"]]
    count = sum(len(space.questions) for space in spaces)
    about = (
        f"{len(spaces)} conversations, {sum(len(s.sessions()) for s in spaces)} sessions,"
        f" {sum(len(s.turns) for s in spaces)} turns; {count} of {len(asked)} questions have evidence and all count"
    )
    with kept(spaces) as store:
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
        sessions = [space._replace(questions=[lift(space, one) for one in space.questions]) for space in spaces]
        yield judge("LoCoMo, sessions", about, sessions, by_session, PUBLISHED_SESSIONS, ("hit@1", "hit@5", "MRR"))
        by_turn = (
            Method("search", ours, ours=True),
            Method("FTS5, turns", rows_of(PLAIN, all_words)),
            Method("FTS5, turns, porter", rows_of(PORTER, telling)),
            Method("FTS5, turns, porter, date, neighbours .5", rows_of(PORTER, telling, dated=True, near=0.5)),
        )
        yield judge("LoCoMo, turns", about, spaces, by_turn, PUBLISHED_TURNS, ("recall@10", "MRR"))
        steady(store, spaces, say)


def beam(args: argparse.Namespace, say: Callable[..., None]) -> Iterator[Outcome]:
    """BEAM, ranking what the user said, and everything."""
    docs, queries = (read(args.data, f"beam*_{part}.jsonl.gz") for part in ("docs", "queries"))
    if not docs or not queries:
        say(f"\nBEAM skipped: no beam*_docs.jsonl.gz and beam*_queries.jsonl.gz in {args.data}")
        return
    spaces = list(messages(docs, queries))
    about = (
        f"{len(spaces)} conversations, {sum(len(s.sessions()) for s in spaces)} sessions, {len(docs)} messages;"
        f" {len(queries)} questions"
    )
    with kept(spaces) as store:
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


def prompt_files(folder: Path, say: Callable[..., None]) -> Any:
    """Which files a prompt is about: a benchmark of its own."""
    try:
        score = importlib.import_module("bench.prompt_files").score
    except (ImportError, AttributeError) as error:
        say(f"\nPrompt to files skipped: {error}")
        return None
    if not list(folder.rglob("prompt_files*.jsonl.gz")):
        say(f"\nPrompt to files skipped: no prompt_files*.jsonl.gz in {folder}")
        return None
    begin = time.perf_counter()
    said = score(folder)
    say(f"\nPrompt to files ({time.perf_counter() - begin:.1f} s)")
    if isinstance(said, dict) and all(isinstance(row, dict) for row in said.values()):
        columns = list(dict.fromkeys(column for row in said.values() for column in row))
        rows = [(name, *(shown(row.get(column)) for column in columns)) for name, row in said.items()]
        if say is print:
            measure.table(("", *columns), rows)
    else:
        say(said)
    return said


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of all files of a set."""
    found = []
    for path in sorted(folder.rglob(name)):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found += [json.loads(line) for line in lines]
    return found


def conversation(row: dict[str, Any], captions: bool) -> Space:
    """LoCoMo's: two people, some weeks."""
    talk, name = row["conversation"], str(row["sample_id"])
    turns = []
    for key in sorted((key for key, value in talk.items() if isinstance(value, list)), key=lambda key: int(key[8:])):
        date = str(talk[f"{key}_date_time"])
        at = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
        for number, one in enumerate(talk[key]):
            seen = f" [{one['blip_caption']}]" if captions and one.get("blip_caption") else ""
            text = f"{one['speaker']}: {one['text']}{seen}"
            turns.append(
                Turn(f"{name}-{one['dia_id']}", f"{name}-{key}", "user", at + number, text, date)
            )  # both are people
    known = {turn.id for turn in turns}
    questions = []
    for asked in row["qa"]:
        # some are written `D8:6; D9:17`, or `D:11:26`
        places = re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, asked.get("evidence") or ())))
        gold = frozenset(f"{name}-D{session}:{turn}" for session, turn in places) & known
        if gold:
            number = int(asked["category"])
            category = f"{number} {CATEGORIES.get(number, '')}".strip()
            questions.append(Question(str(asked["question"]), gold, category))
    return Space(name, turns, questions)


def messages(docs: list[dict[str, Any]], queries: list[dict[str, Any]]) -> Iterator[Space]:
    """BEAM's: a user and an assistant."""
    for name, rows in itertools.groupby(docs, key=lambda row: str(row["space"])):
        turns = []
        for row in rows:
            at = datetime.strptime(row["date"], "%B-%d-%Y").replace(tzinfo=UTC).timestamp() + row["id"]
            session = f"{name}-{row['session']}"
            turns.append(Turn(f"{name}-{row['id']}", session, row["role"], at, row["text"], row["date"]))
        yield Space(
            name,
            turns,
            [
                Question(row["text"], frozenset(f"{name}-{one}" for one in row["gold"]), row["cat"])
                for row in queries
                if row["space"] == name
            ],
        )


def lift(space: Space, asked: Question) -> Question:
    """The same question about sessions."""
    session = {turn.id: turn.session for turn in space.turns}
    return asked._replace(gold=frozenset(session[id] for id in asked.gold))


# --- ours -------------------------------------------------------------------------------------------------------------


@contextmanager
def kept(spaces: Iterable[Space]) -> Iterator[SqliteStore]:
    """A real store that has these conversations."""
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        store = SqliteStore(str(Path(folder, "store.db")))
        try:
            for space in spaces:
                for session, turns in space.sessions().items():
                    record(store, f"dir:/{space.name}", session, turns)
            yield store
        finally:
            store.close()


def record(store: SqliteStore, project: str, session: str, turns: Sequence[Turn]) -> None:
    """One session, as if its transcript had been read."""
    source = store.begin(Source(f"/bench/{session}.jsonl", session, project))
    placed = [
        Placed(
            Event(turn.id + ":0", turn.at, "prompt" if turn.role == "user" else "reply", session, project, turn.text),
            offset,
        )
        for offset, turn in enumerate(turns)
    ]
    store.record(source._replace(offset=len(placed), at=turns[-1].at), placed)


def ask(store: SqliteStore, role: str = "", limit: int = DEEP) -> Callable[[Space, str], Ranked]:
    """The ids that our search answers with."""

    def rank(space: Space, text: str) -> Ranked:
        hits = search(store, text, f"dir:/{space.name}", limit, role)
        return list(dict.fromkeys(hit.id.rpartition(":")[0] for hit in hits))

    return rank


def search(store: SqliteStore, text: str, project: str | None, limit: int, role: str = "") -> list[Hit]:
    """Ask as any caller does."""
    return find(store, text, Scope(project=project, role=role), limit)


def sessions_of(space: Space, ids: Ranked) -> Ranked:
    """The sessions of a ranking, each where its first hit is."""
    session = {turn.id: turn.session for turn in space.turns}
    return list(dict.fromkeys(session[id] for id in ids if id in session))


def steady(store: SqliteStore, spaces: Sequence[Space], say: Callable[..., None]) -> None:
    """Whether who asks for ten gets the ten that these figures rest on."""
    deep, few = ask(store), ask(store, limit=10)
    asked = [(space, one.text) for space in spaces for one in space.questions][::10]
    same = sum(deep(space, text)[:10] == few(space, text) for space, text in asked)
    say(f"{same} of {len(asked)} questions have the same first ten whether 10 or {DEEP} are asked for")


# --- baselines --------------------------------------------------------------------------------------------------------

Words = Callable[[str], list[str]]


def all_words(text: str) -> list[str]:
    """As they stand."""
    return list(dict.fromkeys(WORD.findall(text.lower())))


def telling(text: str) -> list[str]:
    """Without those that every question has."""
    words = all_words(text)
    return [word for word in words if word not in EMPTY] or words


class Index:
    """FTS5 over some texts, in memory."""

    def __init__(self, texts: Iterable[str], tokenizer: str) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(f"create virtual table t using fts5(text, tokenize='{tokenizer}')")
        self.db.executemany("insert into t (rowid, text) values (?, ?)", enumerate(texts))

    def scores(self, words: Sequence[str]) -> dict[int, float]:
        """The number of each text that has any of the words, with its BM25, the best first."""
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self.db.execute("select rowid, -bm25(t) from t where t match ? order by rank", (match,)) if words else ()
        return dict(rows)


def by_space(make: Callable[[Space], Callable[[str], Ranked]]) -> Callable[[Space, str], Ranked]:
    """Index each conversation once."""
    made: dict[str, Callable[[str], Ranked]] = {}

    def rank(space: Space, text: str) -> Ranked:
        if space.name not in made:
            made[space.name] = make(space)
        return made[space.name](text)

    return rank


def rows_of(
    tokenizer: str, words: Words, role: str = "", dated: bool = False, near: float = 0.0
) -> Callable[[Space, str], Ranked]:
    """Turns by BM25; with the session's date in them; with some of their neighbours' scores added."""

    def make(space: Space) -> Callable[[str], Ranked]:
        turns = [turn for turn in space.turns if role in ("", turn.role)]
        index = Index((f"{turn.date} {turn.text}" if dated else turn.text for turn in turns), tokenizer)

        def rank(text: str) -> Ranked:
            scores = index.scores(words(text))
            added = collections.Counter(scores)
            for number, score in scores.items() if near else ():
                for beside in (number - 1, number + 1):
                    if 0 <= beside < len(turns) and turns[beside].session == turns[number].session:
                        added[beside] += near * score  # type: ignore[assignment]
            return [turns[number].id for number, _ in added.most_common()]

        return rank

    return by_space(make)


def of_sessions(rank: Callable[[Space, str], Ranked]) -> Callable[[Space, str], Ranked]:
    """Sessions by their best turn."""
    return lambda space, text: sessions_of(space, rank(space, text))


def session_documents(tokenizer: str, words: Words) -> Callable[[Space, str], Ranked]:
    """Sessions as one text each, by BM25."""

    def make(space: Space) -> Callable[[str], Ranked]:
        names, texts = whole(space)
        index = Index(texts, tokenizer)
        return lambda text: [names[number] for number in index.scores(words(text))]

    return by_space(make)


def fused(tokenizer: str, words: Words, by_rank: bool = False) -> Callable[[Space, str], Ranked]:
    """Sessions by their whole text, their best turn and their best four turns on end, weighed 1, .5 and .5."""

    def make(space: Space) -> Callable[[str], Ranked]:
        turns = ([turn.session for turn in space.turns], [turn.text for turn in space.turns])
        views = [(1.0, whole(space)), (0.5, turns), (0.5, windows(space, 4))]
        indexes = [(weight, names, Index(texts, tokenizer)) for weight, (names, texts) in views]

        def rank(text: str) -> Ranked:
            total: collections.Counter[str] = collections.Counter()
            for weight, names, index in indexes:
                best: dict[str, float] = {}
                for number, score in index.scores(words(text)).items():
                    best.setdefault(names[number], score)
                most = max(best.values(), default=1.0)
                for place, (name, score) in enumerate(best.items(), 1):
                    total[name] += weight / (60 + place) if by_rank else weight * score / most  # type: ignore[assignment]
            return [name for name, _ in total.most_common()]

        return rank

    return by_space(make)


def whole(space: Space) -> tuple[list[str], list[str]]:
    """Each session as one text, with its date."""
    sessions = space.sessions()
    return list(sessions), ["\n".join([of[0].date, *(one.text for one in of)]) for of in sessions.values()]


def windows(space: Space, size: int) -> tuple[list[str], list[str]]:
    """Every run of so many turns of a session."""
    names, texts = [], []
    for name, turns in space.sessions().items():
        for start in range(max(1, len(turns) - size + 1)):
            names.append(name)
            texts.append("\n".join(turn.text for turn in turns[start : start + size]))
    return names, texts


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


# --- judging ----------------------------------------------------------------------------------------------------------


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


def digest(outcome: Outcome) -> dict[str, Any]:
    """The same for a program."""
    return {
        "about": outcome.about,
        "questions": len(outcome.questions),
        "ours": outcome.ours,
        "methods": {
            name: {one: round(mean(scores, one), 4) for one in COLUMNS} for name, scores in outcome.scores.items()
        },
        "published": outcome.published,
        "gain": {
            one: dict(zip(("beside", "mean", "low", "high"), interval(outcome, one), strict=True))
            for one in outcome.decisive
        },
        "seconds": {name: round(spent, 2) for name, spent in outcome.seconds.items()},
    }


if __name__ == "__main__":
    sys.exit(run_alone(__doc__, arguments, run))
