"""What there is to say of some events, each kind most needed first, and what has been said.

A short note leaves out what is hardly ever needed again; here is told what that is.
"""

from __future__ import annotations

import re
from collections import deque

from memory_keeper.model import Event
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding import answers, weights
from memory_keeper.reduce.finding.found import doubt, find_with, worry
from memory_keeper.reduce.finding.goal import as_typed, goal, turns
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.notes.phrasing import Paths
from memory_keeper.reduce.words import names
from memory_keeper.text import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEAR = 3  # files that a name may be said with, of all it is used in
NOD = 16  # characters of a request that may be a nod
LOOSE, TOUCHED = 2.0, 2.0  # what is taken off a name without a file, and added to a file somebody worked on
LIBRARY = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|third_party|\.venv|venv|\.tox|\.cargo|\.rustup|go/pkg/mod"
    r"|\.m2|\.gradle|bower_components|Pods|\.yarn|__pycache__)/|^/usr/(?:lib|include|share|local/lib)/|\.d\.ts$|\.min\.\w+$"
)
# tools of the host and what they are given: names of the project only where they stand in its files
HOST = frozenset(
    ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "in_progress", "activeForm", "taskId")
)
# lighter ones are not worth their tokens: in a short note, and in a longer one, however many are left
SHORT, FIRM, LEAST = 1000, {"name": 3.6, "file": 4.0}, {"name": 2.2, "file": 1.5}
ONCE, WHOLE = (
    re.compile(r"(?:\w+=\S+ )*git (?:-C \S+ )?(?:checkout|switch|add|commit|restore|stash|rm|mv|reset|revert)\b"),
    4,
)
HASHES = 12  # hashes and addresses that are told
LEAST_REF, REFS = 2.5, {"address": -1.0, "hash": -1.0, "issue": 1.5, "ticket": 2.0}


class Desk:
    """What is still to be said, and what has been."""

    def __init__(self, events: Sequence[Event], family: str, folder: str, weighed: weights.Names) -> None:
        self.family = family
        facts: dict[str, list[Fact]] = {}
        for fact in reversed(find_with(events, weighed)):
            facts.setdefault(fact.kind, []).append(fact)  # newest first
        self._lay_requests(facts.get("request", []), events)
        self._lay_statements(facts)
        self._lay_work(facts)
        self._lay_names(weighed)
        self.paths = Paths(folder or weighed.root or _common([*self.files]))
        self.reach = 0  # tokens that are told when the round is over
        self.words: set[str] = set()
        self.text = ""

    def _lay_requests(self, requests: Sequence[Fact], events: Sequence[Event]) -> None:
        """What was asked, and what came of it."""
        asked = _distinct(_in_own_words(requests, events))
        self.latest = asked[0] if asked else None
        self.asked = [fact for fact in asked if fact.status != "short"]  # newest first
        self.goal = goal(turns(events))
        self.requests = deque(sorted(self.asked, key=_is_nod))
        self.rests: deque[tuple[str, tuple[str, ...]]] = deque()  # of requests that were cut
        self.answered = list(answers.last_said(events))  # newest first
        self.outcomes = deque(_outcomes(events)[:-1][::-1])
        self.doing = answers.doing(events)

    def _lay_statements(self, facts: dict[str, list[Fact]]) -> None:
        """What was wanted, settled, left open, believed and finished."""
        self.rules = deque(holding(_distinct(facts.get("correction", []))))
        self.told_rules: list[str] = []
        self.answers = deque(facts.get("answer", []))
        self.steps = deque(reversed(facts.get("next", [])))
        self.questions = deque(facts.get("question", []))
        rules = {fact.text.casefold() for fact in self.rules}
        decisions = [fact for fact in holding(facts.get("decision", [])) if fact.text.casefold() not in rules]
        self.decisions = deque(_distinct(sorted(decisions, key=doubt)))
        self.ends = deque(_distinct(facts.get("dead end", [])))
        self.finished = deque(facts.get("done", []))

    def _lay_work(self, facts: dict[str, list[Fact]]) -> None:
        """What was listed, run, committed and changed."""
        self.todos = facts.get("todo", [])[::-1]
        self.errors = deque(sorted(facts.get("error", []), key=worry))
        self.tests = deque(facts.get("test", []))
        commands = _distinct(_by_use(facts.get("command", [])))
        self.commands = deque(fact for fact in commands if _is_run_again(fact))
        self.past = [fact for fact in commands if not _is_run_again(fact)]
        self.commits = deque(facts.get("commit", []))
        self.files = {fact.text: fact for fact in facts.get("file", [])}

    def _lay_names(self, weighed: weights.Names) -> None:
        """Names, files and references, the heaviest first."""
        self.refs = deque(_few(sorted(filter(_likely, weighed.refs), key=lambda one: (is_made_up(one), -_worth(one)))))
        self.links = weighed.links
        self.seen = {one.text: one.cites for one in weighed.files}
        self.shown = {one.text for one in weighed.files if one.shown}  # by a tool
        wanted = sorted(_wanted(weighed, self.files), key=lambda one: (-one.weight, one.text))
        self.queue = deque(one for one in wanted if one.weight >= FIRM[one.kind] or one.text in self.files)
        self.lighter = deque(one for one in wanted if one.weight < FIRM[one.kind] and one.text not in self.files)
        self.named: dict[str, int] = {}  # how many names were said with a file

    def take_lighter_names(self) -> None:
        """In a longer note, those that a short one leaves out come last."""
        if self.reach > SHORT:
            self.queue.extend(self.lighter)
            self.lighter.clear()

    def take_past_commands(self) -> None:
        """In a longer note, those that are of little use to run again come last."""
        if self.reach > SHORT:
            self.commands.extend(self.past)
            self.past.clear()

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
    """Each text once, where it comes first."""
    found: dict[str, Fact] = {}
    for fact in facts:
        found.setdefault(fact.text.casefold(), fact)
    return list(found.values())


def _is_nod(fact: Fact) -> bool:
    """Whether a request says too little to be of use later: "yes, do that"."""
    return len(fact.text) < NOD and fact.text[:1] != "/" and not names.names(fact.text) and not names.refs(fact.text)


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


def is_made_up(ref: weights.Named) -> bool:
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
