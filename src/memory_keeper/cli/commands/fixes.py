"""`fixes ERROR`: what fixed this error before."""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

from memory_keeper.briefs import short
from memory_keeper.cli.arguments import ALL_PROJECTS, argument, limit
from memory_keeper.cli.output import plain, respond, say_nothing_found
from memory_keeper.cli.scope import project_of, root_of, scope_of
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search.fixes import CONFIDENT, Answer, Fix, answer
from memory_keeper.search.staleness import State, moved_on, of_files
from memory_keeper.search.staleness import say as say_states
from memory_keeper.terminal import format_time, paint, say

HINT = "give the line that names the error; `memory-keeper search` looks for its words anywhere"
LARGEST = 1 << 20  # characters of an output on stdin
ARGUMENTS = (
    argument("error", nargs="+", metavar="ERROR", help="what it says, or - for a whole output on stdin"),
    ALL_PROJECTS,
    limit(3),
)
ANY_WORDS = True


def run(args: Namespace) -> int:
    """The surest first."""
    error = sys.stdin.read(LARGEST) if args.error == ["-"] else " ".join(args.error)
    if not error.strip():
        raise KeeperError("There is no error to look for", hint="give its text, or - and the output on stdin")
    with Keeper(args.home) as keeper:
        scope, store = scope_of(keeper, args), keeper.searchable
        found = answer(store, error, scope, args.limit)
        others = 0 if found.seen or scope.project is None else answer(store, error, Scope(), 1).seen
        here, root = project_of(keeper, args), root_of(args)
        since = [_since(keeper, root, fix) if fix.project == here and root else ([], "") for fix in found.fixes]
    both = [*zip(found.fixes, since, strict=True)]
    fixes = [plain(fix) | {"files": plain(states), "since": text} for fix, (states, text) in both]
    show = partial(_show, found, both) if found.seen else partial(say_nothing_found, others, HINT)
    return respond(args, {**plain(found), "fixes": fixes}, show)


def _since(keeper: Keeper, root: str, fix: Fix) -> tuple[list[State], str]:
    """What has changed since an error was fixed: its files, else the commit."""
    states = of_files(keeper.store, root, fix.session, fix.solved, fix.files)
    unknown = bool(fix.files) and not states
    return states, moved_on(keeper.store, fix.session, root) if unknown else say_states(states)


def _show(found: Answer, fixes: list[tuple[Fix, tuple[list[State], str]]]) -> None:
    say(found.error, style="bold")
    times = "once" if found.seen == 1 else f"{found.seen} times"
    say(f"seen {times}, last {format_time(found.last)}{'' if found.fixes else '; not solved here'}", style="dim")
    for fix, (_, text) in fixes:
        sure = "" if fix.confidence >= CONFIDENT else "  perhaps"
        print(f"\n{paint(format_time(fix.at), 'dim')}  session {fix.session[:8]}{paint(sure, 'yellow')}")
        if fix.signature != found.signature:
            say(f"{paint('nearly the same:', 'dim')} {fix.signature}", "  ", " " * 12)
        say(f"{paint(short(fix.failed), 'cyan')}  `{fix.command}` failed", "  ", " " * 12)
        for step in fix.how:
            say(f"{paint(short(step.id), 'cyan')}  {step.text}", "  ", " " * 12)
        say(f"{paint(short(fix.solved), 'cyan')}  then it worked", "  ", " " * 12)
        if text:
            say(f"{paint(text, 'yellow')}", "  ", " " * 12)
