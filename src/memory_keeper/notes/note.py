"""The note of a segment: each request with what came of it, in the words of who said it, and what was open in the end.

Facts are ordered by how much they are needed and taken from the front until the note is full, or nothing is left that
is worth telling. What came of a request is what the last answer says, and what was found out, decided and finished on
the way; what the model was about to do next, and its lists of details, are not. What is kept of the facts is more than
is told: the outlines above are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memory_keeper.extract import head, ranker
from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.extraction import Shorten
from memory_keeper.extract.facts import KINDS, UNDER, Fact, dump, say, story_lines
from memory_keeper.extract.settled import reason
from memory_keeper.extract.spoken import EACH, Spoken, spoken
from memory_keeper.extract.work import is_check, worked
from memory_keeper.model import Event, Json
from memory_keeper.notes.own_commands import others
from memory_keeper.notes.segments import CALLS, note_budget
from memory_keeper.notes.segments import SAID as TALK
from memory_keeper.text import clean, one_line, tokens

LONGEST = 300  # characters of small talk
ASKED, SAID = 240, 280  # characters of a sentence of the user's, and of the model's
KEPT, EDITS = 44, 10  # facts that are kept for the outlines above, and files of them
FIRST, OPEN, COMMITS, RULES = 2, 6, 6, 4  # sentences of a request, and of each other kind, that come before all details
SAME = 0.7  # of what a sentence speaks of was told: it repeats
JOINT = 2  # tokens around a fact
HEADING = 40  # characters of a heading under which stands what is left to do
PLAN, LONG = 20, 8  # sentences of a request that is a plan, and of it that are told beside the first
SENTENCES, ITEMS = 9, 6  # of what came of a turn, and items of lists among them
SHORTEST = 3  # words of a sentence that says something
# how well the last answer of a turn says what came of it; the first sentence, an item,
# one that explains a name, what has few words
CONCLUDING, LEAD, ITEM, GLOSS, TERSE = 1.8, 1.3, 0.7, 0.4, 0.5
# how well another text does, by its source
SOURCES = {"thinking": 0.8, "plan": 0.6, "reply": 0.5, "message": 0.5, "report": 0.5, "summary": 0.4}
REASONED = 2.5  # of a decision with its reason on the way to an answer: seldom said again
PART, WORD = re.compile(r"(?<=[:.!?。！？]) +(?!…)"), re.compile(r"\w+")
COUNTED = re.compile(r" and \d+ more(?=:|$)")
BECAUSE = re.compile(r"(?:this|that|it)(?:['’]s| is| was) because (.{4,})", re.I)
# what the model is about to do, or says of itself or of the talk: nothing that came of a request
NARRATES = re.compile(
    r"(?:(?:ok(?:ay)?|so|good|great|perfect|excellent|and|but|also|actually|finally|wait|hmm+|yes|right"
    r"|in the meantime)\b\W*)*"
    r"(?:(?:now|next|then|first|meanwhile)\b,? (?!(?:the|it|that|this|there|both|all|we|they)\b)"
    r"|i(?:['’](?:ll|m|d)| will| am| can (?:now )?see| also| still| now| already| noticed?| need| want| should| have"
    r"| see(?! the issue))\b(?! fixed| added)"
    r"|(?:let(?:['’]s| me| us)|we(?:['’]ll| will| need)|time to|proceeding|continuing|starting|moving on|going to"
    r"|looking (?:at|into)|checking|running|reading|searching|waiting|here(?:['’]s| is| are)|based on|the user|once"
    r"|as expected|the (?:todo|task list)|you(?:['’]re| are) (?:absolutely )?right|want me|would you|shall i|lines? \d)"
    r"\b)"
    r"|[^。]{0,80}(?:(?:確認|修正|更新|実装|実行|調査|追加|作成|開始|対応|検討|反映|検索)(?:します|していきます|しましょう)"
    r"|(?:見て|調べて|進めて)(?:み|いき)ます|(?:調べ|進め)ます|겠습니다|할게요|볼게요)[。.]?$",
    re.I,
)
AGAIN = re.compile(r"[.!?…] (?:but )?(?:wait|hmm+|actually)\b", re.I)  # the model thinks better of it
GLOSSES = re.compile(r"\W*`[^`]+`(?: \([^)]*\))? ?[-—–:=→]")  # explains a name
TRAILERS = re.compile(r"(?: [A-Z][a-z]+(?:-[A-Za-z]+)+: \S.*)+$")  # of a commit whose message was read as one line
TICKS = "✅✓✔☑🎉✨⚠🟢🟡🔴\ufe0f "
MARKS = re.compile(rf"^(?:[-*•] )+|(^|[;:.!?] )[{TICKS[:-1]}⏳🎯🔥📊]+ *")  # what stands before a sentence or an item
# headings that say nothing of what stands under them
EMPTY = re.compile(
    r"\W*(?:\d+[.)]\W*)?(?:(?:the|key|main|final|quick|brief|overall|all|full|current|executive)\W+)*"
    r"(?:summar(?:y|ies)|chang(?:es?|ed)(?: made)?|results?|details?|overview|updates?|notes?|answer"
    r"|what (?:was|i|changed|we|it|this|that|just|you)\b.*|fix(?:es|ed)?(?: applied)?|status|conclusions?|findings?"
    r"|actions taken|done|completed?|output|state|implementation|here\b.*|step \d+)\b(?:\W*\d*\W*)$",
    re.I,
)
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


class Draft(NamedTuple):
    """What a note says, what each of its lines rests on, and the facts that are kept with it, most needed first."""

    text: str
    cites: tuple[tuple[str, ...], ...] = ()
    facts: tuple[Fact, ...] = ()


class Scored(NamedTuple):
    """A fact, and how much it is worth."""

    fact: Fact
    worth: float


def write(events: Sequence[Event], most: int, folder: str = "", midway: bool = False) -> Draft:
    """The note of a segment, which may end midway in a turn; empty when there is nothing to tell but small talk, or of
    our own commands."""
    events = list(others(events))
    if is_small_talk(events):
        return Draft("")
    ranked, rules = _ranked(events, folder)
    chosen = _fitting(ranked, note_budget(events, most), midway)
    lines = list(tell(chosen, midway))
    kept = dict.fromkeys((*chosen, *rules, *_kept_beside(ranked)))
    return Draft("\n".join(text for text, _ in lines), tuple(cites for _, cites in lines), tuple(kept)[:KEPT])


def about(draft: Draft, events: Sequence[Event]) -> Json:
    """What a note of level 1 carries beside its text."""
    cites = [list(cites) for cites in draft.cites]
    return {"by": "extractive", "first": events[0].at, "cites": cites, "facts": dump(draft.facts)}


# --- telling ----------------------------------------------------------------------------------------------------------


def tell(facts: Iterable[Fact], midway: bool = False) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Facts as the lines of a note, each with what it rests on; how a turn that is cut ends the next note says."""
    ordered = sorted(facts, key=lambda fact: fact.place)
    left = [fact for fact in ordered if is_open(fact) and not (midway and fact.kind == "error")]
    yield from story_lines(as_request(fact) for fact in ordered if fact not in left)
    if left:
        text = f"Open then: {'; '.join(dict.fromkeys(say(fact).rstrip('.;') for fact in left))}"
        yield one_line(clean(text), 1 << 20), tuple(dict.fromkeys(cite for fact in left for cite in fact.cites))


