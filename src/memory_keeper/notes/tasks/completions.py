"""How the tasks of a project ended: somebody said so, a list did, or a commit that no task explains.

What happened in a session belongs to the task that was in hand then, by their order in its file, so nothing is counted
for two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_keeper.capture.calls import COMMITTED, command_of, quiet_commit
from memory_keeper.model import WRITES, Event, Filter, NamedTuple
from memory_keeper.notes.tasks.identity import LIKE, folded, likeness, split, words_of
from memory_keeper.notes.tasks.lists import tasks
from memory_keeper.notes.tasks.manual import Unfinished
from memory_keeper.notes.tasks.progress import LAST, SAID, End, Order
from memory_keeper.store import worklog
from memory_keeper.store.calls import results_of
from memory_keeper.store.events import marks_on
from memory_keeper.store.store import Store
from memory_keeper.store.worklog import Asked, Step
from memory_keeper.text import clean, one_line

TOOLS = tuple(sorted(WRITES))
MERGES = ("Merge branch ", "Merge remote-tracking ", "Merge pull request ", "Merge tag ")  # of what others did
FIRST = "Task #1 "  # how the host answers to the first task of a list


def marked(store: Store, project: str, by_hand: dict[str, Unfinished], work: Work) -> Iterator[End]:
    """The tasks written by hand that somebody called done, by hand or in a session."""
    marks: dict[str, Event] = {}
    for mark in marks_on(store, project, "done"):
        marks.setdefault(mark.ref, mark)
    for one in by_hand.values():
        if said := marks.get(one.note):
            given, order = one_line(clean(said.text), SAID), work.order(said.session)
            begin, end = (order.place(one.at), order.place(said.at)) if said.session else (0, LAST)
            yield End(one.id, one.text, said.session, begin, end, said.at, outcome=given)


def listed(store: Store, calls: dict[int, Event], ids: Iterable[str]) -> Iterator[End]:
    """The tasks that lists say are completed."""
    results = results_of(store, [seq for seq, call in calls.items() if call.tool == "TaskCreate"])
    numbered = {result.ref: result for result in results.values()}
    sessions: dict[str, list[Event]] = {}
    places = {call.id: seq for seq, call in calls.items()}
    for call in calls.values():
        sessions.setdefault(call.session, []).append(call)
    for session, events in sessions.items():
        answered = [numbered[one.ref] for one in events if one.ref in numbered]
        if any(one.tool == "TaskUpdate" for one in events) and not any(one.text.startswith(FIRST) for one in answered):
            # a list that begins in the session it was forked from
            events = worklog.taken_over(store, session) or events
            answered = [numbered[one.ref] for one in events if one.ref in numbered]
        # numbered, as many may bear one moment
        ordered = [event._replace(at=float(place)) for place, event in enumerate(events, 1)]
        for task in tasks([*ordered, *answered]):
            last = events[int(task.ended) - 1]
            if task.ended and last.session == session:
                id, text = split(task.text, ids)
                begin = places.get(events[int(task.begun) - 1].id, 0)
                yield End(id, text, session, begin, places[last.id], last.at)


class Commit(NamedTuple):
    """A commit that a session made."""

    place: int
    at: float
    hash: str  # empty: it was not shown
    id: str  # of the task that it names
    subject: str


class Work(NamedTuple):
    """What was done in the sessions of a project, by session."""

    writes: dict[str, list[Step]]
    prompts: dict[str, list[Asked]]
    commits: dict[str, list[Commit]]
    roots: list[str]
    orders: dict[str, Order]

    def order(self, session: str) -> Order:
        """The order of a session's main thread."""
        return self.orders.get(session) or Order()

    def placed(self, session: str, steps: Iterable[Step]) -> list[Step]:
        """Some steps of a session in order, with those of its subagents where they belong by their time."""
        order = self.order(session)
        found = (step._replace(seq=order.place(step.at)) if step.agent else step for step in steps)
        return sorted(found, key=lambda step: step.seq)


