"""What a session is about: the request that its work was for.

A session is about the newest request that was worked on: whose turn, or a turn after it that only went on with it,
changed files or left tasks open. An errand is none ("commit it", "run the tests"), nor is a plain question, what only
adds to an earlier request ("while you are at it"), an exception for once, nor what was pasted.
"""

from __future__ import annotations

import re

from memory_keeper.model import WRITES, Event, NamedTuple
from memory_keeper.reduce.facts import open_todos
from memory_keeper.reduce.finding.in_place import changed_in_place
from memory_keeper.reduce.words import claims
from memory_keeper.reduce.words.prose import parts
from memory_keeper.text import one_line, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENOUGH = 15  # tokens of a request that can be a goal: "now check it again" is none
TERSE = 4  # and of one that is new
WORDS = 4_000  # characters of a request that are told
TYPED = 0.6  # of a line are letters and blanks, where somebody typed it
FILLERS = (
    r"(?:(?:ok(?:ay)?|yes|yeah|yep|yup|no|and|so|now|then|also|great|good|nice|fine|cool|thanks?|please|just|first"
    r"|hmm+|ah|oh|well"
    r"|perfect|sure|sorry|alright|right|네|예|응|좋아|그럼|이제)\b[\s,.!:;–—-]*)*"
)
ERRAND = re.compile(
    FILLERS + r"(?:(?:can|could|would|will) you |let['’]?s |let us |please |i(?:['’]d| would) like you to )?"
    r"(?:please |just |now |also |again )*"
    r"(?:commit|push|pull|rebase|merge|run|re-?run|check|verify|try|retry|test|continue|go (?:on|ahead)"
    r"|proceed|open|raise"
    r"|stage|unstage|amend|show|tell|explain|list|look|see|read|have a|take a|log|wait|do (?:it|that|this|so"
    r"|both|all)"
    r"|let me|make it so|fix (?:it|that|this|them)(?: up| all)?$|커밋|푸시|실행|확인|보여|설명|돌려)\b",
    re.I,
)
SHORT = 14  # words of an errand; a longer one is work
NODS = re.compile(  # says that it is well, and no more
    FILLERS + r"(?:(?:(?:it|that|this|all|everything) )?(?:looks?|sounds?|works?|is|are)? ?"
    r"(?:good|great|fine|nice|ok(?:ay)?|perfect|right|well|done|understood|got it)(?: to me| now)?\W*)?",
    re.I,
)
PROPOSES = re.compile(
    r"\b(?:can|could|couldn['’]?t|can['’]?t|should|shouldn['’]?t|shall|would|wouldn['’]?t|won['’]?t|will) "
    r"(?:you|we|it|i|there|this|that|they)\b|\bi(?:['’]d| would)? (?:think|like|want|prefer)|\bwe (?:need"
    r"|should|want)|줘|주세요|주실|해라",
    re.I,
)
FOLLOWS = re.compile(  # goes on with what was asked before: it has to say more to be a goal of its own
    r"^\W*(?:yes|yeah|yep|no|nope|ok(?:ay)?|but|and|or|also|those|that|this|it|hmm+|u+h+|u+m+|erm+"
    r"|there['’]?s already|sure|actually|right"
    r"|wait|great|nice|good|perfect|instead|1\.|네|예|응|아니|그건|그거|그래)\b",
    re.I,
)
ADDS = re.compile(  # to what was asked before: as long as there is that, it is no goal, however long it is
    r"\W*(?:(?:oh|and|ok(?:ay)?|so|now)\W+)*(?:while (?:you|we)(?:['’]re| are) (?:at it|there)|also|additionally|plus"
    r"|(?:one|another) (?:(?:more|last|other|small|little) )*thing|by the way|btw|in addition|on top of (?:that|it)"
    r"|p\.?s)\b",
    re.I,
)
ONCE = r"(?:one |single )?(?:commit|time|turn|push|run|release|pr|change)\b"
EXCEPTS = re.compile(  # from what is done otherwise, and for once
    rf"\b(?:(?:just|only) (?:for )?this|for (?:just |only )this) {ONCE}|\bthis {ONCE} (?:only|alone)\b"
    r"|\b(?:just |for )this once\b",
    re.I,
)
GREETS = re.compile(
    r"\W*(?:(?:hello|hi|hey|good (?:morning|day|afternoon|evening|night)|thanks?|thank you|(?:good)?bye|see you)\b"
    r"|안녕|감사|고마)",
    re.I,
)
# what says nothing, wherever it stands: a text of nothing but these, and fillers, was said in passing
PASSING = re.compile(
    r"\b(?:(?:hello|hi|hey)(?: (?:there|again|all|everyone|claude))?|good (?:morning|day|afternoon|evening|night)"
    r"|(?:many )?thanks?(?: you)?(?: (?:so|very) much| a lot| again)?|(?:good)?bye(?: bye)?"
    r"|see you(?: (?:later|soon|then|tomorrow))?|(?:good|nice|great) to (?:see|meet) you(?: again)?"
    r"|how are you(?: doing)?(?: today)?|(?:are )?(?:you )?still there|are you there|here"
    r"|(?:is )?that(?:['’]s| is)? all|you(?:['’]re| are)(?: very)? welcome|i(?:['’]m| am) (?:here|ready|fine|well)"
    r"|(?:glad|happy) to help|no problem|go (?:on|ahead)|continue|proceed|carry on|keep going|do (?:it|that|so)"
    r"|make it so|understood|got it|noted|will do|of course|certainly|gladly|done|ready"
    r"|(?:how|what) (?:can|may|shall|should) (?:i|we) (?:help|do|work on|(?:start|begin) with)"
    r"(?: (?:you|for you|with))*(?: (?:today|now|next))?"
    r"|what would you like (?:me )?to (?:do|work on)(?: (?:today|now|next))?"
    r"|what(?:['’]s| is) (?:next|up)|(?:is there )?anything else(?: i can (?:help|do)(?: (?:you|for you|with))*)?"
    r"|let me know (?:if|when|what) you (?:need|want)(?: (?:anything|something|help))?(?: else)?"
    r"|(?:(?:it|that|this|all|everything) )?(?:looks?|sounds?|is|are) "
    r"(?:good|great|fine|nice|ok(?:ay)?|perfect|right|well|done)(?: to me)?(?: now)?"
    r"|ok(?:ay)?|yes|yeah|yep|yup|no|and|so|now|then|also|great|good|nice|fine|cool|please|just|hmm+|ah|oh|well|perfect"
    r"|sure|sorry|alright|right|안녕\w*|감사\w*|고마\w*|고맙\w*|네|예|응|좋아\w*|그럼|이제)\b",
    re.I,
)
TALK = 300  # characters of it
PASTED = re.compile(r"^(?:\s*[>│╭╰├└┌|]|\t|\s{3,}(?!\s*(?:[-*+•]|\d{1,2}[.)])\s))")
INLINE = re.compile(r"\s*(?:\{\s*\"|\[\s*\{).{40,}|```.*")  # data or code that goes on from a line of words
COMMAND = re.compile(r"^/[\w:.-]+\s*$")
QUESTION = re.compile(r"[?？]['\")\]]*$")


