"""The summarizer that is always there: it picks whole sentences, so it can invent nothing and needs no model.

A text is taken apart into sentences; code, tables, diffs and dumps are left out, of a log only the lines that say what
came of it. A sentence counts for the names in it, for the words of decisions and results, and for saying what the rest
speaks of; chatter counts against it. The best are kept, about one for every 200 words, none that repeats another.
"""

from __future__ import annotations

import re
from math import log

from memory_keeper.model import NamedTuple
from memory_keeper.reduce.words.prose import length, split, units, unmarked, words
from memory_keeper.text import clip, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS_PER_SENTENCE = 200  # of what is read, for one sentence of what is told
REPEATS = 0.6  # of a sentence's words in another one: said already
LONGEST = 500  # characters of what can pass for a sentence
LINE = 120  # characters of one that is no sentence, where there is nothing better


class Picked(NamedTuple):
    """A sentence and the text it stands in."""

    text: int
    sentence: str


class _Sentence(NamedTuple):
    """A sentence that may be picked."""

    text: int
    kind: str  # as of a unit, or long: not to be picked
    said: str
    words: frozenset[str]
    first: bool
    last: bool


def gist(text: str, budget: int) -> str:
    """What a text says, on one line; where sentences between those told are left out, that shows."""
    folded, said = " ".join(text.split()), ""
    for one in pick([text], budget):
        near = not said or f"{said.rpartition(' … ')[2]} {one.sentence}" in folded
        said += one.sentence if not said else f" {one.sentence}" if near else f" … {one.sentence}"
    return unmarked(said)


def pick(texts: Sequence[str], budget: int) -> list[Picked]:
    """The sentences worth their place, in the order in which they were said; together never over budget."""
    found = list(_sentences(texts))
    wanted = max(1, round(sum(map(length, (one.said for one in found if one.kind != "log"))) / WORDS_PER_SENTENCE))
    chosen: list[int] = []
    left = budget * 1000
    kept = _Kept(found)
    for number in _ranked(found):
        if len(chosen) == wanted:
            break
        if found[number].kind == "long":
            continue
        price = 1000 * tokens(found[number].said + "\n")  # rounded up for each: the sum is safe
        if price <= left and not kept.repeats(number):
            kept.add(number)
            chosen.append(number)
            left -= price
    if chosen:
        return [Picked(found[number].text, found[number].said) for number in sorted(chosen)]
    return _beginning(texts, found, budget)


def _beginning(texts: Sequence[str], found: list[_Sentence], budget: int) -> list[Picked]:
    """Where no whole sentence is there or fits: what fits of the best one, or of the first line that has words."""
    best = [Picked(found[number].text, found[number].said) for number in _ranked(found)[:1]]  # may be long
    lines = (
        Picked(number, " ".join(line[:LINE].split())) for number, text in enumerate(texts) for line in text.splitlines()
    )
    for one in best or (line for line in lines if any(map(str.isalpha, line.sentence))):
        said = clip(one.sentence, min(budget, tokens(one.sentence[:LONGEST])), mark="")
        return [Picked(one.text, said)] if said else []
    return []


_OUTCOME = re.compile(r"error|fail|fatal|exception|denied|refused|not found|passed|오류|실패|错误|失败|エラー", re.I)


def _sentences(texts: Sequence[str]) -> Iterator[_Sentence]:
    for number, text in enumerate(texts):
        told = [unit for unit in units(text) if unit.kind != "log" or _OUTCOME.search(unit.said)]
        said = [(unit.kind, one) for unit in told for one in split(unit.said)]
        for place, (kind, one) in enumerate(said):
            if any(map(str.isalpha, one)):
                kind = "long" if len(one) > LONGEST else kind
                yield _Sentence(number, kind, one, frozenset(words(one)), place == 0, place == len(said) - 1)


# --- what a sentence is worth ----------------------------------------------------------------------------------------

