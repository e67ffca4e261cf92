"""Which session a new one goes on from: of the same project, on the same branch, in the same terminal if it can be.

A handoff of another branch, or an old one, is never told as if it were of now: it says what it is, and only how it
ended. A session that was killed has left none; it is made here, from what is stored.
"""

from __future__ import annotations

import posix

from memory_keeper import config, wire
from memory_keeper.briefs import Before
from memory_keeper.capture.host import born
from memory_keeper.capture.project import head
from memory_keeper.errors import Busy
from memory_keeper.extract.facts import carried_whole, facts_of
from memory_keeper.hooks.actions.handoff import CATCH_UP, foresee, try_to_keep
from memory_keeper.model import NamedTuple
from memory_keeper.request import Brief
from memory_keeper.settings import DEFAULTS
from memory_keeper.store import spool
from memory_keeper.store.context import find_chain, read_context
from memory_keeper.store.events import as_of, has_prompt, newest_id
from memory_keeper.store.home import Lock
from memory_keeper.text import how_long

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.extract.facts import Fact
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Note
    from memory_keeper.request import Context

RECENT = 30  # sessions whose handoffs are looked at
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
    at: float  # of what was said last in the session
    branch: str
    commit: str
    facts: tuple[Fact, ...]
    same_terminal: bool


def find_before(
    keeper: Keeper, project: str, session: str, folder: str, terminal: Sequence[str], now: float, make: bool = True
) -> Before | None:
    """What a new session is handed; None when there is nothing. With `make`, handoffs that are missing are kept; else
    they are found and told, and nothing is kept."""
    branch, commit = head(config.find_root(folder))
    mine = read_context(keeper.home, session)
    lacking = _killed(keeper, _lately(keeper, project, session, now), mine)
    killed = [id for _, id in zip(range(KILLED), lacking, strict=False)]
    found = [note for id in killed if not make and (note := foresee(keeper, id, DEFAULTS["tell.handoffBudget"]))]
    if make and killed:
        _hand_over(keeper, killed, folder)
    known = [note for note in keeper.store.handoffs(project, RECENT) if note.session != session and note.text]
    newer = {note.session for note in found}
    others = [*found, *(note for note in known if note.session not in newer)]
    others.sort(key=lambda note: -as_of(keeper.store, note))
    chosen = choose(_handoffs(keeper, others, mine, terminal), branch, any(terminal))
    if not chosen:
        return None
    stale = now - chosen.at > STALE
    other = bool(branch and chosen.branch and branch != chosen.branch)
    handed = (chosen.note.session, *carried_whole(chosen.facts))
    chain = tuple(id for session in handed for id in find_chain(keeper.home, session))
    was, limit = title(chosen, branch, commit, now), SHORT if stale or other else 0
    return Before(chain, chosen.facts, was, limit, _why(chosen, branch), chosen.note.id if not limit else "")


def where_it_stood(keeper: Keeper, session: str, folder: str, budget: int, now: float) -> Brief:
    """Where a session stood that goes on, with what is not as it was."""
    note = keeper.store.handoff(session)
    if not note or note.id != keeper.handoff_id(session):
        try_to_keep(keeper, session, folder, over=True)
        note = keeper.store.handoff(session)
    # the title says where, and what was handed on to it stands in its context already
    facts = tuple(fact for fact in keeper.handed(session) if not fact.of)
    was = title(_of(keeper, note), *head(config.find_root(folder)), now) if note else ""
    before = Before((session,), facts, was) if was else None
    brief = keeper.brief("handoff", keeper.view(session, "resume", of=session, before=before, notes=0), budget)
    return brief._replace(handed=note.id if note else "")


def choose(found: Iterable[Handoff], branch: str, terminal: bool) -> Handoff | None:
    """The one to go on from, of those there are, newest first: of this branch if there is one; of those, one of this
    `terminal`, if it is known, unless it is much older. Most often it is the first, and the others are not read."""
    newest = same = None
    for handoff in found:
        newest = newest or handoff
        if branch and handoff.branch not in ("", branch):
            continue
        same = same or handoff
        if same.at - handoff.at >= APART:
            break
        if handoff.same_terminal or not terminal:
            return handoff
    return same or newest


