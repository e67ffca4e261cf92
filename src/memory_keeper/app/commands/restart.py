"""`restart`: write the handoff and have the session cleared; its next context is told the handoff."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import time

from memory_keeper.app.commands import handoff
from memory_keeper.app.settle import TTL, ask
from memory_keeper.app.terminal import print_json
from memory_keeper.app.watch.ask import can_answer
from memory_keeper.errors import KeeperError
from memory_keeper.keep.context import read_context

EXAMPLE = "memory-keeper restart"


def configure(parser: ArgumentParser) -> None:
    """Which session."""
    handoff.configure(parser)


def run(args: Namespace) -> int:
    """Save, then ask for a clear: it comes when the turn is over."""
    note, where = handoff.write(args)
    context = read_context(args.home, note.session)
    if context.ended or not context.begun:
        raise KeeperError(
            f"Session {note.session[:8]} does not run any more: its handoff is written, there is nothing to clear",
            hint="start Claude Code: it is told what was saved",
        )
    ask(args.home, note.session, time(), "restart")
    by = can_answer(args.home, context)
    if args.json:
        print_json({"id": note.id, "session": note.session, "path": where, "asked": True, "answered_by": by})
        return 0
    print(f"Saved session {note.session[:8]}: {where or note.id}.")
    if by:
        print(f"It is cleared within {TTL:.0f} seconds after its turn, by {by}, and goes on from the handoff.")
    else:
        print("Nothing here can clear it for you: type /clear, and it goes on from the handoff.")
    return 0
