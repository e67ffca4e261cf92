"""What was done in a project, task by task: from the model's lists, from commits, and from tasks written by hand.

A task is told from others by its id, else by its words; done again, it is the same task, done last. What happened in a
session belongs to the task that was in hand then, by their order in its file, so nothing is counted for two. All of it
is a query: made twice it is the same.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from memory_keeper import wire
from memory_keeper.capture.calls import COMMITTED, WRITES
from memory_keeper.keep import doing
from memory_keeper.model import NamedTuple, origin
from memory_keeper.reduce.folds import in_hand
from memory_keeper.reduce.folds.in_hand import LAST, End, Order
from memory_keeper.reduce.folds.tasks import DOING, LONGEST, TASK_ID, tasks
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.keep.doing import Asked, Step
    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Event, Json

TOOLS = tuple(sorted(WRITES))
CLOSELY = 50  # tasks
WORD = re.compile(r"[^\W_]{3,}")
STEM = 5  # letters of a word that count
LIKE, NEAR = 0.75, 0.51  # the share of their words that a commit and its task have; that two wordings under an id have
DULL = frozenset(("the", "and", "for", "with", "from", "into", "that", "this", "all", "feat", "chore", "refac"))
MERGES = ("Merge branch ", "Merge remote-tracking ", "Merge pull request ", "Merge tag ")  # of what others did
FIRST = "Task #1 "  # how the host answers to the first task of a list
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
    issues: str = ""  # an error of that time, and where it was mended
    pattern: str = ""  # what kind of task it was, in a word
    tested: str = ""  # the tests that were run last in that time
    given: bool = False  # the outcome is as somebody gave it


class Unfinished(NamedTuple):
    """A task that is not done: one written by hand, or one of the newest list."""

    id: str
    text: str
    session: str  # of the list; empty: by hand
    at: float
    doing: bool = False  # it is in hand
    note: str = ""  # by hand: the id of its note


def done(store: SqliteStore, project: str, closely: int = CLOSELY) -> list[Done]:
    """The tasks of a project that were done, each once, the oldest first. So many of the newest are looked at closely:
    what came of them, what went wrong and what was tested takes long to find."""
    by_hand = {one.id: one for one in written(store, project)}
    lists = doing.lists(store.db, project)
    work = _find_work(store, project, by_hand, lists)
    ends: dict[str, list[End]] = {}
    for end in (*_marked(store, project, by_hand, work), *_listed(store, lists, by_hand)):
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


def open_tasks(store: SqliteStore, project: str, finished: Sequence[Done]) -> list[Unfinished]:
    """The tasks that are not done: those written by hand, then those of the newest list. What was done before somebody
    wrote it down or listed it again is open again."""
    by_id: dict[str, list[Done]] = {}
    for end in finished:
        by_id.setdefault(end.id, []).append(end)

    def is_done(id: str, text: str, since: float) -> bool:
        return any(end.at >= since and _is_same(text, end.text) for end in by_id.get(id, ()))

    by_hand = written(store, project)
    since = {one.id: one.at for one in by_hand if one.id == short_id(one.text)}  # an id of its own has no other task
    found = {one.id: one for one in by_hand if not is_done(one.id, one.text, since.get(one.id, 0.0))}
    session = doing.newest_list(store.db, project)
    events = store.todo_events(session) if session else []
    said = {event.id: event.at for event in events}
    for task in tasks(events):
        id, text = split(task.text, found)
        one = Unfinished(id or short_id(text), text, session, task.begun, task.status == DOING)
        if not task.ended and not is_done(one.id, text, said[task.cite]):
            found.setdefault(one.id, one)
    return list(found.values())


def kept_and_archived(
    all: Sequence[Done], store: SqliteStore, project: str, settings: Json
) -> tuple[list[Done], list[Done]]:
    """The tasks that are told in full, and those that are summed up; each the oldest first."""
    trigger = "compaction.triggers.taskArchive."
    if not (settings["compaction.enabled"] and settings[trigger + "enabled"]):
        return list(all), []
    first = max(0, len(all) - settings[trigger + "keepRecentCount"])
    moments, most = doing.last_moments(store.db, project), settings[trigger + "archiveAfterSessions"]
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
    kinds = [kind for one in all if (kind := in_hand.kind_of(one.issues))[0]]
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


# --- what tells one task from another ---------------------------------------------------------------------------------


def split(text: str, ids: Iterable[str] = ()) -> tuple[str, str]:
    """The id that a task's text has, one of its own or one of some that are known, and what it says beside it."""
    line = one_line(clean(text[: 4 * LONGEST]), LONGEST)
    begins = line.lstrip("[(#")
    found = TASK_ID.search(line)
    id = found[0] if found else next((id for id in ids if id and begins[: len(id) + 1].rstrip(":]) ") == id), "")
    rest = begins.removeprefix(id).lstrip(")]:-–— ") if id and begins.startswith(id) else line
    return id, rest or line