def _why(chosen: Handoff, branch: str) -> str:
    of = " of this branch" if branch and chosen.branch == branch else ""
    return f"the newest handoff{of}{', in the same terminal' if chosen.same_terminal else ''}"


def title(handoff: Handoff, branch: str, commit: str, now: float) -> str:
    """What a handoff is of, how old it is, and what is not as it was."""
    text = f"session {handoff.note.session[:8]}, {how_long(now - handoff.at)} old"
    if handoff.branch and branch and handoff.branch != branch:
        return f"{text}, of branch {_named(handoff.branch)}; checked out is {_named(branch)}, so it may not apply"
    text += f", on branch {_named(handoff.branch)}" if handoff.branch else ", on no branch" if handoff.commit else ""
    moved = handoff.commit and commit and handoff.commit != commit
    text += f" at {handoff.commit[:9]}" if moved else ""
    if handoff.branch and commit and not branch:
        return f"{text}; checked out is no branch, at {commit[:9]}"
    now_at = f"the branch is at {commit[:9]} now" if handoff.branch else f"checked out is {commit[:9]} now"
    return f"{text}; {now_at}" if moved else text


def _named(branch: str) -> str:
    """A branch as a name and nothing else: it stands in a line of ours."""
    short = branch if len(branch) <= NAME else branch[: NAME - 1] + "…"
    plain = "".join(char if char.isprintable() and char not in NOT_IN_NAMES else "?" for char in short)
    return f"`{plain}`"


def _handoffs(keeper: Keeper, notes: Iterable[Note], mine: Context, terminal: Sequence[str]) -> Iterator[Handoff]:
    """Those of sessions that are over, and that can be told."""
    for note in notes:
        context = read_context(keeper.home, note.session)
        if not runs(context, mine) and (facts := tuple(facts_of(note))):
            yield _of(keeper, note, facts, any(terminal) and list(context.terminal) == list(terminal))


def _of(keeper: Keeper, note: Note, facts: tuple[Fact, ...] = (), same_terminal: bool = False) -> Handoff:
    extra, at = wire.read_object(note.extra), as_of(keeper.store, note)
    return Handoff(note, at, str(extra.get("branch") or ""), str(extra.get("commit") or ""), facts, same_terminal)


def _killed(keeper: Keeper, sessions: Iterable[str], mine: Context) -> Iterator[str]:
    """Sessions that ended without a handoff: they were killed, or no hook saw them end."""
    for session in sessions:
        if _lacks(keeper, session) and not runs(read_context(keeper.home, session), mine):
            yield session


def _hand_over(keeper: Keeper, sessions: Iterable[str], folder: str) -> None:
    """Keep the handoffs of sessions that have none; of many that start at once, one does it for all of them."""
    try:
        with Lock(keeper.home, keeper.patience(CATCH_UP), "handoffs"):
            for session in sessions:
                own = read_context(keeper.home, session).folder
                where = own if posix.access(own, posix.F_OK) else folder
                if keeper.patience(CATCH_UP):  # else there is the one before, if any, and the next start makes it
                    try_to_keep(keeper, session, where, over=True)
    except Busy:
        pass  # what there is can be told


def _lacks(keeper: Keeper, session: str) -> bool:
    """Whether a session has no handoff that tells all of it, and something to hand over."""
    id = keeper.handoff_id(session)
    if not id or keeper.store.note(id):
        return False
    return has_prompt(keeper.store, session) or not newest_id(keeper.store, session)


def _lately(keeper: Keeper, project: str, session: str, now: float) -> list[str]:
    """The project's last sessions but this one, the newest first; of some there is only what hooks were told."""
    sources = keeper.store.recent_sources(project, LATELY, agents=False)
    found = [source.session for source in sources if now - source.at < FORGOTTEN]
    heard = [name for name in spool.names(keeper.home) if keeper.store.project_of(name) == project]
    return [id for id in dict.fromkeys([*found, *heard]) if id != session]


def runs(context: Context, mine: Context) -> bool:
    """Whether the process of a context is still there, and has not begun this one since."""
    if context.ended or not context.born or born(context.pid) != context.born:
        return False
    return (mine.pid, mine.born) != (context.pid, context.born)
