"""`fixes ERROR`: what fixed this error before."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from memory_keeper.briefs import short
from memory_keeper.cli.commands import folder_of, positive, project_of
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search.fixes import CONFIDENT, Answer, Fix, answer
from memory_keeper.search.staleness import State, moved_on, of_files
from memory_keeper.search.staleness import say as say_states
from memory_keeper.terminal import hint, moment, paint, print_json, say

EXAMPLE = "memory-keeper fixes \"ModuleNotFoundError: No module named 'yaml'\""
HINT = "give the line that names the error; `memory-keeper search` looks for its words anywhere"
LARGEST = 1 << 20  # characters of an output on stdin


def configure(parser: ArgumentParser) -> None:
    """Which error, and where it may have been seen."""
    parser.add_argument("error", nargs="+", metavar="ERROR", help="what it says, or - for a whole output on stdin")
    parser.set_defaults(words="error", dashes=True)
    parser.allow_abbrev = False  # what an error says may begin like an option of ours
    parser.add_argument("--all-projects", action="store_true", help="not only this project")
    parser.add_argument("--limit", type=positive, default=3, metavar="N", help="at most so many (default 3)")


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
    if args.json:
        fixes = [plain(fix) | {"files": plain(states), "since": said} for fix, (states, said) in _both(found, since)]
        print_json({**plain(found), "fixes": fixes})
        return 0
    if found.seen:
        _say(found, since)
    else:
        say_nothing(others, HINT)
    return 0


def scope_of(keeper: Keeper, args: Namespace) -> Scope:
    """This project, or all."""
    return Scope(project=None if args.all_projects else project_of(keeper, args))


def root_of(args: Namespace) -> str:
    """The folder in which files are looked at; empty when it is gone."""
    return find_root(folder_of(args)) if os.path.isdir(args.project or os.getcwd()) else ""


def say_nothing(others: int, further: str) -> None:
    """That nothing was found, and where there is something, or may be."""
    if others:
        times = "once" if others == 1 else f"{others} times"
        say(f"nothing found in this project, but {times} in others: --all-projects shows them")
    else:
        print("nothing found")
        hint(further)


def plain(value: Any) -> Any:
    """A value for `--json`, with what it is made of."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(part) for name, part in zip(value._fields, value, strict=True)}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def _both(found: Answer, since: list[tuple[list[State], str]]) -> list[tuple[Fix, tuple[list[State], str]]]:
    return list(zip(found.fixes, since, strict=True))


def _since(keeper: Keeper, root: str, fix: Fix) -> tuple[list[State], str]:
    """What has changed since an error was fixed: its files, else the commit."""
    states = of_files(keeper.store, root, fix.session, fix.solved, fix.files)
    unknown = bool(fix.files) and not states
    return states, moved_on(keeper.store, fix.session, root) if unknown else say_states(states)


def _say(found: Answer, since: list[tuple[list[State], str]]) -> None:
    say(found.error, style="bold")
    times = "once" if found.seen == 1 else f"{found.seen} times"
    say(f"seen {times}, last {moment(found.last)}{'' if found.fixes else '; not solved here'}", style="dim")
    for fix, (_, said) in _both(found, since):
        sure = "" if fix.confidence >= CONFIDENT else "  perhaps"
        print(f"\n{paint(moment(fix.at), 'dim')}  session {fix.session[:8]}{paint(sure, 'yellow')}")
        if fix.signature != found.signature:
            say(f"{paint('nearly the same:', 'dim')} {fix.signature}", "  ", " " * 12)
        say(f"{paint(short(fix.failed), 'cyan')}  `{fix.command}` failed", "  ", " " * 12)
        for step in fix.how:
            say(f"{paint(short(step.id), 'cyan')}  {step.text}", "  ", " " * 12)
        say(f"{paint(short(fix.solved), 'cyan')}  then it worked", "  ", " " * 12)
        if said:
            say(f"{paint(said, 'yellow')}", "  ", " " * 12)
