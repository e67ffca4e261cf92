"""How the growth of a context from one response to the next divides: laid on what was said in between.

Every response says how large the context before it was. What that grew by is the words of the response before and the
prompts and results that followed them: so sums are measured, and texts only say how one gap divides. Three things have
no text to go by: the host's own additions, pictures, and what the model thought, of which transcripts hold a summary
or nothing. They get what the texts of their gap cannot explain.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.capture.claude_code import Line
from memory_keeper.model import Event, NamedTuple, Usage
from memory_keeper.text import CALL, tokens

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
UNSENT = frozenset({"ExitPlanMode"})  # its plan lies in a file, and is left out of what is sent
PICTURE = 1500  # tokens of a picture as large as the host sends them


class Cost(NamedTuple):
    """What one event added to the context."""

    what: str  # its tool, or what it is among WORDS
    tokens: int
    event: Event | None  # None: the host's, which no line shows
    call: Event | None  # what a result answers; of a call, itself
    turn: int
    response: int  # which response measured it


def find_gaps(lines: list[Line]) -> tuple[list[tuple[list[Cost], Usage, int]], list[Cost]]:
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
    return not usage.agent and usage.context > 0


def begin(gap: list[Cost], size: int, kin: str) -> list[Cost]:
    """What was said before the first response; the rest of that one's size is the base."""
    weights = weigh(gap, kin, 0)
    return priced(gap, _divide(size, weights) if sum(weights) > size else weights)


def lay(gap: list[Cost], grown: int, kin: str, output: int, unseen: Cost) -> tuple[list[Cost], int]:
    """The costs of a gap, and what was freed in it: their difference is what the context grew by.

    In nine of ten real gaps the growth is 0.85 to 1.5 times what the texts say; what is far off has another cause.
    """
    weights = weigh(gap, kin, output)
    own = sum(weight for cost, weight in zip(gap, weights, strict=True) if cost.event and cost.event.kind in OWN)
    bare = [0 if cost.what == "thinking" else weight for cost, weight in zip(gap, weights, strict=True)]
    if grown * 4 < sum(weights) * 3 and grown <= _most(bare):
        weights = bare  # some models' thoughts are dropped when the user speaks again
    total = sum(weights)
    if grown * 2 < total or grown < 0:  # these came while others went
        return priced(gap, weights), total - grown
    shown = min(grown, _most(weights))
    laid, rest = _divide(shown, weights), grown - shown
    # what a text is not the measure of: pictures, and thoughts when the output count of their response is a stub
    loose = [_loose(cost, output * 4 < own * 3) * max(1, weight) for cost, weight in zip(gap, weights, strict=True)]
    if any(loose):
        extra = _divide(rest, loose)
        return priced(gap, [one + more for one, more in zip(laid, extra, strict=True)]), 0
    return priced(gap, laid) + ([unseen._replace(tokens=rest)] if rest else []), 0


def weigh(gap: list[Cost], kin: str, output: int) -> list[int]:
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
    if event.kind != "result":
        return tokens(event.text, kin)
    text = event.text[: wire.read_object(event.extra).get("shown")]  # of what was too large, the context got a preview
    return tokens(text, kin) + PICTURE * _pictures(text)


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


def priced(gap: list[Cost], parts: list[int]) -> list[Cost]:
    """The costs of a gap, with what each takes."""
    return [cost._replace(tokens=part) for cost, part in zip(gap, parts, strict=True)]
