"""Tokens under headings: by day, session, model, project or tool, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal

from memory_keeper.briefs.report.prices import Prices, cost
from memory_keeper.model import NamedTuple, Spending
from memory_keeper.notes.usage.breakdown import Share
from memory_keeper.notes.usage.growth import weight
from memory_keeper.store.store import Store
from memory_keeper.store.usage import main_models, tool_calls
from memory_keeper.text import family

NOBODY = "unknown tool"  # of a result whose call was never seen


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


SPANS: dict[str, Callable[[str], str]] = {"week": _week, "month": lambda day: day[:7]}  # of a day


class Sum(NamedTuple):
    """Tokens under one heading, and what they cost."""

    name: str
    requests: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    cost: Decimal
    unpriced: int  # tokens of models that have no price

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input + self.cache_read + self.cache_write + self.output

    @property
    def cached(self) -> float:
        """The share of what was sent that came from a cache."""
        return self.cache_read / max(1, self.input + self.cache_read + self.cache_write)


def sums(
    store: Store,
    prices: Prices,
    by: str = "",
    project: str | None = None,
    since: float = 0.0,
    until: float = 0.0,
    session: str = "",
) -> list[Sum]:
    """What was spent in a time, by day, week, month, session, model or project."""
    of_day = SPANS.get(by)
    groups: dict[str, list[Spending]] = {}
    for one in store.spending("day" if of_day else by, project, since, until, session, prices.sizes):
        groups.setdefault(of_day(one.key) if of_day else one.key, []).append(one)
    return [_sum(name, group, prices) for name, group in groups.items()]


def total(rows: Sequence[Sum]) -> Sum:
    """All of it."""
    return Sum._make(("total", *_counts(rows), sum((row.cost for row in rows), Decimal(0)), _all(rows, "unpriced")))


def _sum(name: str, group: Sequence[Spending], prices: Prices) -> Sum:
    return Sum._make((name, *_counts(group), *cost(prices, group)))


def _counts(rows: Sequence[Sum] | Sequence[Spending]) -> list[int]:
    return [_all(rows, field) for field in ("requests", "input", "cache_read", "cache_write", "output")]


def _all(rows: Sequence[Sum] | Sequence[Spending], field: str) -> int:
    return sum(getattr(row, field) for row in rows)


def largest(rows: Iterable[Sum]) -> list[Sum]:
    """The one with the most tokens first."""
    return sorted(rows, key=lambda row: (-row.tokens, row.name))


def by_tool(
    store: Store,
    projects: Iterable[str],
    since: float,
    until: float,
    advance: Callable[[int], None] = lambda done: None,
) -> list[Share]:
    """About what each tool put into contexts: its calls and their results, weighed by their texts; largest first."""
    kin = {session: family(model) for session, model in main_models(store).items()}
    found: dict[str, tuple[int, int]] = {}
    for project in projects:
        for tool, event in tool_calls(store, project, since, until):
            tokens, times = found.get(tool or NOBODY, (0, 0))
            size = weight(event, kin.get(event.session) or family(""))
            found[tool or NOBODY] = tokens + size, times + (event.kind != "result")
            advance(1)
    shares = [Share(tool, tokens, times) for tool, (tokens, times) in found.items()]
    return sorted(shares, key=lambda share: (-share.tokens, share.what))
