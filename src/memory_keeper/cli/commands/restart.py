"""`restart`: write the handoff and have the session cleared; its next context is told the handoff."""

from __future__ import annotations

import os
from argparse import Namespace
from time import time

from memory_keeper.cli.arguments import SESSION, argument
from memory_keeper.cli.commands import handoff
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import live_sessions
from memory_keeper.errors import KeeperError
from memory_keeper.hooks.actions import FRESH
from memory_keeper.hooks.actions.fullness import MODULE, can_answer
from memory_keeper.hooks.actions.turn_end import ask, is_idle
from memory_keeper.host import registration
from memory_keeper.keeper import Keeper
from memory_keeper.store.context import read_context
from memory_keeper.terminal import from_here

ARGUMENTS = (
    SESSION,
    argument("--fresh", action="store_true", help="the next context is told nothing: the handoff is only kept"),
)


def run(args: Namespace) -> int:
    """Save, then ask for a clear: it comes when the turn is over."""
    _only_one(args)
    note, where = handoff.write(args)
    context = read_context(args.home, note.session)
    if context.ended or not context.begun:
        raise KeeperError(
            f"Session {note.session[:8]} does not run any more: its handoff is written, there is nothing to clear",
            hint="start Claude Code: it is told what was saved",
        )
    ask(args.home, note.session, time(), FRESH if args.fresh else "restart")
    by, later = can_answer(args.home, context), registration.load_module(args.home)
    then = _say(by, later, is_idle(context), "begins with nothing" if args.fresh else "goes on from the handoff")
    about = {"id": note.id, "session": note.session, "path": where, "asked": bool(by), "answered_by": by}
    return respond(args, about, f"Saved session {note.session[:8]}: {from_here(where) or note.id}\n{then}")


def _only_one(args: Namespace) -> None:
    """Refuse to choose between sessions: what is cleared is gone from the screen."""
    if args.session or os.environ.get("CLAUDE_CODE_SESSION_ID"):
        return
    with Keeper(args.home) as keeper:
        running = live_sessions(keeper, args)
    if len(running) > 1:
        names = ", ".join(session[:8] for session in running)
        raise KeeperError(f"{len(running)} sessions run here: {names}", hint="say which one with --session")


def _say(by: str, later: bool, idle: bool, then: str) -> str:
    if not by:
        soon = " From the next session on Memory Keeper does that (Claude Code 2.1.286 or newer)." if later else ""
        return f"Nothing here can clear it for you: type /clear, and it {then}.{soon}"
    if by == MODULE and idle:  # which is asked at the end of each turn, and at no other time
        return f"Type /clear now, or it is cleared when its next turn is over, and {then}."
    return f"It is cleared by {by} as soon as {'it is idle' if idle else 'its turn is over'}, and {then}."
