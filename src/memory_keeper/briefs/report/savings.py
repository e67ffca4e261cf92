"""What compactions saved, and what we took: each measured, each charged to whom it belongs.

What we told is charged the way a saving is counted: every later request carries it, until the context is compacted or
ends. The list of our tools is charged once per context, and again with every request of its main thread.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from decimal import Decimal

from memory_keeper import wire
from memory_keeper.briefs.report.prices import MILLION, Prices, price_of
from memory_keeper.model import Event, NamedTuple, Usage
from memory_keeper.notes.summarizers.asking import cost_of
from memory_keeper.notes.usage.compactions import Compaction, compactions, moments
from memory_keeper.store.events import boundaries
from memory_keeper.store.injected import TOOLS, equipped, shares, told
from memory_keeper.store.store import Store
from memory_keeper.store.usage import model_requests

BY = {"host": "Claude Code", "keeper": "Memory Keeper", "clear": "a clear", "hand": "hand"}


class Charge(NamedTuple):
    """What contexts had of us."""

    brief: str  # that was told, or `tools`
    times: int
    tokens: int
    carried: int  # the same tokens, once for each later request of their context
    cost: Decimal  # of those: written to the cache once, and read from it after that


class Asking(NamedTuple):
    """What models took that were asked to write notes."""

    times: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)  # where they said it


class Sessions:
    """What is asked of a project's sessions more than once."""

    def __init__(self, store: Store, project: str) -> None:
        self.store, self.project = store, project
        self.marks: dict[str, list[Event]] = {}
        for mark in boundaries(store, project):
            self.marks.setdefault(mark.session, []).append(mark)
        self.known: dict[str, list[Usage]] = {}
        self.times: dict[str, tuple[list[Usage], list[float]]] = {}

    def usages(self, session: str) -> list[Usage]:
        """The responses of a session."""
        if session not in self.known:
            self.known[session] = self.store.usages(session)
        return self.known[session]

    def followed(self, session: str, at: float) -> int:
        """The requests of a context after a moment, until it was compacted."""
        ends = [mark.at for mark in self.marks.get(session, ()) if mark.kind == "compact" and mark.at > at]
        until = min(ends, default=float("inf"))
        _, moments = self._main(session)
        return bisect_right(moments, until) - bisect_right(moments, at)

    def answered(self, session: str, at: float) -> Usage | None:
        """The first response after a moment."""
        responses, moments = self._main(session)
        next = bisect_right(moments, at)
        return responses[next] if next < len(responses) else None

    def responses(self, session: str, since: float, until: float) -> list[Usage]:
        """The responses of a session's main thread in a time."""
        responses, moments = self._main(session)
        return responses[bisect_left(moments, since) : bisect_left(moments, until)]

    def _main(self, session: str) -> tuple[list[Usage], list[float]]:
        """The responses of a session's main thread, and when they came."""
        if session not in self.times:
            main = [one for one in self.usages(session) if not one.agent]
            self.times[session] = main, [one.at for one in main]
        return self.times[session]


def find_compactions(
    sessions: Sessions, prices: Prices, since: float, until: float, session: str = ""
) -> list[Compaction]:
    """Where contexts of a project, or of one of its sessions, were compacted in a time; oldest first."""
    answered, summed = (moments(sessions.store, sessions.project, kind) for kind in ("replaced", "summary"))
    found = []
    for of, marks in sessions.marks.items():
        if (session and of != session) or not any(since <= mark.at < until for mark in marks):
            continue
        for one in compactions(marks, sessions.usages(of), answered.get(of, ()), summed.get(of, ())):
            if since <= one.at < until:
                found.append(_priced(one, sessions.answered(of, one.at), prices) if one.saved else one)
    return sorted(found, key=lambda one: one.at)


def _priced(one: Compaction, next: Usage | None, prices: Prices) -> Compaction:
    """A compaction of ours with what it spared, by the price of what the next response says."""
    price = price_of(prices, next.model, (one.before or 1) - 1) if next else None
    return one._replace(spared=one.saved * price.cache_read / MILLION) if price else one


def tellings(all: Iterable[Sessions], prices: Prices, since: float, until: float) -> list[Charge]:
    """What contexts were told in a time, the tools they had, and how often requests carried it; the dearest first."""
    found: dict[str, Charge] = {}
    for sessions in all:
        for one in (*_told(sessions, prices, since, until), *_tools(sessions, prices, since, until)):
            old = found.get(one.brief, Charge(one.brief, 0, 0, 0, Decimal(0)))
            found[one.brief] = Charge(
                one.brief,
                old.times + one.times,
                old.tokens + one.tokens,
                old.carried + one.carried,
                old.cost + one.cost,
            )
    return sorted(found.values(), key=lambda one: (-one.carried, -one.tokens, one.brief))


def _told(sessions: Sessions, prices: Prices, since: float, until: float) -> Iterator[Charge]:
    """What each brief took that contexts were told."""
    for one in told(sessions.store, sessions.project, "", since, until, reminders=True):
        requests = sessions.followed(one.session, one.at)
        each = _carrying(sessions, prices, one.session, one.at, requests)
        for name, tokens in shares(one.said):
            yield Charge(name, 1, tokens, tokens * requests, tokens * each)


def _tools(sessions: Sessions, prices: Prices, since: float, until: float) -> Iterator[Charge]:
    """What the list of our tools took, by session."""
    begun: dict[str, list[float]] = {}
    for at, session in equipped(sessions.store, sessions.project):
        begun.setdefault(session, []).append(at)
    for session in (one.session for one in sessions.store.used(sessions.project, since, until) if one.session in begun):
        starts = begun[session]
        responses = sessions.responses(session, max(since, starts[0]), until)
        contexts = sum(since <= at < until for at in starts)
        price = price_of(prices, responses[0].model, responses[0].context - 1) if responses else None
        written = min(contexts, len(responses))
        each = written * price.cache_write + (len(responses) - written) * price.cache_read if price else Decimal(0)
        if responses:
            yield Charge("tools", contexts, contexts * TOOLS, len(responses) * TOOLS, TOOLS * each / MILLION)


def _carrying(sessions: Sessions, prices: Prices, session: str, at: float, requests: int) -> Decimal:
    """What it costs that so many requests carry a token from a moment on."""
    first = sessions.answered(session, at) if requests else None
    price = price_of(prices, first.model, first.context - 1) if first else None
    return (price.cache_write + (requests - 1) * price.cache_read) / MILLION if price else Decimal(0)


def asking(store: Store, project: str | None, since: float, until: float) -> Asking:
    """What models took in a time that were asked to write notes."""
    found = model_requests(store, project, since, until)
    tokens = sum(wire.count(one.get("tokens_in")) + wire.count(one.get("tokens_out")) for one in found)
    return Asking(len(found), tokens, sum((Decimal(str(cost_of(one.get("cost")) or 0)) for one in found), Decimal(0)))
