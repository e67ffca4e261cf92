"""How much a sentence is worth to whoever takes over, and which of its names and words matter: two linear models.

They were fitted on sessions that Claude Code compacted: what its summaries kept, what the agent needed afterwards, what
an engineer who takes over asks (`bench/train_ranker.py`). The weights are data, in `data/ranker.json`; here is what the
models look at. Who said a sentence is a fact and is not judged here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import log1p

from memory_keeper import regex as re
from memory_keeper import wire
from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.spoken import EACH, Spoken
from memory_keeper.model import WRITES, Event

WEIGHTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data/ranker.json")
CALL = 6_000  # characters of a call that are read
SOURCES = ("request", "answer", "reply", "thinking", "summary", "message", "plan", "document", "report")
# cheap signs of what a sentence does; what they are worth was learnt
CUES = {
    name: re.compile(pattern, re.I)
    for name, pattern in {
        "cause": r"\b(?:because|since|root cause|cause[ds]?|due to|reason|turns out|the (?:issue|problem|bug)"
        r"|that's why|so that|therefore|means that|which is why|explains)\b|때문|원인|ため|原因",
        "decision": r"\b(?:decid\w+|chose|choos\w+|instead|rather than|go(?:ing)? with|should|must|keep|approach"
        r"|recommend\w*|prefer\w*|trade-?off|agreed|approved|option)\b|결정|대신|方針|決定",
        "next": r"\b(?:next|remaining|todo|still|pending|need(?:s|ed)? to|left|then|follow-?up|not yet|later|open)\b"
        r"|다음|남은|次|残り",
        "done": r"\b(?:fixed|added|implemented|removed|renamed|moved|created|updated|replaced|committed|merged|pushed"
        r"|resolved|refactored|complete[d]?|done|pass(?:es|ed|ing)?|verified|works?)\b|완료|수정|추가|完了|修正",
        "wrong": r"\b(?:fail\w*|error\w*|bug|broken|wrong|missing|issue|problem|crash\w*|undefined|conflict\w*|stale"
        r"|flaky)\b|오류|실패|エラー|失敗",
        "announces": r"^(?:(?:ok(?:ay)?|so|now|next|then|first|also|and|but|actually|alright|great|good|perfect|right"
        r"|hmm|wait|finally|yes|sure|excellent)[,.:!—-]*\s+)*(?:let me|let's|i'?ll|i will|i'm going to"
        r"|i(?: also| still| now)? (?:need|have|want|should) to|time to|looking at|checking|running)\b",
        "chat": r"^(?:perfect|great|good|excellent|done|ok(?:ay)?|sure|right|yes|no|got it|you're (?:absolutely )?right"
        r"|good (?:catch|question|point|idea)|makes sense|i see|now i (?:see|understand))\b",
        "user": r"\b(?:the )?user\b|사용자|ユーザー",
        "hedge": r"\b(?:maybe|perhaps|wait|hmm|might|could|probably|i think|let me think|alternatively|what if"
        r"|actually)\b",
        "not": r"\b(?:not|never|no|don't|doesn't|didn't|isn't|can't|cannot|won't|without|only)\b",
    }.items()
}
UNDER = {
    name: re.compile(pattern, re.I)
    for name, pattern in {
        "next": r"next|remain|todo|to do|pending|left|follow|open|남은|다음|次",
        "cause": r"cause|problem|issue|why|bug|finding|analysis|원인|原因",
        "done": r"done|complete|change|fixed|what (?:was|i)|implemented|result|완료|変更",
        "summary": r"summary|overview|conclusion|status|key|요약|まとめ",
    }.items()
}
SENTENCE = (
    *(f"is_{source}" for source in SOURCES),
    *("item", "row", "code", "ticked", *(f"cue_{cue}" for cue in CUES), "question", "colon"),
    *("age", "age_turns", "last_turn", "first_turn", "first", "last", "relative", "many", "concluding", "closing"),
    *("length", "short", "names", "digits", "ticks", "path", "rarity", "rarest", "in_user", "in_said", "in_calls"),
    *("later_calls", "later_said", "later_user", "recent", "to_first", "to_last", "to_title", "new"),
    *(f"under_{name}" for name in UNDER),
)
CONCEPT = (
    *(f"in_{source}" for source in SOURCES),
    *(
        "in_call",
        "in_edit",
        "age_said",
        "age_call",
        "called",
        "first",
        "span",
        "turns",
        "share_of_turns",
        "in_last_turn",
    ),
    *("in_conclusions", "in_first_request", "in_last_request", "in_title", "name", "path", "file", "digits", "length"),
    *("rarity", "session"),
)


@cache
def weights() -> dict[str, dict[str, float]]:
    """What was learnt: the weights of both models, and how rare words are."""
    with open(WEIGHTS, encoding="utf-8") as file:
        loaded: dict[str, dict[str, float]] = wire.loads(file.read())
    return loaded


def rarity(concept: str) -> float:
    """How rare a concept is in sessions of all kinds."""
    learnt = weights()
    return learnt["rarity"].get(concept, learnt["other"]["unseen"])


class Session:
    """What a session speaks of, against which each of its sentences is looked at."""

    def __init__(
        self, said: Sequence[Spoken], events: Sequence[Event], rarity: dict[str, float], unseen: float
    ) -> None:
        self.rarity, self.unseen = rarity, unseen
        self.concepts = [concepts(one.fact.text) for one in said]
        self.end = max(1, len(events)) * EACH
        self.turns = max((one.fact.turn for one in said), default=0)
        self.counts: dict[str, Counter[str]] = {source: Counter() for source in (*SOURCES, "call", "edit")}
        self.user: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self.last_said: dict[str, int] = {}
        self.last_user: dict[str, int] = {}
        self.last_call: dict[str, int] = {}
        self.last_edit: dict[str, int] = {}
        self.in_turns: dict[str, set[int]] = {}
        self.in_last: Counter[str] = Counter()
        self.in_conclusions: Counter[str] = Counter()
        replies = {one.fact.turn: one.fact.place // EACH for one in said if one.source == "reply"}
        self.concluding = set(replies.values())
        self.final = max(self.concluding, default=-1)
        opening: set[str] = set()
        closing: set[str] = set()
        for one, found in zip(said, self.concepts, strict=True):
            fact, users = one.fact, one.fact.who == "user"
            self.counts[one.source].update(found)
            (self.user if users else self.said).update(found)
            last = self.last_user if users else self.last_said
            for concept in found:
                last[concept] = fact.place
                self.first.setdefault(concept, fact.place)
                self.in_turns.setdefault(concept, set()).add(fact.turn)
            if fact.turn == self.turns:
                self.in_last.update(found)
            if fact.place // EACH in self.concluding:
                self.in_conclusions.update(found)
            if one.source == "request":
                opening |= found if fact.turn <= 1 else set()
                closing |= found if fact.turn > self.turns - 2 else set()
        for place, event in enumerate(events):
            if event.kind == "call" and not event.agent:
                found = concepts(event.text[:CALL])
                self.counts["edit" if event.tool in WRITES else "call"].update(found)
                for concept in found:
                    self.last_call[concept] = place * EACH
                    if event.tool in WRITES:
                        self.last_edit[concept] = place * EACH
        self.opening, self.closing = opening, closing
        titles = [event.text for event in events if event.kind == "title"]
        self.title = concepts(titles[-1]) if titles else frozenset()

    def weight(self, concept: str) -> float:
        """How rare a concept is in sessions of all kinds."""
        return self.rarity.get(concept, self.unseen)

    def sentence(self, one: Spoken, found: frozenset[str]) -> list[float]:
        """What the model of sentences looks at, in the order of SENTENCE."""
        fact, text, size = one.fact, one.fact.text, len(found) or 1
        place, back = fact.place, self.turns - one.fact.turn
        rarities = [self.weight(concept) for concept in found]
        newest = max(
            (max(self.last_call.get(name, 0), self.last_said.get(name, 0)) for name in found if is_name(name)),
            default=place,
        )
        return [
            *(float(one.source == source) for source in SOURCES),
            *(float(one.form == form) for form in ("item", "row", "code", "done")),
            *(float(cue.search(text) is not None) for cue in CUES.values()),
            float(text[-1:] in "?？"),
            float(text[-1:] in ":："),
            log1p((self.end - place) / EACH),
            log1p(back),
            float(back == 0),
            float(fact.turn <= 1),
            float(one.number == 0),
            float(one.number == one.many - 1),
            one.number / max(1, one.many),
            log1p(one.many),
            float(place // EACH in self.concluding),
            float(place // EACH == self.final),
            log1p(len(text)),
            float(len(text) < 40),
            log1p(sum(map(is_name, found))),
            log1p(sum(map(str.isdigit, text))),
            float("`" in text),
            float("/" in text),
            sum(rarities) / size,
            max(rarities, default=0.0),
            sum(log1p(self.user[concept]) for concept in found) / size,
            sum(log1p(self.said[concept]) for concept in found) / size,
            sum(log1p(self.counts["call"][concept] + self.counts["edit"][concept]) for concept in found) / size,
            sum(self.last_call.get(concept, -1) > place for concept in found) / size,
            sum(self.last_said.get(concept, -1) > place for concept in found) / size,
            sum(self.last_user.get(concept, -1) > place for concept in found) / size,
            log1p((self.end - newest) / EACH),
            len(found & self.opening) / size,
            len(found & self.closing) / size,
            len(found & self.title) / size,
            sum(self.first.get(concept, place) >= place for concept in found) / size,
            *(float(pattern.search(fact.about) is not None) for pattern in UNDER.values()),
        ]

    def concept(self, concept: str) -> list[float]:
        """What the model of names and words looks at, in the order of CONCEPT."""
        last, call = (
            max(self.last_said.get(concept, 0), self.last_user.get(concept, 0)),
            self.last_call.get(concept, -1),
        )
        first, turns = self.first.get(concept, 0), len(self.in_turns.get(concept, ()))
        return [
            *(log1p(counter[concept]) for counter in self.counts.values()),
            log1p((self.end - last) / EACH),
            log1p((self.end - max(call, 0)) / EACH),
            float(call >= 0),
            first / self.end,
            (last - first) / self.end,
            log1p(turns),
            turns / max(1, self.turns),
            log1p(self.in_last[concept]),
            log1p(self.in_conclusions[concept]),
            float(concept in self.opening),
            float(concept in self.closing),
            float(concept in self.title),
            float(is_name(concept)),
            float("/" in concept),
            float("." in concept[-5:]),
            float(any(map(str.isdigit, concept))),
            float(len(concept)),
            self.weight(concept),
            log1p(self.end / EACH),
        ]


def rank(
    said: Sequence[Spoken],
    events: Sequence[Event],
    concepts: bool = True,
    weigh: Callable[[Spoken, Session, frozenset[str]], float] = lambda one, session, found: 1.0,
) -> tuple[Session, list[float], dict[str, float]]:
    """How much each sentence is worth, times what it weighs to who asks, and each concept of the session unless nobody
    asks. What weighs nothing is not looked at: that takes long."""
    learnt = weights()
    session = Session(said, events, learnt["rarity"], learnt["other"]["unseen"])
    sentence, concept = [*learnt["sentence"].values()], [*learnt["concept"].values()]
    shares = [weigh(one, session, found) for one, found in zip(said, session.concepts, strict=True)]
    worth = [
        share * _linear(sentence, session.sentence(one, found)) if share else 0.0
        for share, one, found in zip(shares, said, session.concepts, strict=True)
    ]
    names = session.first if concepts else ()
    value = {one: _linear(concept, session.concept(one)) * session.weight(one) ** 0.7 for one in names}
    return session, worth, value


def _linear(learnt: Sequence[float], features: Iterable[float]) -> float:
    """A score; the first weight stands alone."""
    score = learnt[0] + sum(weight * value for weight, value in zip(learnt[1:], features, strict=True))
    return max(0.01, round(score, 6))
