"""Which events one note covers and how long it may be, and which notes an outline covers.

A note covers a segment of a session: so many calls as the setting says, whole turns where those have fewer, and calls
with their answers, unless those never come or a compaction comes between. Notes of a project are covered in their turn
when they have grown too many: the oldest by an outline, the newest stay open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_keeper.model import Event, NamedTuple, Note

CALLS = ("call", "todo")
SAID = ("prompt", "reply", "queued", "task")
PATIENCE = 2  # times the talk at which a segment is cut inside a turn, when none of its calls is open
LIMIT = 4  # times the size at which it is cut anywhere
WORDS_PER_SENTENCE, SENTENCE = 200, 60  # of what is read, and tokens of what is told for them
TURN, CALL = 60, 18  # tokens for what was asked in a turn and what came of it, and for what was done in a call
LEAST = 250  # tokens that the shortest segment may take: what was asked, what came of it, and where


class Segment(NamedTuple):
    """The events that one note is about."""

    events: list[Event]
    midway: bool = False  # the turn goes on after it


def segments(events: Sequence[Event], interval: int, characters: int, over: bool) -> Iterator[Segment]:
    """The events in order, cut where a note may end; the last ones only when nothing will follow them, or enough has
    happened and the turn seems to be over."""
    segment: list[Event] = []
    tools = said = 0.0
    waiting: set[str] = set()  # calls that have no answer yet
    for event in events:
        calls, talk = tools / interval, said / characters
        full, pause = max(calls, talk), not waiting
        if segment and (
            (full >= 1 and event.kind == "prompt")
            or (pause and ((calls >= 1 and event.kind in CALLS) or talk >= PATIENCE))
            or full >= LIMIT
            or _is_compacted(segment[-1], event)
        ):
            yield Segment(segment, midway=event.kind != "prompt")
            segment, tools, said = [], 0.0, 0.0
            waiting.clear()  # what was cut off from its answer, or never gets one, holds up nothing more
        segment.append(event)
        tools += event.kind in CALLS
        said += len(event.text) if event.kind in SAID else 0
        if event.kind in CALLS and event.ref:
            waiting.add(event.ref)
        elif event.kind == "result":
            waiting.discard(event.ref)
    full = max(tools / interval, said / characters)
    done = full >= 1 and not waiting and _last_said(segment) == "reply"
    if segment and (over or done or (full >= PATIENCE and not waiting) or full >= LIMIT):
        yield Segment(segment)


def _is_compacted(before: Event, event: Event) -> bool:
    """Whether a context was compacted between two events; the summary that this left belongs to what it sums up."""
    return before.kind == "summary" or (before.kind == "compact" and event.kind != "summary")


def _last_said(segment: Sequence[Event]) -> str:
    return next((event.kind for event in reversed(segment) if event.kind in (*CALLS, *SAID) and not event.agent), "")


def note_budget(events: Sequence[Event], most: int) -> int:
    """How long a note about these may be: about a sentence for every 200 words that were said, one for each turn, and
    a few words for each call."""
    words = sum(len(event.text[:20_000].split()) for event in events if event.kind in SAID)
    turns = sum(event.kind == "prompt" and not event.agent for event in events)
    calls = sum(event.kind in CALLS for event in events)
    return min(most, max(LEAST, words * SENTENCE // WORDS_PER_SENTENCE + turns * TURN + calls * CALL))


def rotated(notes: Sequence[Note], most: int, carry: int) -> list[Note]:
    """The oldest of some open notes, to be covered by one above them because all together are too long; empty when
    they are not. As many of the newest as fit into `carry` stay open, and always the very newest."""
    if sum(note.tokens for note in notes) <= most:
        return []
    kept = 0
    left = list(notes)
    while left and (left[-1] is notes[-1] or kept + left[-1].tokens <= carry):
        kept += left.pop().tokens
    taken: list[Note] = []
    size = 0
    for note in left:
        if taken and size + note.tokens > most:
            break
        size += note.tokens
        taken.append(note)
    return taken
