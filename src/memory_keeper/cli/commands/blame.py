"""`blame FILE`: which sessions and prompts touched this file, and why."""

from __future__ import annotations

import os
from argparse import Namespace

from memory_keeper.briefs import short
from memory_keeper.cli.arguments import ALL_PROJECTS, argument, limit
from memory_keeper.cli.output import plain, respond, say_nothing_found
from memory_keeper.cli.scope import project_of, root_of, scope_of
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search.blame import Blame, Edit, Touch, blame
from memory_keeper.search.staleness import of_files
from memory_keeper.search.staleness import say as say_states
from memory_keeper.terminal import format_time, paint, say
from memory_keeper.text import clean, one_line

HINT = "a file is known that a call named or that was edited; `memory-keeper search --file PATH WORDS` looks further"
SHOWN = 4  # edits of one prompt
ARGUMENTS = (
    argument("file", metavar="FILE", help="its path, whole or as seen from the project; its name if unique"),
    ALL_PROJECTS,
    limit(10, "at most so many prompts"),
)


def run(args: Namespace) -> int:
    """The newest first."""
    root = root_of(args)
    with Keeper(args.home) as keeper:
        scope = scope_of(keeper, args)
        found = _look(keeper, args, scope, root)
        since = _since(keeper, found, root) if root and found.project == project_of(keeper, args) else ""
        nothing = not found.touches and not found.others
        others = _elsewhere(keeper, args) if nothing and scope.project is not None else 0

    def show() -> None:
        name = clean(found.path)
        if found.others:
            print("several files are called that:", *map(clean, found.others), sep="\n  ")
        elif not found.touches:
            say_nothing_found(others, HINT)
        else:
            say(paint(name, "bold") + (f" {paint(clean(since).removeprefix(name + ' '), 'yellow')}" if since else ""))
            for touch in found.touches:
                _say(touch, found.path)

    return respond(args, {**plain(found), "since": since}, show)


def _elsewhere(keeper: Keeper, args: Namespace) -> int:
    """How many prompts, or files where that is not clear, other projects know."""
    found = blame(keeper.store, args.file, Scope(), args.limit)
    return len(found.touches) or len(found.others)


def _look(keeper: Keeper, args: Namespace, scope: Scope, root: str) -> Blame:
    """As it was given; else as seen from the working directory."""
    found = blame(keeper.store, args.file, scope, args.limit)
    if not found.touches and not found.others and not args.file.startswith("/"):
        whole = os.path.normpath(os.path.join(os.getcwd(), args.file))
        if root and whole.startswith(root + "/"):
            found = blame(keeper.store, whole[len(root) + 1 :], scope, args.limit)
    return found


def _since(keeper: Keeper, found: Blame, root: str) -> str:
    """What became of the file since it was last touched."""
    for touch in found.touches:
        states = of_files(keeper.store, root, touch.session, touch.last, touch.files)
        if states:
            return say_states(states)
    return ""


def _say(touch: Touch, path: str) -> None:
    named = f"  as {clean(touch.path)}" if touch.path != path else ""
    say(f"\n{paint(format_time(touch.at), 'dim')}  session {touch.session[:8]}  {_done(touch)}{named}")
    if touch.prompt:
        say(f'{paint(short(touch.prompt.id), "cyan")}  asked: "{touch.prompt.text}"', "  ", " " * 12)
    for reason in touch.why:
        say(f"{paint(short(reason.id), 'cyan')}  {reason.text}", "  ", " " * 12)
    for edit in touch.edits[:SHOWN]:
        say(f"{paint(short(edit.id), 'cyan')}  {_edit(edit)}", "  ", " " * 12)
    if len(touch.edits) > SHOWN:
        print(f"  … {len(touch.edits) - SHOWN} more")
    if touch.commit:
        say(f"{paint(short(touch.commit.id), 'cyan')}  committed {touch.commit.text}", "  ", " " * 12)


def _done(touch: Touch) -> str:
    counts = ((len(touch.edits), "edit"), (touch.reads, "read"), (touch.failed, "failed call"))
    return ", ".join(f"{number} {what}{'s' * (number > 1)}" for number, what in counts if number)


def _edit(edit: Edit) -> str:
    change = f"`{edit.old}` -> `{edit.new}`" if edit.old or edit.new else f"by {one_line(clean(edit.tool), 40)}"
    change = f"ran `{edit.new}`" if edit.tool == "Bash" else change
    return change + (paint("  taken back later", "yellow") if edit.reverted else "")