def is_open(fact: Fact) -> bool:
    """Whether a fact says what is left to do: a task, a step, a question, a check that fails."""
    fails = fact.kind == "error" and fact.status == "open"
    return KINDS[fact.kind].open or (fails and is_check(fact.text))


def as_request(fact: Fact) -> Fact:
    """A rule as the part of a request that it was."""
    return fact._replace(kind="request") if fact.kind == "rule" else fact


# --- choosing ---------------------------------------------------------------------------------------------------------


def _fitting(ranked: Sequence[Fact], budget: int, midway: bool) -> list[Fact]:
    """The first facts that fit as they are told, and later ones that fit all the same. Of tasks that are worked
    through the one in hand is told, the others when the work stops."""
    left, chosen = budget, list[Fact]()
    known: set[str] = set()
    todos = [fact for fact in ranked if fact.kind == "todo"]
    later = {fact for fact in todos if midway and fact is not next(filter(_in_hand, todos), todos[0])}
    for fact in (fact for fact in ranked if _is_told(fact) and fact not in later):
        cost = tokens(f"{fact.about} {say(fact)}") + JOINT
        found = concepts(fact.text)
        repeats = len(found & known) > SAME * len(found) and fact.who == "model" and not KINDS[fact.kind].open
        if cost <= left and not repeats:
            left -= cost
            known |= found
            chosen.append(fact)
    while chosen and tokens("\n".join(text for text, _ in tell(chosen, midway))) > budget:
        chosen.pop()
    return chosen


