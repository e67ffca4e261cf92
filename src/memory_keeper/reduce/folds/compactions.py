"""How large a context was before and after it was compacted, as the host counted: one rule, whoever tells it.

Before is what the host says of its compaction, else what its last response was given. After is what the first response
that followed was given; until there is one, what the host says it left, which is an estimate.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.model import Event, Usage


SOON, AT_ONCE = 60.0, 10.0  # seconds from our answer to the line that says it was compacted; and to a summary's line


class Change(NamedTuple):
    """What a compaction did to a context."""

    at: float
    before: int | None  # tokens; None: nobody counted
    after: int | None
    requests: int  # that followed, until the context was compacted again


def measure(marks: Sequence[Event], usages: Sequence[Usage]) -> list[Change]:
    """What happened to a session's context at each mark, given all its marks and responses, oldest first."""
    given = sizes(usages)
    return [_measure(mark, marks[:place], marks[place + 1 :], given) for place, mark in enumerate(marks)]


def ours(marks: Sequence[Event], answered: Sequence[float], summed: Sequence[float]) -> list[bool]:
    """Which of a session's marks are compactions that we answered: no summary of the host's stands right behind them.

    `answered` says when we did, `summed` when the host wrote down summaries.
    """
    return [
        mark.kind == "compact"
        and any(-1 < mark.at - at < SOON for at in answered)
        and not any(-1 < at - mark.at < AT_ONCE for at in summed)
        for mark in marks
    ]


def sizes(usages: Sequence[Usage]) -> list[tuple[float, int]]:
    """How large the context of the main thread was at each of its responses, and when."""
    return [(one.at, one.context) for one in usages if one.context and not one.agent]


def _measure(
    mark: Event, earlier: Sequence[Event], later: Sequence[Event], given: Sequence[tuple[float, int]]
) -> Change:
    left = [(one.at, size) for one in earlier if (size := _count(one, "postTokens"))]
    known = sorted([*(one for one in given if one[0] <= mark.at), *left], key=lambda one: one[0])
    until = next((one.at for one in later if one.kind == "compact"), float("inf"))
    after = [size for at, size in given if mark.at < at <= until]
    return Change(
        mark.at,
        _count(mark, "preTokens") or (known[-1][1] if known else None),
        after[0] if after else _count(mark, "postTokens") or None,
        len(after),
    )


def _count(mark: Event, field: str) -> int:
    """A number of tokens that the host's own line has; 0: it does not say."""
    value = wire.read_object(mark.extra).get(field) if mark.extra else 0
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
