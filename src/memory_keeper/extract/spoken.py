"""What was said: the user's words, and what the model answered, thought, wrote and was told by its subagents.

Every sentence becomes a fact, a quote of the event that has it. Only what a person typed is the user's; a request ends
when the next one comes, and everything between belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from memory_keeper import regex as re
from memory_keeper.capture.calls import command_of, fields
from memory_keeper.capture.typed import Typed, typed_words
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.own_words import QUOTED_LINE, without_spans
from memory_keeper.extract.prose import Sentence, sentences
from memory_keeper.model import Event
from memory_keeper.provenance import TYPED
from memory_keeper.text import clean

EACH = 1000  # places between two events: their sentences lie between
REPORT = 6_000  # characters of a subagent's report that are read
LONGEST = 600  # characters of a quote
SHORT = 300  # characters of a request that is told whole
# how a sentence begins that takes back the one before it
TURNS = re.compile(
    r"(?:but|however|actually|wait|hmm|except|unfortunately|yet|no,|although|그러나|하지만|しかし|ただし)\b", re.I
)
GOES_ON = re.compile(r"(?:\w+[\W]+){1,2}(?:let me|let['’]s|i['’]ll|i (?:will|need to|should|want to))\b", re.I)
# what is said elsewhere than in an answer, by its source: it does not state how things are now
AS = {
    "thinking": "thought",
    "summary": "earlier",
    "plan": "planned",
    "document": "document",
    "message": "message",
}
LIST = 330  # characters of a list that is told whole or not at all
JOINT = re.compile(r"([a-z)`][.:])(?=[A-Z][a-z']* )")  # two thoughts that the host put together: `a name.Let me look`
OURS = "<memory-keeper"  # how a text of our own begins, wherever the host puts it
NOTIFIED = re.compile(r"<result>(.*?)</result>", re.S)
# what a command publishes: the message of a commit, the body of a pull request or a comment
PUBLISHES = re.compile(r"\b(?:git (?:-C \S+ )?commit|gh (?:pr|issue|api|release)|glab )\b")
MESSAGE = re.compile(
    r"""<<-?\s*['"]?(?P<end>\w{1,20})['"]?\n(?P<here>.{0,6000}?)\n[ \t]*(?P=end)\b"""
    r"""|(?:-m|--message|--body|-b|--title|-f body=)[ =]?"""
    r"""(?:"(?!\$\(cat <<)(?P<double>(?:\\.|[^"\\])+)"|'(?P<single>[^']+)')""",
    re.S,
)
TRAILER = re.compile(  # what no sentence of the work is: a commit's trailer, the host's own words
    r"^(?:Co-Authored-By|Signed-off-by|🤖|Generated with|This session is being continued"
    r"|You['’]ve hit your |API Error\b|Prompt is too long|Claude (?:AI )?usage limit|No response requested"
    r"|The (?:conversation|summary below) (?:is summarized|covers)"
    r"|(?:Please )?continue the conversation|If you need specific details|Resume directly|Pick up the last task as if"
    r"|The messages after this summary|The summary was written without seeing)",
    re.I,
)
DOCUMENTS = (".md", ".mdx", ".txt", ".rst")
AGENTS = ("Task", "Agent", "TaskOutput")
LAUNCHED = "Async agent launched"