def _in_hand(fact: Fact) -> bool:
    return fact.status == "in progress"


def _is_told(fact: Fact) -> bool:
    """Whether a note tells of something; of commands that failed only of checks, others are for the outline to know."""
    return fact.kind != "error" or (is_check(fact.text) and bool(fact.why or fact.status == "open"))


def _kept_beside(ranked: Sequence[Fact]) -> Iterator[Fact]:
    """What an outline needs to know beside what a note tells: what holds, what works and what was changed."""
    yield from (fact for fact in ranked if fact.kind in ("rule", "answer", "commit", "pr") or KINDS[fact.kind].open)
    yield from (fact for fact in ranked if fact.kind == "decision" and fact.why)
    yield from (fact for fact in ranked if fact.kind in ("error", "check"))
    edits = {fact.text: fact for fact in ranked if fact.kind == "edit"}
    yield from [*edits.values()][:EDITS]


# --- ordering ---------------------------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """What was asked, and the sentences that may tell what came of it."""

    asked: list[Scored]
    came: list[Scored]


def _ranked(events: Sequence[Event], folder: str) -> tuple[list[Fact], list[Fact]]:
    """All that a note may tell, the most needed first, and what the user insists on, which may be a part of that."""
    shorten = Shorten(folder)
    said, numbers = spoken(events)
    rules = list(head.insisted(said, events))
    done = worked(events, numbers)
    committed = max((fact.place for fact in done if fact.kind == "commit"), default=-1)
    work = [_cited(_closed(fact, committed), shorten) for fact in done]
    turns = _by_turn(said, events, rules, shorten)
    newest = sorted(turns, reverse=True)
    telling = [number for number in newest if not _is_talk(turns[number], number, work)] or newest
    order = [turns[number] for number in (*telling[:1], *telling[1:][-1:], *telling[1:-1])]  # last, first, others
    asked = [one for turn in order for one in turn.asked]
    leads = [list(_lead(turn)) for turn in order]
    cited = {rule.cites for rule in rules}
    first = [
        *(fact for lead in leads[:2] for fact in lead),
        *[fact for fact in head.coming(said, events) if _is_left(fact, events)][:OPEN],
        *[fact for fact in work if is_open(fact)][-1:],
        *[fact for fact in work if fact.kind == "commit"][-COMMITS:],
        *[one.fact for one in asked if one.fact.kind in ("rule", "answer") or one.fact.cites in cited][:RULES],
        *(fact for lead in leads[2:] for fact in lead),
    ]
    others = [*asked, *(one for turn in order for one in _best(turn))]
    others += [Scored(fact, KINDS[fact.kind].note) for fact in work if KINDS[fact.kind].note]
    others.sort(key=lambda one: -one.worth / (tokens(say(one.fact)) + JOINT) ** 0.5)
    return list(dict.fromkeys([*first, *(one.fact for one in others)])), rules