def find_work(store: Store, project: str, ids: Iterable[str], lists: dict[int, Event]) -> Work:
    """What was done in the sessions of a project; ids are those of tasks written by hand."""
    prompts, writes = worklog.prompts(store, project), worklog.writes(store, project, TOOLS)
    main = {session: [(one.seq, one.at) for one in asked] for session, asked in prompts.items()}
    for step in (step for steps in writes.values() for step in steps if not step.agent):
        main.setdefault(step.session, []).append((step.seq, step.at))
    for seq, call in lists.items():
        main.setdefault(call.session, []).append((seq, call.at))
    roots = store.roots(project) or [project.removeprefix("dir:")]
    work = Work(writes, prompts, {}, roots, {session: Order(steps) for session, steps in main.items()})
    for seq, result, hash, subject in _committed(store, project):
        place = work.order(result.session).place(result.at) if result.agent else seq
        if not subject.startswith(MERGES):
            commit = Commit(place, result.at, hash[:7], *split(subject, ids))
            work.commits.setdefault(result.session, []).append(commit)
    return work


def _committed(store: Store, project: str) -> Iterator[tuple[int, Event, str, str]]:
    """The commits of a project: the numbers of their calls, what those printed, their hashes and subjects. One that was
    made quietly has the subject that it was given, and a hash only where the same line showed it."""
    found = [(seq, result, result.text[: worklog.SAID]) for seq, result in worklog.commits(store, project)]
    calls = dict(
        store.find(Filter(keys=[seq for seq, _, printed in found if not COMMITTED.search(printed)], text=worklog.SAID))
    )
    for seq, result, printed in found:
        for _, hash, subject in COMMITTED.findall(printed):
            yield seq, result, hash, subject
        if seq in calls and (subject := quiet_commit(command_of(calls[seq]))):
            shown = re.search(rf"^([0-9a-f]{{7,40}}) (?:\([^)\n]*\) )?{re.escape(subject)}$", printed, re.M)
            yield seq, result, shown[1] if shown else "", subject


def in_order(work: Work, session: str, ends: Iterable[End], writes: Sequence[Step]) -> list[End]:
    """The tasks that a session ended, since when they were in hand and with their commits, in the order of their
    ends."""
    asked = work.prompts.get(session, [])
    other = [*(one.seq for one in writes), *(one.seq for one in asked if not one.commits)]
    ended = _since(sorted(ends, key=lambda one: one.end), asked)
    return _with_commits(ended, work.commits.get(session, []), session, other)


def _since(ends: Sequence[End], prompts: Sequence[Asked]) -> list[End]:
    """Tasks since when they were in hand: those that were listed as completed at once, since the prompt or the task
    before."""
    found: list[End] = []
    for end in ends:
        if end.begin >= end.end:
            asked = max((one.seq for one in prompts if one.seq < end.end), default=0)
            end = end._replace(begin=max([asked, *(one.end for one in found if one.end < end.end)]))
        found.append(end)
    return found


def _with_commits(ends: Sequence[End], commits: Sequence[Commit], session: str, other: Sequence[int]) -> list[End]:
    """A session's tasks with their commits, and as tasks of their own the commits that none of them explains; in the
    order of their ends."""
    held: list[tuple[End, list[str]]] = [(end, []) for end in ends]
    before = 0
    for commit in sorted(commits, key=lambda one: one.place):
        those = _explaining(commit, held, before, other)
        if not those:
            begin = max((end.end for end, _ in held if end.end < commit.place), default=0)
            those = [(End(commit.id, commit.subject, session, begin, commit.place, commit.at, is_commit=True), [])]
            held += those
        for _, hashes in those:
            hashes += [commit.hash] if commit.hash else []
        before = commit.place
    found = [end._replace(commits=tuple(dict.fromkeys(hashes))) for end, hashes in held]
    return sorted(found, key=lambda one: one.end)


def _explaining(
    commit: Commit, held: Sequence[tuple[End, list[str]]], before: int, other: Sequence[int]
) -> list[tuple[End, list[str]]]:
    """The tasks that a commit belongs to: the one that says the same, else the one in hand, else those that were done
    since the commit before, if nothing was changed or asked for after them."""
    like = [(_same(commit, end), place) for place, (end, _) in enumerate(held)]
    best, place = max(like, default=(0.0, 0))
    if best >= LIKE:
        return [held[place]]
    in_span = [one for one in held if one[0].begin < commit.place <= one[0].end]
    if in_span:
        return in_span[:1]
    ended = [one for one in held if before < one[0].end <= commit.place]
    return [one for one in ended if not any(one[0].end < place <= commit.place for place in other)]


def _same(commit: Commit, end: End) -> float:
    """How surely a commit says the same as a task."""
    if end.id and end.id == commit.id:
        return 2.0
    shared = len(words_of(commit.subject) & words_of(end.text))
    return likeness(commit.subject, end.text) if shared > 1 or folded(commit.subject) == folded(end.text) else 0.0
