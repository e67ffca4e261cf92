"""What is run before nearly every commit of a project: a query over its newest commits, and nothing that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_keeper.capture.calls import COMMON, SETTING, command_of
from memory_keeper.capture.calls import steps as split
from memory_keeper.capture.runs import SENT, bare, program, works
from memory_keeper.model import WRITES, NamedTuple
from memory_keeper.notes.tasks.progress import PLAIN, command
from memory_keeper.store.calls import shell_calls
from memory_keeper.store.store import Store
from memory_keeper.store.worklog import Step, steps

COMMITS = 100  # the newest that are looked at
LEAST, MOST = 5, 0.9  # commits, and the share of them, that a habit shows in
NEAR = 20  # commands that speak of a commit, among which the newest one is looked for
LONGEST = 60  # characters of a command
COMMIT = "git commit"
RUNNERS = frozenset(("python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "deno", "bun", "make"))


class Habit(NamedTuple):
    """A command, and the commits before which it was run."""

    command: str
    seen: int
    commits: int  # of so many
    sessions: tuple[tuple[str, float], ...]  # in which it was, and when first; oldest first


class _Commit(NamedTuple):
    session: str
    at: float
    ran: frozenset[str]  # since the commit before, without an error


def habits(store: Store, project: str, share: float = MOST) -> list[Habit]:
    """The commands that were run before this share of the commits; of one program with and without its arguments, the
    longer one."""
    commits = sorted(_commits(store, project), key=lambda one: one.at)
    needed = max(LEAST, share * len(commits))
    found: dict[str, Habit] = {}
    for name in sorted({name for one in commits for name in one.ran if len(name) <= LONGEST}, key=len, reverse=True):
        seen = [one for one in commits if name in one.ran]
        if len(seen) >= needed and not any(longer.startswith(f"{name} ") for longer in found):
            first = {one.session: one.at for one in reversed(seen)}
            found[name] = Habit(name, len(seen), len(commits), tuple(sorted(first.items(), key=lambda one: one[1])))
    return sorted(found.values(), key=lambda one: (-one.seen, one.command))


def wording(habit: Habit) -> str:
    """A habit as an observation says it."""
    return f"Before a commit: `{habit.command}`"


def is_commit(line: str) -> bool:
    """Whether a command line makes a commit."""
    return "commit" in line and any(program(step) == COMMIT and "--dry-run" not in step for step in works(line))


def last_commit(store: Store, project: str) -> str:
    """The id of the call that made the newest commit of a project; empty: there is none."""
    calls = shell_calls(store, project, ("git", "commit"), NEAR)
    return next((call.id for _, call, failed in reversed(calls) if not failed and is_commit(command_of(call))), "")


def _commits(store: Store, project: str) -> Iterator[_Commit]:
    calls = [(seq, call) for seq, call, failed in shell_calls(store, project, ("git", "commit"), COMMITS) if not failed]
    made = {seq: call for seq, call in calls if is_commit(command_of(call))}
    for session in dict.fromkeys(call.session for call in made.values()):
        yield from _commits_in(steps(store, session, tuple(WRITES)), made.keys())


def _commits_in(done: Iterable[Step], made: Iterable[int]) -> Iterator[_Commit]:
    """The commits of a session, each with what was run before it; one that nothing was done for since the one before is
    a part of that."""
    ran: dict[str, set[str]] = {}  # by thread
    before: dict[str, frozenset[str]] = {}
    changed: set[str] = set()
    for step in done:
        line, names = command(step), ran.setdefault(step.agent, set())
        changed |= {step.agent} if step.tool in WRITES else set()
        if not step.wrong:
            names |= {*_names(line.partition(COMMIT)[0] if step.seq in made else line)}
        if step.seq in made:
            whole = frozenset(names) if names or step.agent in changed else before.get(step.agent, frozenset())
            yield _Commit(step.session, step.at, whole)
            before[step.agent], ran[step.agent] = whole, set()
            changed.discard(step.agent)


def _names(line: str) -> Iterator[str]:
    """The commands of a line that may be a habit, as they were typed: all of it, and up to the name of the program."""
    done = works(line)
    for step in (step for step in split(SENT.sub("", line)) if bare(step) in done):
        words, named = SETTING.sub("", step).split(), program(bare(step)).split()
        if not named or named[0] in ("git", *COMMON) or not PLAIN.fullmatch(" ".join(words)):
            continue
        last = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == named[0]), 0)
        yield " ".join(words)
        if " ".join(named) not in RUNNERS:
            yield " ".join(words[: last + len(named)])