FINDS = re.compile(
    r"\b(?:because|root cause|caused? by|due to|turn(?:s|ed) out|the (?:real |actual |main )?(?:issue|problem|bug"
    r"|reason|cause)"
    r"|that'?s why|which is why|explains why|so the|means (?:that )?the)\b|때문|원인|ため|原因",
    re.I,
)
DECIDES = re.compile(
    r"\b(?:decided|chose|chosen|(?:go(?:ing)?|went) with|opt(?:ed)? for"
    r"|(?:we(?:['’]ll| will| should)|let['’]s|i['’]ll) (?:keep|use|drop|skip|stick)|agreed|settled|out of scope"
    r"|not worth|intentional(?:ly)?|by design)\b|\bdecision(?: (?:is|was) | ?[:—–])"
    r"|결정(?:했|하|됐|되|을 )|기로 (?:했|하|합|결정)|決定|方針",
    re.I,
)
CONTRASTS = re.compile(r"\b(?:instead of|rather than)\b|대신", re.I)
ACTS = re.compile(  # without it, a contrast says how something works, or what is wrong
    r"\b(?:i|we|i['’](?:ll|ve)|we['’](?:ll|ve)|let['’]s|now)\b"
    r"|(?:^|[:—–·-] )(?:us|keep|kept|replac|switch|mov|chang|updat|fix|add|remov|stor|pass|redirect|ma[dk]e|put"
    r"|set|group|render|return|split|extract)(?:e|ed|ing|ping|ting)?\b|습니다",
    re.I,
)
REASON = re.compile(
    r"\b(?:because|so that|due to|otherwise"
    r"|since(?! (?:the |our |my |we )?(?:last|previous|first|start|beginning|then|yesterday|\d)))\b[ ,:]*(.{4,})"
    r"|([^,.]{2,}(?:때문에?|므로|위해서?|ため))",
    re.I,
)
FINISHES = re.compile(
    r"^(?:(?:i|we|i'?ve|we'?ve) )?(?:(?:now|just|also|have) )*(?:fixed|added|implemented|removed|renamed|moved|created"
    r"|updated|replaced|committed|merged|pushed|resolved|refactored|rewrote|extracted|all )\b"
    r"|\b(?:is|are) (?:now )?(?:done|fixed|in place|complete|working|merged)\b|완료|했습니다|完了|しました",
    re.I,
)

# what takes back what was decided
REJECTS = re.compile(
    r"^\W*(?:no|nope|nah|actually|wait|hmm+|stop|please)?\b\W*(?:don['’]?t|do not|drop|revert|undo|remove|get rid of"
    r"|take \w+ out|not)\b"
    r"|^\W*(?:no|nope|nah)\b[,.!:]|\b(?:drop|revert|undo|get rid of) (?:it|that|this)\b|하지 마|말고|やめて",
    re.I,
)


class Spoken(NamedTuple):
    """A fact that somebody put in words, and where these words stood."""

    fact: Fact
    source: str  # request | answer | reply | thinking | summary | message | plan | document | report
    form: str  # prose | item | row | code | done | raw
    number: int  # among the sentences of its text
    many: int


def spoken(events: Sequence[Event]) -> tuple[list[Spoken], list[int]]:
    """Everything that was said in the main thread, in order; and for each event, the number of its turn."""
    calls = {event.ref: event for event in events if event.kind == "call" and event.ref}
    typed: dict[str, list[Typed]] = {}
    for one in typed_words(events):
        typed.setdefault(one.id, []).append(one)
    found: list[Spoken] = []
    turns: list[int] = []
    turn = 0
    for place, event in enumerate(events):
        words = typed.get(event.id, ())
        turn += any(one.how in ("prompt", "queued") for one in words)
        turns.append(turn)
        if words:
            for one in words:
                found += _typed(one, event, turn, place)
        elif not event.agent:
            for source, text in _texts(event, calls):
                found += _quoted(source, text, event, turn, place)
    return list(_overturned(found)), turns


def _overturned(said: Sequence[Spoken]) -> Iterator[Spoken]:
    """What was said, where a decision that the next request takes back is dropped."""
    against: dict[int, set[str]] = {}
    for one in said:
        if one.source == "request" and one.fact.who == "user" and REJECTS.search(one.fact.text):
            against.setdefault(one.fact.turn - 1, set()).update(concepts(one.fact.text))
    for one in said:
        rejected = one.fact.kind == "decision" and against.get(one.fact.turn)
        if rejected and rejected & concepts(one.fact.text):
            one = one._replace(fact=one.fact._replace(status="dropped"))
        yield one


def _typed(typed: Typed, event: Event, turn: int, place: int) -> Iterator[Spoken]:
    if typed.how == "answer":
        fact = Fact(
            "answer", _short(typed.text), (event.id,), event.at, "user", turn, place * EACH, _short(typed.about)
        )
        yield Spoken(fact, "answer", "prose", 0, 1)
    elif typed.by != TYPED and typed.how == "refusal":  # a server may have written it
        yield from _quoted("report", typed.text, event, turn, place)
    else:  # what a program asks was asked, and is no rule of the user's
        yield from _quoted("request", typed.text, event, turn, place, "user" if typed.by == TYPED else "model")


