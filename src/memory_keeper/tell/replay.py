"""The replay: messages of a session as they were written, chosen by worth and told in the order in which they came.

What the user asked and corrected is worth most, then replies that settle something and say why, then what failed and
was not mended; and how it ended, always. A little of each comes in turn, so that every budget has some of all. Nothing
is put in other words: a message that is too long loses its middle.
"""

from __future__ import annotations

from memory_keeper.capture.calls import command_of
from memory_keeper.model import Event, NamedTuple
from memory_keeper.moment import Brief
from memory_keeper.reduce.finding.found import doubt, find_with, worry
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.finding.said import WEAK
from memory_keeper.reduce.finding.weights import Names
from memory_keeper.tell import CHARACTERS, OPENING, Said, envelope, quoted, short
from memory_keeper.text import clip, clip_middle, tokens, utc_moment
from memory_keeper.wire import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.reduce.facts import Fact
    from memory_keeper.tell import View

NAME = "replay"
HEADING = "Said then, word for word, oldest first"
STRETCH, PROMPTS = 1500, 60  # events that are looked at, and prompts, which may be older
LAST, MESSAGE, COMMAND = 450, 220, 80  # tokens of the last request and answer, of any other message, of a call
AROUND, LEAST, PASSED = 35, 12, 8  # tokens around a message, the shortest one, and how many that do not fit are tried
GAP = "\n[…]\n"  # in the place of what was left out
ROUND = (("asked", 3), ("settled", 1), ("failed", 1))  # what comes in turn, and how many
WRONG = 60  # characters by which the line that says what went wrong is found in an output
UNWEIGHED = Names([], [], [], {}, "")  # to weigh names is dear, and none of them is told
SAME = 2000  # characters by which two messages are the same


class Message(NamedTuple):
    """A message that may be told."""

    event: Event
    who: str  # user | model | tool
    text: str
    most: int = MESSAGE


def compose(view: View, budget: int, nonce: str, where: str, characters: int = CHARACTERS) -> Brief:
    """As many messages as fit, the most needed ones, in the order in which they came; empty when there are none."""
    opening, closing, left, room = envelope(NAME, OPENING.format(where), nonce, budget, characters)
    left, room = left - tokens(HEADING) - 5, room - units(HEADING) - 4
    events = _events(view)
    order = {event.id: place for place, event in enumerate(events)}
    lines = sorted(_fitting(events, left, room, nonce), key=lambda line: order[line[1]])
    if not lines:
        return Brief(NAME, "", 0)
    text = f"{opening}## {HEADING}\n{''.join(line for line, _ in lines)}{closing}"
    return Brief(NAME, text, tokens(text), tuple(cite for _, cite in lines))


