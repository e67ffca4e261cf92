"""What there is to say of a session whose context was compacted or cleared: all of it asked of the store.

No number is assumed: tokens are what the host counted, or are said to be our estimate, or unknown.
"""

from __future__ import annotations

import posix
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2s
from typing import NamedTuple

from memory_keeper import __version__
from memory_keeper.briefs.handoff import events_for
from memory_keeper.capture.project import short_path
from memory_keeper.extract import head
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import Fact, run_on
from memory_keeper.extract.settled import holding, states
from memory_keeper.extract.spoken import Spoken, kind_of, spoken
from memory_keeper.extract.todos import DOING
from memory_keeper.extract.work import TAKEN_BACK, is_check, worked
from memory_keeper.model import Event, Note, Usage
from memory_keeper.notes.lists import SEEMS, TELLING
from memory_keeper.notes.note import TRAILERS, narrates
from memory_keeper.notes.tasks.lists import Task, tasks
from memory_keeper.notes.usage.compactions import SOON, Compaction, compactions, moments
from memory_keeper.store.archive import archive_path
from memory_keeper.store.events import began_at, boundaries, covered_events, newest_id, outcome, todo_events
from memory_keeper.store.injected import taken_over, told
from memory_keeper.store.store import Store

SOURCES = ("request", "answer", "reply", "plan")  # whose words count
DECISIONS, DONE, COMMITS, ERRORS = 6, 5, 5, 2  # of each that are found
ANSWERED = 2  # sentences of an answer
BEGINNINGS = ("start", "handoff")  # what a context is told when it begins
ITSELF = "by itself"  # what set off a compaction that nobody asked for


class Entry(NamedTuple):
    """A session of the archive."""

    session: str
    begun: float
    ended: float
    spent: tuple[int, int, int] | None  # tokens: all input, those of it that came from a cache, output; None: unknown
    goal: str  # what was asked first
    done: tuple[tuple[Task, str], ...]  # the tasks that were completed, each with what came of it
    doing: tuple[Task, ...]
    open: tuple[Task, ...]
    decisions: tuple[Fact, ...]
    finished: tuple[Fact, ...]  # what the model said it had done, where it has no list of tasks
    commits: tuple[Fact, ...]
    files: tuple[str, ...]  # that were changed, the last one first
    check: Fact | None  # the last, and how it ended
    errors: tuple[Fact, ...]
    asked: str  # what was asked last
    answered: str  # and what came of it; empty: nothing yet
    compactions: tuple[Compaction, ...]  # set off by ITSELF: we did, at our threshold
    transcripts: tuple[str, ...]


class Shelf(NamedTuple):
    """What all entries of a project need, asked for once."""

    store: Store
    home: str
    project: str
    roots: list[str]  # folders of the project
    told: dict[str, int]  # tokens that the context after a clear was told, by the session that was cleared
    notes: dict[str, list[Note]]  # by session, in order
    answered: dict[str, list[float]]  # when we answered a compaction, by session
    summed: dict[str, list[float]]  # and when the host summarized
    asked: dict[str, list[float]]  # when we asked for one ourselves, which the host calls manual


def compacted(store: Store, project: str) -> list[tuple[str, list[Event]]]:
    """The sessions that belong into the archive, each with the events that say so; the newest first."""
    found: dict[str, list[Event]] = {}
    for event in boundaries(store, project):
        found.setdefault(event.session, []).append(event)
    return sorted(found.items(), key=lambda one: (one[1][-1].at, one[0]), reverse=True)


def put_on_shelf(store: Store, home: str, project: str) -> Shelf:
    """All that is needed for the entries of a project."""
    notes: dict[str, list[Note]] = {}
    for note in store.notes(project, 1):
        notes.setdefault(note.session, []).append(note)
    happened = (moments(store, project, kind) for kind in ("replaced", "summary", "ask-compact"))
    return Shelf(store, home, project, store.roots(project), _told(store, project), notes, *happened)


