"""`upkeep`: a session's notes, handoff and entry in the context archive, a project's observations, its tasks; now."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from time import time
from typing import Any, NamedTuple

from memory_keeper import config
from memory_keeper.briefs.archived import Entry
from memory_keeper.briefs.context_archive import as_json as entry_json
from memory_keeper.briefs.context_archive import find, measured
from memory_keeper.briefs.files import CONTEXT_ARCHIVE, FOLDER
from memory_keeper.cli import main as cli
from memory_keeper.cli.arguments import DRY_RUN, argument
from memory_keeper.cli.commands import handoff
from memory_keeper.cli.commands.save import root_of, save_project
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of, running_session
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.jobs.due import OBSERVATIONS, REPORT, TASKS, due, everywhere
from memory_keeper.jobs.upkeep import Upkept, as_json, upkeep
from memory_keeper.keeper import Keeper
from memory_keeper.pages.reading import Pages
from memory_keeper.rules.prompts import TYPED
from memory_keeper.terminal import Bar, from_here, say

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
ARGUMENTS = (
    argument(
        "--session", "--session-now", nargs="?", const="", metavar="ID",
        help="this one; without ID the one that runs this, else the newest",
    ),
    argument("--observations", action="store_true", help="what was said and seen: count, propose, archive"),
    argument("--tasks", action="store_true", help="what was done: the last in full, the others in a line"),
    argument("--again", action="store_true", help="find observations in everything ever said, not the new"),
    argument("--all-projects", action="store_true", help="observations and tasks of all projects"),
    DRY_RUN,
    argument(
        "--adopt", action="store_true",
        help="write a page anew even if somebody has changed it; what it said is kept beside it",
    ),
)  # fmt: skip


def main() -> None:
    """The program `compress-context`."""
    cli.main(["upkeep", *sys.argv[1:]])


def run(args: Namespace) -> int:
    """Do what was asked for, one after the other, and say what came of it."""
    layers = [what for what in (OBSERVATIONS, TASKS) if getattr(args, what)]
    if args.session is None and not layers:
        args.fail("say what to compact: --session, --observations, --tasks, or more than one of them")
    if args.session is not None and args.all_projects:
        args.fail("--session is about one project; --all-projects is for --observations and --tasks")
    if args.again and not args.observations:
        args.fail("--again is for --observations")
    with Keeper(args.home) as keeper:
        session = _compact_session(keeper, args) if args.session is not None else None
        places = _places(keeper, args, session) if layers else []
        done, failed = _bring_up_to_date(keeper, args, layers, places)

    def show() -> None:
        if session:
            _show(session)
        for upkept in done:
            _show_upkeep(upkept, args.dry_run)

    about = {**(session.about if session else {}), **({"projects": [*map(as_json, done)]} if layers else {})}
    respond(args, about, show)
    if session and not args.dry_run:
        _complain(session)
    if failed:
        raise PartlyDone("; ".join(failed), hint="the other projects are up to date")
    return 0


# --- a session -------------------------------------------------------------------------------------------------------


class Compacted(NamedTuple):
    """A session that was summed up."""

    about: dict[str, Any]  # for programs
    root: str
    settings: dict[str, Any]
    left: dict[str, str]  # files that were not written, and what is to be said of each
    notes: int  # that were written and say something
    entry: Entry | None = None


def _compact_session(keeper: Keeper, args: Namespace) -> Compacted:
    """Save a session, and put it into the context archive."""
    session, context = running_session(keeper, args)
    root = root_of(keeper, args, session, context.folder)
    settings = config.load(args.home, root, keeper.environ)[0]
    if args.dry_run:
        return Compacted(_foretell(keeper, session, root), root, settings, {}, 0)
    note, path = handoff.write(args)
    root = root or root_of(keeper, args, session, context.folder)  # its project may be known only now
    keeper.archive_by_hand(session)
    saved = save_project(keeper, note.project, root, args.adopt)
    entry = find(keeper.store, args.home, note.project, session)
    archive = "/".join((root, *FOLDER, CONTEXT_ARCHIVE))
    about = {
        "session": session,
        "handoff": {"id": note.id, "path": path or None, "tokens": note.tokens},
        "archive": archive if root and archive not in saved.left and os.path.exists(archive) else None,
        "before": entry.compactions[-1].before if entry else None,
        "after": note.tokens,
        "after_is_estimated": True,
        "entry": entry_json(entry) if entry else None,
        "notes": saved.notes,
        "files": saved.files,
        "left": [*saved.left],
        "next": OVER if context.ended else NEXT.get(settings["compaction.mode"], USUALLY),
    }
    return Compacted(about, root, settings, saved.left, saved.told, entry)


def _foretell(keeper: Keeper, session: str, root: str) -> dict[str, Any]:
    """What would be written of a session, as far as it was read."""
    id = keeper.handoff_id(session)
    files = ("handoffs", f"HANDOFF-{session}.md"), (CONTEXT_ARCHIVE,)
    return {
        "session": session,
        "dry_run": True,
        "handoff": "new" if id and not keeper.store.note(id) else "as it is",
        "open_calls": sum(open_session.tools for open_session in keeper.store.open_sessions(session=session)),
        "files": ["/".join((root, *FOLDER, *path)) for path in files] if root else [],
    }


def _show(done: Compacted) -> None:
    about, entry = done.about, done.entry
    session, handed = about["session"][:8], about["handoff"]
    if about.get("dry_run"):
        say(f"Session {session}: {about['open_calls']} tool calls are in no note yet; would be written:")
        for path in about["files"]:
            say(f"  {from_here(path)}")
        return
    where = f": {from_here(about['archive'])}" if about["archive"] and entry else "."
    say(f"Session {session} is {'' if entry else 'not '}in the context archive{where}")
    say(f"  handoff  {from_here(handed['path'] or handed['id'])} ({handed['tokens']:,} tokens)")
    if done.notes:
        say(f"  notes    {done.notes} written")
    if entry:
        say(f"  context  {measured(entry.compactions[-1])}")
        if entry.done or entry.doing or entry.open:
            say(f"  tasks    {len(entry.done)} completed, {len(entry.doing)} in progress, {len(entry.open)} open")
    for path, problem in done.left.items():
        say(f"  {from_here(path)} {problem}")
    say(about["next"])


def _complain(done: Compacted) -> None:
    """Say it when what was asked for is not there: the session's entry, or the page."""
    hint = "notes and handoff are kept; `memory-keeper doctor` may know why"
    if not done.entry:
        raise PartlyDone(f"Session {done.about['session'][:8]} could not be put into the context archive", hint=hint)
    if not done.about["archive"] and not done.left and done.settings["tell.files"]:
        why = "could not be written" if done.root else "has no folder to be written to: the project's is gone"
        hint = "notes and handoff are kept; `memory-keeper brief handoff` prints it"
        raise PartlyDone(f"{CONTEXT_ARCHIVE} {why}", hint=hint)


