"""Everything put together: the facts of some events, the most needed first.

The head comes first, whatever the budget. After it comes whatever adds most for its cost: the learnt worth of a
sentence, times the worth of those of its names and words that were not told yet. So the beginning of the list is always
the best choice for a budget of its size, and choosing for a budget is taking from the front.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memory_keeper.extract import head, ranker
from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.facts import KINDS, Fact, say
from memory_keeper.extract.names import named, referred
from memory_keeper.extract.plans import CALLED, plan
from memory_keeper.extract.settled import superseded
from memory_keeper.extract.spoken import EACH, Spoken, spoken
from memory_keeper.extract.state import state
from memory_keeper.extract.work import worked
from memory_keeper.model import Event
from memory_keeper.text import NEWEST, one_line, tokens

AGAIN = 0.08  # what a concept is worth that was told before
JOINT = 1.0  # tokens between two facts
LEAST = 0.004  # worth per token of what is worth telling at all
# how sentences are favoured by where they stand
FAVOUR = {"announces": 0.15, "chat": 0.6, "cause": 1.2, "decision": 1.1}
PASSES, ASKS, CHEERS, INTRODUCES, THOUGHT, HEDGED, CONCLUDES, INSISTS = 0.3, 0.6, 0.5, 0.4, 0.7, 0.6, 1.6, 1.8
REASONED = 2.4  # a decision that says why: nobody else will
REPEATED = 0.6  # what is said in a commit or a pull request is mostly said in the answer too
NOW = re.compile(  # how something is, until it is changed
    r"\b(?:currently|right now|at (?:the moment|present)|the (?:current|existing) (?:code|implementation|behaviou?r"
    r"|logic|approach|version))\b|현재|現在|今は",
    re.I,
)
# what is mended on the way, and over once a check passes
SLIP = re.compile(
    r"\b(?:linter|lint (?:error|issue|warning)s?|compil(?:e|er|ation) (?:error|fail|complain)\w*"
    r"|(?:doesn['’]t|not) compile|unused (?:import|variable|param\w*|function|helper)s?|undefined|unreachable"
    r"|accidentally|complain(?:s|ing)|replace_all|not (?:imported|defined)|missing imports?"
    r"|imports? (?:is|are) missing|needs? to import|tests? (?:is|are) (?:still )?(?:failing|broken))\b",
    re.I,
)
STALE = 0.4  # what was left to do when an earlier answer was given
REPLACED = 0.2  # a sentence whose matter a later one speaks of again
CHEER = re.compile(r"[🎉🎊🚀🏆💪✨]|!\s*$")
RECENT, LAST_TURN, TURN_BEFORE = 0.9, 1.3, 1.2
TYPED, FEW = 1.1, 5  # a sentence of the user's own words; sentences of what was typed and not pasted
SHORTEST = 8  # characters
FEW_CONCEPTS, PASSING_TEXT = 3, 40  # concepts and characters of what is said in passing
BARE = re.compile(  # `File: src/a.py; File: src/b.py`
    r"(?:(?:[A-Za-z ]{2,24}:[ \t]+)?[`(]?[\w@~+:-]*[./_][\w@./+:~-]*(?:\(\))?[`)]?(?:[,;·][ \t]*|[ \t]+and[ \t]+|$))+"
)
BEGINS = re.compile(r"(?:(?:ok(?:ay)?|so|good|great|perfect|alright)[,.!]? )?(?:now|next|then|first),? (?:to )?", re.I)
BUSY = re.compile(
    r"(?:the user is|spawning|setting|starting|launching|running|waiting|checking|looking|reading|creating|writing"
    r"|moving|going)\b",
    re.I,
)
# what somebody was doing when it was said
UNDERWAY = re.compile(
    r"[^,;]{2,60}\b(?:is|are) (?:now |still |already |both |all )?(?:idle|running|monitoring|waiting|reviewing"
    r"|preparing|investigating|in progress|under ?way|on track)\b"
    r"|standing by\b|[^,;]{0,60}\b(?:launched|spawned|dispatched) in (?:parallel|the background)\b",
    re.I,
)
PASSING_STATUS = 90  # characters of a sentence that only says so
TELLING = 1.0  # how rare a word of a heading is that says something
DOCUMENT, PASTED = 25, 0.5  # sentences of a request that is a document, and what one of its sentences is worth
LEAD = 90  # characters of a request that are told before what came of it
RECIPES, NAMES, REFERENCES = 0.03, 0.05, 0.02  # of the tokens, for commands, bare names, links and numbers
BEFORE_LISTS = 1200  # tokens of what is understood before anything is listed
# commands that nobody has to know again
PASSES_BY = """
git gh rm mv cp mkdir kill pkill chmod touch [ [[ fd find ls cat grep rg head tail wc sed awk echo jq break continue
exit return true false test set export source sleep wait printf read pwd which command
"""
PASSING = frozenset(PASSES_BY.split())
HEAD_STEPS, HEAD_NEXT, HEAD_RULES = 1, 4, 2  # last steps, what is next, and rules that are told before all others
GOAL_FIRST = 320  # characters of the goal that are


def extract(events: Sequence[Event], folder: str = "", family: str = NEWEST) -> list[Fact]:
    """All that is worth telling of some events: the head, then whatever adds most for its cost."""
    if not events:
        return []
    said, turns = spoken(events)
    session, worth, value = ranker.rank(said, events)
    work = worked(events, turns)
    shorten = Shorten(folder)
    first, later = _head(said, work, events, folder)
    chosen = [shorten(fact) for fact in first]
    known = frozenset[str]().union(*(concepts(say(fact)) for fact in chosen))
    answers = [shorten(fact) for fact in head.accepted(said, events)]
    candidates = [
        *_sentences(
            said, worth, session, shorten, max((fact.place for fact in work if fact.kind == "check"), default=-1)
        ),
        *(
            (shorten(fact), KINDS[fact.kind].handoff * _recent(fact, session))
            for fact in _latest(work)
            if KINDS[fact.kind].handoff
        ),
        *((fact, KINDS[fact.kind].handoff) for fact in (*map(shorten, later), *answers)),
    ]
    told = {_once(fact) for fact in chosen}
    leads = _leads(said, chosen, shorten)
    leads |= {fact.turn: fact for fact in answers if fact.turn in leads}
    ordered = [*chosen, *_led(_ordered(candidates, value, known, told, family), leads)]
    recipes = (shorten(fact) for fact in _recipes(work))
    names = (shorten(fact) for fact in named(events, session.rarity))
    lists = ((recipes, RECIPES), (names, NAMES), (iter(referred(events)), REFERENCES))
    return list(_interleaved(ordered, lists, family))


def _head(
    said: Sequence[Spoken], work: Sequence[Fact], events: Sequence[Event], folder: str
) -> tuple[list[Fact], list[Fact]]:
    """What stands at the head at any budget, and what of it comes later, if there is room."""
    goal = list(head.goal(said, events, folder))
    room = GOAL_FIRST
    short: list[Fact] = []
    long: list[Fact] = []
    for fact in goal:
        asked = fact.about == "Asked last"
        room -= len(fact.text) if asked else 0
        (long if asked and room < 0 and room + len(fact.text) < GOAL_FIRST else short).append(fact)
    coming = list(head.coming(said, events))
    questions = [fact for fact in coming[HEAD_NEXT:] if fact.kind == "question"]  # somebody waits for an answer
    coming = [*coming[:HEAD_NEXT], *questions, *(fact for fact in coming[HEAD_NEXT:] if fact.kind != "question")]
    early = HEAD_NEXT + len(questions)
    elsewhere = {fact.text for fact in coming} | {one.fact.text for one in said if one.source == "reply"}
    steps = [fact for fact in head.last_steps(events) if fact.text not in elsewhere]
    rules = list(head.insisted(said, events))[::-1]
    first = [
        *short,
        *state(work, said, events, folder),
        *plan(events),
        *coming[:early],
        *steps[:HEAD_STEPS],
        *rules[:HEAD_RULES],
    ]
    return first, [*long, *coming[early:], *steps[HEAD_STEPS:], *rules[HEAD_RULES:]]


HOME = re.compile(r"/(?:Users|home)/[^/]+(?=/)|/root(?=/)")


class Shorten:
    """Takes the project's folder off the paths of a fact, and says `~` for the home that it is in."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/") if len(folder) > 3 else ""
        self.pattern = re.compile(re.escape(self.folder) + r"(?:(/)(?=\S)|(?![\w.-]))")
        home = HOME.match(self.folder)
        self.home = f"{home[0]}/" if home else ""

    def __call__(self, fact: Fact) -> Fact:
        if not self.folder or fact.about == "Folder":
            return fact
        text, why, about = (
            self.pattern.sub(lambda found: "" if found[1] else ".", value) if self.folder in value else value
            for value in (fact.text, fact.why, fact.about)
        )
        if self.home:
            text, why, about = (value.replace(self.home, "~/") for value in (text, why, about))
        return fact._replace(text=text, why=why, about=about)


def _sentences(
    said: Sequence[Spoken], worth: Sequence[float], session: ranker.Session, shorten: Shorten, checked: int
) -> Iterator[tuple[Fact, float]]:
    request_of = {one.fact.cites: one.fact.text for one in said if one.source == "request" and not one.number}
    replaced = superseded([(one.fact, found) for one, found in zip(said, session.concepts, strict=True)])
    for number, (one, score) in enumerate(zip(said, worth, strict=True)):
        text = one.fact.text
        score *= REPLACED if number in replaced else 1.0
        if len(text) < SHORTEST or _is_passing(one, session.concepts[number], session):
            continue
        introduces = text[-1] in ":：" and one.fact.who != "user"
        for cue, factor in FAVOUR.items():
            score *= factor if ranker.CUES[cue].search(text) else 1.0
        score *= INTRODUCES if introduces else 1.0  # it is told as the heading of its list
        score *= ASKS if text[-1] in "?？" and one.fact.who != "user" else 1.0
        score *= CHEERS if CHEER.search(text) and one.fact.who != "user" else 1.0
        if one.source == "thinking":
            score *= THOUGHT * (HEDGED if ranker.CUES["hedge"].search(text) else 1.0)
        score *= REASONED if one.fact.kind == "decision" and one.fact.why and one.fact.status != "dropped" else 1.0
        score *= (
            LAST_TURN if one.fact.turn == session.turns else TURN_BEFORE if one.fact.turn == session.turns - 1 else 1.0
        )
        score *= CONCLUDES if one.source == "reply" and one.fact.place // EACH in session.concluding else 1.0
        score *= PASSES if one.source in ("reply", "thinking") and one.form == "prose" and _announces(text) else 1.0
        score *= STALE if _was_left(one, session) or _was_so(one, session.concepts[number], session) else 1.0
        score *= STALE if one.fact.place < checked and _is_slip(one, session) else 1.0
        score *= REPEATED if one.source == "message" else 1.0
        if (
            one.source == "request"
            and one.number
            and one.many > DOCUMENT
            and not CALLED.match(request_of.get(one.fact.cites, ""))
        ):
            score *= PASTED  # a document that was sent along speaks for itself
        elif one.source == "request":
            score *= INSISTS if head.INSISTS.search(text) and len(text) <= head.RULE else 1.0
            score *= TYPED if one.many <= FEW else 1.0
        yield _plain(shorten(one.fact), session), score * _recent(one.fact, session)


def _announces(text: str) -> bool:
    """Whether a sentence only says what its author is about to do: `Now update the pool`."""
    begins = BEGINS.match(text)
    return bool(BUSY.match(text) or (begins and head.ORDERS.match(text[begins.end() :])))


def _is_slip(one: Spoken, session: ranker.Session) -> bool:
    """Whether a sentence says what a compiler or a linter found while something was written."""
    aside = one.source in ("reply", "thinking") and one.fact.place // EACH not in session.concluding
    return aside and bool(SLIP.search(one.fact.text))


def _was_left(one: Spoken, session: ranker.Session) -> bool:
    """Whether a sentence says what was left to do, or under way, before something else was said."""
    fact = one.fact
    if fact.who == "user" or fact.place // EACH >= session.final or one.source not in ("reply", "thinking"):
        return False
    if one.form == "prose" and len(fact.text) <= PASSING_STATUS and UNDERWAY.match(fact.text):
        return True
    return bool(head.LEFT.search(fact.about) or head.LEFT.match(fact.text) or head.NEXT_IS.match(fact.text))


def _was_so(one: Spoken, found: frozenset[str], session: ranker.Session) -> bool:
    """Whether a sentence says how something is that was edited later."""
    if one.fact.who == "user" or not NOW.search(one.fact.text):
        return False
    return any(session.last_edit.get(name, -1) > one.fact.place for name in found if is_name(name))


def _is_passing(one: Spoken, found: frozenset[str], session: ranker.Session) -> bool:
    """Whether a sentence says nothing by itself: a remark, a note made while thinking, a script in a document, a list
    of bare names."""
    if one.fact.who == "user":
        return False
    aside = one.source == "reply" and one.form == "prose" and one.fact.place // EACH not in session.concluding
    aside = aside and len(found) < FEW_CONCEPTS and len(one.fact.text) < PASSING_TEXT
    bare = all(map(is_name, found)) or BARE.fullmatch(one.fact.text) is not None
    script = one.form == "code" and one.source in ("document", "plan", "message")
    return aside or bare or script or (one.source == "thinking" and one.form != "prose")


def _plain(fact: Fact, session: ranker.Session) -> Fact:
    """A sentence without marks of code, which cost as much as a word, and without a heading that says nothing."""
    about = fact.about if fact.kind == "answer" or _says(fact.about, session) else ""
    about = "" if about.rstrip(":：") == fact.text.rstrip(":：") else about
    return fact._replace(text=fact.text.replace("`", ""), about=about.replace("`", ""))


def _says(heading: str, session: ranker.Session) -> bool:
    telling = any(session.weight(one) >= TELLING for one in concepts(heading))
    return telling or any(pattern.search(heading) for pattern in (ranker.UNDER["next"], ranker.UNDER["cause"]))


def _recent(fact: Fact, session: ranker.Session) -> float:
    return 1.0 + RECENT * (fact.place / session.end) ** 2


def _latest(work: Sequence[Fact]) -> Iterator[Fact]:
    """Work without what was done again later: of the same command, the last time it went well, and the last error."""
    newest = {(fact.kind, fact.text): fact.place for fact in work}
    for fact in work:
        repeats = fact.kind in ("check", "command", "error") and newest[fact.kind, fact.text] > fact.place
        if not repeats and not (fact.kind == "error" and not fact.why):
            yield fact


def _leads(said: Sequence[Spoken], first: Sequence[Fact], shorten: Shorten) -> dict[int, Fact]:
    """For each turn how its request begins, unless the head has it."""
    told = {fact.cites[0] for fact in first if fact.kind in ("goal", "then") and fact.cites}
    leads: dict[int, Fact] = {}
    for one in said:
        fact = one.fact
        if one.source == "request" and fact.turn not in leads and fact.cites[0] not in told:
            leads[fact.turn] = shorten(fact._replace(text=one_line(fact.text.replace("`", ""), LEAD)))
    return leads


def _led(facts: Iterable[Fact], leads: dict[int, Fact]) -> Iterator[Fact]:
    """Facts, the first of each turn after what was asked there: an answer says little without its question."""
    led: set[tuple[str, int]] = set()
    for fact in facts:
        lead = leads.pop(fact.turn, None) if fact.kind not in ("goal", "step", "next") else None
        if lead and fact.place != lead.place:
            led |= {(lead.kind, lead.place), (lead.text, lead.place)}
            yield lead
        accepts = fact.kind == "accepted" and (fact.kind, fact.place) in led
        if not accepts and (fact.text, fact.place) not in led:
            yield fact


def _recipes(work: Sequence[Fact]) -> list[Fact]:
    """The commands that worked, those first that were run often and lately."""
    found: dict[str, Fact] = {}
    worth: Counter[str] = Counter()
    end = max((fact.place for fact in work), default=1) or 1
    for fact in work:
        if fact.kind == "command" and not fact.text.endswith("…") and fact.text.split()[0] not in PASSING:
            found[fact.text] = fact
            worth[fact.text] += 1 + int(2 * fact.place / end)
    return [found[text] for text, _ in worth.most_common()]


def _interleaved(facts: Iterable[Fact], lists: Sequence[tuple[Iterator[Fact], float]], family: str) -> Iterator[Fact]:
    """Facts with the things of some lists between them, each list as far as its share of the tokens reaches; behind
    all facts, as far as its share of what is understood first."""
    spent, told = 0.0, ""
    costs = [0.0 for _ in lists]
    for fact in (*facts, None):
        if fact:
            yield fact
            words = say(fact)
            told += f"\n{words}"
            spent += tokens(words, family) + JOINT
        room = spent - BEFORE_LISTS if fact else max(spent - BEFORE_LISTS, BEFORE_LISTS)
        for number, (listed, share) in enumerate(lists):
            while costs[number] < share * room and (one := next(listed, None)):
                known = one.text if one.kind != "file" else one.text.rpartition("/")[2]
                if known not in told:
                    told += f"\n{say(one)}"
                    costs[number] += tokens(one.text if one.kind != "file" else one.text.rpartition("/")[2], family) + 1
                    yield one


def _ordered(
    candidates: Iterable[tuple[Fact, float]],
    value: dict[str, float],
    known: frozenset[str],
    told: set[str],
    family: str,
) -> Iterator[Fact]:
    """The candidates by what each adds for its cost; what was told before adds little."""
    rows = []
    for fact, score in candidates:
        words = say(fact)
        # in one order, and rounded: the order of a set, and with it the last digit of a sum, differs from run to run
        rows.append((fact, score / (tokens(words, family) + JOINT), sorted(concepts(words))))
    covered = Counter(known)
    typical = round(sum(value.values()) / max(1, len(value)), 6)
    again = [AGAIN**times for times in range(12)]

    def gain(number: int) -> float:
        _, score, found = rows[number]
        return round(score * sum(value.get(one, typical) * again[min(covered[one], 11)] for one in found), 9)

    heap = [(-gain(number), number) for number in range(len(rows))]
    heapq.heapify(heap)
    while heap:
        _, number = heapq.heappop(heap)
        now = gain(number)
        if heap and now < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-now, number))
            continue
        fact, _, found = rows[number]
        if now < LEAST and not (fact.kind == "request" and fact.who == "user" and len(fact.text) <= head.RULE):
            continue  # the user's own words are told as long as there is room
        if fact.text and _once(fact) in told:
            continue
        told.add(_once(fact))
        covered.update(found)
        yield fact


def _once(fact: Fact) -> str:
    """What is not told twice; a sentence of what was said last may also stand where it belongs."""
    return (say(fact) if fact.kind == "step" else fact.text).casefold()
