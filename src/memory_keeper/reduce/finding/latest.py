"""What still holds: of statements about the same thing, the last one.

People change their minds, and say so: "no, use fetch", "from now on", "instead of tabs", "axios 말고". Without such a
word a later statement takes the place of an older one only where it speaks of almost the same. What the model says
never takes the place of what the user said.
"""

from __future__ import annotations

import re

from memory_keeper.model import NamedTuple
from memory_keeper.reduce.words.prose import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    from memory_keeper.extract import facts as extracted
    from memory_keeper.reduce.facts import Fact

    Stated = TypeVar("Stated", Fact, extracted.Fact)

USERS = (
    "correction",
    "answer",
    "rule",
)  # kinds of facts that are the user's own words; a decision's status says whose it is
MOST = 300  # statements that are held against each other; older ones stay
SAME = 0.6  # of the words of two statements, in both: they are about the same matter
CHANGED = 0.4  # the same, where the newer one says that something changes
CHANGES = re.compile(
    r"\b(?:from now on|going forward|in future|instead|actually|no longer|anymore|any more|changed? my mind|switch"
    r"|on second thought|after all)\b|^no\b[,.]?|이제부터|앞으로|다음부터|대신|말고|바꿔|바꾸|변경|그게 아니|아니",
    re.I,
)
FORBIDS = re.compile(r"\b(?:never|don['’]?t|do not|must not|avoid|stop)\b|절대|지\s?마|금지|면 안", re.I)
THING = r"[`'\"]?([\w@][\w./@+-]*[\w+]|\w)[`'\"]?"
REJECTS = re.compile(
    r"(?:\b(?:instead of|rather than|no longer use|stop using|don['’]?t use|do not use|never use)|, not)"
    rf" (?:(?:using|the|a|an|any) )*{THING}(?<!ing)",
    re.I,
)
REJECTS_BEFORE = re.compile(r"([\w./@+-]*[A-Za-z0-9]|[\uac00-\ud7a3]+?)(?:을|를|은|는|이|가)? ?(?:말고|대신|쓰지\s?마)")
TOPIC = re.compile(r"\bfor (?:(?:the|a|an|all|any|our|your|every) )?([\w./-]+(?: [\w./-]+)?)[.!,]?$", re.I)
# words of rules themselves, which say nothing of what a rule is about
RULES = frozenset((
    "always", "never", "use", "using", "used", "please", "make", "sure", "from", "now", "instead", "rather", "than",
    "future", "going", "forward", "actually", "prefer", "run", "want", "should", "must", "keep", "don", "stop",
    "longer", "anymore", "항상", "언제나", "언제", "절대", "반드시", "반드", "앞으로", "앞으", "이제부터", "이제부",
    "대신", "말고", "쓰세요", "쓰세", "해주세요", "해주세", "주세요", "주세",
))  # fmt: skip


class _Stated(NamedTuple):
    """A statement, taken apart."""

    users: bool
    changes: bool
    forbids: bool
    words: frozenset[str]
    rejects: frozenset[str]
    topic: str  # what it is for, or the question it answers


def holding(facts: Sequence[Stated]) -> list[Stated]:
    """Those that no later one takes the place of, in the order given; any order is fine, `at` says what is later."""
    newest = sorted(range(len(facts)), key=lambda number: (facts[number].at, number))[-MOST:]
    stated = {number: _taken_apart(facts[number]) for number in newest}
    by_word: dict[str, list[int]] = {}
    gone: set[int] = set()
    for number in newest:
        newer = stated[number]
        near = dict.fromkeys(other for word in sorted(newer.words | newer.rejects) for other in by_word.get(word, ()))
        gone.update(other for other in near if other not in gone and _replaces(newer, stated[other]))
        for word in newer.words:
            by_word.setdefault(word, []).append(number)
    return [fact for number, fact in enumerate(facts) if number not in gone]


def _taken_apart(fact: Fact | extracted.Fact) -> _Stated:
    text = fact.text
    users = fact.kind in USERS or fact.status == "user" or getattr(fact, "who", "") == "user"
    asked = fact.about if fact.kind == "answer" else ""
    topic = TOPIC.search(text)
    return _Stated(
        users,
        bool(asked or CHANGES.search(text)),
        bool(FORBIDS.search(text)),
        frozenset(subject_of(f"{asked} {text}")),
        frozenset(map(str.casefold, (*REJECTS.findall(text), *REJECTS_BEFORE.findall(text)))),
        asked.casefold() or (topic[1].casefold() if topic else ""),
    )


def subject_of(text: str) -> Iterator[str]:
    """The words of a statement that say what it is about; a name with dots and slashes is one word."""
    names = [name.casefold() for name in re.findall(r"\w[\w@+-]*(?:[./]\w[\w@+-]*)+", text)]
    rest = re.sub(r"\w[\w@+-]*(?:[./]\w[\w@+-]*)+", " ", text)
    yield from names
    yield from (word for word in words(rest) if word not in RULES)


def _replaces(newer: _Stated, older: _Stated) -> bool:
    """Whether a statement takes the place of an older one."""
    if older.users and not newer.users:
        return False
    if newer.rejects & older.words - older.rejects and not newer.rejects & older.rejects:
        return True
    if newer.changes and newer.topic and newer.topic == older.topic:
        return True
    both = len(newer.words & older.words)
    alike = both / (len(newer.words | older.words) or 1)
    # prohibitions add up: a second one is not instead of the first
    changed = newer.changes and not (newer.forbids and older.forbids)
    return alike >= (CHANGED if changed else SAME)
