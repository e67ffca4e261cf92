"""FTS5 over the same texts, each conversation in an index of its own: what any search has to beat."""

from __future__ import annotations

import collections
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from bench.tools.sets import Space

WORD = re.compile(r"\w+")
# what a question has that says nothing about its answer
EMPTY = frozenset(
    WORD.findall(
        "a about an and are as at be been by can could did do does for from had has have how in is it its of on or"
        " should that the this to was were what when where which who why will with would"
    )
)
PORTER, PLAIN = "porter unicode61", "unicode61"

Ranked = list[str]
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


def sessions_of(space: Space, ids: Ranked) -> Ranked:
    """The sessions of a ranking, each where its first hit is."""
    session = {turn.id: turn.session for turn in space.turns}
    return list(dict.fromkeys(session[id] for id in ids if id in session))
