"""A session's handoff, kept as a note: what is found for the next context, and where the session was when it ended."""

from __future__ import annotations

from time import time

from memory_keeper import config, wire
from memory_keeper.briefs import UNLIMITED, handoff
from memory_keeper.capture.project import head
from memory_keeper.extract.facts import dump
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.store.context import read_context
from memory_keeper.store.events import newest_events

LINES = 50  # of a session in which its branch is looked for, the newest
DETACHED = "HEAD"  # what the host calls the branch when none is checked out


def make_handoff(keeper: Keeper, id: str, session: str, budget: int, now: float, folder: str) -> Note | None:
    """The handoff of a session as it stands; None: there is nothing to say."""
    where = find_where(keeper, session, folder)
    view = keeper.view(session, "", of=session, where=say_where(**where))
    facts = handoff.find(view)
    brief = handoff.compose(view._replace(handed=tuple(facts)), budget, "", "", characters=UNLIMITED)
    if not brief.text:
        return None
    extra = wire.dumps({"cites": list(brief.cites), "facts": dump(facts), **where})
    return Note(id, now or time(), "handoff", 0, view.project, brief.text, session, brief.tokens, extra)


def find_where(keeper: Keeper, session: str, folder: str) -> dict[str, str]:
    """The branch and the commit that a session is on; of one that is over, those that its end noted, else the
    branch that its last lines name: another may be checked out by now."""
    context = read_context(keeper.home, session)
    if context.ended and any(context.place):
        return {"branch": context.place[0], "commit": context.place[1]}
    branch, commit = head(config.find_root(folder)) if folder else ("", "")
    if branch and not context.ended and context.born:
        return {"branch": branch, "commit": commit}  # it runs: the host's lines may lag behind
    recorded = _recorded_branch(keeper, session)
    if not recorded or recorded == (branch or DETACHED):
        return {"branch": branch, "commit": commit}
    return {"branch": recorded if recorded != DETACHED else "", "commit": ""}


def say_where(branch: str, commit: str) -> str:
    """A line about where a session is."""
    return f"On branch {branch}{f' at {commit[:9]}' if commit else ''}" if branch else ""


def _recorded_branch(keeper: Keeper, session: str) -> str:
    """The branch that the host wrote into the last line of a session that names one; empty when none does."""
    newest = reversed(newest_events(keeper.store, (session,), LINES))
    try:
        for line in keeper.raw_lines(event.id for event in newest if not event.agent):
            branch = wire.read_object(line.decode("utf-8", "replace")).get("gitBranch")
            if branch and isinstance(branch, str) and branch.isprintable():
                return branch
    except (OSError, ValueError):
        pass  # an archive that is damaged, or gone
    return ""
