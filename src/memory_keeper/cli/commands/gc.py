"""`gc`: delete from the home what was put aside and nobody came back for. Events, notes and archives always stay."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

from memory_keeper.cli.arguments import DRY_RUN, YES, argument, since
from memory_keeper.cli.output import confirm, respond
from memory_keeper.host.consent import by_a_person
from memory_keeper.host.registration import names_of_ours
from memory_keeper.store.home import Lock
from memory_keeper.terminal import format_time, say, size

USUAL = "30d"
PUT_ASIDE = {
    "damaged-[0-9]*": "a store that could not be read, put aside by doctor --fix",
    "before-restore-[0-9]*": "what was kept before a backup was put back",
    "restoring.check": "the check of a backup, not finished",
    "problems.log.old": "failures of hooks, put aside",
    "crash.log": "the last failure of a command",
}
ARGUMENTS = (
    argument("--older-than", type=since, default=USUAL, metavar="WHEN", help=f"only what is older (default {USUAL})"),
    DRY_RUN,
    YES,
)


class Waste(NamedTuple):
    """A file or a folder of the home that nothing needs."""

    path: str
    what: str
    at: float  # when it was put aside
    bytes: int


def run(args: Namespace) -> int:
    """Show what would go, ask, and delete it."""
    found = [waste for waste in find_waste(args.home) if waste.at < args.older_than]
    total = sum(waste.bytes for waste in found)
    plan = {"files": [waste._asdict() for waste in found], "bytes": total}
    if not found:
        return respond(args, {**plan, "deleted": False}, "Nothing was put aside that is old enough to go.")
    if not args.json:
        for waste in found:
            say(
                f"{os.path.basename(waste.path)}: {waste.what}, {format_time(waste.at)}, {size(waste.bytes)}", rest="  "
            )
    if args.dry_run:
        return respond(args, {**plan, "deleted": False}, f"would free {size(total)}")
    by_a_person(args, "delete files")
    confirm(args, "Nothing brings these back. Go on?", "--yes deletes them without a question")
    with Lock(args.home, 5.0):
        for waste in found:
            delete(waste.path)
    return respond(args, {**plan, "deleted": True}, f"Deleted {size(total)}.")


def find_waste(home: str) -> Iterator[Waste]:
    """What was put aside in a home, the oldest first."""
    for pattern, what in PUT_ASIDE.items():
        for name in names_of_ours(home, (pattern,)):
            path = os.path.join(home, name)
            yield Waste(path, what, os.lstat(path).st_mtime, weigh(path))


def weigh(path: str) -> int:
    """The bytes of a file, or of all that is in a folder; a link weighs nothing."""
    if os.path.islink(path):
        return 0
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(weigh(entry.path) for entry in os.scandir(path))


def delete(path: str) -> None:
    """Delete a file or a folder; of a link only the link."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