# --- a project -------------------------------------------------------------------------------------------------------


def _places(keeper: Keeper, args: Namespace, session: Compacted | None) -> list[Pages]:
    """The project that is meant: the session's, where one is named, else this; or all of them, once all was read. Who
    asks for all may do so before there is one: a clock does."""
    if not args.dry_run:
        with suppress(Busy):  # then of what there is
            keeper.catch_up(patience=PATIENCE)
    if args.all_projects:
        with suppress(NotSetUp):
            return [Pages(keeper, place.project, place.root, place.now) for place in everywhere(keeper, time())]
        return []
    if session and session.root:
        return [Pages(keeper, keeper.store.project_of(session.about["session"]), session.root)]
    return [Pages(keeper, project_of(keeper, args), config.find_root(folder_of(args)))]


def _bring_up_to_date(
    keeper: Keeper, args: Namespace, layers: Sequence[str], places: Sequence[Pages]
) -> tuple[list[Upkept], list[str]]:
    """Bring the pages of projects up to date; and what went wrong in some."""
    done: list[Upkept] = []
    failed: list[str] = []
    label, total = "bringing up to date", len(places)
    if args.again:
        label, total = "reading prompts", _count_prompts(keeper, places)
    with Bar(label, total, bytes=False) as bar:
        for place in places:
            try:
                done.append(_upkeep(place, args, layers, bar))
            except KeeperError as error:  # one project's must not keep out the others
                if not args.all_projects:
                    raise
                failed.append(f"{place.root}: {error}")
            bar.advance(not args.again)
    return done, failed


def _count_prompts(keeper: Keeper, places: Sequence[Pages]) -> int:
    kinds = [keeper.store.counts(project)["kinds"] for project in {place.project for place in places}]
    return sum(counts.get(kind, 0) for counts in kinds for kind in TYPED)


def _upkeep(pages: Pages, args: Namespace, layers: Sequence[str], bar: Bar) -> Upkept:
    what = [*layers, REPORT] if TASKS in layers and REPORT in due(pages) else layers
    progress = {"progress": bar.advance} if args.again else {}
    return upkeep(pages, what, dry=args.dry_run, foreign=args.adopt, everything=args.again, **progress)


def _show_upkeep(upkept: Upkept, dry: bool) -> None:
    print(upkept.root)
    for what, counts in {**upkept.counts, "new": upkept.new}.items():
        if text := ", ".join(f"{count} {state}" for state, count in counts.items() if count):
            say(f"  {what:<13} {text}")
    names = ", ".join(path.rpartition("/")[2] for path in upkept.files)
    say(f"  {'would write' if dry else 'written':<13} {names or 'nothing, as all pages are up to date'}")
    for path, text in upkept.left.items():
        say(f"  {from_here(path)} {text}")
