"""`how TOOL`: how a command or a tool was run here."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper.briefs import short
from memory_keeper.cli.arguments import ALL_PROJECTS, argument, limit
from memory_keeper.cli.output import plain, respond, say_nothing_found
from memory_keeper.cli.scope import scope_of
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search.how import Form, How, how
from memory_keeper.terminal import format_time, paint, say

MARGIN = " " * 4  # of what does not fit beside an id
HINT = "it takes a program and its first words, or a tool's name: `how git push`, `how Edit`"
ARGUMENTS = (
    argument("tool", nargs="+", metavar="TOOL", help="a program and its first words, or a tool such as Edit"),
    ALL_PROJECTS,
    limit(10, "at most so many forms"),
)
ANY_WORDS = True


def run(args: Namespace) -> int:
    """The most used form first."""
    with Keeper(args.home) as keeper:
        name, scope = " ".join(args.tool), scope_of(keeper, args)
        found = how(keeper.store, name, scope, args.limit)
        others = 0 if found.times or scope.project is None else how(keeper.store, name, Scope(), 1).times
    return respond(args, plain(found), lambda: _show(found) if found.times else say_nothing_found(others, HINT))


def _show(found: How) -> None:
    say(f"{paint(found.name, 'bold')}  run {_times(found.times)}: {found.ok} worked, {found.failed} failed")
    for form in found.forms:
        _say(form)
    if found.errors:
        print(paint("\nwhat failed", "bold"))
    for error in found.errors:
        often = f"{_times(error.times)}, last {format_time(error.last)}"
        say(f"{paint(short(error.id), 'cyan')}  {often}: {error.error}", rest=MARGIN)
    if found.instead:
        print(paint("\nwhat worked instead", "bold"))
    for instead in found.instead:
        say(f"{paint(short(instead.failed.id), 'cyan')}  {instead.failed.text}", rest=MARGIN)
        say(instead.error, "    ", "    ", "red")
        say(f"{paint(short(instead.worked.id), 'cyan')}  {paint(instead.worked.text, 'green')}", rest=MARGIN)


def _say(form: Form) -> None:
    status = f" (exit {', '.join(form.exits)})" if form.exits else ""
    failed = f", {form.failed} failed{status}" if form.failed else ""
    print()
    say(f"{paint(short(form.id), 'cyan')}  {form.form}", rest=MARGIN)
    say(f"{_times(form.times)}: {form.ok} worked{failed}; last {format_time(form.last)}", "    ", "    ", "dim")
    if form.worked and form.worked != form.form:
        say(f"worked as: {form.worked}", "    ", "    ")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
