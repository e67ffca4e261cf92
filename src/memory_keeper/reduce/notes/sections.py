"""The sections of a note: what each of them says in a round, and its share of the room.

Names are said where they belong, behind the file they are used in. No word is ours but the few that introduce quotes,
and no number at all: a count would be one that no event states.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import chain, islice

from memory_keeper.capture.calls import command_of, core, typed
from memory_keeper.model import Event
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding import answers, weights
from memory_keeper.reduce.finding.found import is_firm
from memory_keeper.reduce.notes.desk import NOD, SHORT, Desk, is_made_up
from memory_keeper.reduce.notes.phrasing import LINE, Line, quote, short, short_hash, whole
from memory_keeper.reduce.sentences import ASKED_BEFORE, ASKED_LAST, GOAL, WENT_ON, Sentence
from memory_keeper.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Section = Callable[[Desk, float, int], Iterator[Sentence]]

NAMES, LONG = 16, 1  # names that a round says with a file, and the round that has room for all
NEWEST_REQUEST, REQUEST, SAID = 80, 45, 60  # tokens of a quote
CRITICAL = 3  # files that are to be read again
WORDY, FAR = 0.75, 400  # the share of letters and blanks, of so many characters, that words have and data has not
OUTCOME = 30  # tokens of what came of a request
SETTLED = 2  # decisions that are told sooner than what was said last
OVER, OVERS = 20.0, {"questions": 60.0, "steps": 40.0}  # tokens that a section may borrow for its first sentence
FIRM = 60.0  # and for one that says what was decided and why: who goes on needs that sooner than names
JOINT = re.compile(r"(?<![.!?])[,;]?\s+(?:but|and|also|plus|so)\s+(?:please |also )*$", re.I)  # before a rule
MARKED = ("correction", "decision")  # said again where a request or an answer had them: that they are such is news


# --- the sections: what each says in a round -------------------------------------------------------------------------


def _requests(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """The newest first; a long one is cut, and goes on when all have been said."""
    for tag, head, fact in _foremost(desk) if number == 0 else ():
        said = _opening(desk, fact, NEWEST_REQUEST)
        yield said._replace(text=head + said.text, section=tag)
        room -= desk.cost(said.text) + 6
    line = Line(ASKED_BEFORE, "; ")
    while desk.requests and room > 0:
        fact = desk.requests[0]
        if not desk.knows(fact.text):
            said = _opening(desk, fact, REQUEST)
            room -= desk.cost(said.text) + 1
            if room < 0 and line.parts:
                desk.rests = deque(rest for rest in desk.rests if rest[1] != fact.cites)
                break
            line.add(said.text, said.cites)
        desk.requests.popleft()
    yield from line.sentences(10 * LINE)
    while desk.rests and not desk.requests and room > 2 * REQUEST:
        text, cites = desk.rests.popleft()
        part = _begin(text, REQUEST * 2)
        if text[len(part) :].strip():
            desk.rests.appendleft((text[len(part) :].strip(), cites))
        room -= desk.cost(part) + 8
        yield Sentence(f"{WENT_ON}{quote(part)}", cites)


def _foremost(desk: Desk) -> Iterator[tuple[str, str, Fact]]:
    """What a session is for, and what was asked last: often the same."""
    if not desk.latest:
        return
    last = desk.latest
    goal = next((fact for fact in (*desk.asked, last) if desk.goal in fact.cites), last)
    yield "goal", GOAL, goal
    if last.cites[0] != goal.cites[0]:
        yield "asked", ASKED_LAST, last
    told = (goal.cites[0], last.cites[0])
    desk.requests = deque(fact for fact in desk.requests if fact.cites[0] not in told)


def _begin(text: str, budget: int) -> str:
    part = clip(text, budget, "")
    return part if len(part) <= LINE else part[:LINE].rpartition(" ")[0] or part[:LINE]


def _opening(desk: Desk, fact: Fact, budget: int) -> Sentence:
    text = _untold(desk, fact.text)
    part = _begin(text, budget)
    rest = text[len(part) :].strip()
    if rest and _is_read(rest[:FAR]):
        desk.rests.append((rest, fact.cites))
    return Sentence(quote(part + ("…" if len(part) < len(text) else "")), fact.cites)


def _untold(desk: Desk, text: str) -> str:
    """A request without a rule that has been told, where that begins it or is part of a sentence, and more is left."""
    for rule in desk.told_rules:
        before, found, after = text.partition(rule)
        work, after = JOINT.sub("", before), after.strip()
        apart = not before or len(work) < len(before)
        if found and apart and len(work) + len(after) > NOD:
            text = f"{work} … {after}".strip()
    return text


def _open(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """What is being done and what is left to do; later also what was done."""
    heads = {"doing": "In progress: ", "open": "Still open: "} if number < 2 else {"done": "Done: "}
    for status, head in heads.items():
        line = Line(head, "; ", tag=status)
        for fact in [fact for fact in desk.todos if fact.status == status]:
            room -= desk.cost(fact.text) + 3
            if room < 0:
                break
            desk.todos.remove(fact)
            line.add(f"{fact.about} {quote(fact.text)}".strip(), fact.cites)
        yield from line.sentences(10 * LINE)


def _last(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """What was said last that says something, and what was being done then; what is told as decided need not be."""
    if number:
        return
    decided = {fact.text for fact in [*desk.decisions][:SETTLED]}
    found = (
        (answer, text)
        for items in (False, True)
        for answer in desk.answered
        if (text := answers.statement(answer.text, SAID, decided, items=items) or answers.terse(answer.text))
    )
    # where nothing says more, what there is; but not what is told as decided, or asked
    brief = (
        (one, one.text) for one in desk.answered[:1] if not answers.statement(one.text, SAID) and "?" not in one.text
    )
    for answer, text in islice(chain(found, brief), 1):
        yield Sentence(f"Last said: {quote(short(text, 4 * SAID))}", (answer.id,))
    if desk.doing and (what := _call(desk.doing)):
        yield Sentence(f"Was doing: {what}", (desk.doing.id,), section="doing")


def _call(call: Event) -> str:
    """A command that was run, in short; nothing of other calls."""
    line = typed(command_of(call), 2 * REQUEST) if core(command_of(call)) else ""
    return f"{call.tool} {line}" if line else ""  # a file that is edited is the first to be read again


def _done(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """What the model said it had finished; not in a short note."""
    while number > 1 and desk.finished:
        fact = desk.finished[0]
        text = "" if desk.knows(fact.text) else f"Done, as the model said: {quote(short(fact.text, 200))}"
        if desk.cost(text) + 2 > room:
            return
        desk.finished.popleft()
        if text:
            room -= desk.cost(text) + 2
            yield Sentence(text, fact.cites)


def _came(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """What came of the requests before the last one; not in a short note."""
    while number and desk.outcomes:
        asked, answer = desk.outcomes[0]
        said = answers.statement(answer.text, OUTCOME, pointed=True)
        text = f"→ {quote(short(said, 4 * OUTCOME))}"
        if said and desk.cost(text) > room:
            return
        desk.outcomes.popleft()
        if not said or desk.knows(said):
            continue
        room -= desk.cost(text)
        yield Sentence(text, (asked, answer.id))


def _again(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """The files that were worked on last: who goes on has to read them first."""
    line = Line("Read again first: ", " ")
    changed = [fact for fact in desk.files.values() if number == 0 and fact.status.split()[0] in ("created", "changed")]
    folders: dict[str, list[Fact]] = {}
    for fact in sorted(changed, key=lambda fact: -fact.at)[:CRITICAL]:
        folder = fact.text.removeprefix(desk.paths.root).rpartition("/")[0]
        folders.setdefault(folder, []).append(fact)
        desk.paths.folders.add(folder)
    for folder, facts in folders.items():
        bases = ",".join(fact.text.rpartition("/")[2] for fact in facts)
        if folder and len(facts) > 1 and " " not in folder + bases:  # as a shell would take it
            line.add(f"{folder}/{{{bases}}}", tuple(cite for fact in facts for cite in fact.cites[:CRITICAL]))
            continue
        for fact in facts:
            line.add(desk.paths.whole(fact.text), fact.cites)
    yield from line.sentences(10 * LINE)


def _facts(attribute: str, say: Callable[[Desk, Fact], str]) -> Section:
    """A section of facts that are a sentence each; the very first may take some of the next round's room."""

    def section(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
        facts: deque[Fact] = getattr(desk, attribute)
        over = OVERS.get(attribute, OVER) if number == 0 else 0.0
        if number == 0 and attribute == "decisions" and facts and is_firm(facts[0]):
            over = FIRM
        while facts:
            fact = facts[0]
            known = desk.knows(fact.about if fact.kind == "commit" else fact.text)
            text = "" if known and fact.kind not in MARKED else say(desk, fact)
            if text and desk.cost(text) + 2 > room + over:
                return
            facts.popleft()
            if text:
                room, over = room - desk.cost(text) - 2, 0.0
                desk.told_rules += [fact.text] if fact.kind == "correction" else []
                yield Sentence(text, fact.cites)

    return section


def _say_error(desk: Desk, fact: Fact) -> str:
    said = f"Error of {fact.about}: {quote(short(fact.text, 140))}"
    if fact.status != "fixed":
        return said
    mended = [path.removeprefix(desk.paths.root) for path in fact.because.split(", ") if path][:3]
    return f"{said}, gone after editing {', '.join(mended)}" if mended else f"{said}, gone later"


def _say_test(desk: Desk, fact: Fact) -> str:
    told = f"{'no failure printed, last ' if fact.status == 'unfailed' else ''}{quote(short(fact.text, 100))}"
    said = f"Tests by {fact.about}: {told}"
    return said if not fact.because or desk.knows(fact.because) else f"{said}, {quote(short(fact.because, 140))}"


def _say_end(desk: Desk, fact: Fact) -> str:
    if fact.status == "reverted":
        return f"Taken back: {short(fact.text.removeprefix(desk.paths.root), 120)}"
    return f"Dead end: {quote(short(fact.text, 220))}"


def _say_answer(desk: Desk, fact: Fact) -> str:
    return f"Asked {quote(short(fact.about, 120))}, the user answered {quote(short(fact.text, 120))}"


def _commands(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """Commands as they can be run again, by how they last ended."""
    desk.take_past_commands()
    lines = {"ok": Line("Commands that worked: ", "; "), "failed": Line("Commands that failed: ", "; ")}
    room -= 5
    while desk.commands:
        fact = desk.commands[0]
        said = fact.text
        room -= desk.cost(said) + 1
        if room < 0:
            break
        desk.commands.popleft()
        lines["ok" if fact.status == "ok" else "failed"].add(said, fact.cites)
    for line in lines.values():
        yield from line.sentences(2 * LINE)


def _refs(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    line = Line("References: ", " ")
    room -= 4
    while desk.refs:
        one = desk.refs[0]
        room -= desk.cost(one.text) + 1 if not desk.knows(one.text) else 0
        if room < 0 or (desk.reach <= SHORT and is_made_up(one)):
            break
        desk.refs.popleft()
        if not desk.knows(one.text):
            line.add(one.text, one.cites)
    yield from line.sentences(2 * LINE)


def _named(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """The heaviest names and files not said yet: each name behind a file it is used in."""
    groups: dict[str, list[weights.Linked]] = {}
    folders: set[str] = set()
    loose = Line("Also named: ", " ")
    later: list[weights.Named] = []
    desk.take_lighter_names()
    while desk.queue:
        one = desk.queue.popleft()
        if desk.knows(one.text) if one.kind == "name" else one.text in groups or desk.paths.known(one.text):
            continue
        link = desk.link(one.text, groups) if one.kind == "name" else None
        if link and number < LONG and desk.named.get(link.path, 0) >= NAMES * (number + 1):
            later.append(one)
            continue
        path = link.path if link else one.text if one.kind == "file" else ""
        for cost in _costs(desk, one, "" if path in groups else path, folders):
            room -= cost
        if room < 0:
            desk.queue.appendleft(one)
            break
        if path:
            groups.setdefault(path, []).extend([link] if link else [])
            desk.named[path] = desk.named.get(path, 0) + (link is not None)
            folders.add(path.rpartition("/")[0])
        else:
            loose.add(one.text, one.cites)
    desk.queue.extendleft(reversed(later))
    yield from _grouped(desk, groups)
    yield from loose.sentences(2 * LINE)


def _costs(desk: Desk, one: weights.Named, path: str, folders: set[str]) -> Iterator[float]:
    """What it takes to say a name, and the file it is behind, where that is not said yet."""
    if one.kind == "name":
        yield desk.cost(one.text)
    if path:
        known = path.rpartition("/")[0] in folders
        yield desk.cost("/".join(path.split("/")[-2:]) if known else desk.paths.shape(path)) + 1.5


def _grouped(desk: Desk, groups: dict[str, list[weights.Linked]]) -> Iterator[Sentence]:
    """Files by what was done to them: each with its names, then by folder those that have none."""
    lines = {did: Line(verb, "; ", " ") for did, verb in VERBS.items()}
    bare: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
    for path, links in groups.items():
        fact = desk.files.get(path)
        did = fact.status.split()[0] if fact else "searched" if links else "seen" if path in desk.shown else "named"
        cites = desk.seen.get(path, ())
        if links:
            named = [(link.name, (*cites, *link.cites)) for link in links]
            lines[did].add_all(desk.paths.show(path) + ": ", named)
        else:
            bare.setdefault((did, path.rpartition("/")[0]), []).append((path, cites))
    for (did, folder), files in bare.items():
        inside = desk.paths.show_folder(folder) if len(files) > 1 else ""
        if inside:
            lines[did].add_all(inside + ": ", [(whole(path.rpartition("/")[2]), cites) for path, cites in files])
            desk.paths.files.update(path for path, _ in files)
        else:
            for path, cites in files:
                lines[did].add(desk.paths.show(path), cites)
    for line in lines.values():
        yield from line.sentences(2 * LINE)


# in the order of a round, with the share of its room each may take; what they leave is for names
SECTIONS: tuple[tuple[str, float, Section], ...] = (
    ("rule", 0.08, _facts("rules", lambda desk, fact: f"The user's rule: {quote(short(fact.text, 200))}")),
    ("request", 0.235, _requests),
    ("todo", 0.06, _open),
    ("last", 0.05, _last),
    ("next", 0.04, _facts("steps", lambda desk, fact: f"Next, as the model said: {quote(short(fact.text, 200))}")),
    ("came", 0.05, _came),
    ("again", 0.03, _again),
    ("question", 0.03, _facts("questions", lambda desk, fact: f"UNCONFIRMED: {quote(short(fact.text, 200))}")),
    ("answer", 0.03, _facts("answers", _say_answer)),
    ("decision", 0.045, _facts("decisions", lambda desk, fact: f"Decided: {quote(short(fact.text, 220))}")),
    ("end", 0.03, _facts("ends", _say_end)),
    ("error", 0.04, _facts("errors", _say_error)),
    ("test", 0.02, _facts("tests", _say_test)),
    ("command", 0.15, _commands),
    (
        "commit",
        0.06,
        _facts("commits", lambda desk, fact: f"Committed {short_hash(fact.about)} {quote(short(fact.text, 80))}"),
    ),
    ("ref", 0.08, _refs),
    ("name", 1.00, _named),
    ("done", 0.03, _done),
)
# a short note says what is needed, a longer one more and more of what was asked, in the user's own words
LATER = {"request": {0: 0.09, 1: 0.09, 2: 0.42, 3: 0.45, 4: 0.4}, "came": {0: 0.0, 1: 0.0}}
TURNS = (
    "request",
    "last",
    "came",
    "next",
    "again",
    "question",
)  # the sections that tell what was asked and what came of it
VERBS = {
    "created": "Created ",
    "changed": "Changed ",
    "read": "Read ",
    "searched": "Searched ",
    "seen": "Seen in output: ",
    "named": "Named: ",
}


def _is_read(text: str) -> bool:
    """Whether a text is words to read, no paste of data."""
    return sum(char.isalpha() or char == " " for char in text) >= WORDY * len(text)
