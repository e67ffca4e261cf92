"""What a handoff carries over of the one that its session began with.

A context that was told a handoff at its start holds that too, and loses it when it is cleared. A session that did
little, such as one question, carries over all of it. One that worked carries over only what outlives that: see KINDS.
Nothing is carried through more than one piece of work, but for tasks that are known to be open; own facts come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_keeper.briefs import View
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import KINDS, TASKS, Fact, facts_of, say
from memory_keeper.extract.todos import left_open, newest
from memory_keeper.model import WRITES, Event, Note
from memory_keeper.store.injected import told

FEW_REQUESTS, FEW_CALLS = 3, 12  # of a session that did little
SAME = 0.7  # of what a fact speaks of, told before: it is said again
WORKED = ("edit", "error", "check", "commit", "todo")
SUBSTANCE = 5  # concepts of a goal for which nothing was done


def carry_over(view: View, events: Sequence[Event], own: list[Fact]) -> list[Fact]:
    """The facts of a session's handoff, with those that it carries over; the most needed first."""
    note = began_with(view)
    if not note or not own:
        return own
    little = _did_little(events)
    facts = list(_still_true(_outliving(view, note, little), own, view, events))
    if not little:
        return [*own, *facts]
    spoken = [fact for fact in own if KINDS[fact.kind].part != "story"]
    return [*spoken, *facts, *(fact for fact in own if fact not in spoken)]


def began_with(view: View) -> Note | None:
    """The handoff that the oldest of some sessions was told when it began; None: none of another session."""
    for one in told(view.store, view.project, view.of[-1]) if view.of else ():
        id = one.said.get("handed")
        note = view.store.note(id) if isinstance(id, str) else None
        if note and note.session not in view.of:
            return note
    return None


def _did_little(events: Sequence[Event]) -> bool:
    """Whether a session has nothing of its own to go on with: a few words, and at most a look around."""
    calls = [event for event in events if event.kind == "call"]
    asked = sum(event.kind == "prompt" and not event.agent for event in events)
    return asked <= FEW_REQUESTS and len(calls) <= FEW_CALLS and not any(call.tool in WRITES for call in calls)


def _outliving(view: View, note: Note, little: bool) -> Iterator[Fact]:
    """The facts of a handoff that the session which began with it carries over, each with whose it is."""
    facts = facts_of(note)
    passing = not any(fact.kind in WORKED for fact in facts if not fact.of)
    for fact in facts:
        task, failed = fact.kind in TASKS, fact.kind == "state" and fact.status == "failed"
        if (fact.kind in ("state", "step") and not failed) or (fact.of and not (little or task)):
            continue
        if fact.kind == "goal" and (fact.who == "host" or (passing and len(concepts(fact.text)) < SUBSTANCE)):
            continue  # a hello is nothing to go on from
        if little or failed or (KINDS[fact.kind].outlives and fact.status not in ("fixed", "done", "dropped")):
            yield fact._replace(of=fact.of or _session_of(view, fact) or note.session)


def _session_of(view: View, fact: Fact) -> str:
    """The session that a fact is of: a handoff may tell of several, each cleared; empty when nothing tells."""
    event = view.store.event(fact.cites[0]) if fact.cites else None
    return event.session if event else ""


def _still_true(facts: Iterable[Fact], own: Sequence[Fact], view: View, events: Sequence[Event]) -> Iterator[Fact]:
    """Facts without what own ones say again, tasks that are done by now, what was run again, and questions that
    somebody took up."""
    known = frozenset[str]().union(*(concepts(say(fact)) for fact in own))
    ran = {fact.text for fact in own if fact.kind in ("check", "command", "error")}
    open = {todo.text for todo in left_open(newest(view.store, view.project))}
    typed = frozenset[str]().union(*(concepts(event.text) for event in events if event.kind == "prompt"))
    for fact in facts:
        found = concepts(say(fact) if KINDS[fact.kind].work else fact.text)  # a file that is named is not its edit
        if found and len(found & known) >= SAME * len(found):
            continue
        if fact.kind == "question" and found & typed:
            continue
        if (fact.kind == "error" and fact.text in ran) or (fact.kind == "state" and fact.about in ran):
            continue
        if fact.kind == "todo" and fact.text not in open:
            continue
        yield fact
