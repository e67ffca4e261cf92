"""How far a plan has come: the steps of the newest one, and which of their files were edited since.

A plan is what the user approved, asked to be carried out, or what was written into a file that is called one. Nobody
ticks off its steps, but a step names files: what was edited since says more than no word about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_keeper.capture.calls import command_of, fields
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.spoken import EACH
from memory_keeper.model import WRITES, Event
from memory_keeper.text import clean, one_line

STEP = re.compile(
    r"^(?:#{1,5}[ \t]+|[ \t]{0,3}(?=\d{1,2}[.)][ \t]+\*\*)|(?=\*\*(?:step|phase|task)[ \t]))"
    r"(?:\*\*)?(?P<kind>(?:step|phase|task|part|gap|change|stage|milestone)[ \t]+)?(?P<number>\d{1,2}|[A-H](?=[.:)]))"
    r"[.:)—–-]*[ \t]+(?P<title>\S.{2,200})$",
    re.M | re.I,
)
CALLED = re.compile(r"implement (?:the following|this|the) plan\b", re.I)
FILE = re.compile(r"[\w@.+-]+\.(?:[a-z]{1,5}\d?)\b")
PLANNED = re.compile(r"(?:^|[/_-])plans?(?:[/_.-]|$)", re.I)
RUN = re.compile(r"`([a-z][\w./-]* [^`\n]{2,80})`")
SAYS_DONE = r"\b{} {}\b[^.\n]{{0,60}}?(?:done|complete|finished|implemented|✅|✓)|(?:✅|✓)[^.\n]{{0,20}}\b{} {}\b"
SAID_DONE, NOT_EDITED = "said to be done", "not edited"
NO_STEP = re.compile(r"out of scope|not implemented|non-?goals?|not in this|future|later|optional", re.I)
STEPS, TITLE, LATER = 9, 60, 3  # steps that are told, characters of a title, requests after which a plan is old


class Step(NamedTuple):
    """A step of a plan."""

    number: str
    kind: str
    title: str
    files: frozenset[str]
    runs: tuple[str, ...]


def plan(events: Sequence[Event]) -> Iterator[Fact]:
    """The steps of the newest plan as one fact, unless other things were asked since; none where no step is open."""
    found = _newest(events)
    if not found:
        return
    place, text = found
    asked = sum(event.kind == "prompt" and not event.agent for event in events[place + 1 :])
    those = list(steps(text))
    if asked > LATER or not 2 <= len(those) <= STEPS:
        return
    after = events[place + 1 :]
    calls = (event for event in after if event.kind == "call" and event.tool in WRITES)
    edited = frozenset(event.path.rpartition("/")[2] for event in calls if event.path)
    ran = "\n".join(filter(None, map(command_of, after)))
    said = "\n".join(event.text for event in after if event.kind == "reply")
    named = Counter(one for step in those for one in (*step.files, *set(step.runs)))
    shared = {one for one, times in named.items() if times > 1}  # an edit or a run of one says nothing of either step
    states = [_state(step, shared, edited, ran, said) for step in those]
    if sum(map(bool, states)) <= len(states) // 2 or not any(state not in ("", NOT_EDITED) for state in states):
        return
    told = "; ".join(
        f"{step.number} {step.title}{f' ({state})' if state else ''}" for step, state in zip(those, states, strict=True)
    )
    event = events[place]
    yield Fact(
        "next",
        f"steps of the plan, and whether their files were edited since: {told}",
        (event.id,),
        event.at,
        "tool",
        place=place * EACH,
    )


def _newest(events: Sequence[Event]) -> tuple[int, str] | None:
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event.agent:
            continue
        if event.kind == "prompt" and CALLED.match(event.text.lstrip()):
            return place, event.text
        if event.kind == "call" and event.tool == "ExitPlanMode":
            return place, event.text.partition("plan: ")[2]
        if event.kind == "call" and event.tool == "Write" and event.path.endswith(".md") and PLANNED.search(event.path):
            return place, fields(event).get("content", "")
    return None


def steps(text: str) -> Iterator[Step]:
    """The numbered steps of a plan, each with the files and commands that it names."""
    text = clean(text)
    found = list(STEP.finditer(text))
    kinds = [(match["kind"] or "").strip().casefold() for match in found]
    main = next((kind for kind in kinds if kind), "")
    found = [match for match, kind in zip(found, kinds, strict=True) if not main or kind == main]
    for number, match in enumerate(found):
        if NO_STEP.search(match["title"]):
            continue
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        body = text[match.start() : min(end, match.start() + 6000)]
        title = one_line(match["title"].replace("*", "").replace("`", "").rstrip(": "), TITLE)
        files = frozenset(one for one in FILE.findall(body) if any(map(str.isalpha, one.partition(".")[0])))
        yield Step(match["number"], main, title, files, tuple(RUN.findall(body)))


def _state(step: Step, shared: set[str], edited: frozenset[str], ran: str, said: str) -> str:
    kind = step.kind or "step"
    if re.search(SAYS_DONE.format(kind, step.number, kind, step.number), said, re.I):
        return SAID_DONE
    own = step.files - shared
    if here := own & edited:
        return "edited" if here == own else "partly edited"
    if not step.files and any(one in ran for one in step.runs if one not in shared):
        return "run"
    return NOT_EDITED if own else ""