class Turn(NamedTuple):
    """A request and what came of it."""

    asked: Event
    worked: bool  # files were changed, or tasks are open that it listed
    ended: bool  # with an answer
    planned: bool = False  # tasks are open that it listed


def turns(events: Sequence[Event]) -> list[Turn]:
    """The turns of a session, oldest first."""
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    listed = {todo.cite for todo in open_todos(event for event in events if event.kind == "todo" and not event.agent)}
    found: list[Turn] = []
    for event in events:
        if event.kind == "prompt" and not event.agent and event.text.strip():
            found.append(Turn(event, False, False))
        elif found and event.kind in ("reply", "call", "todo"):
            wrote = (event.tool in WRITES or changed_in_place(event)) and event.ref not in refused
            planned = found[-1].planned or event.id in listed
            worked = found[-1].worked or bool(wrote) or planned
            ended = event.kind == "reply" and not event.agent
            found[-1] = found[-1]._replace(worked=worked, ended=ended, planned=planned)
    return found


def has_goal(found: Sequence[Turn]) -> bool:
    """Whether some turns have a request of their own among them: no "go on", no answer to a question, no "hello"."""
    return any(_asks_for(turn.asked.text) >= _needed(turn) for turn in found)


def is_passing(text: str) -> bool:
    """Whether somebody says nothing that anybody may want to know later: a hello, a nod, "go on", an offer of help, a
    bare command. What is more than that says something, in whatever language."""
    text = text.strip()
    said = len(text) <= TALK and not any(map(str.isalnum, PASSING.sub("", text)))
    return said or bool(COMMAND.match(text))


