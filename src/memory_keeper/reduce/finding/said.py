"""The facts in what was said: requests, corrections, answers, decisions, dead ends, what was finished and what is left.

They are taken from what the user and the model said, and from nothing a tool or a subagent did. Every text is a quote.
A few words per language tell; a language without words here still has its requests.
"""

from __future__ import annotations

import re

from memory_keeper.extract.own_words import GIVES_UP, own_words
from memory_keeper.model import Event
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding.answers import announced
from memory_keeper.reduce.finding.latest import SAME, subject_of
from memory_keeper.reduce.words import claims, loose_ends
from memory_keeper.reduce.words.orders import SHORTEST, said_in, wanted
from memory_keeper.reduce.words.prose import SAID, sentences
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUOTE, ASKED = 400, 4000  # characters of a quote; of a request, which may be all there is to go by
TYPED = 1_500  # characters: a longer prompt was written elsewhere
WEAK = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|yep|sure|thanks?(?: you)?|go|continue|do it|please|네|예|응|좋아|계속|그래)[\s.!]*$", re.I
)
INTERRUPTED = "[Request interrupted by user"
UNANSWERED = 4  # turns back to which a question may still be open


def said(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """What user and model said in the main thread; the calls by their ref."""
    yield from _without_dropped(_spoken(events))
    yield from _answers(events, calls)
    yield from _left(events)


def _spoken(events: Sequence[Event]) -> Iterator[Fact]:
    stopped: tuple[str, ...] = ()
    answer: Event | None = None
    for event in events:
        if event.agent:
            continue
        if event.kind == "notice" and event.text.startswith(INTERRUPTED):
            stopped = (event.id,)
        elif event.kind == "prompt" and event.text.strip():
            asked = one_line(event.text, ASKED)
            status = "interrupted" if stopped else "short" if WEAK.match(asked) else ""
            yield Fact("request", asked, (event.id, *stopped), event.at, status=status)
            stopped = ()
            yield from _wanted(event)
            yield from _chosen(event, answer)
        elif event.kind in ("reply", "thinking"):
            answer = event if event.kind == "reply" else answer
            yield from _told(event)


def _without_dropped(facts: Iterable[Fact]) -> list[Fact]:
    """Facts without the rules that a later one gives up, and without those that do."""
    kept: list[Fact] = []
    for fact in facts:
        if fact.kind != "correction" or not GIVES_UP.match(fact.text):
            kept.append(fact)
            continue
        named = {*subject_of(GIVES_UP.sub("", fact.text))}
        kept = [one for one in kept if one.kind != "correction" or not _is_named(one.text, named)]
    return kept


def _is_named(rule: str, named: set[str]) -> bool:
    about = {*subject_of(rule)}
    return len(about & named) >= SAME * (len(about | named) or 1)


def _chosen(event: Event, answer: Event | None) -> Iterator[Fact]:
    """Which of the choices that an answer gave the user took."""
    mark = claims.chosen(one_line(event.text, 100)) if answer else ""
    if answer and mark and (taken := claims.choice(answer.text[-SAID:], mark)):
        yield Fact("decision", one_line(taken, QUOTE), (event.id, answer.id), event.at, status="user")


def _wanted(event: Event) -> Iterator[Fact]:
    """What the user wants always, never or otherwise, and what the user settled."""
    if len(event.text) >= SAID:  # a long paste is rarely the user's own words
        return
    typed = len(event.text) < TYPED
    rules = {order.said for order in wanted(event)}
    for one in said_in(event.text):
        if not SHORTEST <= len(one) <= QUOTE:
            continue
        if one in rules:
            yield Fact("correction", one, (event.id,), event.at)
        elif typed and claims.is_users_decision(one):
            yield Fact("decision", one, (event.id,), event.at, status="user", because=claims.reason_of(one))


def _told(event: Event) -> Iterator[Fact]:
    """What the model says it settled, finished, or had been wrong about."""
    said = list(sentences(own_words(event.text)))
    for one, after in zip(said, [*said, ""][1:], strict=True):
        if claims.is_dead_end(one):
            yield Fact("dead end", one, (event.id,), event.at)
        elif claims.is_decision(one, event.kind == "reply"):
            because = claims.reason_of(one, after)
            yield Fact("decision", one, (event.id,), event.at, status=event.kind, because=because)
        elif event.kind == "reply" and claims.is_done(one):
            yield Fact("done", one, (event.id,), event.at)


def _answers(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """What the user chose when the host asked in the model's name: the one result that is the user's."""
    for event in events:
        call = calls.get(event.ref) if event.kind == "result" and not event.agent else None
        if call and call.tool == "AskUserQuestion" and not event.failed:
            for question, answer in re.findall(r'"([^"\n]{1,300})"="([^"\n]{1,300})"', event.text[:SAID]):
                if answer[-1] not in "?？":  # who asks back has chosen nothing
                    yield Fact("answer", answer, (event.id,), event.at, about=question)


def _left(events: Sequence[Event]) -> Iterator[Fact]:
    """What the last answer leaves to do, and what the last few asked and nobody took up."""
    said = [event for event in events if event.kind in ("prompt", "reply") and not event.agent and event.text.strip()]
    if said and said[-1].kind == "reply":
        if begun := announced(events):
            yield Fact("next", begun[0], (begun[1].id,), begun[1].at)
        for one in loose_ends.next_steps(own_words(said[-1].text[-SAID:])):
            if not begun or not one.startswith(begun[0]):
                yield Fact("next", one, (said[-1].id,), said[-1].at)
    back = 0
    for place in range(len(said) - 1, -1, -1):
        if said[place].kind == "prompt":
            back += 1
            if back > UNANSWERED:
                return
        elif place + 1 == len(said) or said[place + 1].kind == "prompt":  # a turn's last answer
            after = [event.text for event in said[place + 1 :] if event.kind == "prompt"]
            for one in loose_ends.questions(own_words(said[place].text[-SAID:])):
                if not loose_ends.is_answered(one, after):
                    asked = loose_ends.in_context(one, said[place].text[-SAID:])
                    yield Fact("question", asked, (said[place].id,), said[place].at, status="open")
