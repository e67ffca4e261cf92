"""What ate the context: by tool, by file and by turn, what was read twice, and how fast it fills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import accumulate

from memory_keeper import wire
from memory_keeper.capture.claude_code import Line
from memory_keeper.model import WRITES, Event, NamedTuple
from memory_keeper.notes.usage.growth import OPENS, Cost, begin, find_gaps, lay, priced, weigh
from memory_keeper.text import NEWEST, family, one_line

FILES = WRITES | {"Read"}
CLEARED = 5000  # freed at once: more than thinking that was dropped, so what was read may be gone
TURNS = 8


class Share(NamedTuple):
    """What was spent on one thing, and how often."""

    what: str
    tokens: int
    times: int


class Response(NamedTuple):
    """A response that said how large the context before it was."""

    message: str
    at: float
    tokens: int
    grown: int  # since the response before, beside what was freed; of the first: what was said before it
    freed: int
    turn: int


class Breakdown(NamedTuple):
    """One context, taken apart: base + shares - freed is tokens, to the token."""

    tokens: int  # the gauge
    base: int  # system prompt, tools, memory files; after a compaction also what it carried over
    freed: int  # was there and went: cleared results, dropped thinking, a rewind
    estimated: int  # said since the last response: not in the gauge yet
    shares: tuple[Share, ...]  # by tool, largest first
    costs: tuple[Cost, ...]
    unmeasured: tuple[Cost, ...]  # those of `estimated`
    responses: tuple[Response, ...]


class Large(NamedTuple):
    """A result that was among the largest."""

    id: str
    tool: str
    about: str  # the file, or what the tool was given, on one line
    tokens: int


class Turn(NamedTuple):
    """What the user said, and all that came of it."""

    number: int  # in this context
    opening: Event | None  # None: it was begun before this context
    tokens: int
    responses: int


class Burn(NamedTuple):
    """How fast a context fills: medians over its newest turns."""

    turn: int
    response: int
    turns: int  # how many they were


def since_compaction(lines: Sequence[Line]) -> tuple[Sequence[Line], int]:
    """The lines of the newest context, and how large it was when its compaction was done (0: not said, or none)."""
    for number in range(len(lines) - 1, -1, -1):
        for event in lines[number].events:
            if event.tool == "compact_boundary" and event.kind == "compact" and not event.agent:
                return lines[number + 1 :], _begun(event)
    return lines, 0


def measure(lines: Iterable[Line], begun: int = 0) -> Breakdown:
    """What one context was spent on, from its lines in the order of the file.

    `begun` is its size after the compaction it began with; it counts until a response says more.
    """
    gaps, said = find_gaps(list(lines))
    costs: list[Cost] = []
    responses: list[Response] = []
    base, size, kin, output = 0, max(0, begun), NEWEST, 0
    if not gaps and size:
        costs = begin([cost for cost in said if cost.what == "summary"], size, kin)
        said = [cost for cost in said if cost.what != "summary"]
        base = size - _sum(costs)
    for gap, usage, turn in gaps:
        before, size, kin = size, usage.context, family(usage.model)
        if responses:
            unseen = Cost("injected", 0, None, None, turn, len(responses))
            laid, freed = lay(gap, size - before, kin, output, unseen)
        else:
            laid, freed = begin(gap, size, kin), 0
            base = size - _sum(laid)
        costs += laid
        responses.append(Response(usage.message, usage.at, size, _sum(laid), freed, turn))
        output = usage.output
    unmeasured = priced(said, weigh(said, kin, output))
    freed = sum(response.freed for response in responses)
    shares = tuple(by_tool(costs))
    return Breakdown(size, base, freed, _sum(unmeasured), shares, tuple(costs), tuple(unmeasured), tuple(responses))


# --- views -----------------------------------------------------------------------------------------------------------


def by_tool(costs: Iterable[Cost]) -> list[Share]:
    """By tool or kind of words, largest first; a call and its result are one time."""
    return _shares((cost.what, cost.tokens, _counts(cost)) for cost in costs)


def by_file(costs: Iterable[Cost]) -> list[Share]:
    """Everything each file cost: reads, edits, writes."""
    return _shares(
        (cost.call.path, cost.tokens, _counts(cost))
        for cost in costs
        if cost.call and cost.call.path and cost.call.tool in FILES
    )


def rereads(spent: Breakdown) -> list[Share]:
    """Files of which lines were read that already stood in the context, word for word: what could have been spared.

    A read counts when half of it was there. What was read before much was freed may be gone and is forgotten.
    """
    found: list[tuple[str, int, int]] = []
    seen: dict[str, set[str]] = {}
    clears, now = list(accumulate(response.freed >= CLEARED for response in spent.responses)), 0
    for cost in spent.costs:
        if cost.event and cost.call and cost.event.kind == "result" and cost.call.tool == "Read" and cost.call.path:
            if clears[cost.response] > now:
                seen, now = {}, clears[cost.response]
            there = seen.setdefault(cost.call.path, set())
            lines = [line for line in cost.event.text.split("\n") if _numbered(line)]
            size = len(cost.event.text)
            again = sum(len(line) + 1 for line in lines if line in there)
            if again * 2 > size:
                found.append((cost.call.path, cost.tokens * min(again, size) // size, 1))
            there.update(lines)
    return _shares(found)


def largest(costs: Iterable[Cost], limit: int = 10) -> list[Large]:
    """The largest single results, largest first."""
    results = [(cost.tokens, cost, cost.event) for cost in costs if cost.event and cost.event.kind == "result"]
    most = nlargest(limit, results, key=lambda one: one[0])
    return [Large(event.id, cost.what, _about(cost.call), size) for size, cost, event in most]


def by_turn(spent: Breakdown) -> list[Turn]:
    """What the context grew by in each turn of the user's, oldest first; a summary is nobody's."""
    grown: dict[int, int] = {}
    openings: dict[int, Event] = {}
    for cost in spent.costs:
        if cost.what != "summary":
            grown[cost.turn] = grown.get(cost.turn, 0) + cost.tokens
        if cost.event and cost.event.kind in OPENS:
            first = openings.setdefault(cost.turn, cost.event)
            if first.kind == "command" and cost.event.kind == "prompt":  # `/model` and then what was asked
                openings[cost.turn] = cost.event
    answers: dict[int, int] = {}
    for response in spent.responses:
        answers[response.turn] = answers.get(response.turn, 0) + 1
    turns = sorted(grown.keys() | answers.keys())
    return [Turn(turn, openings.get(turn), grown.get(turn, 0), answers.get(turn, 0)) for turn in turns]


def burn(spent: Breakdown, turns: int = TURNS) -> Burn:
    """How fast it filled over the newest turns. What was freed is not taken off: it is no habit to count on."""
    newest = by_turn(spent)[-turns:]
    since = newest[0].number if newest else 0
    each = [response.grown for response in spent.responses[1:] if response.turn >= since]
    return Burn(_median([turn.tokens for turn in newest]), _median(each), len(newest))


def turns_left(size: int, compacts_at: int, per_turn: int) -> int | None:
    """How many whole turns fit before the host compacts; None when that cannot be said."""
    return max(0, compacts_at - size) // per_turn if compacts_at > 0 and per_turn > 0 else None


# --- small things ----------------------------------------------------------------------------------------------------


def _begun(event: Event) -> int:
    size = wire.read_object(event.extra).get("postTokens")
    return size if isinstance(size, int) and size > 0 else 0


def _sum(costs: Iterable[Cost]) -> int:
    return sum(cost.tokens for cost in costs)


def _counts(cost: Cost) -> int:
    """A result is counted with its call, unless that was made before this context."""
    return int(not (cost.event and cost.event.kind == "result" and cost.call))


def _shares(found: Iterable[tuple[str, int, int]]) -> list[Share]:
    sums: dict[str, tuple[int, int]] = {}
    for what, size, times in found:
        before = sums.get(what, (0, 0))
        sums[what] = before[0] + size, before[1] + times
    shares = [Share(what, size, times) for what, (size, times) in sums.items()]
    return sorted(shares, key=lambda share: (-share.tokens, share.what))


def _numbered(line: str) -> bool:
    """Whether a line of a read begins with its number: versions put an arrow, a tab or a colon after it."""
    line = line.lstrip(" ")
    rest = line.lstrip("0123456789")
    return len(rest) < len(line) and rest[:1] in ("→", "\t", ":")


def _about(call: Event | None) -> str:
    if not call:
        return ""
    if call.path and call.tool in FILES:
        return one_line(call.path)
    given = call.text.partition(": ")[2] or call.text
    return one_line(given.rpartition("\ndescription: ")[0] or given)


def _median(values: list[int]) -> int:
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2 if values else 0
