"""The summarizer that is always there: it picks whole sentences, so it can invent nothing and needs no model.

A text is taken apart into sentences; code, tables, diffs and dumps are left out, of a log only the lines that say what
came of it. A sentence counts for the names in it, for the words of decisions and results, and for saying what the rest
speaks of; chatter counts against it. The best are kept, about one for every 200 words, none that repeats another.
"""

from __future__ import annotations

import re
from math import log

from memory_keeper.model import NamedTuple
from memory_keeper.text import clip, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS_PER_SENTENCE = 200  # of what is read, for one sentence of what is told
REPEATS = 0.6  # of a sentence's words in another one: said already
LONGEST = 500  # characters of what can pass for a sentence
FAR = 2000  # characters of a line that tell what it is
LINE = 120  # characters of one that is no sentence, where there is nothing better


class Picked(NamedTuple):
    """A sentence and the text it stands in."""

    text: int
    sentence: str


class _Unit(NamedTuple):
    """Lines that belong together."""

    kind: str  # prose | item | log | heading
    said: str


class _Sentence(NamedTuple):
    """A sentence that may be picked."""

    text: int
    kind: str  # as of a unit, or long: not to be picked
    said: str
    words: frozenset[str]
    first: bool
    last: bool


def summarize(texts: Sequence[str], budget: int) -> str:
    """What the texts say in fewer tokens, a sentence a line."""
    return "\n".join(one.sentence for one in pick(texts, budget))


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
    wanted = max(1, round(sum(map(_length, (one.said for one in found if one.kind != "log"))) / WORDS_PER_SENTENCE))
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
        Picked(number, " ".join(line[:LINE].split())) for number, text in enumerate(texts) for line in _lines(text)
    )
    for one in best or (line for line in lines if any(map(str.isalpha, line.sentence))):
        said = clip(one.sentence, min(budget, tokens(one.sentence[:LONGEST])), mark="")
        return [Picked(one.text, said)] if said else []
    return []


def sentences(text: str) -> list[str]:
    """The sentences of a text, each as it stands there but for white space, without code, tables, logs and dumps."""
    return [one for unit in _units(text) if unit.kind != "log" for one in split(unit.said)]


def statements(text: str) -> Iterator[str]:
    """The same, without headings: what somebody stated."""
    for unit in _units(text):
        if unit.kind in ("prose", "item"):
            yield from split(unit.said)


def parts(text: str, split_up: bool = False) -> Iterator[tuple[str, str]]:
    """What a text consists of, in its order: prose, item, heading and log as they stand there, and raw for what is
    passed over elsewhere; prose and items by sentence where that is asked for."""
    for unit in _units(text, raw=True):
        for one in split(unit.said) if split_up and unit.kind in ("prose", "item") else (unit.said,):
            yield unit.kind, one


def unmarked(said: str) -> str:
    """A text without the stars that only make it bold and the marks of headings."""
    if "**" in said:
        said = _LONE.sub("", _BOLD.sub(r"\1", said))
    return _MARKS.sub("", said) if "##" in said else said


