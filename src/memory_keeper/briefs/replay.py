"""The replay: messages of a session as they were written, chosen by worth and told in the order in which they came.

Which messages are worth it the facts of the handoff say: each cites where it was said, the most needed first. How it
ended, and what fails and is not fixed, comes before all others. Nothing is put in other words: a message that is too
long loses its middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memory_keeper.briefs import CHARACTERS, OPENING, Said, View, envelope, quoted, short
from memory_keeper.briefs.handoff import facts_for
from memory_keeper.capture.calls import command_of
from memory_keeper.capture.signature import wrong_line
from memory_keeper.extract.facts import say
from memory_keeper.extract.work import worked
from memory_keeper.model import Event
from memory_keeper.request import Brief
from memory_keeper.store.events import newest_events
from memory_keeper.text import clip, clip_middle, tokens, utc_moment
from memory_keeper.wire import units

NAME = "replay"
HEADING = "Said then, word for word, oldest first"
LAST, MESSAGE, COMMAND = 450, 220, 80  # tokens of the last request and answer, of any other message, of a call
AROUND, LEAST, PASSED = 35, 12, 8  # tokens around a message, the shortest one, and how many that do not fit are tried
GAP = "\n[…]\n"  # in the place of what was left out
WRONG = 60  # characters by which the line that says what went wrong is found in an output
STRETCH, FAILING = 1500, 3  # newest events that are looked at for what fails, and how much of it is told
SAME = 2000  # characters by which two messages are the same
WHO = {"prompt": "user", "queued": "user", "reply": "model"}
NODS = ("accepted", "then")  # facts whose message says nothing by itself


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
    near = newest_events(view.store, view.of, STRETCH) if view.of else []
    order = {event.id: place for place, event in enumerate([*near, *reversed(view.provisional)])}  # others are older
    lines = sorted(
        _fitting(chosen(view, near), left, room, nonce), key=lambda line: (order.get(line[0].id, -1), line[0].at)
    )
    if not lines:
        return Brief(NAME, "", 0)
    text = f"{opening}## {HEADING}\n{''.join(line for _, line in lines)}{closing}"
    return Brief(NAME, text, tokens(text), tuple(event.id for event, _ in lines))


def _fitting(messages: Iterable[Message], budget: int, room: int, nonce: str) -> Iterator[tuple[Event, str]]:
    """The messages that fit, most needed first, quoted and cited; one that is too long for what is left loses more of
    its middle, or its place to a shorter one."""
    passed = 0
    for one in messages:
        most = min(one.most, budget - AROUND, (room - 5 * AROUND) // 4)
        while most >= LEAST:
            said = _said(one, most)
            line = f"{quoted(said.text, nonce)} [{short(said.cite)}]\n"
            if tokens(line) + 1 <= budget and units(line) <= room:
                budget, room = budget - tokens(line) - 1, room - units(line)
                yield one.event, line
                break
            most = most * 2 // 3  # what quotes each of its lines is not in the text
        else:
            passed += 1
            if passed > PASSED:
                return


def _said(one: Message, most: int) -> Said:
    return Said(f"{utc_moment(one.event.at)}Z {one.who}: {clip_middle(one.text.strip(), most, GAP)}", one.event.id)


def chosen(view: View, near: Sequence[Event]) -> Iterator[Message]:
    """The messages worth telling, the most needed one first and none twice."""
    known: set[str] = set()
    for one in _messages(view, near) if view.of else ():
        same = f"{one.who} {' '.join(one.text[: 2 * SAME].split())[:SAME]}"
        if one.text.strip() and not known & {one.event.id, same}:
            known |= {one.event.id, same}
            yield one


def _messages(view: View, near: Sequence[Event]) -> Iterator[Message]:
    """How it ended, and what fails; then what the facts of the handoff cite."""
    spoken = {event.id: event for event in view.provisional if event.session in view.of}
    for kind in ("prompt", "reply"):
        newest = [event for event in spoken.values() if event.kind == kind] or view.store.latest(
            view.project, kind, 1, view.of
        )
        for event in newest[:1]:
            yield Message(event, WHO[kind], event.text, LAST)
    yield from _failing(near)
    for fact in facts_for(view):
        stated = (spoken.get(fact.cites[-1]) or view.store.event(fact.cites[-1])) if fact.cites else None
        if stated and not stated.agent and not fact.of and fact.kind not in NODS:
            if fact.kind == "answer":
                yield Message(stated, "user", say(fact))
            elif stated.kind in WHO:
                yield Message(stated, WHO[stated.kind], stated.text)


def _failing(events: Sequence[Event]) -> Iterator[Message]:
    """The last commands that failed and were not fixed, each with what it said."""
    by_id = {event.id: event for event in events}
    open = [fact for fact in worked(events, [0] * len(events)) if fact.kind == "error" and fact.status == "open"]
    for fact in open[: -FAILING - 1 : -1]:
        call, result = (by_id[cite] for cite in fact.cites)
        said = clip_middle(command_of(call).strip(), COMMAND, GAP)
        text = f"{call.tool} failed: {said}\n→ {_clipped(result.text.strip())}"
        yield Message(result, "tool", text, MESSAGE + COMMAND + 40)


def _clipped(output: str) -> str:
    """An output without its middle, but with the line that says what went wrong."""
    short, wrong = clip_middle(output, MESSAGE, GAP), wrong_line(output)
    at = output.find(wrong[:WRONG]) if wrong else -1
    if at < 0 or wrong[:WRONG] in short:
        return short
    begin, end = output.rfind("\n", 0, at) + 1, clip_middle(output, MESSAGE // 2, GAP).rpartition(GAP)[2]
    return f"{clip(output, MESSAGE // 4, '')}{GAP}{clip(output[begin:], MESSAGE // 2, '')}{GAP}{end}"
