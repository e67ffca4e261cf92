"""`backup`: take a copy of everything that is kept, and list those there are."""

from __future__ import annotations

import os
from argparse import Namespace
from time import time

from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import Entry, plain, print_entries, respond
from memory_keeper.jobs.backup import Backup, describe, known, take
from memory_keeper.keeper import Keeper
from memory_keeper.terminal import as_called, format_time, size
from memory_keeper.text import ago, many

ARGUMENTS = (
    argument("--to", default="", metavar="PATH", help="a file or a folder; default: backups/ of the home"),
    argument("--small", action="store_true", help="without the raw lines of transcripts, as every day"),
    argument("--list", action="store_true", help="those that are in the home"),
)


def run(args: Namespace) -> int:
    """Take one and check it, or list them."""
    if args.list:
        found = [backup for path in known(args.home) if (backup := describe(path))]
        none = "No backups yet: one is taken every day with sessions. `memory-keeper backup` takes one now."
        return respond(args, [*map(plain, found)], lambda: print_entries(map(_entry, found), none))
    with Keeper(args.home) as keeper:
        keeper.catch_up(patience=30.0)
        taken = take(keeper, os.path.abspath(args.to) if args.to else "", full=not args.small)
    words = f"{taken.path}: {_about(taken)}. It was read back and is whole."
    return respond(args, plain(taken), as_called(f"{words}\n`memory-keeper restore {taken.path}` puts it back."))


def _entry(backup: Backup) -> Entry:
    return Entry(backup.path, f"{format_time(backup.at)} ({ago(backup.at, time())}): {_about(backup)}")


def _about(backup: Backup) -> str:
    raw = "with the raw lines" if backup.full else "without raw lines"
    return f"{many(backup.events, 'event')} and {many(backup.notes, 'note')}, {raw}, {size(backup.bytes)}"