def _by_turn(
    said: Sequence[Spoken], events: Sequence[Event], rules: Sequence[Fact], shorten: Shorten
) -> dict[int, Turn]:
    """What was asked in each turn, and what came of it; a nod stands with what it accepts: "yes" alone says nothing."""
    _, worth, _ = ranker.rank(said, events, concepts=False, weigh=_weigh)
    nods = {nod.cites[0]: nod for nod in head.accepted(said, events)}
    insisted = {(rule.cites, rule.text) for rule in rules}
    texts = {event.id: event.text for event in events}
    found: dict[int, Turn] = {}
    for one, after, score in zip(said, [*said[1:], None][: len(said)], worth, strict=True):
        fact, turn = one.fact, found.setdefault(one.fact.turn, Turn([], []))
        if fact.who == "user" or fact.kind == "request":
            if nod := nods.get(fact.cites[0]):
                turn.asked[:0] = [Scored(_verbatim(nod, texts), 1.0)] if one.number == 0 else []
            elif one.many <= PLAN or one.form == "prose" or not one.number or fact.kind != "request":
                kind = "rule" if (fact.cites, fact.text) in insisted else fact.kind
                turn.asked.append(Scored(_verbatim(fact._replace(kind=kind, text=cut(fact.text, ASKED)), texts), score))
        elif score > 0:
            why = _why(one, after) if fact.kind == "decision" else fact.why
            fact = fact._replace(text=cut(plain(fact.text), SAID), why=why, about=label(fact.about))
            turn.came.append(Scored(shorten(fact), score))
    return {
        number: turn._replace(asked=[] if turn.came and _is_nod(turn.asked) else _short_request(turn.asked))
        for number, turn in found.items()
        if any(turn)
    }


def _is_nod(asked: Iterable[Scored]) -> bool:
    """Whether nothing was asked but to go on, so that what came of it belongs to what was asked before."""
    return all(one.fact.kind == "request" and _is_chat(one.fact.text) for one in asked)


def _short_request(asked: Sequence[Scored]) -> list[Scored]:
    """How a request begins, and of a long one the sentences that are worth most."""
    best = sorted(asked[1:], key=lambda one: (one.fact.kind != "request", one.worth), reverse=True)[:LONG]
    return [one for one in asked if one is asked[0] or one in best]


def _best(turn: Turn) -> Iterator[Scored]:
    """The sentences that say best what came of a turn, few of them items of a list."""
    items = 0
    for one in sorted(turn.came, key=lambda one: -one.worth)[: 2 * SENTENCES]:
        listed = bool(one.fact.about) or ";" in one.fact.text
        items += listed
        if not listed or items <= ITEMS:
            yield one


def _lead(turn: Turn) -> Iterator[Fact]:
    """How a request begins, what of it is worth most, and the sentence that says best what came of it."""
    best = sorted(turn.asked[1:], key=lambda one: -one.worth)[: FIRST - 1]
    yield from (one.fact for one in (*turn.asked[:1], *best, *list(_best(turn))[:1]))


def _verbatim(fact: Fact, texts: Mapping[str, str]) -> Fact:
    """What was asked, and what a nod accepts, with a sign where something that stood between its parts is left out."""
    source = "\n".join(_words(texts.get(cite, "")) for cite in fact.cites)

    def parts(text: str) -> str:
        there = [text] if _words(text) in source else [part for part in PART.split(text) if _words(part) in source]
        return " … ".join(there) or text

    return fact._replace(text=parts(fact.text), about=parts(fact.about) if fact.kind == "accepted" else fact.about)


def _words(text: str) -> str:
    return " ".join(WORD.findall(clean(text)))


def _closed(fact: Fact, committed: int) -> Fact:
    """A failure, no longer open when the work was committed after it."""
    past = fact.kind == "error" and fact.status == "open" and fact.place < committed
    return fact._replace(status="") if past else fact


def _cited(fact: Fact, shorten: Shorten) -> Fact:
    """What was done, as the events say that it cites: no sum of ours, no name of an earlier change, commands as run."""
    if fact.kind == "commit":
        digest = "" if fact.about.isdecimal() else fact.about  # it would pass for a number
        return fact._replace(text=TRAILERS.sub("", fact.text), about=digest)
    if fact.kind == "error":
        return fact._replace(why=COUNTED.sub(", …", fact.why))
    if fact.kind == "edit":
        return shorten(fact._replace(about=""))
    return fact._replace(about="") if fact.kind == "check" else fact


def _why(one: Spoken, after: Spoken | None) -> str:
    """The reason of a decision, which may stand in the next sentence."""
    because = BECAUSE.match(after.fact.text) if after and after.fact.cites == one.fact.cites else None
    return reason(one.fact.text) or (because[1] if because else "")


def plain(text: str) -> str:
    """A sentence without the marks that stand before it and its parts."""
    return MARKS.sub(r"\1", text) or text


