"""`handoff`: write a session's handoff now and print it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from memory_keeper import wire
from memory_keeper.briefs.handoff import by_part
from memory_keeper.cli.commands import running_session
from memory_keeper.config import environment
from memory_keeper.errors import NotSetUp
from memory_keeper.hooks.actions.handoff import save
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, Source
from memory_keeper.terminal import from_here, print_json, say

EXAMPLE = "memory-keeper handoff"
PATIENCE = 30.0


def configure(parser: ArgumentParser) -> None:
    """Of which session."""
    parser.add_argument("--session", default="", metavar="ID", help="default: the one that runs this, else the newest")


def run(args: Namespace) -> int:
    """Write it and show it."""
    note, where = write(args)
    if args.json:
        shown = {"id": note.id, "session": note.session, "path": where, "tokens": note.tokens, "text": note.text}
        print_json({**shown, **by_part(wire.read_object(note.extra).get("facts"))})
    else:
        say(note.text.rstrip())
        say(f"\nKept as {note.id}" + (f", and in {from_here(where)}" if where else ""))
    return 0


def write(args: Namespace) -> tuple[Note, str]:
    """A session's handoff, brought up to date: the note, and its file if there is one."""
    with Keeper(args.home) as keeper:
        session, context = running_session(keeper, args)
    sources = (Source(context.transcript, session, ""),) if context.transcript else ()
    where = save(args.home, session, context.folder, environment(), PATIENCE, sources)
    with Keeper(args.home) as keeper:
        note = keeper.store.handoff(session)
    if not note:
        raise NotSetUp(f"Session {session[:8]} has said nothing yet", hint="there is nothing to hand over")
    path = Path(context.folder, where)
    return note, str(path) if where != note.id and path.exists() else ""
