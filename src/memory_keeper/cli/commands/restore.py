"""`restore`: put a backup in the place of what there is, which is kept."""

from __future__ import annotations

import os
from argparse import Namespace

from memory_keeper.cli.arguments import DRY_RUN, YES, argument
from memory_keeper.cli.output import confirm, plain, respond
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person
from memory_keeper.jobs.backup import check, go_on, known, restore
from memory_keeper.jobs.forget import forget_again
from memory_keeper.keeper import Keeper
from memory_keeper.store.home import make_folder
from memory_keeper.terminal import format_time, say
from memory_keeper.text import many

ARGUMENTS = (argument("path", nargs="?", default="", metavar="FILE", help="default: the newest"), DRY_RUN, YES)


def run(args: Namespace) -> int:
    """Check it, say what comes and where what there is goes, ask, and put it back."""
    path = os.path.abspath(args.path) if args.path else next(iter(known(args.home)), "")
    if not path or not os.path.isfile(path):
        raise KeeperError(f"There is no backup{f' {path}' * bool(path)}", hint="`memory-keeper backup --list`")
    make_folder(args.home)
    found = check(path, f"{args.home}/restoring.check")
    with Keeper(args.home) as keeper:
        words = f"{many(found.events, 'event')} and {many(found.notes, 'note')} of {format_time(found.at)} from {path}"
        kept = f"What is kept now moves to {args.home}/before-restore-…, and stays there."
        after = "What Claude Code's transcripts have of the time since comes in again."
        if args.dry_run:
            return respond(args, {"would_restore": plain(found)}, f"would put back {words}\n{kept}\n{after}")
        by_a_person(args, "put a backup back")
        if not args.json:
            say(f"Puts back {words}.\n{kept}\n{after}")
        confirm(args, "Go on?", "--yes puts it back without a question")
        go_on(keeper)
        aside = restore(keeper, path)
        forget_again(keeper)
        keeper.catch_up(patience=30.0)
        problems = keeper.store.problems()
    if problems:
        raise KeeperError(f"What was put back is damaged: {problems[0]}", hint=f"what was there is in {aside}")
    return respond(args, {"restored": plain(found), "aside": aside}, f"Put back: {words}.\nThe rest is in {aside}")
