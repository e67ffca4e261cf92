"""Small talk: what says nothing that anybody may want to know later. What is more than that says something, in whatever
language."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_keeper.model import Event
from memory_keeper.notes.notes.segments import CALLS, SAID

LONGEST = 300  # characters of it
COMMAND = re.compile(r"^/[\w:.-]+\s*$")
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


def is_passing(text: str) -> bool:
    """Whether a text is a hello, a nod, "go on", an offer of help or a bare command."""
    text = text.strip()
    said = len(text) <= LONGEST and not any(map(str.isalnum, PASSING.sub("", text)))
    return said or bool(COMMAND.match(text))


def is_small_talk(events: Iterable[Event]) -> bool:
    """Whether nothing was looked at, run or changed in a segment, and nothing said but in passing."""
    told = [event for event in events if event.kind in (*CALLS, *SAID, "summary")]
    return all(event.kind in SAID and event.kind != "task" and is_passing(event.text) for event in told)
