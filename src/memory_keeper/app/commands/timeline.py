"""`timeline`: what happened when, one line each; around one thing, in a session, or in the project."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from time import localtime, strftime, time

from memory_keeper.app.commands import positive, project_of, session_of
from memory_keeper.app.terminal import paint, print_json
from memory_keeper.app.when import ALLOWED, read_when
from memory_keeper.app.zoom import called
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.tell import short
from memory_keeper.tell.timeline import LIMIT, Entry, ago, around, grouped, of_project, of_session
from memory_keeper.text import showable

EXAMPLE = "memory-keeper timeline --around 4914e47a"


def configure(parser: ArgumentParser) -> None:
    """Around what, or of when."""
    parser.add_argument("--around", default="", metavar="ID", help="what came before and after an event or a note")
    parser.add_argument("--session", default="", metavar="ID", help="every step of this session")
    parser.add_argument("--since", type=_moment, default=0.0, metavar="WHEN", help="7d, yesterday, 2026-01-31, …")
    parser.add_argument("--until", type=_moment, default=0.0, metavar="WHEN", help="the same")
    parser.add_argument("--limit", type=positive, default=LIMIT, metavar="N", help=f"at most so many (default {LIMIT})")


def run(args: Namespace) -> int:
    """In the order in which it happened: the newest last."""
    with Keeper(args.home) as keeper:
        entries = _entries(keeper, args)
    if args.json:
        print_json([entry._asdict() for entry in entries])
        return 0
    if not entries:
        print("nothing is kept of that time")
        return 0
    wide = max(len(short(entry.id)) for entry in entries)
    for day, session, group in grouped(entries, _day):
        of = f"  session {session[:8]}" if session else ""
        print(paint(f"{day}  {ago(group[-1].at, time())}{of}", "bold"))
        for entry in group:
            _say(entry, wide)
    print(paint(_hint(args, entries), "dim"))
    return 0


def _entries(keeper: Keeper, args: Namespace) -> list[Entry]:
    if args.around:
        one = called(keeper, args.around)
        if not one:
            raise KeeperError(
                f"Nothing, or more than one thing, is called {args.around}", hint="`memory-keeper search` gives ids"
            )
        return around(keeper.store, one, args.limit)
    if args.session:
        return of_session(keeper.store, session_of(keeper, args.session), args.since, args.until, args.limit)
    return of_project(keeper.store, project_of(keeper, args), args.since, args.until, args.limit)


def _say(entry: Entry, wide: int) -> None:
    clock = strftime("%H:%M", localtime(showable(entry.at)))
    mark = paint(">", "yellow") if entry.here else " "
    kind = paint(f"{entry.kind:9}", "red" if entry.failed else "dim")
    print(f"{mark} {paint(clock, 'dim')}  {paint(short(entry.id).ljust(wide), 'cyan')}  {kind}  {entry.text}")


def _hint(args: Namespace, entries: list[Entry]) -> str:
    """Where to go from here."""
    said = "\nmemory-keeper show ID gives one in full, timeline --around ID what came before and after it"
    if args.around or len(entries) < args.limit:
        return said
    until = strftime("%Y-%m-%dT%H:%M:%S", localtime(showable(entries[0].at)))
    return f"{said}; --until {until} what was before"


def _day(at: float) -> str:
    return strftime("%Y-%m-%d", localtime(showable(at)))


def _moment(given: str) -> float:
    try:
        return read_when(given, time())
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is not {ALLOWED}") from None