def _fitting(events: Sequence[Event], budget: int, room: int, nonce: str) -> Iterator[tuple[str, str]]:
    """The messages that fit, most needed first, quoted and cited; one that is too long for what is left loses more of
    its middle, or its place to a shorter one."""
    passed = 0
    for one in chosen(events) if events else ():
        most = min(one.most, budget - AROUND, (room - 5 * AROUND) // 4)
        while most >= LEAST:
            said = _said(one, most)
            line = f"{quoted(said.text, nonce)} [{short(said.cite)}]\n"
            if tokens(line) + 1 <= budget and units(line) <= room:
                budget, room = budget - tokens(line) - 1, room - units(line)
                yield line, said.cite
                break
            most = most * 2 // 3  # what quotes each of its lines is not in the text
        else:
            passed += 1
            if passed > PASSED:
                return


def _events(view: View) -> list[Event]:
    """What was said and done, oldest first, without what subagents did and what the model only thought."""
    if not view.of:
        return []
    near = [event for event in view.store.stretch(view.of, STRETCH) if not event.agent and event.kind != "thinking"]
    known = {event.id for event in near}
    asked = view.store.latest(view.project, "prompt", PROMPTS, view.of)
    spoken = [event for event in view.provisional if event.session in view.of]
    return [*(event for event in reversed(asked) if event.id not in known), *near, *reversed(spoken)]


def _said(one: Message, most: int) -> Said:
    return Said(f"{utc_moment(one.event.at)}Z {one.who}: {clip_middle(one.text.strip(), most, GAP)}", one.event.id)


def chosen(events: Sequence[Event]) -> Iterator[Message]:
    """The messages worth telling, the most needed one first and none twice."""
    queues = _queues(events)
    ids: set[str] = set()
    said: set[str] = set()
    for one in _in_turn(queues):
        same = f"{one.who} {' '.join(one.text[: 2 * SAME].split())[:SAME]}"
        if one.event.id not in ids and same not in said:
            ids.add(one.event.id)
            said.add(same)
            yield one


def _in_turn(queues: dict[str, list[Message]]) -> Iterator[Message]:
    """How it ended; then some of every kind, until none is left."""
    yield from queues["last"]
    left = {kind: iter(queues[kind]) for kind, _ in ROUND}
    while left:
        for kind, many in ROUND:
            for _ in range(many if kind in left else 0):
                one = next(left[kind], None)
                if one is None:
                    del left[kind]
                    break
                yield one


def _queues(events: Sequence[Event]) -> dict[str, list[Message]]:
    """The messages of each kind, the best first."""
    facts: dict[str, list[Fact]] = {}
    for fact in find_with(events, UNWEIGHED):
        facts.setdefault(fact.kind, []).append(fact)
    by_id = {event.id: event for event in events}
    return {
        "last": _last(events),
        "asked": _asked(events, facts, by_id),
        "settled": _settled(facts, by_id),
        "failed": _failed(events, facts, by_id),
    }


def _last(events: Sequence[Event]) -> list[Message]:
    """The last request, and what the model said last after it."""
    asked = next((event for event in reversed(events) if event.kind == "prompt" and event.text.strip()), None)
    begin = events.index(asked) if asked else 0
    reply = next((e for e in reversed(events[begin:]) if e.kind == "reply" and e.text.strip()), None)
    found = [Message(asked, "user", asked.text, LAST)] if asked else []
    return [*found, Message(reply, "model", reply.text, LAST)] if reply else found


def _asked(events: Sequence[Event], facts: dict[str, list[Fact]], by_id: dict[str, Event]) -> list[Message]:
    """What the user wants: corrections and choices, what it began with, then the other requests; newest first."""
    prompts = [event for event in events if event.kind == "prompt" and not WEAK.match(event.text[:60].strip() or "ok")]
    users = [fact for fact in facts.get("decision", []) if fact.status == "user"]
    wanted = holding([*facts.get("correction", []), *facts.get("answer", []), *users])
    weighty = [by_id[fact.cites[0]] for fact in sorted(wanted, key=lambda fact: fact.at, reverse=True)]
    order = [*prompts[-1:], *weighty[:3], *prompts[:1], *weighty[3:], *reversed(prompts)]
    return [Message(event, "user", event.text) for event in order]


def _settled(facts: dict[str, list[Fact]], by_id: dict[str, Event]) -> list[Message]:
    """Replies that settle something: those that say why first, of equals the newest."""
    found = [fact for fact in holding(facts.get("decision", [])) if fact.status == "reply"]
    found.sort(key=lambda fact: (not fact.because, doubt(fact), -fact.at))
    return [Message(by_id[fact.cites[0]], "model", by_id[fact.cites[0]].text) for fact in found]


def _failed(events: Sequence[Event], facts: dict[str, list[Fact]], by_id: dict[str, Event]) -> list[Message]:
    """What failed, with the call it was of: what is not mended first, of equals the newest."""
    calls = {event.ref: event for event in events if event.kind in ("call", "todo") and event.ref}
    tests = [fact._replace(status="open") for fact in facts.get("test", []) if fact.status == "failed"]
    wrong = sorted([*facts.get("error", []), *tests], key=lambda fact: (worry(fact), -fact.at))
    found = []
    for fact in wrong:
        results = [by_id[id] for id in fact.cites if id in by_id and by_id[id].kind == "result"]
        bad = [event for event in results if event.failed] or results
        call = calls.get(bad[-1].ref) if bad else None
        if call:
            said = clip_middle((command_of(call) or call.text).strip(), COMMAND, GAP)
            answer = _clipped(bad[-1].text.strip(), fact.because if fact.kind == "test" else fact.text)
            found.append(Message(bad[-1], "tool", f"{call.tool} failed: {said}\n→ {answer}", MESSAGE + COMMAND + 40))
    return found


def _clipped(output: str, wrong: str) -> str:
    """An output without its middle, but with the line that says what went wrong."""
    short = clip_middle(output, MESSAGE, GAP)
    at = output.find(wrong[:WRONG]) if wrong else -1
    if at < 0 or wrong[:WRONG] in short:
        return short
    begin = output.rfind("\n", 0, at) + 1
    return f"{clip(output, MESSAGE // 4, '')}{GAP}{clip(output[begin:], MESSAGE // 2, '')}{GAP}{_end(output)}"


def _end(output: str) -> str:
    return clip_middle(output, MESSAGE // 2, GAP).rpartition(GAP)[2]
