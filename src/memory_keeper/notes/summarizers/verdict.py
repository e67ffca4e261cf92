"""Which of a model's answers are taken: those that are a summary, fit, and say only what the texts say.

What is not taken changes nothing: the note that was made without it stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_keeper import wire
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.text import clean, one_line, tokens

_PREAMBLE = re.compile(r"\s*(?:\*\*)?(?:here(?:'s| is| are)|summary|요약|다음은)\b[^\n]{0,80}:(?:\*\*)?[ \t]*\n*", re.I)
_REFUSES = re.compile(
    r"""\W*(?:i(?:'m|\ am|'d|\ would)?\ (?:sorry|afraid|unable|not\ able|can(?:no|')t|won't|will\ not|apologi[sz]e
        |notice|do(?:n't|\ not)\ (?:have|see|feel)
        |need\ (?:more|the|to\ see)|be\ happy|must\ decline|appreciate|understand)
      |as\ an?\ (?:ai|language)|sorry|unfortunately|(?:could|can|would)\ you|please\ (?:provide|share|paste|let)
      |error:|what\ would\ you|how\ can\ i|there\ (?:is|are)\ no(?:thing)?\ (?:text|record|content)|nothing\W*$
      |no\ (?:texts?|records?|content)\b|(?:sure|certainly|of\ course|okay|let\ me|i'll|i\ will|i've\ read|ready)\b
      |죄송|할\ 수\ 없|불가능|제공해\ 주|申し訳|抱歉|我无法|无法)""",
    re.VERBOSE | re.I,
)
_DEBRIS = re.compile(
    r"""</?[a-z!?][\w:.-]{0,40}(?:\s[^<>\n]{0,200})?/?>|</?(?:antml|function|invoke|parameter|tool|system|thinking|result)
      |```|~~~|\[/?INST|<\||"(?:type|tool_use|tool_calls|function|name|input|arguments)"\s*:|\btool_(?:use|call|result)s?\b
      |function_calls?\b|^\|\ |^(?:Human|Assistant|User|System):|\bsystem\ prompt\b
      |\b(?:ignore|disregard|forget)\ (?:\w+\ ){0,3}(?:previous|prior|above|earlier|all)\ (?:\w+\ )?
       (?:instruction|rule|prompt)
      """,
    re.VERBOSE | re.I | re.M,
)
_LAYOUT = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|\*\*|^[ \t]*>[ \t]?", re.M)
_TITLE = re.compile(r"^[ \t]*(?:#{1,6}[ \t].*|\*\*[^*\n]{1,60}\*\*:?|[-=*_]{3,})[ \t]*$", re.M)


def judge(answer: str, texts: Sequence[str], budget: int) -> tuple[str, str]:
    """The answer, cleaned, as a note over these texts; and why it is not taken, empty when it is.

    Not taken: nothing at all, a refusal or a question, JSON, what is left of tools or markup, more than the budget,
    saying the same again and again, and whatever names something that the texts do not.
    """
    said = clean(answer[: 2 * _longest(budget)]).strip()
    if len(said) > _longest(budget):
        return "", f"it is longer than {budget} tokens"
    said = _PREAMBLE.sub("", said, count=1) if _PREAMBLE.match(said) else said
    if fault := _looks_wrong(said):
        return "", fault
    said = "\n".join(
        " ".join(line.split()) for line in _LAYOUT.sub("", _TITLE.sub("", said)).splitlines() if line.strip()
    )
    if not any(map(str.isalpha, said)):
        return "", "it says nothing"
    if tokens(said) > budget:
        return "", f"it is longer than {budget} tokens"
    if _rambles(said):
        return "", "it says the same again and again"
    return said, names_more(said, texts) or claims_more(said, texts)


# what is to be done: whoever reads a note must not take a model's wish for the user's
_ORDERS = re.compile(
    r"\b(must|always|never|should|shall|have to|has to|make sure|from now on|every session|do not|don't|note to)\b"
    r"|(해야|반드시|항상|절대)",
    re.I,
)
_COUNTED = re.compile(r"\b(\d+)\s+(?:\w+\s+){0,2}?(pass|fail|error|skip)", re.I)
_ALL = re.compile(r"\b(?:all|every)\b[^.;]{0,40}\b(?:pass|green|succeed)", re.I)
_ALL_WELL = re.compile(
    r"\b(?:all|every)\b[^.;]{0,60}\b(?:pass|green|succeed)|\b(?:0|no) (?:fail|error)|\bpassed\b", re.I
)
_LETTERS = re.compile(r"[^\W\d_]{4,}")


def claims_more(said: str, texts: Sequence[str]) -> str:
    """The fault of a text that gives orders, or counts what passed and failed, otherwise than its sources; empty when
    it does not. That is no proof: a sentence can still be wrong in words that all stand there."""
    folded = [text.casefold() for text in texts]
    for sentence in re.split(r"(?<=[.!?。])\s+|\n", said):
        words = {word.casefold() for word in _LETTERS.findall(sentence)}
        for match in _ORDERS.finditer(sentence):
            order = match[0].casefold()
            if not any(order in text and 2 * sum(word in text for word in words) >= len(words) for text in folded):
                return f"it says that something {match[0]} be or be done, and nothing that it is about says so"
        for match in _COUNTED.finditer(sentence):
            counted = re.compile(rf"\b{match[1]}\b\W+(?:\w+\W+){{0,3}}?{match[2]}", re.I)
            if not any(counted.search(text) for text in texts):
                return f"it counts {match[0]}, and nothing that it is about does"
        if _ALL.search(sentence) and not any(_ALL_WELL.search(text) for text in texts):
            return "it says that all went well, and nothing that it is about does"
    return ""


def names_more(said: str, texts: Sequence[str]) -> str:
    """The fault of a text that names what its sources do not; empty when it does not."""
    missing = ungrounded(said, texts)
    return f"it names {one_line(', '.join(missing), 120)}, and nothing that it is about does" if missing else ""


def _longest(budget: int) -> int:
    return 40 * budget + 1000


def _looks_wrong(said: str) -> str:
    if not said:
        return "it says nothing"
    if _REFUSES.match(said):
        return "it is no summary but a refusal, a question or a promise"
    if _is_json(said):
        return "it is JSON"
    return "there is markup, or a part of a tool call or a prompt in it" if _DEBRIS.search(said) else ""


def _is_json(said: str) -> bool:
    if said[:1] not in '{["':
        return False
    try:
        wire.loads(said)
    except (ValueError, RecursionError):
        return said[:1] in "{[" and said[-1:] in "}]"
    return True


def _rambles(said: str) -> bool:
    """Whether it says the same again and again."""
    parts = [part for part in re.split(r"[.!?。]\s|\n", said.casefold()) if part.strip()]
    return len(parts) > 2 and len(set(parts)) <= len(parts) * 2 // 3
