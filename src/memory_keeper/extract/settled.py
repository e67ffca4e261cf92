"""What was settled, and which of it still holds.

A sentence settles something where it states that, and does not guess, ask or announce. Of several about the same matter
the last one holds: it rejects what an older one took, or speaks of nearly the same. What the model says never takes the
place of what the user said.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper import regex as re
from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.ranker import CUES
from memory_keeper.extract.spoken import reason as reason

SHORTEST = 12  # characters of a statement
MOST = 200  # facts that are held against each other, the newest
SAME = 0.6  # of what two statements speak of, in both: they are about one matter
COVERS, ENOUGH = 0.65, 4  # of what an older statement speaks of, in a later one; concepts of one that is compared
DONE_OF = 0.45  # of what a statement of something undone speaks of, in a later one that says it is done
UNDONE = re.compile(
    r"\b(?:remain\w*|pending|to ?do|not yet|yet to|still|need(?:s|ed)? to|must be|should be|missing|fail(?:s|ing|ed)?"
    r"|broken|next)\b|[⏳☐]|남은|다음|残り",
    re.I,
)
LOOKED_UP, NEAR = 4, 40  # concepts by which others are found, and others of each
LABELLED, LEAST_LABEL = re.compile(r"([\w][\w /()-]{2,40}): \S"), 5  # "Coverage: 6 of 7"
UNSURE = ("announces", "hedge", "chat")  # cues of what states nothing
DEPENDS = re.compile(
    r"(?:if|whether|unless|or|either|option)\b|.*\b(?:wonder|consider)"
    r"|(?:now|next|then),? (?:add|updat|fix|run|creat|writ|check|build|replac|remov|mov|chang)",
    re.I,
)
REJECTS = re.compile(
    r"(?:\b(?:instead of|rather than|no longer|stop using|not use|n['’]t use|never use)|, not)"
    r" (?:(?:using|use|the|a|an|any) )*[`'\"]?([\w@][\w./@+-]*)|([\w./@+-]+?)(?:을|를|은|는)? ?(?:말고|대신)",
    re.I,
)
PARTICLE = re.compile(r"(?<=[A-Za-z0-9])(?:을|를|은|는|이|가|에|로)(?!\w)")
# what says that something was settled, and not what
SETTLING = frozenset(("decid", "decision", "agre", "chose", "chosen", "went", "instead", "rather", "never", "alway"))


def states(text: str, users: bool = False) -> bool:
    """Whether a sentence states something: no question, no guess, nothing that only begins or depends. What the user
    begins ("let's …") is stated."""
    if len(text) < SHORTEST or text[-1] in "?？:：" or DEPENDS.match(text):
        return False
    return not any(CUES[cue].search(text) for cue in UNSURE[users:])


def superseded(stated: Sequence[tuple[Fact, frozenset[str]]]) -> set[int]:
    """Which statements of the model's a later one takes the place of, by number: one that says the same label
    otherwise ("Verdict: …"), or speaks of nearly the same. Statements come in order, each with its concepts."""
    labels: dict[str, int] = {}
    by_concept: dict[str, list[int]] = {}
    gone: set[int] = set()
    for number in range(len(stated) - 1, -1, -1):
        fact, about = stated[number]
        if fact.who == "user":
            continue
        label = LABELLED.match(fact.text)
        if label and len(label[1]) > LEAST_LABEL:
            key = label[1].casefold()
            later = labels.setdefault(key, number)
            if stated[later][0].cites != fact.cites:
                gone.add(number)
                continue
        rarest = sorted(about, key=lambda concept: (len(by_concept.get(concept, ())), concept))[:LOOKED_UP]
        near = {other for concept in rarest for other in by_concept.get(concept, ())[-NEAR:]}
        if len(about) >= ENOUGH and any(_covers(stated[other], fact, about) for other in near):
            gone.add(number)
            continue
        for concept in about:
            by_concept.setdefault(concept, []).append(number)
    return gone


def _covers(later: tuple[Fact, frozenset[str]], fact: Fact, about: frozenset[str]) -> bool:
    other, spoken = later
    named = {concept for concept in about if is_name(concept) and not concept[1:].isdigit()}
    same = not named or bool(named & spoken)  # "The lexer works" says nothing of the parser
    done = other.kind == "done" and bool(UNDONE.search(f"{fact.about} {fact.text}"))
    return same and other.cites != fact.cites and len(spoken & about) >= (DONE_OF if done else COVERS) * len(about)


def holding(facts: Sequence[Fact]) -> list[Fact]:
    """Those that no later one takes the place of, in the order given; `at` and `place` say what is later."""
    newest = sorted(facts, key=lambda fact: (fact.at, fact.place), reverse=True)[:MOST]
    later: list[tuple[Fact, frozenset[str], frozenset[str]]] = []
    gone: set[int] = set()
    for fact in newest:
        about = (
            concepts(PARTICLE.sub("", f"{fact.about} {fact.text}" if fact.kind == "answer" else fact.text)) - SETTLING
        )
        rejected = frozenset[str]().union(*(concepts(one or other) for one, other in REJECTS.findall(fact.text)))
        if any(_replaces(newer, fact, about, rejected) for newer in later):
            gone.add(id(fact))
        else:
            later.append((fact, about, rejected))
    return [fact for fact in facts if id(fact) not in gone]


def _replaces(
    newer: tuple[Fact, frozenset[str], frozenset[str]], older: Fact, about: frozenset[str], rejected: frozenset[str]
) -> bool:
    fact, spoken, rejects = newer
    if older.who == "user" and fact.who != "user":
        return False
    if fact.kind == older.kind == "answer":
        return fact.about == older.about
    common = spoken & about
    if rejects & (about - rejected) and (common - rejects or older.who == "user"):
        return True
    return len(common) >= SAME * len(spoken | about)
