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
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.extraction import Shorten
from memory_keeper.extract.facts import Fact, dump, say
from memory_keeper.extract.settled import reason
from memory_keeper.extract.spoken import EACH, Spoken, spoken
from memory_keeper.extract.work import CHECKS, worked
from memory_keeper.model import Event, Json
from memory_keeper.notes.notes.segments import note_budget
from memory_keeper.notes.notes.small_talk import is_passing, is_small_talk
from memory_keeper.notes.notes.turns import label, turns
from memory_keeper.notes.own_commands import others
from memory_keeper.text import clean, one_line, tokens

ASKED, SAID = 240, 280  # characters of a sentence of the user's, and of the model's
KEPT, EDITS = 44, 10  # facts that are kept for the outlines above, and files of them
FIRST, OPEN, COMMITS, RULES = 2, 6, 6, 4  # sentences of a request, and of each other kind, that come before all details
SAME = 0.7  # of what a sentence speaks of was told: it repeats
JOINT = 2  # tokens around a fact
HEADING = 40  # characters of a heading under which stands what is left to do
PLAN, LONG = 8, 4  # sentences of a request that is a plan, and of it that are told beside the first
SENTENCES, ITEMS = 6, 3  # of what came of a turn, and items of lists among them
SHORTEST = 3  # words of a sentence that says something
OPEN_KINDS = ("todo", "next", "question")
# how well the last answer of a turn says what came of it; the first sentence, an item,
# one that explains a name, what has few words
CONCLUDING, LEAD, ITEM, GLOSS, TERSE = 1.8, 1.3, 0.7, 0.4, 0.5
# how well another text does, by its source, and by what it states
SOURCES = {"reply": 1.0, "plan": 0.6, "message": 0.5, "report": 0.5, "summary": 0.4, "thinking": 0.3, "document": 0.2}
KINDS = {"decision": 1.4, "finding": 1.4, "done": 1.3}
THOUGHT = ("thinking", "document")  # what is said there may be a draft: it decides nothing
PART, WORD = re.compile(r"(?<=[:.!?。！？]) +(?!…)"), re.compile(r"\w+")
COUNTED = re.compile(r" and \d+ more(?=:|$)")
BECAUSE = re.compile(r"(?:this|that|it)(?:['’]s| is| was) because (.{4,})", re.I)
# what the model is about to do, or says of itself or of the talk: nothing that came of a request
NARRATES = re.compile(
    r"(?:(?:ok(?:ay)?|so|good|great|perfect|excellent|and|but|also|actually|finally|wait|hmm+|yes|right)\b\W*)*"
    r"(?:(?:now|next|then|first|meanwhile)\b,? (?!(?:the|it|that|this|there|both|all|we|they)\b)"
    r"|i(?:['’](?:ll|m|d)| will| am| can (?:now )?see| also| still| now| already| noticed?| need| want| should| have"
    r"| see(?! the issue))\b(?! fixed| added)"
    r"|(?:let(?:['’]s| me| us)|we(?:['’]ll| will| need)|time to|proceeding|continuing|starting|moving on|going to"
    r"|looking (?:at|into)|checking|running|reading|searching|waiting|here(?:['’]s| is| are)|based on|the user|once"
    r"|as expected|the (?:todo|task list)|you(?:['’]re| are) (?:absolutely )?right|want me|would you|shall i|lines? \d)"
    r"\b)",
    re.I,
)
GUESSES = re.compile(
    r"\b(?:likely|probably|perhaps|maybe|might|suspect|suggests?|seems?|may (?:have|be)|i think)\b", re.I
)
GLOSSES = re.compile(r"\W*`[^`]+`(?: \([^)]*\))? ?[-—–:=→]")  # explains a name
TRAILERS = re.compile(r"(?: [A-Z][a-z]+(?:-[A-Za-z]+)+: \S.*)+$")  # of a commit whose message was read as one line
WORK = {"error": 0.25, "check": 0.15, "pr": 0.5, "push": 0.1, "edit": 0.2}


class Draft(NamedTuple):
    """What a note says, what each of its lines rests on, and the facts that are kept with it, most needed first."""

    text: str
    cites: tuple[tuple[str, ...], ...] = ()
    facts: tuple[Fact, ...] = ()


class Scored(NamedTuple):
    """A fact, and how much it is worth."""

    fact: Fact
    worth: float