# --- taking a text apart ---------------------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,8}(```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣·▪◦–✓✔✗✘☐☑✅❌⚠]\ufe0f?|\d{1,3}[.)]|\[[ xX]\]|- \[[ xX]\])[ \t]+)+(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]|(?:=|-){3,}[ \t]*$|\s*\*\*[^*]+\*\*:?\s*$")
_RAW = re.compile(
    r"""\s*(?:
      [|+][-=+|\ ] | \|.*\|\s*$                                    # tables
    | (?:diff\ --git|index\ [0-9a-f]{6}|@@\ |\+\+\+\ |---\ \S+/|[<>]{3,}) # diffs
    | [+-](?=\S)(?!\d)                                               # their lines
    | //\s | /\*                                                     # remarks in code
    | \d+[ \t]*[→:|│]                                                # numbered lines
    | [$%#>]\ ?[a-z./~] | >>>\ | In\ \[\d                            # what was typed
    | at\ \S+\ ?\(|File\ "|Traceback                                 # stack traces
    | [{}\[\])<>\\] | [/~]\S*\s*$                                    # JSON, markup, closing brackets, a path
    | (?:import|from|def|class|const|let|var|function|return|export|public|private|static|elif|else|try|except|async
      |await|\#include|use|fn|impl|package|SELECT|INSERT|UPDATE|CREATE)\b.*(?:[(){};:=]|import\b)
    | [drwx-]{10}\ | total\ \d+\s*$                                  # listings
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"(?:[{};=(\[,\\]|=>|->|\|)\s*$")
_LOG = re.compile(
    r"""\s*(?:
      \[?\d{4}-\d\d-\d\d[T\ ,]\d\d:\d\d\S*\]? | \[?\d\d:\d\d:\d\d\S*\]? | [A-Z][a-z]{2}\ +\d+\ \d\d:\d\d:\d\d
    | \[?(?:ERROR|ERR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL|error|warn(?:ing)?|info|debug)\]?(?=[\s:\[])
    | (?:FAILED|PASSED|PASS|FAIL|ok|not\ ok)\s
    )""",
    re.VERBOSE,
)
_STAMP = re.compile(
    r"\s*(?:[\[(]?(?:\d{4}-\d\d-\d\d[T ,]?)?\d\d:\d\d:\d\d[\d.,Z+:]*[\])]?|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d)\s*"
)
_OUTCOME = re.compile(r"error|fail|fatal|exception|denied|refused|not found|passed|오류|실패|错误|失败|エラー", re.I)


# bold, and one end of it that was left alone; no glob (src/**/*.py) and no power (2**3)
_BOLD = re.compile(r"(?<![\w/*])\*\*(?=[^\s*/])([^*\n]{1,400}?)(?<=[^\s*/])\*\*(?![*/])")
_LONE = re.compile(r"(?<![\w/*])\*\*(?=[^\s*/])|(?<=[^\s*/])\*\*(?![\w*/])")
_MARKS = re.compile(r"(?<!\S)#{2,6} +")


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _units(text: str, raw: bool = False) -> Iterator[_Unit]:
    """Prose and items with the lines they go on in; code, tables and dumps are passed over, unless `raw` is wanted."""
    lines = _lines(text)
    closing = {number for number, line in enumerate(lines) if _FENCE.match(line)}
    opened, open_at = False, sorted(closing)
    unit: list[str] = []
    kind = ""
    for number, line in enumerate(lines):
        if number in closing:
            # a fence that is never closed hides nothing
            opened = not opened and number != open_at[-1]
            said = ""
        else:
            said = "" if opened else line
        here = _kind(said)
        goes_on = here == "prose" and kind in ("prose", "item") and bool(unit) and _goes_on(unit[-1], said)
        if not goes_on and unit:
            yield _Unit(kind, " ".join(unit))
            unit = []
        if raw and (here == "raw" or (opened and not here)):
            yield _Unit("raw", " ".join(line.split()))
        if here not in ("", "raw"):
            unit.append(_bare(said, here))
            kind = kind if goes_on else here
        if here in ("log", "heading") and unit:
            yield _Unit(here, unit.pop())
    if unit:
        yield _Unit(kind, " ".join(unit))


def _kind(line: str) -> str:
    """What a line is: prose, item, log, heading, raw; empty: nothing."""
    said = line.strip()
    if not said:
        return ""
    if _HEADING.match(line):
        return "heading" if said[:1] in "#*" else "raw"
    item = _ITEM.match(line)
    said = line[item.end() :].strip() if item else said
    said = said.lstrip("> ") if said.startswith("> ") else said
    if not item and _LOG.match(said):
        return "log"
    opening = said.lstrip("`\"'([")  # what is quoted may begin a sentence
    if not _is_prose(opening) or (_RAW.match(said) and opening == said):
        return "raw"
    return "item" if item else "prose"


def _is_prose(said: str) -> bool:
    """Whether a line reads like words: mostly letters and blanks, no word as long as a key, no end of code."""
    if _CODE_END.search(said[-20:]) or any(len(word) > 60 and "/" not in word for word in said[:FAR].split()):
        return False
    head = said[:400]
    letters = sum(char.isalpha() or char == " " for char in head)
    if not any(map(str.isalpha, head)):
        return False
    wide = sum("\u2e80" <= char <= "\ud7a3" for char in head)
    return letters >= 0.72 * len(head) and (" " in head.strip() or wide > 3)


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the one before it, which somebody wrapped."""
    start = line.lstrip()[:1]
    if before[-1:] in ".!?:。！？" or not start or start == ">":
        return False
    return len(before) >= 70 or (len(before) >= 40 and start.islower())


def _bare(line: str, kind: str) -> str:
    """A line without what only lays it out."""
    if kind == "log":
        line = line[:FAR]
        stamp = _STAMP.match(line)
        return " ".join(line[stamp.end() if stamp else 0 :].split())
    item = _ITEM.match(line)
    line = line[item.end() if item else 0 :].strip()
    if kind == "heading":
        line = line.lstrip("# ")
    while line.startswith(">"):
        line = line[1:].lstrip()
    return " ".join(line.split())


_END = re.compile(
    r"""(?:[.!?…]+["'”’»)\]*`_]*(?=\ ) | [。！？｡]+["'”’」』）)]* )\ *""",
    re.VERBOSE,
)
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|mr|mrs|dr|prof|st|ca|al|ver|vol|p|pp|a\.m|p\.m|u\.s)|\b[A-Z]|^\d+)\.$",
    re.I,
)


