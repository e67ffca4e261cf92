"""`handoff`: what a session leaves to the next context; written now, listed, shown."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from memory_keeper import wire
from memory_keeper.briefs.handoff import by_part
from memory_keeper.cli.arguments import DRY_RUN, SESSION, YES, Verb, argument, limit
from memory_keeper.cli.commands.share import share_notes
from memory_keeper.cli.output import Entry, print_entries, respond
from memory_keeper.cli.scope import known_project, project_of, running_session
from memory_keeper.config import environment
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.hooks.actions.handoff import save
from memory_keeper.host.consent import outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import Note, Source
from memory_keeper.store.events import as_of
from memory_keeper.terminal import format_time, from_here, say

PATIENCE = 30.0


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


def _write(args: Namespace) -> int:
    if args.to is not None:
        outside_a_session(args.home, "share what is kept")
    note, where = write(args)
    if args.to is not None:
        with Keeper(args.home) as keeper:
            return share_notes(args, keeper, [note], args.to)
    return _respond(args, note, where, f"\n\nKept as {note.id}" + (f", and in {from_here(where)}" if where else ""))


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        notes = keeper.store.notes(project, 0, "handoff") if project else []
        newest = list({note.session: note for note in notes}.values())[::-1][: args.limit]
        known = [(note, as_of(keeper.store, note)) for note in newest]
    entries = [
        Entry(
            note.id, note.text.removeprefix("#"), f"session {note.session[:8]}  {format_time(at)}  {note.tokens} tokens"
        )
        for note, at in known
    ]
    about = [{"id": note.id, "session": note.session, "at": at, "tokens": note.tokens} for note, at in known]
    return respond(args, about, lambda: print_entries(entries, "No handoffs. memory-keeper handoff writes one."))


def _show(args: Namespace) -> int:
    """The handoff of a session, or of an id of its own; else the newest of the project."""
    with Keeper(args.home) as keeper:
        if args.id:
            note = keeper.store.wording(args.id) or keeper.store.handoff(session_of(keeper, args.id))
        else:
            note = keeper.store.handoff(project=project_of(keeper, args))
    if not note or note.kind != "handoff":
        hint = "`memory-keeper handoff list` gives ids" if args.id else "`memory-keeper handoff` writes one"
        raise KeeperError(f"There is no handoff of {args.id or 'this project'}", hint=hint)
    return _respond(args, note, "")


def _respond(args: Namespace, note: Note, where: str, kept: str = "") -> int:
    about = {"id": note.id, "session": note.session, "path": where, "tokens": note.tokens, "text": note.text}
    about |= by_part(wire.read_object(note.extra).get("facts"))
    return respond(args, about, lambda: say(note.text.rstrip() + kept))


OF = argument("id", nargs="?", default="", metavar="ID", help="of a handoff or of a session; default: the newest")
TO = argument("--to", default=None, metavar="NAME", help="share it with the team, for somebody")
VERBS = {
    "write": Verb(_write, "write a session's handoff now, and print it", "memory-keeper handoff",
            (SESSION, TO, YES, DRY_RUN)),
    "list": Verb(_list, "the newest of each session", "memory-keeper handoff list", (limit(10),)),
    "show": Verb(_show, "one, as it was written", "memory-keeper handoff show 12ab34cd", (OF,)),
}  # fmt: skip
