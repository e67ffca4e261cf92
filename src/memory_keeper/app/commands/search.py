"""`search QUERY`: find something again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from memory_keeper.app.commands import project_of, session_of
from memory_keeper.app.terminal import moment, paint, print_json
from memory_keeper.keeper import Keeper
from memory_keeper.model import KINDS, NOTES
from memory_keeper.search import find
from memory_keeper.tell import short
from memory_keeper.text import clean, one_line

EXAMPLE = "memory-keeper search retry back-off"


def configure(parser: ArgumentParser) -> None:
    """What to look for, and where."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words; quotes and operators need no care")
    parser.set_defaults(words="query")
    kinds = ", ".join((*KINDS, *NOTES))
    parser.add_argument("--kind", default="", choices=["", *KINDS, *NOTES], metavar="KIND", help=f"one of {kinds}")
    parser.add_argument("--session", default="", metavar="ID", help="only this session")
    parser.add_argument("--all-projects", action="store_true", help="not only this project")
    parser.add_argument("--limit", type=_limit, default=10, metavar="N", help="at most so many (1 to 1000)")


def run(args: Namespace) -> int:
    """The best matches first."""
    with Keeper(args.home) as keeper:
        project = None if args.all_projects else project_of(keeper, args)
        session = session_of(keeper, args.session)
        hits = find(keeper.store, " ".join(args.query), project, args.limit, kind=args.kind, session=session)
    if args.json:
        print_json([{**hit._asdict(), "snippet": _marked(hit.snippet, "", "")} for hit in hits])
        return 0
    if not hits:
        print("nothing found")
    for hit in hits:
        about = f"{moment(hit.at)}  {hit.kind}{f'  {hit.project}' if args.all_projects else ''}" + (
            f"  {clean(hit.path)}" if hit.path else ""
        )
        print(f"{paint(short(hit.id), 'cyan')}  {paint(about, 'dim')}")
        on, off = paint("\x02", "bold").split("\x02") if paint("\x02", "bold") != "\x02" else ("«", "»")
        print("    " + _marked(one_line(clean(_marked(hit.snippet, "\ue000", "\ue001")), 300), on, off))
    return 0


def _marked(snippet: str, on: str, off: str) -> str:
    for mine, theirs in (("\x02", on), ("\x03", off), ("\ue000", on), ("\ue001", off)):
        snippet = snippet.replace(mine, theirs)
    return snippet


def _limit(given: str) -> int:
    if not given.isdigit() or not 1 <= int(given) <= 1000:
        raise ArgumentTypeError("a number from 1 to 1000")
    return int(given)