def stamp(shelf: Shelf, session: str, marks: Sequence[Event]) -> str:
    """What a session's entry is made of, in a word: as long as that is the same, so is the entry."""
    store, used = shelf.store, shelf.store.last_usage(session)
    parts = [__version__, session, newest_id(store, session), used.message if used else "", *shelf.roots]
    parts += [str(store.last_moment(session)), str(shelf.told.get(session)), *_transcripts(shelf, session)]
    parts += [one.id for one in (*marks, *shelf.notes.get(session, ()))]
    parts += map(str, shelf.answered.get(session, ()))
    return blake2s("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _told(store: Store, project: str) -> dict[str, int]:
    """What the contexts that took over from a cleared one were told, in tokens."""
    after = taken_over(store, project)
    size: dict[str, int] = {}
    for one in told(store, project) if after else ():
        tokens = one.said.get("tokens")
        if isinstance(tokens, int) and one.said.get("brief") in BEGINNINGS:
            size.setdefault(one.session, tokens)
    return {after[session]: tokens for session, tokens in size.items() if session in after}


def find_entry(shelf: Shelf, session: str, marks: Sequence[Event]) -> Entry:
    """What there is to say of a session."""
    store = shelf.store
    usages, events = store.usages(session), events_for(store, (session,))
    said, turns = spoken(events)
    goal = [fact for fact in head.goal(said, events, "") if fact.kind == "goal"] if events else []
    asked = [fact for fact in goal if fact.about == "Asked last"]
    first = next((fact.text for fact in goal if fact.about == "First asked"), "")
    reworded = {event.id for note in shelf.notes.get(session, ()) for event in _reworded(store, note)}
    own = (one.fact for one in said if one.source in SOURCES)
    stated = [fact for fact in (*head.accepted(said, events), *own) if not reworded.intersection(fact.cites)]
    work = worked(events, turns)
    commits = [fact._replace(text=TRAILERS.sub("", fact.text)) for fact in work if fact.kind == "commit"]
    checks = [fact for fact in work if fact.kind in ("check", "error") and is_check(fact.text)]
    changed = [fact.text for fact in reversed(work) if fact.kind == "edit" and fact.status != TAKEN_BACK]
    passed = max((fact.place for fact in work if fact.kind in ("check", "commit")), default=-1)
    wrong = [fact for fact in work if fact.kind == "error" and fact.status == "open" and fact.place > passed]
    listed = tasks(todo_events(store, session))
    done = [task for task in listed if task.ended]
    outcomes = _outcomes(done, commits, checks)
    explained = {fact.place for task in done for fact in _within(commits, outcomes[task].span)}
    return Entry(
        session=session,
        begun=began_at(store, session),
        ended=store.last_moment(session) or marks[-1].at,
        spent=_sum(usages),
        goal=first or run_on(asked),
        done=tuple((task, outcomes[task].text) for task in done),
        doing=tuple(task for task in listed if task.status == DOING),
        open=tuple(task for task in listed if not task.ended and task.status != DOING),
        decisions=_newest(holding([fact for fact in stated if _settles(fact)]), DECISIONS),
        finished=_newest([fact for fact in stated if fact.kind == "done" and _is_plain(fact)], DONE)
        if not done
        else (),
        commits=tuple(fact for fact in commits if fact.place not in explained)[-COMMITS:],
        files=tuple(short_path(path, shelf.roots) for path in dict.fromkeys(changed)),
        check=checks[-1] if checks else None,
        errors=tuple(fact for fact in wrong if fact.why and fact not in checks[-1:])[-ERRORS:],
        asked=run_on(asked),
        answered=_answered(store, asked[0].cites[0], said) if asked else "",
        compactions=tuple(_compactions(shelf, marks, usages)),
        transcripts=tuple(_transcripts(shelf, session)),
    )


def _reworded(store: Store, note: Note) -> list[Event]:
    """The events of a note that a person has worded anew: it may be for what was found in them."""
    return covered_events(store, note.id) if note.who == "user" or not note.text else []


def _settles(fact: Fact) -> bool:
    """Whether a fact says what was decided."""
    if fact.kind == "accepted":
        return fact.about[-1] in "?？" and len(concepts(fact.about)) >= TELLING  # "proceed?" and "yes" decide nothing
    decides = fact.kind == "decision" or (fact.kind == "request" and kind_of(fact.text) == "decision")
    return fact.kind == "answer" or (decides and _is_plain(fact))


def _is_plain(fact: Fact) -> bool:
    """Whether a fact states something that can be read alone."""
    users = fact.who == "user"
    return states(fact.text, users) and (users or not (narrates(fact) or SEEMS.match(fact.text)))


def _newest(facts: Iterable[Fact], most: int) -> tuple[Fact, ...]:
    """The last of some facts, in their order, each once."""
    found = sorted({fact.text: fact for fact in facts}.values(), key=lambda fact: fact.place)
    return tuple(found[max(0, len(found) - most) :])


class Outcome(NamedTuple):
    """What came of a task, and the time in which it was done."""

    text: str
    span: tuple[float, float]


def _outcomes(done: Sequence[Task], commits: Sequence[Fact], checks: Sequence[Fact]) -> dict[Task, Outcome]:
    """For each task what was committed, and what checks said last, while it was in hand; of those that were completed
    at once, the last one says it."""
    found: dict[Task, Outcome] = {}
    before = 0.0
    for task, after in zip(done, [*done, None][1:], strict=True):
        alone = not after or after.ended > task.ended
        span = max(task.begun, before), task.ended if alone else 0.0
        before = task.ended if alone else before
        said = [f"commit {fact.about[:7]}" if fact.about else fact.text for fact in _within(commits, span)[-3:]]
        said += [fact.why for fact in _within(checks, span)[-1:] if fact.why]
        found[task] = Outcome("; ".join(dict.fromkeys(said)), span)
    return found


def _within(facts: Iterable[Fact], span: tuple[float, float]) -> list[Fact]:
    return [fact for fact in facts if span[0] < fact.at <= span[1]]


def _answered(store: Store, asked: str, said: Sequence[Spoken]) -> str:
    """How the answer to a request begins; empty while it is worked on."""
    found = outcome(store, asked)
    if not found or not found[1]:
        return ""
    told = run_on([one.fact for one in said if one.fact.cites[:1] == (found[0].id,)][:ANSWERED])
    return told.rstrip(":,") + "…" * told.endswith((":", ",")) or found[0].text


def _sum(usages: Sequence[Usage]) -> tuple[int, int, int] | None:
    """All that a session's requests read, what of it came from a cache, and all that was written."""
    if not usages:
        return None
    cached = sum(one.cache_read for one in usages)
    return (
        cached + sum(one.input + one.cache_write for one in usages),
        cached,
        sum(one.output for one in usages),
    )


def _compactions(shelf: Shelf, marks: Sequence[Event], usages: Sequence[Usage]) -> Iterator[Compaction]:
    """What each compaction did, as far as somebody counted it; where another session goes on, what that is told."""
    session = marks[0].session if marks else ""
    answered, summed = shelf.answered.get(session, ()), shelf.summed.get(session, ())
    for mark, one in zip(marks, compactions(marks, usages, answered, summed), strict=True):
        if one.by == "clear":
            yield one._replace(after=shelf.told.get(session))
        elif one.by == "hand":
            note = shelf.store.note(mark.ref) if mark.ref else None
            yield one._replace(after=note.tokens if note else None)
        else:
            asked = any(-1 < one.at - at < SOON for at in shelf.asked.get(session, ()))
            yield one._replace(trigger=ITSELF) if asked else one


def _transcripts(shelf: Shelf, session: str) -> Iterator[str]:
    """Where the whole of a session can be read: as we keep it, and as the host does while it does."""
    path = shelf.store.transcript(session)
    source = shelf.store.source(path) if path else None
    if source and posix.access(kept := archive_path(shelf.home, source), posix.R_OK):
        yield kept
    if path and posix.access(path, posix.F_OK):
        yield path