def _texts(event: Event, calls: dict[str, Event]) -> Iterator[tuple[str, str]]:
    """What an event says in words that are not the user's, and how it came to be said."""
    if event.kind == "reply":
        yield event.kind, event.text
    elif event.kind == "thinking":
        yield event.kind, JOINT.sub(r"\1 ", event.text)
    elif event.kind == "summary" and not event.text.lstrip().startswith(OURS):
        yield "summary", event.text.partition("Summary:")[2] or event.text
    elif event.kind in ("notice", "queued", "prompt"):
        yield from (("report", text[:REPORT]) for text in NOTIFIED.findall(event.text[: 4 * REPORT]))
    elif event.kind == "call":
        line = command_of(event)
        if line and PUBLISHES.search(line):
            for found in MESSAGE.finditer(line):
                yield "message", found["here"] or found["double"] or found["single"] or ""
        elif event.tool == "ExitPlanMode":
            yield "plan", event.text.partition("plan: ")[2]
        elif event.tool == "Write" and event.path.endswith(DOCUMENTS):
            yield "document", fields(event).get("content", "")
    elif event.kind == "result" and not event.failed and event.ref in calls and calls[event.ref].tool in AGENTS:
        yield from () if event.text.startswith(LAUNCHED) else (("report", event.text[:REPORT]),)


def _quoted(source: str, text: str, event: Event, turn: int, place: int, who: str = "") -> Iterator[Spoken]:
    text = clean(text).strip()  # before its lines are joined: an escape sequence may end with one
    text = QUOTED_LINE.sub("", text) if source == "reply" and ">" in text else text
    found = list(
        _whole(sentences(text, titled=True), text)
        if source == "request"
        else _with_turns(_lists_whole(sentences(text)))
    )
    if not found and text.strip() and source == "request":  # a paste, a log, a line of code: it was sent all the same
        found = [Sentence(_short(text), "raw", "", 0)]
    for number, one in enumerate(found):
        if TRAILER.match(one.text):
            continue
        kind = "request" if source == "request" else kind_of(without_spans(one.text))
        author = who or ("tool" if source == "report" else "model")
        where = place * EACH + min(one.place, EACH - 1)
        why = reason(one.text) if kind == "decision" else ""
        fact = Fact(kind, one.text, (event.id,), event.at, author, turn, where, one.under, why, AS.get(source, ""))
        yield Spoken(fact, source, "done" if one.done else one.kind, number, len(found))


def _whole(found: Iterable[Sentence], text: str) -> Iterator[Sentence]:
    """The sentences of a request; a short one is told whole, since what is left out may be what was decided."""
    those = list(found)
    joined = " ".join(one.text for one in those)
    if len(those) > 1 and len(text) <= SHORT and all(one.kind == "prose" for one in those):
        yield Sentence(joined, "prose", "", those[0].place)
    else:
        yield from those


def _with_turns(found: Iterable[Sentence]) -> Iterator[Sentence]:
    """Sentences, each with the one behind it that takes it back: "It works. But only on Linux." """
    held: Sentence | None = None
    for one in found:
        if held and _takes_back(held, one):
            held = held._replace(text=f"{held.text} {one.text}")
            continue
        if held:
            yield held
        held = one
    if held:
        yield held


def _takes_back(before: Sentence, one: Sentence) -> bool:
    prose = one.kind == before.kind == "prose" and one.under == before.under
    turns = TURNS.match(one.text) and not GOES_ON.match(one.text)
    return prose and bool(turns) and len(before.text) + len(one.text) < LONGEST


def _lists_whole(found: Iterable[Sentence]) -> Iterator[Sentence]:
    """Sentences, where the items of a short list are one: half a list misleads whoever reads it."""
    for (under, form, done), group in groupby(found, key=lambda one: (one.under, one.kind, one.done)):
        those = list(group)
        if form in ("item", "row") and len(those) > 1 and sum(len(one.text) + 2 for one in those) <= LIST:
            text = "; ".join(one.text.rstrip(".;,") for one in those).replace(":; ", ": ")
            yield Sentence(text, form, under, those[0].place, done)
        else:
            yield from those


def kind_of(text: str) -> str:
    """What a sentence of the model's states."""
    if text.endswith(("?", "？")):
        return "said"
    decides = DECIDES.search(text) or (CONTRASTS.search(text) and ACTS.search(text))
    return "decision" if decides else "finding" if FINDS.search(text) else "done" if FINISHES.search(text) else "said"


def reason(text: str) -> str:
    """The part of a sentence that says why; empty when none does."""
    found = REASON.search(text)
    if not found:
        return ""
    said = (found[1] or found[2]).strip()
    return said.partition(", ")[0] if not found.start() else said  # "Since it is slow, we …"


def _short(text: str) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
