"""`compact --session`: notes and handoff of a session up to now, and its entry in the context archive."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import Any

from memory_keeper import config
from memory_keeper.app.commands import folder_of, make_notes, project_of, render_memory, running_session
from memory_keeper.app.handoff import keep_handoff
from memory_keeper.app.render import foreign
from memory_keeper.app.terminal import print_json
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.keeper import Keeper
from memory_keeper.model import Context, Note, Source
from memory_keeper.tell.archived import Entry
from memory_keeper.tell.context_archive import as_json, find, measured
from memory_keeper.tell.files import CONTEXT_ARCHIVE, FOLDER

EXAMPLE = "memory-keeper compact --session"
PATIENCE = 30.0
# what there is to do then, by what becomes of a full context
NEXT = {
    "replace": "Nothing more to do: Memory Keeper compacts the context by itself when it is full enough; /compact does"
    " it now.",
    "clear": "Nothing more to do: Memory Keeper clears the context by itself when it is full enough; /clear does it"
    " now.",
}
USUALLY = (
    "Now /clear goes on from the handoff in an empty context, or /compact lets Claude Code sum it up and adds what that"
    " loses."
)
OVER = "The session is over: the next one in this project is told of it when it starts."


def configure(parser: ArgumentParser) -> None:
    """Of which session."""
    parser.add_argument(
        "--session",
        nargs="?",
        const="",
        required=True,
        metavar="ID",
        help="this one; without ID the one that runs this, else the newest",
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help=f"write {CONTEXT_ARCHIVE} anew even if somebody has changed it; what it said is kept beside it",
    )


def run(args: Namespace) -> int:
    """Bring everything in, write handoff, notes and the archive's entry, and say what was done."""
    environ = config.environment()
    with Keeper(args.home, environ) as keeper:
        session, context = running_session(keeper, args)
        with suppress(Busy):  # then of what there is
            keeper.look((Source(context.transcript, session, ""),) if context.transcript else (), patience=PATIENCE)
        root = _root(keeper, args, session, context)
        where = keep_handoff(keeper, session, root, environ)
        note = keeper.store.handoff(session)
        if not note:
            raise NotSetUp(f"Session {session[:8]} has said nothing yet", hint="there is nothing to compact")
        keeper.archive_by_hand(session)
        made: list[Note] = []
        with suppress(Busy):  # somebody else is at it
            made = make_notes(keeper, note.project)
        files = render_memory(keeper, note.project, root, foreign=args.adopt) if root else []
        left = foreign(keeper, note.project, root) if root else []
        entry = find(keeper.store, args.home, note.project, session)
        settings = config.load(args.home, root, environ)[0]
    told = _tell(note, where, entry, made, files, left, root, OVER if context.ended else _advice(settings))
    if args.json:
        print_json(told)
    else:
        _show(told, entry, root, made)
    _complain(told, root, settings)
    return 0


def _advice(settings: dict[str, Any]) -> str:
    return NEXT.get(settings["compaction.mode"], USUALLY)


def _root(keeper: Keeper, args: Namespace, session: str, context: Context) -> str:
    """The folder that a session's pages belong into: its own, or one that its project was seen in; empty when all of
    them are gone. Never another project's."""
    project = keeper.store.project_of(session)
    if args.project and project_of(keeper, args) != project:
        known = next(iter(keeper.store.roots(project)), "another folder")
        raise KeeperError(f"Session {session[:8]} is not of {folder_of(args)}", hint=f"it is of {known}")
    for folder in (context.folder, *keeper.store.roots(project)):
        if folder and os.path.isdir(folder) and keeper.project(folder) == project:
            return config.find_root(folder)
    return ""


def _tell(
    note: Note,
    where: str,
    entry: Entry | None,
    made: list[Note],
    files: list[str],
    left: list[str],
    root: str,
    next: str,
) -> dict[str, Any]:
    path = "/".join((root, *FOLDER, CONTEXT_ARCHIVE))
    last = entry.compactions[-1] if entry else None
    handoff = f"{root}/{where}" if where != note.id else None
    return {
        "session": note.session,
        "handoff": {"id": note.id, "path": handoff, "tokens": note.tokens},
        "archive": path if root and path not in left and os.path.exists(path) else None,
        "before": last.before if last else None,
        "after": note.tokens,
        "after_is_estimated": True,
        "entry": as_json(entry) if entry else None,
        "notes": [one.id for one in made],
        "files": files,
        "left": left,
        "next": next,
    }


def _show(told: dict[str, Any], entry: Entry | None, root: str, made: list[Note]) -> None:
    session, handoff = told["session"][:8], told["handoff"]
    where = f": {told['archive']}" if told["archive"] else "."
    print(f"Session {session} is {'' if entry else 'not '}in the context archive{where if entry else '.'}")
    print(f"  handoff  {handoff['path'] or handoff['id']} ({handoff['tokens']:,} tokens)")
    if count := sum(bool(one.text) for one in made):
        print(f"  notes    {count} written")
    if entry:
        print(f"  context  {measured(entry.compactions[-1])}")
        print(f"  tasks    {len(entry.done)} completed, {len(entry.doing)} in progress, {len(entry.open)} open")
    for path in told["left"]:
        print(f"  {path} was changed or is not ours, and was left alone; --adopt writes it anew and keeps it beside")
    print(told["next"])


def _complain(told: dict[str, Any], root: str, settings: dict[str, Any]) -> None:
    """Say it when what was asked for is not there: the session's entry, or the page."""
    if not told["entry"]:
        raise PartlyDone(
            f"Session {told['session'][:8]} could not be put into the context archive",
            hint="notes and handoff are kept; `memory-keeper doctor` may know why",
        )
    if told["archive"] or told["left"] or not settings["tell.files"]:
        return
    why = "could not be written" if root else "has no folder to be written to: the project's is gone"
    raise PartlyDone(
        f"{CONTEXT_ARCHIVE} {why}", hint="notes and handoff are kept; `memory-keeper brief handoff` prints it"
    )