def short_id(text: str) -> str:
    """A short id that the same words always have."""
    from hashlib import blake2s

    return f"T-{blake2s(folded(text).encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


def written(store: SqliteStore, project: str) -> list[Unfinished]:
    """The tasks that somebody wrote down by hand and nobody took away, done or not."""
    found = []
    for note in store.notes(project, 0, "task"):
        given = wire.read_object(note.extra).get("task")
        id, text = split(note.text)
        if note.text:
            own = one_line(clean(given), LONGEST) if isinstance(given, str) else ""
            found.append(Unfinished(own or id or short_id(text), text, "", note.at, note=origin(note)))
    return found


def _key(end: End, first: dict[str, str]) -> str:
    """What tells a task from others. Who numbers tasks may begin at one again: an id with other words is another."""
    words = folded(end.text)
    if not end.id:
        return words
    return end.id if _is_same(end.text, first.setdefault(end.id, end.text)) else f"{end.id} {words}"


def _is_same(one: str, other: str) -> bool:
    """Whether two texts under one id are of the same task."""
    return folded(one) == folded(other) or _likeness(one, other) >= NEAR


def folded(text: str) -> str:
    """The words of a task as far as they tell it from others."""
    return text.casefold().strip(" .!✓✅…")


def _likeness(one: str, other: str) -> float:
    """The share of its words that the shorter of two texts has in common with the other."""
    mine, theirs = _words(one), _words(other)
    return len(mine & theirs) / min(len(mine), len(theirs)) if mine and theirs else 0.0


@lru_cache(1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in WORD.findall(text.casefold()) if word[:STEM] not in DULL)


def _merged(before: tuple[End, Done], after: tuple[End, Done]) -> tuple[End, Done]:
    """A task that was done twice: done last when it last was, with what was done for it last. A commit alone does not
    say when."""
    old, new = before[1], after[1]
    commits, outcome = tuple(dict.fromkeys((*old.commits, *new.commits))), new.outcome or old.outcome
    if before[0].is_commit != after[0].is_commit:
        end, one = before if after[0].is_commit else after
        files = tuple(dict.fromkeys((*old.files, *new.files)))
        both = one._replace(files=files, tokens=old.tokens + new.tokens, pattern=in_hand.pattern(files, one.text))
        return end, both._replace(commits=commits, outcome=outcome, given=bool(outcome))
    end, one = after if new.files or new.commits or not (old.files or old.commits or old.tokens) else before
    at = max(old.at, new.at)
    same = one._replace(id=old.id, text=old.text, at=at)
    return end, same._replace(commits=commits, outcome=outcome, given=bool(outcome))


# --- how tasks end ----------------------------------------------------------------------------------------------------


def _marked(store: SqliteStore, project: str, by_hand: dict[str, Unfinished], work: _Work) -> Iterator[End]:
    """The tasks written by hand that somebody called done, by hand or in a session."""
    marks: dict[str, Event] = {}
    for mark in store.marks_on(project, "done"):
        marks.setdefault(mark.ref, mark)
    for one in by_hand.values():
        if said := marks.get(one.note):
            given, order = one_line(clean(said.text), in_hand.SAID), work.order(said.session)
            begin, end = (order.place(one.at), order.place(said.at)) if said.session else (0, LAST)
            yield End(one.id, one.text, said.session, begin, end, said.at, outcome=given)


def _listed(store: SqliteStore, calls: dict[int, Event], ids: Iterable[str]) -> Iterator[End]:
    """The tasks that lists say are completed."""
    results = doing.answers(store.db, [seq for seq, call in calls.items() if call.tool == "TaskCreate"])
    numbered = {result.ref: result for result in results.values()}
    sessions: dict[str, list[Event]] = {}
    places = {call.id: seq for seq, call in calls.items()}
    for call in calls.values():
        sessions.setdefault(call.session, []).append(call)
    for session, events in sessions.items():
        answered = [numbered[one.ref] for one in events if one.ref in numbered]
        if any(one.tool == "TaskUpdate" for one in events) and not any(one.text.startswith(FIRST) for one in answered):
            # a list that begins in the session it was forked from
            events = doing.taken_over(store.db, session) or events
            answered = [numbered[one.ref] for one in events if one.ref in numbered]
        # numbered, as many may bear one moment
        ordered = [event._replace(at=float(place)) for place, event in enumerate(events, 1)]
        for task in tasks([*ordered, *answered]):
            last = events[int(task.ended) - 1]
            if task.ended and last.session == session:
                id, text = split(task.text, ids)
                begin = places.get(events[int(task.begun) - 1].id, 0)
                yield End(id, text, session, begin, places[last.id], last.at)


class _Commit(NamedTuple):
    """A commit that a session made."""

    place: int
    at: float
    hash: str
    id: str  # of the task that it names
    subject: str


class _Work(NamedTuple):
    """What was done in the sessions of a project, by session."""

    writes: dict[str, list[Step]]
    prompts: dict[str, list[Asked]]
    commits: dict[str, list[_Commit]]
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