def write(events: Sequence[Event], most: int, folder: str = "") -> Draft:
    """The note of a segment; empty when there is nothing to tell but of our own commands, or small talk."""
    events = list(others(events))
    if is_small_talk(events):
        return Draft("")
    ranked, rules = _ranked(events, folder)
    chosen = _fitting(ranked, note_budget(events, most))
    lines = list(tell(chosen))
    kept = dict.fromkeys((*chosen, *rules, *_kept_beside(ranked)))
    return Draft("\n".join(text for text, _ in lines), tuple(cites for _, cites in lines), tuple(kept)[:KEPT])


def about(draft: Draft, events: Sequence[Event]) -> Json:
    """What a note of level 1 carries beside its text."""
    cites = [list(cites) for cites in draft.cites]
    return {"by": "extractive", "first": events[0].at, "cites": cites, "facts": dump(draft.facts)}


# --- telling ----------------------------------------------------------------------------------------------------------


def tell(facts: Iterable[Fact]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Facts as the lines of a note, each with what it rests on."""
    ordered = sorted(facts, key=lambda fact: fact.place)
    left = [fact for fact in ordered if is_open(fact)]
    yield from turns(as_request(fact) for fact in ordered if not is_open(fact))
    if left:
        text = f"Open then: {'; '.join(dict.fromkeys(say(fact).rstrip('.;') for fact in left))}"
        yield one_line(clean(text), 1 << 20), tuple(dict.fromkeys(cite for fact in left for cite in fact.cites))


def is_open(fact: Fact) -> bool:
    """Whether a fact says what is left to do: a task, a step, a question, a check that fails."""
    fails = fact.kind == "error" and fact.status == "open"
    return fact.kind in OPEN_KINDS or (fails and bool(CHECKS.search(fact.text)))


def as_request(fact: Fact) -> Fact:
    """A rule as the part of a request that it was."""
    return fact._replace(kind="request") if fact.kind == "rule" else fact


# --- choosing ---------------------------------------------------------------------------------------------------------


def _fitting(ranked: Iterable[Fact], budget: int) -> list[Fact]:
    """The first facts that fit as they are told, and later ones that fit all the same."""
    left, chosen = budget, list[Fact]()
    known: set[str] = set()
    for fact in filter(_is_told, ranked):
        cost = tokens(f"{fact.about} {say(fact)}") + JOINT
        found = concepts(fact.text)
        repeats = len(found & known) > SAME * len(found) and fact.who == "model" and fact.kind not in OPEN_KINDS
        if cost <= left and not repeats:
            left -= cost
            known |= found
            chosen.append(fact)
    while chosen and tokens("\n".join(text for text, _ in tell(chosen))) > budget:
        chosen.pop()
    return chosen


def _is_told(fact: Fact) -> bool:
    """Whether a note tells of something; of commands that failed only of checks, others are for the outline to know."""
    return fact.kind != "error" or bool(CHECKS.search(fact.text) and (fact.why or fact.status == "open"))


def _kept_beside(ranked: Sequence[Fact]) -> Iterator[Fact]:
    """What an outline needs to know beside what a note tells: what holds, what works and what was changed."""
    yield from (fact for fact in ranked if fact.kind in ("rule", "answer", "commit", "pr", *OPEN_KINDS))
    yield from (fact for fact in ranked if fact.kind == "decision" and fact.why)
    yield from (fact for fact in ranked if fact.kind in ("error", "check"))
    edits = {fact.text: fact for fact in ranked if fact.kind == "edit"}
    yield from [*edits.values()][:EDITS]


# --- ordering ---------------------------------------------------------------------------------------------------------


def _ranked(events: Sequence[Event], folder: str) -> tuple[list[Fact], list[Fact]]:
    """All that a note may tell, the most needed first, and what the user insists on, which may be a part of that."""
    shorten = Shorten(folder)
    said, turns = spoken(events)
    session, worth, _ = ranker.rank(said, events, concepts=False)
    work = [_cited(fact, shorten) for fact in worked(events, turns)]
    rules = list(head.insisted(said, events))
    insisted = {(rule.cites, rule.text) for rule in rules}
    asked: dict[int, list[Scored]] = {}
    came: dict[int, list[Scored]] = {}
    aside: dict[int, list[Scored]] = {}
    after = [*said[1:], None][: len(said)]
    for one, next_one, score, found in zip(said, after, worth, session.concepts, strict=True):
        fact = one.fact if one.fact.kind == "answer" else one.fact._replace(about=label(one.fact.about))
        if fact.kind == "decision":
            fact = fact._replace(kind="said") if one.source in THOUGHT else fact._replace(why=_why(one, next_one))
        if fact.who == "user" or fact.kind == "request":
            kind = "rule" if (fact.cites, fact.text) in insisted else fact.kind
            if one.many > PLAN and one.form != "prose" and one.number and kind == "request":
                continue  # a step of a plan that was handed over
            asked.setdefault(fact.turn, []).append(Scored(_short(fact, kind), score))
        elif (score := score * _says(one, session, found)) > 0:
            found_in = came if _concludes(one, session) or _states(one) else aside
            found_in.setdefault(fact.turn, []).append(Scored(shorten(_short(fact, fact.kind)), score))
    asked = {turn: _short_request(those) for turn, those in asked.items()}
    came = aside | came  # what was thought, or said in passing, is told where nothing else was said
    came = {turn: list(_best(those)) for turn, those in came.items()}
    _pair(asked, said, events)
    texts = {event.id: event.text for event in events}
    asked = {turn: [one._replace(fact=_verbatim(one.fact, texts)) for one in those] for turn, those in asked.items()}
    newest = sorted(asked.keys() | came.keys(), reverse=True)
    telling = [turn for turn in newest if not _is_talk(asked.get(turn, ()), came.get(turn, ()), turn, work)] or newest
    order = [*telling[:1], *telling[1:][-1:], *telling[1:-1]]  # the last one, the one it began with, the others
    leads = {turn: list(_lead(asked.get(turn, ()), came.get(turn, ()))) for turn in order}
    left = [fact for fact in head.coming(said, events) if _is_left(fact, events)]
    errors = [fact for fact in work if is_open(fact)]
    wanted = [
        one.fact
        for turn in order
        for one in asked.get(turn, ())
        if one.fact.kind in ("rule", "answer") or any(one.fact.cites == rule.cites for rule in rules)
    ]
    first = [
        *(fact for turn in order[:2] for fact in leads[turn]),
        *left[:OPEN],
        *errors[-1:],
        *[fact for fact in work if fact.kind == "commit"][-COMMITS:],
        *wanted[:RULES],
        *(fact for turn in order[2:] for fact in leads[turn]),
    ]
    details = _details([one for turn in order for one in (*asked.get(turn, ()), *came.get(turn, ()))], work)
    return list(dict.fromkeys([*first, *details])), rules


def _short_request(asked: Sequence[Scored]) -> list[Scored]:
    """How a request begins, and of a long one the sentences that are worth most."""
    best = sorted(asked[1:], key=lambda one: (one.fact.kind != "request", one.worth), reverse=True)[:LONG]
    return [one for one in asked if one is asked[0] or one in best]


def _best(came: Sequence[Scored]) -> Iterator[Scored]:
    """The sentences that say best what came of a turn, few of them items of a list."""
    items = 0
    for one in sorted(came, key=lambda one: -one.worth)[: 2 * SENTENCES]:
        listed = bool(one.fact.about) or ";" in one.fact.text
        items += listed
        if not listed or items <= ITEMS:
            yield one


def _pair(asked: dict[int, list[Scored]], said: Sequence[Spoken], events: Sequence[Event]) -> None:
    """Put a nod together with what it accepts: "yes" alone says nothing."""
    for nod in head.accepted(said, events):
        others = [one for one in asked[nod.turn] if one.fact.cites[0] != nod.cites[0]]
        asked[nod.turn] = [Scored(nod, 1.0), *others]


def _verbatim(fact: Fact, texts: Mapping[str, str]) -> Fact:
    """What was asked, and what a nod accepts, with a sign where something that stood between its parts is left out."""
    source = "\n".join(_words(texts.get(cite, "")) for cite in fact.cites)
    about = _parts_in(source, fact.about) if fact.kind == "accepted" else fact.about
    return fact._replace(text=_parts_in(source, fact.text), about=about)


def _parts_in(source: str, text: str) -> str:
    if _words(text) in source:
        return text
    return " … ".join(part for part in PART.split(text) if _words(part) in source) or text


def _words(text: str) -> str:
    return " ".join(WORD.findall(clean(text)))


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


def _short(fact: Fact, kind: str) -> Fact:
    return fact._replace(kind=kind, text=cut(fact.text, ASKED if fact.who == "user" or kind == "request" else SAID))


def _why(one: Spoken, after: Spoken | None) -> str:
    """The reason of a decision, which may stand in the next sentence."""
    because = BECAUSE.match(after.fact.text) if after and after.fact.cites == one.fact.cites else None
    return reason(one.fact.text) or (because[1] if because else "")


def cut(text: str, characters: int) -> str:
    """The words of a text that fit a line, with no quotation left open."""
    if len(text) <= characters:
        return text
    text = one_line(text, characters).rstrip("…")
    text = text.rpartition(" ")[0] or text
    while opened := [mark for mark in '`"' if text.count(mark) % 2]:
        text = text[: text.rindex(opened[0])]
    return text.rstrip() + " …"


def _says(one: Spoken, session: ranker.Session, found: frozenset[str]) -> float:
    """How well a sentence that is not the user's says what came of a request; 0: not at all."""
    fact, text = one.fact, one.fact.text
    # a question, an introduction, what goes on from a line that was passed over, a torn line of code
    half = text[-1] in ":：?？" or text[0] in "(,;)]}" or text.count("`") % 2 or "``" in text or "\\`" in text
    if one.form in ("row", "code") or half or len(text.split()) < SHORTEST > len(found) or narrates(fact):
        return 0.0
    if _concludes(one, session):
        worth = CONCLUDING * (LEAD if one.number == 0 else 1.0) * KINDS.get(fact.kind, 1.0)
    else:
        plain = one.form == "prose" and not GUESSES.search(text) and (one.source == "reply" or fact.kind in KINDS)
        worth = SOURCES[one.source] * KINDS.get(fact.kind, 1.0) * plain
    if one.form == "item":
        worth *= GLOSS if GLOSSES.match(text) else ITEM
    return worth * (TERSE if len(found) < SHORTEST else 1.0)


def _concludes(one: Spoken, session: ranker.Session) -> bool:
    """Whether it stands in the last answer of its turn."""
    return one.source == "reply" and one.fact.place // EACH in session.concluding


def _states(one: Spoken) -> bool:
    """Whether a sentence states a cause, a decision or a result wherever it stands; of a subagent, a cause."""
    return one.source not in THOUGHT and one.fact.kind in KINDS and (one.source, one.fact.kind) != ("report", "done")


def narrates(fact: Fact) -> bool:
    """Whether the model says what it is about to do, or talks; "let's use …" may settle something."""
    if fact.kind == "decision" and fact.text.lower().startswith(("let's", "let’s", "we'll", "we’ll", "we will")):
        return False
    return any(NARRATES.match(part) or ranker.CUES["chat"].search(part) for part in (fact.text, fact.about) if part)


def _is_talk(asked: Iterable[Scored], came: Iterable[Scored], turn: int, work: Iterable[Fact]) -> bool:
    """Whether nothing was done in a turn, and nothing said but in passing."""
    passing = all(is_passing(one.fact.text) for one in (*asked, *came))
    return passing and not any(fact.turn == turn for fact in work)


def _lead(asked: Sequence[Scored], came: Sequence[Scored]) -> Iterator[Fact]:
    """How a request begins, what of it is worth most, and the sentence that says best what came of it."""
    best = sorted(asked[1:], key=lambda one: -one.worth)
    yield from (one.fact for one in (*asked[:1], *best[: FIRST - 1]))
    yield from (one.fact for one in sorted(came, key=lambda one: -one.worth)[:1])


def _details(found: list[Scored], work: Sequence[Fact]) -> list[Fact]:
    """Everything else, by what it is worth for its length."""
    found += [Scored(fact, WORK[fact.kind]) for fact in work if fact.kind in WORK]
    return [one.fact for one in sorted(found, key=lambda one: -one.worth / (tokens(say(one.fact)) + JOINT) ** 0.5)]


def _is_left(fact: Fact, events: Sequence[Event]) -> bool:
    """Whether something is left to do: a task, a step that somebody said is next, in a list of steps, or a question
    that says what it is about."""
    if fact.kind == "question":
        return len(concepts(fact.text)) >= SHORTEST
    return fact.kind != "next" or (
        fact.place < len(events) * EACH and len(fact.about) <= HEADING and not NARRATES.match(fact.text)
    )
