"""What a reader is told of the model's answers: their statements, no plan for the next minute and no question.

And where a turn broke off: what it was doing then, and what the model had announced.
"""

from __future__ import annotations

import re

from memory_keeper.model import Event
from memory_keeper.reduce.words import claims
from memory_keeper.reduce.words.prose import parts, unmarked
from memory_keeper.text import one_line, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SOON = 3  # calls after which what was announced is done
TERSE = 12  # tokens
BACK = 8  # answers that are looked at for one that says something
LIST = 5  # words of an item that says something by itself
HOSTS = frozenset({"No response requested.", "(no content)"})  # what the host puts where nothing was said
LOOKS = re.compile(
    r"\b(?:look|check|see|read|find|search|explore|understand|dig|examine|verify|investigate|view)\b", re.I
)


def statement(text: str, budget: int, without: Iterable[str] = (), pointed: bool = False, items: bool = True) -> str:
    """The first sentences of an answer that state something, on one line, as many as fit, and at least
    one. `pointed`: one, sooner one that names something. `items`: of an answer that is a list, its items. Empty when
    none states anything."""
    told = [one for one in _told(text, items) if one not in without]
    if pointed:
        told = [one for one in told if claims.NAMES.search(one)][:1] or told[:1]
    chosen: list[str] = []
    for one in told:
        if chosen and tokens(" ".join([*chosen, one])) > budget:
            return " ".join(chosen) + " …"
        chosen.append(one)
    return " ".join(chosen)


def terse(text: str) -> str:
    """An answer of a few words that says how it went; empty for one that says nothing, or is longer."""
    said = unmarked(one_line(text, 200)).strip()
    few = 0 < tokens(said) <= TERSE and said[-1] not in ":?？" and not claims.announces(said)
    return said if few and not claims.SAYS_NOTHING.match(said) and said not in HOSTS else ""


def _told(text: str, items: bool) -> list[str]:
    """The statements of an answer: its prose, or where it has none, its items."""
    found: dict[str, list[str]] = {"prose": [], "item": []}
    if text.strip() in HOSTS:
        return []
    for kind, one in parts(text, split_up=True):
        said = unmarked(one).strip()
        if kind in found and claims.states(said):
            found[kind].append(said)
    return found["prose"] or [one for one in found["item"] if items and len(one.split()) >= LIST]


def last_said(events: Sequence[Event]) -> Iterator[Event]:
    """The last answers that may be told, newest first."""
    answers = (event for event in reversed(events) if event.kind == "reply" and not event.agent and event.text.strip())
    for number, event in enumerate(answers):
        if number == BACK:
            return
        yield event


def doing(events: Sequence[Event]) -> Event | None:
    """The call that a turn broke off at; None when it ended with an answer, or nothing was begun."""
    for event in reversed(events):
        if event.agent:
            continue
        if event.kind in ("reply", "prompt", "notice"):
            return None
        if event.kind in ("call", "todo"):
            return event
    return None


def announced(events: Sequence[Event]) -> tuple[str, Event] | None:
    """What the model said that it does now, where a turn broke off."""
    if doing(events) is None:
        return None
    for event in last_said(events):
        place = events.index(event)
        calls = sum(one.kind == "call" and not one.agent for one in events[place:])
        said = [unmarked(one).strip() for kind, one in parts(event.text, split_up=True) if kind in ("prose", "item")]
        if said and calls <= SOON and claims.announces(said[-1]):
            plain = (LOOKS.search(said[-1]) or len(said[-1].split()) < LIST) and not claims.NAMES.search(said[-1])
            return None if plain else (said[-1].rstrip(":").rstrip(), event)
        return None
    return None
