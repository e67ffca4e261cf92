"""What was done in a project, task by task: from the model's lists, from commits, and from tasks written by hand.

A task that is done again is the same task, done last. All of it is a query: made twice it is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_keeper.extract.todos import DOING, left_open, newest
from memory_keeper.model import Json
from memory_keeper.notes.tasks import progress
from memory_keeper.notes.tasks.completions import TOOLS, Commit, Work, find_work, in_order, listed, marked
from memory_keeper.notes.tasks.identity import folded, is_same, short_id, split
from memory_keeper.notes.tasks.lists import tasks
from memory_keeper.notes.tasks.manual import Unfinished, written
from memory_keeper.notes.tasks.progress import End
from memory_keeper.store import worklog
from memory_keeper.store.store import Store
from memory_keeper.store.worklog import Step

CLOSELY = 50  # tasks
OFTEN, HABIT, MOST = 3, 5, 0.9  # tasks with the same error; tasks, and the share of them, that a habit shows in


class Done(NamedTuple):
    """A task that was done, and what there is to say of it."""

    id: str  # its own; else of a commit its hash, or one made of its words
    text: str
    session: str  # in which it was done; empty: nobody knows
    at: float
    files: tuple[str, ...] = ()  # that were changed while it was in hand, as seen from the project
    tokens: int = 0  # new ones of the responses in that time: input, cache writes and output, but no cache reads
    commits: tuple[str, ...] = ()
    outcome: str = ""  # as somebody gave it, or as the model said last; empty: nothing that tells
    issue: progress.Issue | None = None  # an error of that time, which was fixed
    pattern: str = ""  # what kind of task it was, in a word
    tested: str = ""  # the tests that were run last in that time
    given: bool = False  # the outcome is as somebody gave it


def done(store: Store, project: str, closely: int = CLOSELY) -> list[Done]:
    """The tasks of a project that were done, each once, the oldest first. So many of the newest are looked at closely:
    what came of them, what went wrong and what was tested takes long to find."""
    by_hand = {one.id: one for one in written(store, project)}
    calls = worklog.lists(store, project)
    work = find_work(store, project, by_hand, calls)
    ends: dict[str, list[End]] = {}
    for end in (*marked(store, project, by_hand, work), *listed(store, calls, by_hand)):
        ends.setdefault(end.session, []).append(end)
    found: dict[str, tuple[End, Done]] = {}
    ended: set[str] = set()  # what more than a commit says is done
    first = {id: one.text for id, one in by_hand.items()}  # the words under each id
    for session in sorted({*ends, *work.commits}, key=lambda one: _begun(ends.get(one, ()), work.commits.get(one, ()))):
        mine = [
            one for one in ends.get(session, ()) if one.begin < one.end or one.outcome or _key(one, first) not in found
        ]
        for end, one in _told(store, work, session, mine):
            key = end.id if end.is_commit and end.id in by_hand else _key(end, first)
            found[key] = _merged(found[key], (end, one)) if key in found else (end, one)
            ended |= set() if end.is_commit else {key}
    # a commit for a task that was written by hand may be one of many: somebody has to say that it is done
    all = sorted((one for key, one in found.items() if key not in by_hand or key in ended), key=lambda one: one[1].at)
    near = max(0, len(all) - closely)
    return _without_main_folder([*(one for _, one in all[:near]), *_looked_at(store, work, all[near:])])


def open_tasks(store: Store, project: str, finished: Sequence[Done]) -> list[Unfinished]:
    """The tasks that are not done: those written by hand, then those of the newest lists, the very newest first. What
    was done before somebody wrote it down or listed it again is open again."""
    by_id: dict[str, list[Done]] = {}
    for end in finished:
        by_id.setdefault(end.id, []).append(end)

    def is_done(id: str, text: str, since: float) -> bool:
        return any(end.at >= since and is_same(text, end.text) for end in by_id.get(id, ()))

    by_hand = written(store, project)
    since = {one.id: one.at for one in by_hand if one.id == short_id(one.text)}  # an id of its own has no other task
    found = {one.id: one for one in by_hand if not is_done(one.id, one.text, since.get(one.id, 0.0))}
    events = newest(store, project)
    open, said = {todo.text for todo in left_open(events)}, {event.id: event.at for event in events}
    for session in dict.fromkeys(event.session for event in reversed(events)):
        for task in tasks([event for event in events if event.session == session]):
            id, text = split(task.text, found)
            one = Unfinished(id or short_id(text), text, session, task.begun, task.status == DOING)
            if task.text in open and not task.ended and not is_done(one.id, text, said[task.cite]):
                found.setdefault(one.id, one)
    return list(found.values())


def kept_and_archived(all: Sequence[Done], store: Store, project: str, settings: Json) -> tuple[list[Done], list[Done]]:
    """The tasks that are told in full, and those that are summed up; each the oldest first."""
    trigger = "compaction.triggers.taskArchive."
    if not (settings["compaction.enabled"] and settings[trigger + "enabled"]):
        return list(all), []
    first = max(0, len(all) - settings[trigger + "keepRecentCount"])
    moments, most = store.last_moments(project), settings[trigger + "archiveAfterSessions"]
    while first < len(all) and _sessions_since(all[first], moments) > most:
        first += 1
    return list(all[first:]), list(all[:first])


def _without_main_folder(all: list[Done]) -> list[Done]:
    """Tasks whose pattern tells them from others: a folder in which most of them changed something does not."""
    changed = [one.files for one in all if one.files]
    inside = Counter(folder for files in changed for folder in {path for file in files for path in _folders(file)})
    dull = {folder.rpartition("/")[2] for folder, times in inside.items() if 2 * times > max(len(changed), HABIT)}
    return [one._replace(pattern="") if one.pattern in dull else one for one in all]


def _folders(path: str) -> list[str]:
    """The folders that a file lies in."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _sessions_since(one: Done, moments: dict[str, float]) -> int:
    return sum(at > one.at and session != one.session for session, at in moments.items())


