"""The clears that were asked for and that nobody has answered yet."""

from __future__ import annotations

from typing import NamedTuple

from memory_keeper.capture.host import born
from memory_keeper.hooks.actions.turn_end import TTL, may_be_answered
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.home import about

MOMENT = 2.0  # seconds that the hooks module of a newer host has for it, before keys are typed


class Ask(NamedTuple):
    """A clear of one session, which runs in one process."""

    session: str
    at: float
    pid: int
    born: str
    tmux: str  # TMUX and TMUX_PANE of that process
    pane: str
    sty: str  # STY and WINDOW, of GNU screen
    window: str


def open_asks(home: str, now: float) -> list[Ask]:
    """Clears that were asked for, can still be answered, and whose session sits idle; the oldest first."""
    found = []
    for session in spool.names(home):
        if about(spool.path_of(home, session)).st_mtime < now - 2 * TTL:
            continue
        context = read_context(home, session)
        if may_be_answered(context, now) and now - context.asked >= MOMENT:
            found.append(Ask(session, context.asked, context.pid, context.born, *context.terminal))
    return sorted((ask for ask in found if still_there(ask)), key=lambda ask: ask.at)


def still_there(ask: Ask) -> bool:
    """Whether the process lives, and is the one that was meant: numbers are given again."""
    return ask.pid > 1 and bool(ask.born) and born(ask.pid) == ask.born
