"""What ate the context: the growth the host reports from one response to the next, laid on what was said in between.

Every response says how large the context before it was. What that grew by is the words of the response before and the
prompts and results that followed them: so sums are measured, and texts only say how one gap divides. Three things have
no text to go by: the host's own additions, pictures, and what the model thought, of which transcripts hold a summary
or nothing. They get what the texts of their gap cannot explain.
"""

from __future__ import annotations

from heapq import nlargest
from itertools import accumulate

from memory_keeper import wire
from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce.facts import WRITES
from memory_keeper.text import CALL, NEWEST, family, one_line, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.capture.claude_code import Line
    from memory_keeper.model import Usage

# what is no tool's; a kind that is not here is not sent to the model: titles, the queue, the host's own rows
WORDS = {
    "prompt": "prompts",
    "task": "prompts",
    "reply": "replies",
    "thinking": "thinking",
    "image": "images",
    "command": "commands",
    "summary": "summary",
    "meta": "injected",
    "notice": "injected",
}
WORDLESS = {"result": "results", "call": "calls", "todo": "calls"}  # of a tool we were not told
CALLS = ("call", "todo")
OWN = ("reply", "thinking", *CALLS)  # a response's blocks
OPENS = ("prompt", "command")  # a turn of the user's
FILES = WRITES | {"Read"}
UNSENT = frozenset({"ExitPlanMode"})  # its plan lies in a file, and is left out of what is sent
PICTURE = 1500  # tokens of a picture as large as the host sends them
CLEARED = 5000  # freed at once: more than thinking that was dropped, so what was read may be gone
TURNS = 8


class Cost(NamedTuple):
    """What one event added to the context."""

    what: str  # its tool, or what it is among WORDS
    tokens: int
    event: Event | None  # None: the host's, which no line shows
    call: Event | None  # what a result answers; of a call, itself
    turn: int
    response: int  # which response measured it


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
    gaps, said = _gaps(list(lines))
    costs: list[Cost] = []
    responses: list[Response] = []
    base, size, kin, output = 0, max(0, begun), NEWEST, 0
    if not gaps and size:
        costs = _begin([cost for cost in said if cost.what == "summary"], size, kin)
        said = [cost for cost in said if cost.what != "summary"]
        base = size - _sum(costs)
    for gap, usage, turn in gaps:
        before, size, kin = size, context(usage), family(usage.model)
        if responses:
            unseen = Cost("injected", 0, None, None, turn, len(responses))
            laid, freed = _lay(gap, size - before, kin, output, unseen)
        else:
            laid, freed = _begin(gap, size, kin), 0
            base = size - _sum(laid)
        costs += laid
        responses.append(Response(usage.message, usage.at, size, _sum(laid), freed, turn))
        output = usage.output
    unmeasured = _costs(said, _weigh(said, kin, output))
    freed = sum(response.freed for response in responses)
    shares = tuple(by_tool(costs))
    return Breakdown(size, base, freed, _sum(unmeasured), shares, tuple(costs), tuple(unmeasured), tuple(responses))


def context(usage: Usage) -> int:
    """How large the context before a response was."""
    return usage.input + usage.cache_read + usage.cache_write


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


# --- how a gap divides -----------------------------------------------------------------------------------------------


def _gaps(lines: list[Line]) -> tuple[list[tuple[list[Cost], Usage, int]], list[Cost]]:
    """Each response that measures, with what was said before it, not weighed yet, and its turn; and what came after.

    Events do not name their response, but the order of the file does: every line of a response repeats its usage, so
    what stands after the first of them, a result between two of its blocks too, is measured by the next response.
    """
    told = {line.usage.message: line.usage for line in lines if line.usage and _says(line.usage)}  # its last line's
    calls = {event.ref: event for line in lines for event in line.events if event.kind in CALLS and event.ref}
    known: set[str] = set()
    gaps: list[tuple[list[Cost], Usage, int]] = []
    said: list[Cost] = []
    turn, answered = 0, False
    for line in lines:
        usage = told.pop(line.usage.message, None) if line.usage and _says(line.usage) else None
        if usage:
            gaps.append((said, usage, turn))
            said, answered = [], True
        for event in line.events:
            if event.agent or event.id in known:  # a row that was copied is in the context once
                continue
            known.add(event.id)
            if event.kind in OPENS and answered:
                turn, answered = turn + 1, False
            answered = answered or event.kind in OWN
            call = event if event.kind in CALLS else calls.get(event.ref) if event.kind == "result" else None
            what = (call.tool if call else WORDS.get(event.kind)) or WORDLESS.get(event.kind)
            if what:
                said.append(Cost(what, 0, event, call, turn, len(gaps)))
    return gaps, said