def _find_work(store: SqliteStore, project: str, ids: Iterable[str], lists: dict[int, Event]) -> _Work:
    prompts, writes = doing.prompts(store.db, project), doing.writes(store.db, project, TOOLS)
    main = {session: [(one.seq, one.at) for one in asked] for session, asked in prompts.items()}
    for step in (step for steps in writes.values() for step in steps if not step.agent):
        main.setdefault(step.session, []).append((step.seq, step.at))
    for seq, call in lists.items():
        main.setdefault(call.session, []).append((seq, call.at))
    roots = store.roots(project) or [project.removeprefix("dir:")]
    work = _Work(writes, prompts, {}, roots, {session: Order(steps) for session, steps in main.items()})
    for seq, result in doing.commits(store, project):
        place = work.order(result.session).place(result.at) if result.agent else seq
        for _, hash, subject in COMMITTED.findall(result.text[: doing.SAID]):
            if not subject.startswith(MERGES):
                commit = _Commit(place, result.at, hash[:7], *split(subject, ids))
                work.commits.setdefault(result.session, []).append(commit)
    return work


def _begun(ends: Sequence[End], commits: Sequence[_Commit]) -> float:
    return min([*(one.at for one in ends), *(one.at for one in commits)])


def _told(store: SqliteStore, work: _Work, session: str, ends: Sequence[End]) -> Iterator[tuple[End, Done]]:
    """What there is to say at once of the tasks that a session ended."""
    writes = work.placed(session, work.writes.get(session, ()))
    order = work.order(session)
    asked = work.prompts.get(session, [])
    ends = _since(sorted(ends, key=lambda one: one.end), asked)
    other = [*(one.seq for one in writes), *(one.seq for one in asked if not one.commits)]
    ends = _committed(ends, work.commits.get(session, []), session, other)
    spent = in_hand.shares(
        ends, doing.new_tokens(store.db, session) if session else [], lambda one: order.place(one[0])
    )
    wrote = in_hand.shares(ends, writes, lambda one: one.seq)
    for end, steps, used in zip(ends, wrote, spent, strict=True):
        paths = dict.fromkeys(step.path for step in steps)
        files = tuple(dict.fromkeys(file for path in paths if (file := _inside(work.roots, path))))
        yield (
            end,
            Done(
                id=end.id or (end.commits[0] if end.is_commit else short_id(end.text)),
                text=end.text,
                session=session,
                at=end.at,
                files=files,
                tokens=sum(tokens for _, tokens in used),
                commits=end.commits,
                outcome=end.outcome,
                given=bool(end.outcome),
                pattern=in_hand.pattern(files, end.text),
            ),
        )


def _looked_at(store: SqliteStore, work: _Work, some: Sequence[tuple[End, Done]]) -> Iterator[Done]:
    """Some tasks with what takes longer to find: what was said of them last, went wrong, and was tested. Nothing is
    found for those that nothing belongs to: of several that were done at once, the first has it all."""
    sessions: dict[str, list[Step]] = {}
    for end, one in some:
        if not one.session or not (one.files or one.tokens):
            yield one
            continue
        if one.session not in sessions:
            sessions[one.session] = work.placed(one.session, doing.steps(store.db, one.session, TOOLS))
        steps = [step for step in sessions[one.session] if end.begin < step.seq <= end.end]
        outcome = one.outcome or _outcome(store, work, end)
        yield one._replace(outcome=outcome, issues=in_hand.mended(steps), tested=in_hand.tested(steps))


def _outcome(store: SqliteStore, work: _Work, end: End) -> str:
    """What the model said came of a task: before it was ticked off, else right after, before anything else happened."""
    said = doing.said_between(store.db, end.session, end.begin, end.end)
    next = work.order(end.session).after(end.end)
    after = doing.said_between(store.db, end.session, end.end, next, first=True)
    return in_hand.outcome(said) or in_hand.outcome(after)


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


def _committed(ends: Sequence[End], commits: Sequence[_Commit], session: str, other: Sequence[int]) -> list[End]:
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
            hashes.append(commit.hash)
        before = commit.place
    found = [end._replace(commits=tuple(dict.fromkeys(hashes))) for end, hashes in held]
    return sorted(found, key=lambda one: one.end)


def _explaining(
    commit: _Commit, held: Sequence[tuple[End, list[str]]], before: int, other: Sequence[int]
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


def _same(commit: _Commit, end: End) -> float:
    """How surely a commit says the same as a task."""
    if end.id and end.id == commit.id:
        return 2.0
    shared = len(_words(commit.subject) & _words(end.text))
    return _likeness(commit.subject, end.text) if shared > 1 or folded(commit.subject) == folded(end.text) else 0.0


def _inside(roots: Sequence[str], path: str) -> str:
    """A path as seen from the project; empty when it lies elsewhere."""
    if path.startswith("/"):
        path = next((path[len(root) + 1 :] for root in roots if root and path.startswith(root + "/")), "")
    return "" if ".." in path.split("/") else path.removeprefix("./")