def asks_for_work(text: str) -> bool:
    """Whether a request may be what a session is about: no hello, and more than a short question or an errand."""
    return not is_passing(text) and (len(text.split()) >= SHORT or _asks_for(text) > 0)


def _needed(turn: Turn) -> int:
    """The tokens that a request has to ask for work with: fewer where work came of it."""
    text = turn.asked.text
    greets = GREETS.match(text) and len(text.split()) < SHORT
    if FOLLOWS.match(text) or ADDS.match(text) or greets:
        return ENOUGH
    return 1 if turn.worked else TERSE


def goal(found: Sequence[Turn]) -> str:
    """The event that says what a session is about; empty when nothing was asked."""
    worked, spare = False, ""
    for place, turn in enumerate(reversed(found)):
        going = place == 0 and not turn.ended
        worked = worked or turn.worked or going
        size = _asks_for(turn.asked.text)
        if size >= (2 * ENOUGH if FOLLOWS.match(turn.asked.text) else TERSE if turn.planned else ENOUGH):
            if worked and not ADDS.match(turn.asked.text):
                return turn.asked.id
            spare = spare or turn.asked.id
    told = [turn for turn in found if not COMMAND.match(turn.asked.text.strip())] or found
    most = max(told, key=lambda turn: (turn.worked, min(_asks_for(turn.asked.text), 3 * ENOUGH)), default=None)
    return spare or (most.asked.id if most else "")


def _asks_for(text: str) -> int:
    """How many tokens of a request ask for work: not its errands, its questions and what was pasted."""
    if COMMAND.match(text.strip()):
        return 0
    size = 0
    for one in _sentences(text):
        errand = ERRAND.match(one) and len(one.split()) < SHORT
        question = QUESTION.search(one) and not PROPOSES.search(one)
        rule = len(one) > 5 and claims.is_rule(one, True)
        excepts = EXCEPTS.search(one) and len(one.split()) < SHORT
        size += 0 if errand or question or rule or excepts or NODS.fullmatch(one) else tokens(one)
    return size


def _sentences(text: str) -> Iterator[str]:
    own = as_typed(text)
    for sentence in re.split(r"(?<=[.!?。！？])\s+", own[:2000]):
        yield from claims.apart(sentence)


def as_typed(text: str) -> str:
    """What somebody typed, on one line: where code, logs and data were pasted, that shows."""
    text = text.strip()
    if "\n" not in text:
        return one_line(INLINE.sub(" …", text), WORDS)
    said: list[str] = []
    typed = "\n".join("```" if PASTED.match(line) else line for line in text[: 4 * WORDS].splitlines())
    for kind, part in parts(typed if "```" not in text else text[: 4 * WORDS]):
        if kind in ("prose", "item", "heading") or (_is_typed(part) and (not said or part[-1] in ".!?")):
            said.append(part)
        elif said and said[-1] != "…":
            said.append("…")
    own = one_line(INLINE.sub(" …", " ".join(said)), WORDS)
    return own if any(char.isalpha() for char in own) else one_line(text, WORDS)


def _is_typed(line: str) -> bool:
    letters = sum(char.isalpha() or char == " " for char in line)
    return letters >= TYPED * len(line) and (line[:1].isalnum() or line[:1] in tuple("@`'\"(*"))