def _says(usage: Usage) -> bool:
    """Whether it measures this context: not an agent's, and not a size of 0."""
    return not usage.agent and context(usage) > 0


def _begin(gap: list[Cost], size: int, kin: str) -> list[Cost]:
    """What was said before the first response; the rest of that one's size is the base."""
    weights = _weigh(gap, kin, 0)
    return _costs(gap, _divide(size, weights) if sum(weights) > size else weights)


def _lay(gap: list[Cost], grown: int, kin: str, output: int, unseen: Cost) -> tuple[list[Cost], int]:
    """The costs of a gap, and what was freed in it: their difference is what the context grew by.

    In nine of ten real gaps the growth is 0.85 to 1.5 times what the texts say; what is far off has another cause.
    """
    weights = _weigh(gap, kin, output)
    own = sum(weight for cost, weight in zip(gap, weights, strict=True) if cost.event and cost.event.kind in OWN)
    bare = [0 if cost.what == "thinking" else weight for cost, weight in zip(gap, weights, strict=True)]
    if grown * 4 < sum(weights) * 3 and grown <= _most(bare):
        weights = bare  # some models' thoughts are dropped when the user speaks again
    total = sum(weights)
    if grown * 2 < total or grown < 0:  # these came while others went
        return _costs(gap, weights), total - grown
    shown = min(grown, _most(weights))
    laid, rest = _divide(shown, weights), grown - shown
    # what a text is not the measure of: pictures, and thoughts when the output count of their response is a stub
    loose = [_loose(cost, output * 4 < own * 3) * max(1, weight) for cost, weight in zip(gap, weights, strict=True)]
    if any(loose):
        extra = _divide(rest, loose)
        return _costs(gap, [one + more for one, more in zip(laid, extra, strict=True)]), 0
    return _costs(gap, laid) + ([unseen._replace(tokens=rest)] if rest else []), 0


def _weigh(gap: list[Cost], kin: str, output: int) -> list[int]:
    """About how many tokens each is; a response's thoughts are at least what its output has beside its words."""
    weights = [weight(cost.event, kin) if cost.event else 0 for cost in gap]
    thoughts = [number for number, cost in enumerate(gap) if cost.what == "thinking"]
    if not thoughts:
        return weights
    words = sum(weights[n] for n, cost in enumerate(gap) if cost.event and cost.event.kind in ("reply", *CALLS))
    seen = sum(weights[n] for n in thoughts)
    if output - words > seen:
        parts = _divide(output - words, [weights[n] for n in thoughts] if seen else [1] * len(thoughts))
        for n, part in zip(thoughts, parts, strict=True):
            weights[n] = part
    return weights


def weight(event: Event, kin: str) -> int:
    """About how many tokens an event adds to a context."""
    if event.kind in CALLS:
        return CALL + (0 if event.tool in UNSENT else tokens(event.text, kin))
    if event.kind == "image":
        return PICTURE
    return tokens(event.text, kin) + (PICTURE * _pictures(event.text) if event.kind == "result" else 0)


def _most(weights: list[int]) -> int:
    """As much as texts of these weights may turn out to be."""
    total = sum(weights)
    return total + total // 4 + 64 if total else 0


def _loose(cost: Cost, stub: bool) -> bool:
    if not cost.event or cost.what == "thinking":
        return stub and cost.what == "thinking"
    return cost.event.kind == "image" or (cost.event.kind == "result" and _pictures(cost.event.text) > 0)


def _pictures(text: str) -> int:
    """How many pictures and documents a result held, of which only placeholders were kept."""
    if "[image " not in text and "[document " not in text:
        return 0
    return sum(line.startswith(("[image ", "[document ")) and line.endswith(" bytes]") for line in text.split("\n"))


def _divide(amount: int, weights: list[int]) -> list[int]:
    """An amount in proportion to weights, in whole tokens that add up to it; nothing when nothing weighs."""
    total, upto, parts = sum(weights), 0, []
    done = 0
    for weight in weights:
        upto += weight
        until = amount * upto // total if total else 0
        parts.append(until - done)
        done = until
    return parts


def _costs(gap: list[Cost], parts: list[int]) -> list[Cost]:
    return [cost._replace(tokens=part) for cost, part in zip(gap, parts, strict=True)]


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
