"""What an answer leaves open: the steps it says are to come, and the questions that nobody has taken up."""

from __future__ import annotations

import re

from memory_keeper.reduce.words.claims import NAMES, announces, states
from memory_keeper.reduce.words.prose import statements, unmarked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS_HEAD = re.compile(
    r"^[\s#>*_-]{0,12}(?:the )?(?:suggested |recommended |possible )?"
    r"(?:next(?: steps?| up| tasks?| actions?)?|remaining(?: \w+){0,2}|to ?-?do|left to do|not (?:yet )?done(?: yet)?"
    r"|future work|open (?:items|points|issues|tasks)|what(?:['’]s| is) (?:next|left)|follow[- ]ups?"
    r"|still (?:open|to do)|다음(?: 단계)?|남은 [^\s*_:]+)[ *_]*:?[ *_]*$",
    re.I,
)
HEADING = 80  # characters: no heading is longer
STEP = re.compile(
    r"^(?:next(?: step)?[,:]|next (?:i|we|up)\b|still (?:need|to do|missing|left|open)|(?:what )?remains?\b"
    r"|open(?: (?:point|issue|item|task))?: (?!\S+$|https?:)"
    r"|(?:the )?(?:next|remaining|last) (?:step|thing|task|piece)s? (?:is|are|would be)\b"
    r"|i (?:still|now) (?:need|have) to\b|(?:now |then )?i['’]ll (?:now |then )?\w+"
    r"|(?:you|we)(?:['’]ll)? (?:(?:can|should|may|might|could)(?: want to)?|(?:will |still )?need to"
    r"|want to) (?:now|then|next|also|still)\b"
    r"|(?:you|we)(?:['’]ll| will)? (?:still )?need to\b|once (?:you|that|this|the)\b.{3,80}, (?:i|we|you)\b"
    r"|(?:i(?:['’]d)?|we(?:['’]d)?) (?:recommend|suggest)\b|to (?:finish|complete|continue|go on)\b.{0,40}, "
    r"|다음(?:으로|은|에는)|이제 |남은 )",
    re.I,
)
CODE = re.compile(r" {0,8}(?:```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[ \]\s*)?(.+)$")
POLITE = re.compile(  # asks for nothing
    r"^(?:does (?:that|this) (?:make sense|help|look|sound)|anything else|is there anything|sound good"
    r"|make sense)",
    re.I,
)
STEPS, QUESTIONS = 5, 3
OFFERS = re.compile(
    r"^(?:let me know (?:if|whether|which|what|when|how)|if you(?:['’]d (?:like|prefer)| want| prefer)"
    r"|tell me (?:if|whether|which|what)"
    r"|(?:just )?say the word)\b(?!.*\b(?:questions|anything else|any issues|further (?:changes|help)))",
    re.I,
)
POINTS_BACK = re.compile(
    r"\b(?:that|this|these|those|it|them|which|both|either|one|the (?:first|second|two|rest))\b", re.I
)
FEW, SAYS = 8, 3  # words of a question that can be understood by itself, and those of them that say what it is about
ABOUT = 200  # characters of a question and what was said before it
ENDING = 4  # sentences at the end of an answer in which a question is one to the user


def next_steps(text: str) -> list[str]:
    """What an answer says is to come: the first items under a heading that says so, else its last sentences that begin
    so."""
    found: list[str] = []
    listed = code = False
    for line in text.splitlines():
        item = ITEM.match(line)
        code ^= bool(CODE.match(line))
        if len(line) < HEADING and STEPS_HEAD.match(line) and not code:
            listed = True
        elif listed and item:
            found += [step for step in [unmarked(item[1]).strip()] if step and step not in found]
        elif line.strip():
            listed = False
    told = dict.fromkeys(unmarked(one).strip() for one in statements(text))
    steps = [one for one in told if STEP.match(one) and one[-1] not in "?:" and one not in found]
    room = STEPS - len(found)
    return [*found[:STEPS], *(steps[-room:] if room > 0 else ())]