def patterns(all: Sequence[Done]) -> list[str]:
    """What recurs in the tasks that were done, a sentence each, of our words but for commands and names of errors: what
    may be worth an observation."""
    kinds = [one.issue.kind for one in all if one.issue and one.issue.kind[0]]
    said = [
        f"`{heart}` fails with {thrown} again and again, and is mended each time."
        for heart, thrown in dict.fromkeys(kinds)
        if kinds.count((heart, thrown)) >= OFTEN
    ]
    changed = [one for one in all if one.files and one.session]
    ran = [one.tested for one in changed if one.tested]
    if len(changed) >= HABIT and len(ran) >= MOST * len(changed):
        said.append(f"Tests are run before a task is done: `{max(dict.fromkeys(ran), key=ran.count)}`.")
    return said


def _key(end: End, first: dict[str, str]) -> str:
    """What tells a task from others. Who numbers tasks may begin at one again: an id with other words is another."""
    words = folded(end.text)
    if not end.id:
        return words
    return end.id if is_same(end.text, first.setdefault(end.id, end.text)) else f"{end.id} {words}"


def _merged(before: tuple[End, Done], after: tuple[End, Done]) -> tuple[End, Done]:
    """A task that was done twice: done last when it last was, with what was done for it last. A commit alone does not
    say when."""
    old, new = before[1], after[1]
    commits, outcome = tuple(dict.fromkeys((*old.commits, *new.commits))), new.outcome or old.outcome
    if before[0].is_commit != after[0].is_commit:
        end, one = before if after[0].is_commit else after
        files = tuple(dict.fromkeys((*old.files, *new.files)))
        both = one._replace(files=files, tokens=old.tokens + new.tokens, pattern=progress.pattern(files, one.text))
        return end, both._replace(commits=commits, outcome=outcome, given=bool(outcome))
    end, one = after if new.files or new.commits or not (old.files or old.commits or old.tokens) else before
    at = max(old.at, new.at)
    same = one._replace(id=old.id, text=old.text, at=at)
    return end, same._replace(commits=commits, outcome=outcome, given=bool(outcome))


def _begun(ends: Sequence[End], commits: Sequence[Commit]) -> float:
    return min([*(one.at for one in ends), *(one.at for one in commits)])


def _told(store: Store, work: Work, session: str, ends: Sequence[End]) -> Iterator[tuple[End, Done]]:
    """What there is to say at once of the tasks that a session ended."""
    writes = work.placed(session, work.writes.get(session, ()))
    order, used = work.order(session), worklog.new_tokens(store, session) if session else []
    ends = in_order(work, session, ends, writes)
    spent = progress.shares(ends, used, lambda one: order.place(one[0]))
    wrote = progress.shares(ends, writes, lambda one: one.seq)
    for end, steps, took in zip(ends, wrote, spent, strict=True):
        paths = dict.fromkeys(step.path for step in steps)
        files = tuple(dict.fromkeys(file for path in paths if (file := _inside(work.roots, path))))
        id = end.id or (end.commits[0] if end.is_commit and end.commits else short_id(end.text))
        told = Done(id, end.text, session, end.at, files, sum(tokens for _, tokens in took), end.commits)
        kind = progress.pattern(files, end.text)
        yield end, told._replace(outcome=end.outcome, given=bool(end.outcome), pattern=kind)


def _looked_at(store: Store, work: Work, some: Sequence[tuple[End, Done]]) -> Iterator[Done]:
    """Some tasks with what takes longer to find: what was said of them last, went wrong, and was tested. Nothing is
    found for those that nothing belongs to: of several that were done at once, the first has it all."""
    sessions: dict[str, list[Step]] = {}
    for end, one in some:
        if not one.session or not (one.files or one.tokens):
            yield one
            continue
        if one.session not in sessions:
            sessions[one.session] = work.placed(one.session, worklog.steps(store, one.session, TOOLS))
        steps = [step for step in sessions[one.session] if end.begin < step.seq <= end.end]
        outcome = one.outcome or _outcome(store, work, end)
        yield one._replace(outcome=outcome, issue=progress.fixed(steps), tested=progress.tested(steps))


def _outcome(store: Store, work: Work, end: End) -> str:
    """What the model said came of a task: before it was ticked off, else right after, before anything else happened."""
    said = worklog.replies_between(store, end.session, end.begin, end.end)
    next = work.order(end.session).after(end.end)
    after = worklog.replies_between(store, end.session, end.end, next, first=True)
    return progress.outcome(said) or progress.outcome(after)


def _inside(roots: Sequence[str], path: str) -> str:
    """A path as seen from the project; empty when it lies elsewhere."""
    if path.startswith("/"):
        path = next((path[len(root) + 1 :] for root in roots if root and path.startswith(root + "/")), "")
    return "" if ".." in path.split("/") else path.removeprefix("./")
