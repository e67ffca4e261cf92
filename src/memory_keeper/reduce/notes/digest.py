"""The note of a stretch of a session: what was asked, decided, done and found, most needed first.

Sentences come in rounds. Each round has room for a little of everything: requests, what is open, decisions, errors,
commands, files with the names used in them. Where the budget is known, the first round is that size, so that a file is
named once; where it is not, the first round is the size of a short note, and each later one as large as all before it:
wherever one stops then, the best of every kind is there. A short note leaves out what is hardly ever needed again, and
a longer one tells that last.

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
from memory_keeper.reduce.finding.found import doubt, find_with, worry
from memory_keeper.reduce.finding.goal import as_typed, goal, turns
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.sentences import Sentence, beginning
from memory_keeper.reduce.words import names
from memory_keeper.reduce.words.prose import unmarked
from memory_keeper.text import NEWEST, clip, one_line, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Section = Callable[["Desk", float, int], Iterator["Sentence"]]

FIRST = 500  # tokens of the first round, and of the second
ROUNDS = 10
# where the budget is not known: what a brief of 500, of 1,000 and of 2,000 tokens has room for, fenced and cited
SIZES = (360, 470, 980)
REACH = 1.5  # so much sooner what is told may hold what is less likely needed
CRUMB, MISSED = 6, 12  # tokens that are too few to go on for, and sentences that did not fit, where a note ends
NAMES, LONG = 16, 1  # names that a round says with a file, and the round that has room for all
NEAR = 3  # files that a name may be said with, of all it is used in
LINE = 280  # characters: a name further from its file than this is not read as its own
NEWEST_REQUEST, REQUEST, SAID = 80, 45, 60  # tokens of a quote
CRITICAL = 3  # files that are to be read again
NOD = 16  # characters of a request that may be a nod
WORDY, FAR = 0.75, 400  # the share of letters and blanks, of so many characters, that words have and data has not
OUTCOME = 30  # tokens of what came of a request
SETTLED = 2  # decisions that are told sooner than what was said last
OVER, OVERS = 20.0, {"questions": 60.0, "steps": 40.0}  # tokens that a section may borrow for its first sentence
LOOSE, TOUCHED = 2.0, 2.0  # what is taken off a name without a file, and added to a file somebody worked on
LIBRARY = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|third_party|\.venv|venv|\.tox|\.cargo|\.rustup|go/pkg/mod"
    r"|\.m2|\.gradle|bower_components|Pods|\.yarn|__pycache__)/|^/usr/(?:lib|include|share|local/lib)/|\.d\.ts$|\.min\.\w+$"
)
# tools of the host and what they are given: names of the project only where they stand in its files
HOST = frozenset(
    ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "in_progress", "activeForm", "taskId")
)
MARKED = ("correction", "decision")  # said again where a request or an answer had them: that they are such is news
# lighter ones are not worth their tokens: in a short note, and in a longer one, however many are left
SHORT, FIRM, LEAST = 1000, {"name": 3.6, "file": 4.0}, {"name": 2.2, "file": 1.5}
ONCE, WHOLE = (
    re.compile(r"(?:\w+=\S+ )*git (?:-C \S+ )?(?:checkout|switch|add|commit|restore|stash|rm|mv|reset|revert)\b"),
    4,
)
HASHES = 12  # hashes and addresses that are told
LEAST_REF, REFS = 2.5, {"address": -1.0, "hash": -1.0, "issue": 1.5, "ticket": 2.0}


def digest(
    events: Sequence[Event],
    budget: int,
    model_family: str = NEWEST,
    folder: str = "",
    weighed: weights.Names | None = None,
    told: Sequence[Sentence] = (),
) -> list[Sentence]:
    """As many sentences about these events as fit into a budget, most needed first.

    Files are named relative to `folder`; where it is not given, to the one that most of them are in. `weighed` are the
    events' names, for who has weighed them already. `told` is what was asked and what came of it, for who has said
    that already.
    """
    chosen: list[Sentence] = []
    left, missed = budget, 0
    for sentence in ordered(events, model_family, folder, weighed, told, budget):
        fits = tokens(sentence.text + "\n", model_family) <= left
        for part in [sentence] if fits else beginning(sentence, left, model_family):
            chosen.append(part)
            left -= tokens(part.text + "\n", model_family)
        missed += not fits
        if left < CRUMB or missed == MISSED:
            break
    return chosen


def ordered(
    events: Sequence[Event],
    model_family: str = NEWEST,
    folder: str = "",
    weighed: weights.Names | None = None,
    told: Sequence[Sentence] = (),
    size: int = 0,
) -> Iterator[Sentence]:
    """All that a note of these events could say, most needed first; each sentence is made only when it is asked for.

    `size` is the budget where it is known: all that fits into it then comes in one round, so that nothing need be
    named twice.
    """
    return _ordered(Desk(events, model_family, folder, weighed or weights.weigh(events)), told, size)


def render(sentences: Iterable[Sentence]) -> str:
    """The sentences as text, one a line."""
    return "".join(sentence.text + "\n" for sentence in sentences)


def _ordered(desk: Desk, told: Sequence[Sentence], size: int) -> Iterator[Sentence]:
    for sentence in told:
        desk.said(sentence.text)
    saved = [0.0] * len(SECTIONS)  # what a section left of its share, or took of its next one
    for number, room in enumerate(_rounds(size)):
        left = float(room)
        desk.reach = size or int(desk.reach + REACH * room)
        for place, (tag, share, section) in enumerate(SECTIONS):
            if told and tag in TURNS:
                continue
            saved[place] += room * LATER.get(tag, {}).get(number, share)
            for sentence in section(desk, min(left, saved[place]), number):
                cost = desk.cost(sentence.text) + 1
                left, saved[place] = left - cost, saved[place] - cost
                desk.said(sentence.text)
                yield sentence._replace(section=sentence.section or tag)


def _rounds(size: int) -> Iterator[int]:
    """How large each round is: all of a budget that is known, then ever larger ones."""
    sizes = [max(size, FIRST), max(size, FIRST)] if size else [*SIZES]
    yield from sizes
    for _ in range(ROUNDS - len(sizes)):
        sizes.append(2 * sizes[-1])
        yield sizes[-1]


class Desk:
    """What is still to be said, and what has been."""

    def __init__(self, events: Sequence[Event], family: str, folder: str, weighed: weights.Names) -> None:
        self.family = family
        facts: dict[str, list[Fact]] = {}
        for fact in reversed(find_with(events, weighed)):
            facts.setdefault(fact.kind, []).append(fact)  # newest first
        asked = _distinct(_in_own_words(facts.get("request", []), events))
        self.latest = asked[0] if asked else None
        asked = [fact for fact in asked if fact.status != "short"]
        self.goal = goal(turns(events))
        self.asked = asked  # newest first
        self.requests = deque(sorted(asked, key=_is_nod))
        self.rests: deque[tuple[str, tuple[str, ...]]] = deque()  # of requests that were cut
        self.rules = deque(holding(_distinct(facts.get("correction", []))))
        self.todos = facts.get("todo", [])[::-1]
        self.answers = deque(facts.get("answer", []))
        self.steps = deque(reversed(facts.get("next", [])))
        self.questions = deque(facts.get("question", []))
        rules = {fact.text.casefold() for fact in self.rules}
        self.told_rules: list[str] = []
        decisions = [fact for fact in holding(facts.get("decision", [])) if fact.text.casefold() not in rules]
        self.decisions = deque(_distinct(sorted(decisions, key=doubt)))
        self.ends = deque(_distinct(facts.get("dead end", [])))
        self.errors = deque(sorted(facts.get("error", []), key=worry))
        self.tests = deque(facts.get("test", []))
        commands = _distinct(_by_use(facts.get("command", [])))
        self.commands = deque(fact for fact in commands if _is_run_again(fact))
        self.past = [fact for fact in commands if not _is_run_again(fact)]
        self.commits = deque(facts.get("commit", []))
        self.refs = deque(_few(sorted(filter(_likely, weighed.refs), key=lambda one: (_is_made_up(one), -_worth(one)))))
        self.answered = list(answers.last_said(events))  # newest first
        self.outcomes = deque(_outcomes(events)[:-1][::-1])
        self.doing = answers.doing(events)
        self.finished = deque(facts.get("done", []))
        self.files = {fact.text: fact for fact in facts.get("file", [])}
        self.links = weighed.links
        self.seen = {one.text: one.cites for one in weighed.files}
        self.shown = {one.text for one in weighed.files if one.shown}  # by a tool
        wanted = sorted(_wanted(weighed, self.files), key=lambda one: (-one.weight, one.text))
        self.queue = deque(one for one in wanted if one.weight >= FIRM[one.kind] or one.text in self.files)
        self.lighter = deque(one for one in wanted if one.weight < FIRM[one.kind] and one.text not in self.files)
        self.named: dict[str, int] = {}  # how many names were said with a file
        self.reach = 0  # tokens that are told when the round is over
        self.paths = Paths(folder or weighed.root or _common([*self.files]))
        self.words: set[str] = set()
        self.text = ""

    def link(self, name: str, shown: Iterable[str]) -> weights.Linked | None:
        """The file to say a name with: of those it is used in most, one that is said anyway."""
        links = self.links.get(name, ())[:NEAR]
        return next((link for link in links if link.path in shown), None) or next(iter(links), None)

    def cost(self, text: str) -> float:
        """Tokens of a text, to the tenth: rounding up each of many names would add up."""
        return tokens(text * 10, self.family) / 10

    def said(self, text: str) -> None:
        """Remember that this has been said."""
        self.text += text + "\n"
        self.words.update(names.WORD.findall(text))

    def knows(self, text: str) -> bool:
        """Whether it has been said."""
        return text in self.words if names.WORD.fullmatch(text) else text in self.text


# --- the sections: what each says in a round -------------------------------------------------------------------------


def _requests(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """The newest first; a long one is cut, and goes on when all have been said."""
    for tag, head, fact in _foremost(desk) if number == 0 else ():
        said = _opening(desk, fact, NEWEST_REQUEST)
        yield said._replace(text=head + said.text, section=tag)
        room -= desk.cost(said.text) + 6
    line = _Line("Asked before: ", "; ")
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
        yield Sentence(f"That request went on: {quote(part)}", cites)


def _foremost(desk: Desk) -> Iterator[tuple[str, str, Fact]]:
    """What a session is for, and what was asked last: often the same."""
    if not desk.latest:
        return
    last = desk.latest
    goal = next((fact for fact in (*desk.asked, last) if desk.goal in fact.cites), last)
    yield "goal", "Goal: ", goal
    if last.cites[0] != goal.cites[0]:
        yield "asked", "Asked last: ", last
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
    """A request without the rule that it begins with, where that has been told and more follows."""
    rule = next((rule for rule in desk.told_rules if text.startswith(rule)), "")
    rest = text[len(rule) :].strip()
    return f"… {rest}" if rule and len(rest) > NOD else text


def _open(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """What is being done and what is left to do; later also what was done."""
    heads = {"doing": "In progress: ", "open": "Still open: "} if number < 2 else {"done": "Done: "}
    for status, head in heads.items():
        line = _Line(head, "; ", tag=status)
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
    line = _Line("Read again first: ", " ")
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
    if desk.reach > SHORT:
        desk.commands.extend(desk.past)
        desk.past.clear()
    lines = {"ok": _Line("Commands that worked: ", "; "), "failed": _Line("Commands that failed: ", "; ")}
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
    line = _Line("References: ", " ")
    room -= 4
    while desk.refs:
        one = desk.refs[0]
        room -= desk.cost(one.text) + 1 if not desk.knows(one.text) else 0
        if room < 0 or (desk.reach <= SHORT and _is_made_up(one)):
            break
        desk.refs.popleft()
        if not desk.knows(one.text):
            line.add(one.text, one.cites)
    yield from line.sentences(2 * LINE)


def _named(desk: Desk, room: float, number: int) -> Iterator[Sentence]:
    """The heaviest names and files not said yet: each name behind a file it is used in."""
    groups: dict[str, list[weights.Linked]] = {}
    folders: set[str] = set()
    loose = _Line("Also named: ", " ")
    later: list[weights.Named] = []
    if desk.reach > SHORT:
        desk.queue.extend(desk.lighter)
        desk.lighter.clear()
    while desk.queue:
        one = desk.queue[0]
        told = desk.knows(one.text) if one.kind == "name" else one.text in groups or desk.paths.known(one.text)
        if not told:
            link = desk.link(one.text, groups) if one.kind == "name" else None
            if link and number < LONG and desk.named.get(link.path, 0) >= NAMES * (number + 1):
                later.append(desk.queue.popleft())
                continue
            path = link.path if link else one.text if one.kind == "file" else ""
            room -= desk.cost(one.text) if one.kind == "name" else 0
            if path and path not in groups:
                known = path.rpartition("/")[0] in folders
                room -= desk.cost("/".join(path.split("/")[-2:]) if known else desk.paths.shape(path)) + 1.5
            if room < 0:
                break
            if path:
                groups.setdefault(path, []).extend([link] if link else [])
                desk.named[path] = desk.named.get(path, 0) + (link is not None)
                folders.add(path.rpartition("/")[0])
            else:
                loose.add(one.text, one.cites)
        desk.queue.popleft()
    desk.queue.extendleft(reversed(later))
    yield from _grouped(desk, groups)
    yield from loose.sentences(2 * LINE)


def _grouped(desk: Desk, groups: dict[str, list[weights.Linked]]) -> Iterator[Sentence]:
    """Files by what was done to them: each with its names, then by folder those that have none."""
    lines = {did: _Line(verb, "; ", " ") for did, verb in VERBS.items()}
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
            lines[did].add_all(inside + ": ", [(_whole(path.rpartition("/")[2]), cites) for path, cites in files])
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


# --- small things ----------------------------------------------------------------------------------------------------


class Paths:
    """Files as they are written here: from the project's folder the first time, short once their folder is known."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") + "/"
        self.folders: set[str] = set()
        self.files: set[str] = set()

    def shape(self, path: str) -> str:
        """How a file would be written now."""
        path = path.removeprefix(self.root)
        folder, _, base = path.rpartition("/")
        return f"{folder.rpartition('/')[2]}/{base}" if folder in self.folders else path

    def show(self, path: str) -> str:
        """How a file is written; from now on its folder is known."""
        shape = self.shape(path)
        self.files.add(path)
        self.folders.add(path.removeprefix(self.root).rpartition("/")[0])
        return _whole(shape.removeprefix("/") if shape.count("/") == 1 else shape)

    def show_folder(self, folder: str) -> str:
        """How a folder is written; empty for the project's own."""
        inside = (folder + "/").removeprefix(self.root).rstrip("/")
        shape = inside.rpartition("/")[2] if inside in self.folders else inside
        self.folders.add(inside)
        return _whole(shape + "/") if shape else ""

    def whole(self, path: str) -> str:
        """How a file is written that is to be opened."""
        return _whole(path.removeprefix(self.root))

    def known(self, path: str) -> bool:
        """Whether it has been written."""
        return path in self.files


