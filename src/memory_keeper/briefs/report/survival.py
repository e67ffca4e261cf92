"""What survived: of each fact that mattered in a session, whether the summary of a compaction kept it, whether we
brought it back, or whether it was lost.

A clear begins another session, which is looked at with the one that it cleared. Nothing is stored for this: facts are
extracted from the events, and what became of them is found by comparing them with what the next context was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memory_keeper.briefs.report.prices import Prices
from memory_keeper.briefs.report.savings import Sessions, find_compactions
from memory_keeper.extract import fidelity
from memory_keeper.extract.extraction import extract
from memory_keeper.extract.facts import PLAIN, Fact, quote, say
from memory_keeper.model import EVER, Event, Filter
from memory_keeper.notes.own_commands import others
from memory_keeper.notes.usage.compactions import Compaction, sizes
from memory_keeper.store.events import events_of
from memory_keeper.store.injected import taken_over, told
from memory_keeper.store.store import Store

KEPT, RESTORED, LOST = "kept", "restored", "lost"
GROUPS = {
    "Requests": ("goal", "request", "accepted", "answer"),
    "Rules": ("rule",),
    "Decisions": ("decision",),
    "Findings": ("finding",),
    "Done": ("done", "commit", "pr"),
    "Open steps": ("next", "todo", "question"),
    "Files": ("edit",),
}
GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
MOST = 120  # facts of one context, the most needed first
SUMMARY_WITHIN = 60.0  # seconds from a compaction to the line that has its summary
LINKED = 32  # sessions that clears joined


class Thread(NamedTuple):
    """A fact, and what became of it at each compaction or clear after it was stated."""

    group: str  # see GROUPS
    fact: Fact
    fates: tuple[tuple[int, str], ...]  # the number of the boundary, and KEPT, RESTORED or LOST there

    @property
    def text(self) -> str:
        """The fact in words."""
        return quote(self.fact.text) if self.fact.kind in ("goal", "request") else say(self.fact)


class Survival(NamedTuple):
    """What a session and those that clears joined to it knew, and what of it was still there later."""

    sessions: tuple[str, ...]  # the oldest first
    curve: tuple[tuple[float, int], ...]  # when responses and boundaries came, and how large the context was then
    boundaries: tuple[Compaction, ...]
    threads: tuple[Thread, ...]  # by group, in order

    def tally(self, boundary: int) -> dict[str, int]:
        """How many facts were kept, restored and lost at a boundary."""
        fates = [fate for one in self.threads for number, fate in one.fates if number == boundary]
        return {fate: fates.count(fate) for fate in (KEPT, RESTORED, LOST)}


def find_survival(store: Store, prices: Prices, session: str) -> Survival:
    """What became of the facts of a session, and of those that clears joined to it."""
    project = store.project_of(session)
    sessions = _linked(store, project, session)
    found = Sessions(store, project)
    boundaries = [one for of in sessions for one in find_compactions(found, prices, 0.0, EVER, of)]
    boundaries = sorted((one for one in boundaries if one.by != "hand"), key=lambda one: one.at)
    events = sorted(others(events_of(store, Filter(sessions=sessions, agent=""))), key=lambda event: event.at)
    facts = sorted(
        _facts(events, [one.at for one in boundaries], (store.roots(project) or [""])[0]), key=lambda fact: fact.at
    )
    fates: list[list[tuple[int, str]]] = [[] for _ in facts]
    for number, boundary in enumerate(boundaries):
        until = boundaries[number + 1].at if number + 1 < len(boundaries) else EVER
        summary, ours = _given(store, project, sessions, boundary, until)
        known = [fact for fact in facts if fact.at < boundary.at]
        missed = fidelity.compare(known, summary).facts if known else []
        lost = fidelity.compare(missed, ours).facts if missed else []
        for place, fact in enumerate(facts[: len(known)]):
            fates[place].append((number, LOST if fact in lost else RESTORED if fact in missed else KEPT))
    order = list(GROUPS)
    threads = [Thread(GROUP_OF[fact.kind], fact, tuple(each)) for fact, each in zip(facts, fates, strict=True)]
    threads.sort(key=lambda one: (order.index(one.group), one.fact.at, one.fact.place))
    measured = {(one.at, one.before) for one in boundaries if one.before}
    curve = sorted(measured.union(*(sizes(found.usages(of)) for of in sessions)))
    return Survival(tuple(sessions), tuple(curve), tuple(boundaries), tuple(threads))


def _linked(store: Store, project: str, session: str) -> list[str]:
    """A session and those that clears joined to it, the oldest first."""
    before = taken_over(store, project)
    after = {earlier: later for later, earlier in before.items()}
    chain = [session]
    while len(chain) < LINKED and (earlier := before.get(chain[0])) and earlier not in chain:
        chain.insert(0, earlier)
    while len(chain) < LINKED and (later := after.get(chain[-1])) and later not in chain:
        chain.append(later)
    return chain


def _facts(events: Sequence[Event], boundaries: Sequence[float], folder: str) -> Iterator[Fact]:
    """The facts that mattered in each context, each where it was first stated."""
    known = set[tuple[str, str]]()
    for since, until in zip((0.0, *boundaries), (*boundaries, EVER), strict=True):
        context = [one for one in events if since <= one.at < until and one.kind != "summary"]
        mattering = [fact for fact in extract(context, folder) if fact.kind in GROUP_OF and fact.about not in PLAIN]
        for fact in mattering[:MOST]:
            group = GROUP_OF[fact.kind]
            said = fact.cites[0] if group == "Requests" and fact.cites else fact.text  # one for each prompt
            if (key := (group, said)) not in known:
                known.add(key)
                yield fact


def _given(store: Store, project: str, sessions: Sequence[str], boundary: Compaction, until: float) -> tuple[str, str]:
    """What the context after a boundary was given: the host's summary, and what we told."""
    soon = min(until, boundary.at + SUMMARY_WITHIN)
    which = Filter(sessions=(boundary.session,), kinds=("summary",), since=boundary.at - 1, until=soon)
    summary = "\n".join(event.text for event in events_of(store, which)) if boundary.by == "host" else ""
    last = None if until == EVER else until
    heard = (one for of in sessions for one in told(store, project, of, boundary.at - 1, last or 0.0))
    texts = [text for one in heard if isinstance(text := one.said.get("text"), str)]
    return summary, "\n".join(texts)


def summed_up(number: int, boundary: Compaction, counts: dict[str, int]) -> str:
    """What happened at a boundary, in a line."""
    what = "Cleared" if boundary.by == "clear" else "Compacted"
    size = f" at {boundary.before:,} tokens" if boundary.before else ""
    size += f", to {boundary.after:,}" if size and boundary.after else ""
    kept = f"{counts[KEPT]} kept by the summary, " if boundary.by == "host" else ""
    return f"{number + 1}. {what}{size}: {kept}{counts[RESTORED]} brought back by Memory Keeper, {counts[LOST]} lost"


def survival_json(one: Survival) -> dict[str, Any]:
    """The same as a document."""
    return {
        "sessions": list(one.sessions),
        "boundaries": [
            {"at": boundary.at, "session": boundary.session, "by": boundary.by, **one.tally(number)}
            for number, boundary in enumerate(one.boundaries)
        ],
        "facts": [
            {
                "group": thread.group,
                "text": thread.text,
                "cites": list(thread.fact.cites),
                "at": thread.fact.at,
                "fates": [{"boundary": number, "fate": fate} for number, fate in thread.fates],
            }
            for thread in one.threads
        ],
    }
