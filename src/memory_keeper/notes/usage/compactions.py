"""Where contexts were compacted, by whom, and what that saved, as the host counted: one rule, whoever tells it.

Before is what the host says of its compaction, else what its last response was given. After is what the first response
that followed was given; until there is one, what the host says it left, which is an estimate. A saving is claimed only
for compactions of our own: the requests that followed would have carried the context as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from memory_keeper import wire
from memory_keeper.model import Event, NamedTuple, Usage
from memory_keeper.store.events import boundaries
from memory_keeper.store.store import Store

MOST = 100_000  # marks of a project that are looked at, the newest
CLEARED = {"end": "clear", "archived": "hand"}
SOON, AT_ONCE = 60.0, 10.0  # seconds from our answer to the line that says it was compacted; and to a summary's line


class Compaction(NamedTuple):
    """A moment at which a context was compacted or cleared, and what that was measured to do."""

    session: str
    at: float
    by: str  # host | keeper | clear | hand
    trigger: str  # what set the host off: auto, manual, …
    before: int | None  # tokens of the context; None: nobody counted
    after: int | None
    requests: int  # that followed, until the next
    seconds: float | None  # that it took, where the host says
    spared: Decimal | None = None  # what those saved would have cost as cache reads, the least; None: not priced

    @property
    def freed(self) -> int:
        """Tokens that the context had before and not after, where both were counted."""
        return 0 if self.before is None or self.after is None else self.before - self.after

    @property
    def saved(self) -> int:
        """Tokens that later requests did not carry: of our own compactions only."""
        counted = self.by == "keeper" and self.before and self.after
        return max(0, self.freed) * self.requests if counted else 0

    @property
    def estimated(self) -> bool:
        """Whether `after` can only be what the next context is told, by our estimate: another session goes on."""
        return self.by in CLEARED.values()


class Change(NamedTuple):
    """What a compaction did to a context."""

    at: float
    before: int | None  # tokens; None: nobody counted
    after: int | None
    requests: int  # that followed, until the context was compacted again


def saved(store: Store, project: str) -> list[Compaction]:
    """The compactions of ours in a project that a request has followed, oldest first."""
    answered, summed = moments(store, project, "replaced"), moments(store, project, "summary")
    marks: dict[str, list[Event]] = {session: [] for session in answered}
    for mark in boundaries(store, project):
        if mark.session in marks:
            marks[mark.session].append(mark)
    found = (
        one
        for of, those in marks.items()
        for one in compactions(those, store.usages(of), answered[of], summed.get(of, ()))
        if one.by == "keeper" and one.requests and one.before and one.after
    )
    return sorted(found, key=lambda one: one.at)


def moments(store: Store, project: str, kind: str) -> dict[str, list[float]]:
    """When something of a kind happened, by session."""
    found: dict[str, list[float]] = {}
    for event in store.latest(project, kind, MOST, text=False):
        found.setdefault(event.session, []).append(event.at)
    return found


def compactions(
    marks: Sequence[Event], usages: Sequence[Usage], answered: Sequence[float], summed: Sequence[float]
) -> list[Compaction]:
    """What happened at each mark of a session, given all its marks and responses, oldest first.

    `answered` says when we answered a compaction, `summed` when the host wrote down summaries.
    """
    each = zip(marks, measure(marks, usages), _ours(marks, answered, summed), strict=True)
    return [_compaction(mark, change, mine) for mark, change, mine in each]


def _compaction(mark: Event, change: Change, mine: bool) -> Compaction:
    said = wire.read_object(mark.extra) if mark.extra else {}
    by = CLEARED.get(mark.kind) or ("keeper" if mine else "host")
    after = change.after if mark.kind == "compact" else None  # else another session goes on from there
    trigger, seconds = _word(said.get("trigger")), _seconds(said.get("durationMs"))
    return Compaction(mark.session, mark.at, by, trigger, change.before, after, change.requests, seconds)


def _word(said: object) -> str:
    return said[:20] if isinstance(said, str) and said.isalpha() else ""


def _seconds(said: object) -> float | None:
    return said / 1000 if isinstance(said, int) and not isinstance(said, bool) and 0 <= said < 1 << 40 else None


def measure(marks: Sequence[Event], usages: Sequence[Usage]) -> list[Change]:
    """What happened to a session's context at each mark, given all its marks and responses, oldest first."""
    given = sizes(usages)
    return [_measure(mark, marks[:place], marks[place + 1 :], given) for place, mark in enumerate(marks)]


def _ours(marks: Sequence[Event], answered: Sequence[float], summed: Sequence[float]) -> list[bool]:
    """Which of a session's marks are compactions that we answered: no summary of the host's stands right behind
    them."""
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
    return wire.count(wire.read_object(mark.extra).get(field))