def questions(text: str) -> list[str]:
    """What an answer ends with and wants to know; nothing when it goes on after that."""
    told = [unmarked(one).strip() for one in statements(text.replace("**", ""))]  # else a bold one is a heading
    asked = [one for one in told[-ENDING:] if one.endswith(("?", "？")) and not POLITE.match(one)]
    asked = asked or [one for one in told[-1:] if OFFERS.match(one)]
    return [*dict.fromkeys(asked)][-QUESTIONS:]


def in_context(question: str, text: str) -> str:
    """A question with what stands before it, where it cannot be understood without: "Want me to fix that?"."""
    says = len(CONTENT.findall(question)) >= SAYS or len(question.split()) >= FEW
    if says and not POINTS_BACK.search(question):
        return question
    told = [unmarked(one).strip() for one in statements(text.replace("**", ""))]
    place = len(told) - 1 - told[::-1].index(question) if question in told else 0
    before = ""
    for one in reversed(told[:place]):
        if one[-1:] == ":" or announces(one) or len(one) + len(before) + len(question) + 2 > ABOUT:
            break
        before = f"{one} {before}".strip()
        if states(one) and len(before) > 40:
            break
    return f"{before} {question}".strip()


ANSWERS = re.compile(
    r"^\W*(?:y|yes|yeah|yep|no|nope|not|ok(?:ay)?|sure|please do|do (?:it|that)|go (?:ahead|for it)|both|neither"
    r"|either|later|option|the (?:first|second|third|last|former|latter)|\(?[a-d1-9]\b\)?[.,)]?|네|예|응|아니|좋아"
    r"|그래|해줘|ja|nein|oui|non|si|sí)\b",
    re.I,
)
CONTENT = re.compile(
    r"(?!(?:want|would|like|that|this|with|what|which|should|have|them|they|there|your|then|also|the|you|for"
    r"|and|can)\b)[^\W_]{3,}",
    re.I,
)
TAKEN_UP = 2  # words that a question and what was said to it have in common
FIRST = re.compile(r".+?(?:[.!?。！？](?=\s|$)|\n|$)", re.S)  # what is said first: "Round down." of all that follows
CHOICE = re.compile(r"^\W*(?:which|what|where|when|how|who|whose|why)\b|\bor\b", re.I)  # wants more than yes or no
DEFERS = re.compile(  # who says so answers another time
    r"\W*(?:(?:(?:i|we)(?:['’]ll| will| have to| need to| must)(?: have to)?|let me|let['’]s)"
    r" (?:ask|check|think|find out|look|see|get back|decide)|(?:i['’]?m |i am )?not sure"
    r"|(?:i )?(?:don['’]t|do not) know|no idea|hold on|wait)\b",
    re.I,
)
ELSE = re.compile(r"\W*(?:/\w|(?:by the way|btw|something else|another thing|before (?:that|this)|first)\b)", re.I)


def is_taken_up(question: str, said: str) -> bool:
    """Whether the user answers a question by what was said some time later: with a yes, a no or a choice, or about the
    same."""
    asked = {word.casefold() for word in CONTENT.findall(question)}
    words = {word.casefold() for word in CONTENT.findall(said[:2000])}
    need = 1 if len(said.split()) < FEW else TAKEN_UP
    return bool(ANSWERS.match(said) or len(asked & words) >= need)


def is_answered(question: str, after: Sequence[str]) -> bool:
    """Whether the user answers a question by what was said after it: what comes next is its answer, unless it asks
    back, puts that off or plainly speaks of something else. One that was answered and is told as open misleads more
    than one left out."""
    said = [one for one in after if not DEFERS.match(one)]
    taken = any(is_taken_up(question, one) for one in said)
    return taken or any(_may_answer(question, one) for one in after[:1] if one in said)


def _may_answer(question: str, said: str) -> bool:
    found = FIRST.match(said.strip()[:2000])
    if not found or is_taken_up(question, found[0]):
        return bool(found)
    if found[0].rstrip().endswith(("?", "？")) or ELSE.match(found[0]):
        return False
    other = len(found[0].split()) >= FEW or NAMES.search(found[0])  # a piece of work of its own
    return bool(CHOICE.search(question) or POINTS_BACK.search(found[0]) or not other)