_NAMED = re.compile(
    r"""`[^`]+` | \b\w+[/.](?:[\w-]+[/.])*\w*[A-Za-z]\w*\b | \b[A-Za-z]+_\w+ | \b[a-z]+[A-Z]\w* | \b[A-Z][a-z]+[A-Z]\w*
      | \b[0-9a-f]*\d[0-9a-f]{6,}\b | --[a-z][\w-]+ | \b\d[\d.,]*(?:\s?(?:%|ms|s|MB|KB|GB|x|tokens?|개|건|초|분|회))?\b
      | \#\d+ | "[^"]{3,}" """,
    re.VERBOSE,
)
_DECIDED = re.compile(
    r"\b(?:decid\w+|decision|chose|choose|chosen|prefer\w*|because|instead|rather than|so that|in order to|agreed|"
    r"must|never|always|should not|do not|don't|require[sd]?|rule|constraint|trade-?off|therefore|reason|approach|"
    r"switch(?:ed)? to|keep(?:ing)? \w+|drop(?:ped)?)\b"
    r"|결정|하기로|때문|대신|반드시|절대|항상|금지|규칙|이유|방식|유지|선택|决定|因为|必须|選択|決定|ため|べき|必ず",
    re.I,
)
_RESULT = re.compile(
    r"\b(?:fix(?:ed|es)?|pass(?:es|ed)?|fail(?:s|ed|ing|ure)?|errors?|bug|works?|broke\w*|found|root cause|caused?"
    r"|turn(?:s|ed) out|measured|implement(?:ed|s)|add(?:ed|s)|remov(?:ed|es)|chang(?:ed|es)|creat(?:ed|es)"
    r"|renam(?:ed|es)|mov(?:ed|es)|replac(?:ed|es)|updat(?:ed|es)|commit(?:ted)?|merged|released|deployed|reverted|resolved|blocked"
    r"|missing|crash\w*|wrong|todo|remaining|next step|still)\b"
    r"|수정|완료|실패|통과|원인|해결|추가|오류|에러|버그|삭제|변경|구현|확인됐|남은|배포"
    r"|修复|完成|失败|错误|修正|追加|削除|エラー",
    re.I,
)
_CHATTER = re.compile(
    r"""\W*(?:let\ me|let's|i'll|i\ will|i'm\ going|i\ am\ going|now\ (?:i|let|we)|next,?\ i|first,?\ (?:i|let)|great
      |perfect|excellent|good|sure|okay|ok|alright|thanks|thank\ you|yes|no\ problem|got\ it|understood|hello|hi\b
      |looking\ at|i\ see|i\ can\ see|here(?:'s|\ is|\ are)|sounds\ good|of\ course|absolutely
      |you're\ (?:right|absolutely)|i\ (?:need|want)\ to|is\ there\ anything|feel\ free|hope|would\ you\ like|want\ me
      |step\ \d|좋습니다|좋아요|알겠|네[,.\ ]|감사|안녕|이제|먼저|그럼|자[,\ ]|好的|谢谢|はい|了解|では|まず)""",
    re.VERBOSE | re.I,
)
_INTENDS = re.compile(r"(?:하겠습니다|해보겠습니다|볼게요|할게요|드리겠습니다|します。?|しましょう。?)[.!。]*$")


def _ranked(found: list[_Sentence]) -> list[int]:
    """The best first; of equals the earlier."""
    often: dict[str, int] = {}
    for one in found:
        for word in one.words:
            often[word] = often.get(word, 0) + 1
    worth = [_worth(one, often) for one in found]
    return sorted(range(len(found)), key=lambda number: (-worth[number], number))


def _worth(one: _Sentence, often: dict[str, int]) -> float:
    if one.kind == "long":
        return -100.0
    long = length(one.said)
    # what a word adds that others say too; the middle of them, so that long sentences gain nothing
    shared = sum(log(min(often[word], 20)) for word in one.words) / (len(one.words) + 2)
    worth = shared + 0.5 * min(len(_NAMED.findall(one.said)), 4)
    worth += 1.2 * bool(_DECIDED.search(one.said)) + 1.0 * bool(_RESULT.search(one.said))
    worth += 0.4 * one.first + 0.4 * one.last
    worth -= 2.0 * bool(_CHATTER.match(one.said) or _INTENDS.search(one.said)) + 1.0 * one.said.rstrip("*").endswith(
        ("?", "？", ":")
    )
    worth -= 3.0 * (one.kind == "heading") + 0.8 * (one.kind == "log")
    return worth - (1.5 if long < 4 else 0.0) - max(0.0, long - 35) / 20


class _Kept:
    """The sentences that were taken, by their words, to tell at once what only repeats one of them."""

    def __init__(self, found: list[_Sentence]) -> None:
        self._found = found
        self._often: dict[str, int] = {}
        self._by_word: dict[str, list[int]] = {}
        for one in found:
            for word in one.words:
                self._often[word] = self._often.get(word, 0) + 1

    def add(self, number: int) -> None:
        for word in self._found[number].words:
            self._by_word.setdefault(word, []).append(number)

    def repeats(self, number: int) -> bool:
        words = self._found[number].words
        if not words:
            return bool(self._by_word)
        need = max(1, -int(-REPEATS * len(words) // 1))
        # who shares that many has one of the rarest: only those need be looked at
        rare = sorted(words, key=lambda word: (self._often[word], word))[: len(words) - need + 1]
        near = {other for word in rare for other in self._by_word.get(word, ())}
        return any(self._alike(words, self._found[other].words, need) for other in near)

    @staticmethod
    def _alike(words: Iterable[str], others: frozenset[str], need: int) -> bool:
        return sum(word in others for word in words) >= need