def label(heading: str) -> str:
    """A heading that says something of what stands under it; empty for one that does not, or is a sentence."""
    heading = heading.strip(f" *#:{TICKS}")
    return "" if EMPTY.fullmatch(heading) or len(heading) > UNDER else heading


def cut(text: str, characters: int) -> str:
    """The words of a text that fit a line, with no quotation left open."""
    if len(text) <= characters:
        return text
    text = one_line(text, characters).rstrip("… ")
    text = text.rpartition(" ")[0] or text
    while opened := [mark for mark in '`"' if text.count(mark) % 2]:
        text = text[: text.rindex(opened[0])]
    return text.rstrip(" …") + " …"


def _weigh(one: Spoken, session: ranker.Session, found: frozenset[str]) -> float:
    """How well a sentence says what was asked, or what came of it; 0: not at all. A thought may be a draft: of those
    only what was found out counts."""
    fact, text = one.fact, one.fact.text
    if fact.who == "user" or fact.kind == "request":
        return 1.0
    # a question, an introduction, what goes on from a line that was passed over, a torn line of code
    half = text[-1] in ":：?？" or text[0] in "(,;)]}" or text.count("`") % 2 or "``" in text or "\\`" in text
    half = half or bool(AGAIN.search(text))
    if one.form in ("row", "code") or half or len(text.split()) < SHORTEST > len(found):
        return 0.0
    if _concludes(one, session):
        worth = CONCLUDING * (LEAD if one.number == 0 else 1.0) * KINDS[fact.kind].note
    else:
        says = fact.kind != "said" or (one.source == "reply" and any(map(is_name, found)))
        plain = one.form == "prose" and says
        plain = plain and (one.source != "thinking" or fact.kind == "finding")
        worth = SOURCES.get(one.source, 0.0) * KINDS[fact.kind].note * plain
        worth *= REASONED if fact.kind == "decision" and fact.why else 1.0
    if one.form == "item":
        worth *= GLOSS if GLOSSES.match(text) else ITEM
    return 0.0 if not worth or narrates(fact) else worth * (TERSE if len(found) < SHORTEST else 1.0)


def _concludes(one: Spoken, session: ranker.Session) -> bool:
    """Whether it stands in the last answer of its turn."""
    return one.source == "reply" and one.fact.place // EACH in session.concluding


def narrates(fact: Fact) -> bool:
    """Whether the model says what it is about to do, or talks; "let's use …" may settle something."""
    if fact.kind == "decision" and fact.text.lower().startswith(("let's", "let’s", "we'll", "we’ll", "we will")):
        return False
    return any(NARRATES.match(part) or ranker.CUES["chat"].search(part) for part in (fact.text, fact.about) if part)


def _is_left(fact: Fact, events: Sequence[Event]) -> bool:
    """Whether something is left to do: a task, a step that somebody said is next, in a list of steps, or a question
    that says what it is about."""
    if fact.kind == "question":
        return len(concepts(fact.text)) >= SHORTEST
    return fact.kind != "next" or (
        fact.place < len(events) * EACH and len(fact.about) <= HEADING and not NARRATES.match(fact.text)
    )


# --- small talk -------------------------------------------------------------------------------------------------------


def is_passing(text: str) -> bool:
    """Whether a text is a hello, a nod, "go on", an offer of help or a bare command: nothing that anybody may want to
    know later. What is more than that says something, in whatever language."""
    return _is_chat(text) or bool(COMMAND.match(text.strip()))


def _is_chat(text: str) -> bool:
    return len(text.strip()) <= LONGEST and not any(map(str.isalnum, PASSING.sub("", text)))


def is_small_talk(events: Iterable[Event]) -> bool:
    """Whether nothing was looked at, run or changed in a segment, and nothing said but in passing."""
    told = [event for event in events if event.kind in (*CALLS, *TALK, "summary")]
    return all(event.kind in TALK and event.kind != "task" and is_passing(event.text) for event in told)


def _is_talk(turn: Turn, number: int, work: Iterable[Fact]) -> bool:
    """Whether nothing was done in a turn, and nothing said but in passing."""
    passing = all(is_passing(one.fact.text) for one in (*turn.asked, *turn.came))
    return passing and not any(fact.turn == number for fact in work)