def split(said: str) -> Iterator[str]:
    """The sentences of a unit."""
    begin, counted, ticks = 0, 0, 0
    for end in _END.finditer(said):
        ticks += said.count("`", counted, end.end())
        counted = end.end()
        after = said[end.end() : end.end() + 1]
        sentence = said[begin : end.end()].strip()
        if ticks % 2 or after.islower() or (end[0][0] == "." and _SHORT.search(sentence[-12:])):
            continue
        if sentence:
            yield sentence
        begin = end.end()
    rest = said[begin:].strip()
    if rest:
        yield rest


def _sentences(texts: Sequence[str]) -> Iterator[_Sentence]:
    for number, text in enumerate(texts):
        units = [unit for unit in _units(text) if unit.kind != "log" or _OUTCOME.search(unit.said)]
        said = [(unit.kind, one) for unit in units for one in split(unit.said)]
        for place, (kind, one) in enumerate(said):
            if any(map(str.isalpha, one)):
                kind = "long" if len(one) > LONGEST else kind
                yield _Sentence(number, kind, one, frozenset(words(one)), place == 0, place == len(said) - 1)


# --- what a sentence is worth ----------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_][\w]*")
_WIDE = re.compile("[\u2e80-\u9fff]{2,}")
_COMMON = """
the a an and or but if then else of to in on at by for with from as is are was were be been being it its this
that these those there here i we you he she they me my our your their not no so do does did done can could will
would should may might must have has had just also very now all any some into out up than too only about over
after before when where which who what how why let us them his her one more most other such
"""
_STOP = frozenset(_COMMON.split())
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


def words(said: str) -> Iterator[str]:
    """What a sentence speaks of: its words but the commonest; of scripts without blanks, pairs of characters."""
    for word in _WORD.findall(said.casefold()):
        if "\uac00" <= word[-1] <= "\ud7a3" and len(word) > 2:
            word = word[:-1]  # a particle, more often than not
        if word not in _STOP and (len(word) > 1 or word.isdecimal()):
            yield word
    for run in _WIDE.findall(said):
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _length(said: str) -> float:
    """How many words a text is; two characters of han or kana are one."""
    wide = sum(map(len, _WIDE.findall(said)))
    return len(said.split()) + wide / 2


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
    length = _length(one.said)
    # what a word adds that others say too; the middle of them, so that long sentences gain nothing
    shared = sum(log(min(often[word], 20)) for word in one.words) / (len(one.words) + 2)
    worth = shared + 0.5 * min(len(_NAMED.findall(one.said)), 4)
    worth += 1.2 * bool(_DECIDED.search(one.said)) + 1.0 * bool(_RESULT.search(one.said))
    worth += 0.4 * one.first + 0.4 * one.last
    worth -= 2.0 * bool(_CHATTER.match(one.said) or _INTENDS.search(one.said)) + 1.0 * one.said.rstrip("*").endswith(
        ("?", "？", ":")
    )
    worth -= 3.0 * (one.kind == "heading") + 0.8 * (one.kind == "log")
    return worth - (1.5 if length < 4 else 0.0) - max(0.0, length - 35) / 20


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
