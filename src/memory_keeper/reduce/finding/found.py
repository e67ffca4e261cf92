"""All facts of a session's events, in what was said, worked on and run; and which of them tell most."""

from __future__ import annotations

from memory_keeper.capture.calls import core
from memory_keeper.model import Event
from memory_keeper.reduce.facts import FACTS, Fact
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.finding.ran import ran
from memory_keeper.reduce.finding.said import said
from memory_keeper.reduce.finding.weights import Names, weigh
from memory_keeper.reduce.finding.worked_on import worked_on
from memory_keeper.reduce.words import claims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def find_with(events: Sequence[Event], weighed: Names) -> list[Fact]:
    """All facts of one session's events, whose names are weighed: by kind in the order of FACTS, then by when they last
    held."""
    calls = {event.ref: event for event in events if event.kind in ("call", "todo") and event.ref}
    facts = [*said(events, calls), *worked_on(events, weighed), *ran(events, calls)]
    order = {kind: number for number, kind in enumerate(FACTS)}
    places = {event.id: place for place, event in enumerate(events)}  # clocks are set back, and lines share a moment
    last = {id(fact): max(places.get(cite, 0) for cite in fact.cites) for fact in facts}
    return sorted(facts, key=lambda fact: (order[fact.kind], last[id(fact)]))


# what a note carries along for the one above it: one of each kind at a time, in this order; some come twice
TELLING = (
    "correction", "request", "decision", "error", "answer", "done", "dead end", "todo", "request", "decision", "commit",
    "done", "test", "command",
)  # fmt: skip


def facts_of(events: Sequence[Event], limit: int = 20, weighed: Names | None = None) -> list[Fact]:
    """The facts that tell most about some events, most telling first: the best of every kind, then the next best."""
    left: dict[str, list[Fact]] = {}
    for fact in find_with(events, weighed or weigh(events)):
        left.setdefault(fact.kind, []).append(fact)  # the last is taken first
    left["request"] = _best_requests(left.get("request", []))
    for kind in ("correction", "decision", "answer"):
        left[kind] = holding(left.get(kind, []))
    left["decision"] = _last_best(left["decision"], doubt)
    left["error"] = _last_best(left.get("error", []), worry)
    for kind in ("todo", "command"):
        left[kind] = _last_best(left.get(kind, []), lambda fact: fact.status not in ("open", "doing", "ok"))
    told: list[Fact] = []
    while len(told) < limit and any(left.get(kind) for kind in TELLING):
        told += [left[kind].pop() for kind in TELLING if left.get(kind)]
    return told[:limit]


def doubt(fact: Fact) -> int:
    """How far a sentence is from a decision: the user's own words are nearest, then what is said with its reason."""
    if fact.status == "user":
        return 0
    return 1 + (not claims.SETTLED.search(fact.text)) + (not fact.because) + (fact.status != "reply")


def is_firm(fact: Fact) -> bool:
    """Whether a decision is sure to be one, and says why."""
    return bool(fact.because) and doubt(fact) <= 1


def worry(fact: Fact) -> int:
    """How little an error matters: one that is open matters most, one of looking around least."""
    return 2 * is_trifle(fact) + (fact.status != "open")


def is_trifle(fact: Fact) -> bool:
    """Whether an error is one of a command that only looks around, or says nothing."""
    return " " not in fact.text or not (core(fact.about) or fact.about[:1].isupper())


def _last_best(facts: list[Fact], key: Callable[[Fact], int]) -> list[Fact]:
    """The best last, of equals the newest."""
    return sorted(facts, key=key, reverse=True)


def _best_requests(requests: list[Fact]) -> list[Fact]:
    """The newest last, and before it the first: what it began with, and where it went."""
    asked = [fact for fact in requests if fact.status != "short"] or requests
    return [*asked[1:-1], *asked[:1], *asked[-1:]] if len(asked) > 1 else asked
