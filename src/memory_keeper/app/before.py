"""Which session a new one goes on from: of the same project, on the same branch, in the same terminal if it can be.

A handoff of another branch, or an old one, is never told as if it were of now: it says what it is, and only how it
ended. A session that was killed has left none; it is made here, from what is stored.
"""

from __future__ import annotations

from time import time

from memory_keeper import config, wire
from memory_keeper.app.handoff import keep_handoff
from memory_keeper.app.problems import complain
from memory_keeper.capture.host import born
from memory_keeper.capture.project import head
from memory_keeper.errors import KeeperError
from memory_keeper.keep import spool
from memory_keeper.keep.context import find_chain, read_context
from memory_keeper.model import Brief, NamedTuple
from memory_keeper.tell import Before
from memory_keeper.tell.handoff import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Note
    from memory_keeper.reduce.sentences import Sentence

RECENT = 30  # handoffs that are looked at
LATELY, KILLED = 12, 3  # sessions that may have ended without one, and those that get one at a time: it is dear
FORGOTTEN = 30 * 86400.0  # seconds after which a session without a handoff gets none by itself
STALE = 14 * 86400.0  # seconds after which a handoff says only how it ended
APART = 86400.0  # seconds by which one of the same terminal may be older than the newest
SHORT = 250  # tokens of a handoff that is of another branch, or stale
NAME = 80  # characters of a branch that are said
NOT_IN_NAMES = " `'\"<>[]|\\"  # git allows few of these, but nobody made sure that git wrote what we read


class Handoff(NamedTuple):
    """A session that could be gone on from."""

    note: Note
    branch: str
    commit: str
    lines: tuple[Sentence, ...]
    same_terminal: bool


def find_before(
    keeper: Keeper, project: str, session: str, folder: str, terminal: Sequence[str], now: float
) -> Before | None:
    """What a new session is handed; None when there is nothing."""
    branch, commit = head(config.find_root(folder))
    _hand_over_killed(keeper, project, session, folder, now)
    chosen = choose(_handoffs(keeper, project, session, terminal), branch, any(terminal))
    if not chosen:
        return None
    stale = now - chosen.note.at > STALE
    other = bool(branch and chosen.branch and branch != chosen.branch)
    chain = find_chain(keeper.home, chosen.note.session)
    return Before(chain, chosen.lines, title(chosen, branch, commit, now), SHORT if stale or other else 0)


def recall(keeper: Keeper, session: str, folder: str, budget: int) -> Brief:
    """Where a session stood that goes on, with what is not as it was."""
    note = keeper.store.handoff(session)
    if not note or note.id != keeper.handoff_id(session):
        keep_handoff(keeper, session, folder, keeper.environ, over=True)
        note = keeper.store.handoff(session)
    if not note:
        return Brief("handoff", "", 0)
    was = title(_of(note), *head(config.find_root(folder)), time())
    before = Before((session,), (), was)
    return keeper.brief("handoff", note.project, session, "resume", budget, of=session, notes=0, before=before)


def choose(found: Iterable[Handoff], branch: str, terminal: bool) -> Handoff | None:
    """The one to go on from, of those there are, newest first: of this branch if there is one; of those, one of this
    `terminal`, if it is known, unless it is much older. Most often it is the first, and the others are not read."""
    newest = same = None
    for one in found:
        newest = newest or one
        if branch and one.branch not in ("", branch):
            continue
        same = same or one
        if same.note.at - one.note.at >= APART:
            break
        if one.same_terminal or not terminal:
            return one
    return same or newest


def title(handoff: Handoff, branch: str, commit: str, now: float) -> str:
    """What a handoff is of, how old it is, and what is not as it was."""
    said = f"session {handoff.note.session[:8]}, {age(now - handoff.note.at)} old"
    if handoff.branch and branch and handoff.branch != branch:
        return f"{said}, of branch {_named(handoff.branch)}; checked out is {_named(branch)}, so it may not apply"
    said += f", on branch {_named(handoff.branch)}" if handoff.branch else ", on no branch" if handoff.commit else ""
    moved = handoff.commit and commit and handoff.commit != commit
    said += f" at {handoff.commit[:9]}" if moved else ""
    if handoff.branch and commit and not branch:
        return f"{said}; checked out is no branch, at {commit[:9]}"
    now_at = f"that branch is at {commit[:9]} now" if handoff.branch else f"checked out is {commit[:9]} now"
    return f"{said}; {now_at}" if moved else said


def _named(branch: str) -> str:
    """A branch as a name and nothing else: it stands in a line of ours."""
    short = branch if len(branch) <= NAME else branch[: NAME - 1] + "…"
    plain = "".join(char if char.isprintable() and char not in NOT_IN_NAMES else "?" for char in short)
    return f"`{plain}`"


def age(seconds: float) -> str:
    """About how long."""
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {word}{'s' if number > 1 else ''}"
    return "less than a minute"


def _handoffs(keeper: Keeper, project: str, session: str, terminal: Sequence[str]) -> Iterator[Handoff]:
    """The newest handoff of each session of a project that is over and can be told, the newest first."""
    seen = {session}
    for note in reversed(keeper.store.notes(project, 0, "handoff", limit=RECENT)):
        if note.session in seen or not note.text:
            continue
        seen.add(note.session)
        lines = tuple(load(note))
        if lines and not runs(keeper, note.session, session):
            context = read_context(keeper.home, note.session)
            yield _of(note, lines, any(terminal) and list(context.terminal) == list(terminal))


def _of(note: Note, lines: tuple[Sentence, ...] = (), same_terminal: bool = False) -> Handoff:
    extra = wire.read_object(note.extra)
    return Handoff(note, str(extra.get("branch") or ""), str(extra.get("commit") or ""), lines, same_terminal)


def _hand_over_killed(keeper: Keeper, project: str, session: str, folder: str, now: float) -> None:
    """Keep the handoffs of the last sessions that ended without one: they were killed, or no hook saw them end."""
    known = {note.id for note in keeper.store.notes(project, 0, "handoff", limit=RECENT)}
    made = 0
    for one in _lately(keeper, project, session, now):
        id = keeper.handoff_id(one)
        if not id or id in known or runs(keeper, one, session) or made == KILLED:
            continue
        made += 1
        try:
            keep_handoff(keeper, one, folder, keeper.environ, over=True)
        except (KeeperError, OSError) as error:
            complain(keeper.home, "handoff", error)  # there is the one before, if any


def _lately(keeper: Keeper, project: str, session: str, now: float) -> list[str]:
    """The project's last sessions but this one, the newest first; of some there is only what hooks were told."""
    sources = keeper.store.recent_sources(project, LATELY)
    found = [one.session for one in sources if not one.agent and now - one.at < FORGOTTEN]
    heard = [one for one in spool.names(keeper.home) if keeper.store.project_of(one) == project]
    return [one for one in dict.fromkeys([*found, *heard]) if one != session]


def runs(keeper: Keeper, session: str, beside: str = "") -> bool:
    """Whether the process of a session is still there, and has not begun another one: `beside` it."""
    context = read_context(keeper.home, session)
    if context.ended or not context.born or born(context.pid) != context.born:
        return False
    other = read_context(keeper.home, beside) if beside else None
    return not other or (other.pid, other.born) != (context.pid, context.born)
