"""How often models were asked for better wordings, what that took, and whether one may be asked again now.

Each time is two events, one kept before a model is asked and one after it. So what was spent and how often it failed is
a query, and a process that was killed in between has still been counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from memory_keeper import wire
from memory_keeper.model import DAY, Event, Json, NamedTuple
from memory_keeper.notes.summarizers.asking import cost_of
from memory_keeper.store.events import model_calls
from memory_keeper.store.store import Store

MINUTE = 60.0
STREAK = 64  # attempts that are looked at for how many of the last ones failed


class Attempt(NamedTuple):
    """One time that a model was asked."""

    at: float
    note: str
    ok: bool
    refused: bool  # it answered, and that was not taken
    tokens: int
    background: bool
    project: str = ""
    cost: float = 0.0  # in dollars, where somebody said
    by: str = ""  # who was asked
    silent: bool = False  # it ended without an answer
    why: str = ""  # that was so, or the answer was not taken


def attempts(events: Sequence[Event]) -> list[Attempt]:
    """The times that a model was asked, the newest first; of one that never ended, what is known of its beginning."""
    found: dict[str, Attempt] = {}
    for event in sorted(events, key=lambda event: event.id):  # its end, if there is one, after its beginning
        found[event.id.rpartition(":")[0]] = _attempt(event)
    return sorted(found.values(), key=lambda attempt: attempt.at, reverse=True)


def _attempt(event: Event) -> Attempt:
    fields = wire.read_object(event.extra)
    ok, ended = fields.get("ok") is True, event.id.endswith(":1")
    return Attempt(
        event.at,
        event.ref,
        ok,
        ended and not ok and fields.get("answered") is True,
        wire.count(fields.get("tokens_in")) + wire.count(fields.get("tokens_out")),
        fields.get("background") is True,
        event.project,
        cost_of(fields.get("cost")) or 0.0,
        event.tool,
        ended and not ok and fields.get("answered") is not True,
        str(fields.get("why") or ""),
    )


def unanswered(tried: Sequence[Attempt], settings: Json) -> list[Attempt]:
    """The last times, the newest first, in which a summarizer that the settings name could not be asked or said
    nothing; none where one has answered since."""
    named = {settings["summarize.level1"], settings["summarize.level2"]}
    ended = [attempt for attempt in tried if attempt.by in named and (attempt.silent or attempt.ok or attempt.refused)]
    return list(takewhile(lambda attempt: attempt.silent, ended))


def may_ask(store: Store, tokens: int, daily: int, now: float) -> bool:
    """Whether a model may be asked now in the background: that many tokens are left of what may be spent in a day, and
    it has not just failed."""
    day = [
        attempt for attempt in attempts(model_calls(store, now - DAY)) if attempt.background and attempt.at < now + DAY
    ]
    left = daily - sum(attempt.tokens for attempt in day)
    return tokens <= left and not backing_off(attempts(model_calls(store, limit=2 * STREAK)), now)


def backing_off(tried: Sequence[Attempt], now: float) -> bool:
    """Whether it is too early to ask again after failures: a minute after one, and twice as long after each more."""
    failed = next((number for number, attempt in enumerate(tried) if attempt.ok), len(tried))
    wait = min(DAY, MINUTE * 2 ** (failed - 1)) if failed else 0.0
    return failed > 0 and abs(now - tried[0].at) < wait  # abs: the clock may have been set back