class _Line:
    """Things of one kind, gathered into as few sentences as they fit in."""

    def __init__(self, head: str, between: str, cut: str = "", tag: str = "") -> None:
        self.head, self.between, self.cut, self.tag = head, between, cut or between, tag
        self.parts: list[tuple[str, tuple[str, ...]]] = []

    def add(self, text: str, cites: tuple[str, ...]) -> None:
        self.parts.append((text, cites))

    def add_all(self, head: str, things: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Things that belong to one: as parts no longer than a line, each beginning with what they belong to."""
        said, cited = "", list[str]()
        for thing, cites in things:
            if said and len(said) + len(thing) > LINE:
                self.add(said, tuple(cited))
                said, cited = "", []
            said += (" " if said else head) + thing
            cited += cites
        if said:
            self.add(said, tuple(cited))

    def sentences(self, longest: int) -> Iterator[Sentence]:
        parts: list[tuple[str, tuple[str, ...]]] = []
        for part in self.parts:
            if parts and sum(len(text) + 2 for text, _ in parts) + len(part[0]) > longest:
                yield self._sentence(parts)
                parts = []
            parts.append(part)
        if parts:
            yield self._sentence(parts)

    def _sentence(self, parts: list[tuple[str, tuple[str, ...]]]) -> Sentence:
        said = self.head + self.between.join(text for text, _ in parts)
        cites = tuple(dict.fromkeys(cite for _, cites in parts for cite in cites))
        each = tuple(cites[0] for _, cites in parts)
        return Sentence(said, cites, self.cut, len(self.head), self.tag, each)


def quote(text: str) -> str:
    """A text between quotation marks that it does not have itself, on one line and without marks of layout."""
    line = " ".join(unmarked(text).split())
    return f"“{line}”" if '"' in line else f'"{line}"'


def short_hash(digest: str) -> str:
    """Seven characters, or all when those look like a number."""
    return digest if digest[:7].isdecimal() else digest[:7]


def short(text: str, limit: int) -> str:
    """The beginning of a line, to the end of a word: half a name would be another."""
    line = one_line(text, 4 * limit)
    if len(line) <= limit:
        return line
    words = line[: limit - 1].rpartition(" ")[0].rstrip()
    return words + " …" if words else one_line(line, limit)


def _whole(path: str) -> str:
    """A path that can be told from the words around it."""
    return quote(path) if " " in path else path


def _outcomes(events: Sequence[Event]) -> list[tuple[str, Event]]:
    """The prompts that were answered, by id, each with the last answer it got."""
    found: dict[str, Event] = {}
    asked = ""
    for event in events:
        if not event.agent and event.text.strip():
            asked = event.id if event.kind == "prompt" else asked
            if event.kind == "reply" and asked:
                found[asked] = event
    return list(found.items())


def _in_own_words(requests: Iterable[Fact], events: Sequence[Event]) -> Iterator[Fact]:
    """Requests without what was pasted into them."""
    texts = {event.id: event.text for event in events if event.kind == "prompt"}
    for fact in requests:
        own = as_typed(texts.get(fact.cites[0], fact.text))
        yield fact._replace(text=own) if own else fact


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    """Each text once."""
    return list({fact.text.casefold(): fact for fact in reversed(list(facts))}.values())[::-1]


def _is_nod(fact: Fact) -> bool:
    """Whether a request says too little to be of use later: "yes, do that"."""
    return len(fact.text) < NOD and fact.text[:1] != "/" and not names.names(fact.text) and not names.refs(fact.text)


def _is_read(text: str) -> bool:
    """Whether a text is words to read, no paste of data."""
    return sum(char.isalpha() or char == " " for char in text) >= WORDY * len(text)


def _is_project(path: str, bases: set[str]) -> bool:
    """Whether a file is one somebody works on: no library's, nothing hidden, no ending that others have."""
    base = path.rpartition("/")[2]
    ending = "/" not in path and any(len(one) > len(base) and one.endswith(base) for one in bases)
    return not (LIBRARY.search(path) or "REDACTED" in path or (ending and not base[0].isupper()))


def _wanted(weighed: weights.Names, files: dict[str, Fact]) -> Iterator[weights.Named]:
    """The names and files that may be needed again.

    A name that was never seen in a file is mostly prose, and a file is worth more than one of the names in it.
    """
    bases = {one.text.rpartition("/")[2] for one in weighed.files}
    stems = {base.rpartition(".")[0] for base in bases}
    for one in weighed.names:
        if one.text in stems or (one.text in HOST and one.text not in weighed.links):
            continue
        weight = one.weight - (0 if one.text in weighed.links else LOOSE)
        if weight >= LEAST["name"]:
            yield one._replace(weight=weight)
    for one in weighed.files:
        if one.text in files:
            yield one._replace(weight=one.weight + TOUCHED)
        elif one.weight >= LEAST["file"] and _is_project(one.text, bases):
            yield one


def _likely(ref: weights.Named) -> bool:
    """Whether a reference may be needed again: what only a tool printed hardly ever is, but for a ticket."""
    return _worth(ref) >= LEAST_REF and (ref.own or ref.text[0] not in "#h")


def _is_made_up(ref: weights.Named) -> bool:
    """Whether a hash only shows what one is like: such come last."""
    return bool(names.MADE_UP.match(ref.text))


def _few(refs: Sequence[weights.Named]) -> Iterator[weights.Named]:
    """All but hashes and addresses beyond the best: without what they are of, a reader has little of many."""
    dark = 0
    for ref in refs:
        dark += (unnamed := ref.text.isalnum() or ref.text.startswith("http"))
        if dark <= HASHES or not unnamed:
            yield ref


def _worth(ref: weights.Named) -> float:
    """A ticket is said again most often, then a number of an issue; a hash goes by, and an address is dear."""
    kind = "address" if ref.text.startswith("http") else "hash" if ref.text.isalnum() else "issue"
    return ref.weight + REFS["ticket" if "-" in ref.text and kind == "issue" else kind] - (not ref.own)


def _is_run_again(fact: Fact) -> bool:
    """Whether a command is of use to run again: nothing that was done for good, or that was cut to nothing."""
    return not (ONCE.match(fact.text) or (fact.text.endswith("…") and len(fact.text.split()) < WHOLE))


def _by_use(facts: Sequence[Fact]) -> list[Fact]:
    """Commands newest first, those that ran often before."""
    places = {id(fact): place - 2 * len(fact.cites) for place, fact in enumerate(facts)}
    return sorted(facts, key=lambda fact: places[id(fact)])


def _common(paths: Sequence[str]) -> str:
    """The deepest folder that most of these files are in."""
    folder = ""
    while True:
        inside = [path for path in paths if path.startswith(folder + "/")]
        steps: dict[str, int] = {}
        for path in inside:
            step = path[len(folder) + 1 :].partition("/")
            if step[1]:
                steps[step[0]] = steps.get(step[0], 0) + 1
        best = max(sorted(steps), key=lambda step: steps[step], default="")
        if not best or steps[best] < 0.7 * len(paths):
            return folder
        folder += "/" + best
