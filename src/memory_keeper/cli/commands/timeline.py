"""`timeline`: what happened when, one line each; around one thing, in a session, or in the project."""

from __future__ import annotations

from argparse import Namespace
from time import localtime, strftime, time

from memory_keeper.briefs import short
from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.timeline import LIMIT, Entry, around, grouped, of_project, of_session
from memory_keeper.cli.arguments import ALL_PROJECTS, SINCE, UNTIL, argument, limit
from memory_keeper.cli.output import plain, respond
from memory_keeper.cli.scope import project_of
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.by_id import find_one
from memory_keeper.lookup.sessions import session_of
from memory_keeper.terminal import as_called, fitting, paint, say, width
from memory_keeper.text import ago, clean, showable

LEAST = 20  # columns of what is said, however narrow the terminal
ARGUMENTS = (
    argument("--around", default="", metavar="ID", help="what came before and after an event or a note"),
    argument("--session", default="", metavar="ID", help="every step of this session"),
    SINCE,
    UNTIL,
    ALL_PROJECTS,
    limit(LIMIT, most=10_000),
)


def run(args: Namespace) -> int:
    """In the order in which it happened: the newest last."""
    with Keeper(args.home) as keeper:
        entries = _entries(keeper, args)
        folders = {project: project_name(keeper.store, project) for project in {entry.project for entry in entries}}
    return respond(args, plain(entries), lambda: _show(args, entries, folders))


def _show(args: Namespace, entries: list[Entry], folders: dict[str, str]) -> None:
    if not entries:
        say(f"nothing is kept of that time{'' if args.all_projects else '; --all-projects looks in the others too'}")
        return
    wide, kinds = (
        max(map(len, words)) for words in zip(*((short(entry.id), entry.kind) for entry in entries), strict=True)
    )
    for day, session, group in grouped(entries, _day):
        of = f"  session {session[:8]}" if session else ""
        head = f"{day}  {ago(group[-1].at, time())}{of}  "
        room = max(LEAST // 2, width() - len(head))
        where = fitting(clean(folders[group[0].project]), room) if args.all_projects else ""
        print(paint((head + where).rstrip(), "bold"))
        for entry in group:
            _say(entry, wide, kinds)
    say(as_called(_hint(args, entries)), style="dim")


def _entries(keeper: Keeper, args: Namespace) -> list[Entry]:
    if args.around and (args.session or args.since or args.until):
        raise KeeperError("--around takes no --session, --since or --until", hint="--limit says how many lines")
    if args.around:
        return around(keeper.store, find_one(keeper, args.around), args.limit)
    if args.session:
        return of_session(keeper.store, session_of(keeper, args.session), args.since, args.until, args.limit)
    project = None if args.all_projects else project_of(keeper, args)
    return of_project(keeper.store, project, args.since, args.until, args.limit)


def _say(entry: Entry, wide: int, kinds: int) -> None:
    clock = strftime("%H:%M", localtime(showable(entry.at)))
    mark = paint(">", "yellow") if entry.here else " "
    kind, room = entry.kind.ljust(kinds), width() - len(clock) - wide - 8
    text = fitting(entry.text, max(LEAST, room - len(kind)))
    kind = paint(kind, "red" if entry.failed else "dim")
    print(f"{mark} {paint(clock, 'dim')}  {paint(short(entry.id).ljust(wide), 'cyan')}  {kind}  {text}")


def _hint(args: Namespace, entries: list[Entry]) -> str:
    """Where to go from here."""
    text = "\nmemory-keeper show ID gives one in full, timeline --around ID what came before and after it"
    if args.around or len(entries) < args.limit:
        return text
    until = strftime("%Y-%m-%dT%H:%M:%S", localtime(showable(entries[0].at)))
    return f"{text}\n--until {until} gives what was before"


def _day(at: float) -> str:
    return strftime("%Y-%m-%d", localtime(showable(at)))
