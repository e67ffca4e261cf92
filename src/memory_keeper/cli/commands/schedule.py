"""`schedule`: the crontab line for a weekly upkeep without a session; takes away what older versions installed."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from contextlib import suppress

from memory_keeper import config
from memory_keeper.cli.arguments import DRY_RUN, YES, argument
from memory_keeper.cli.commands import statusline
from memory_keeper.cli.output import confirm, respond
from memory_keeper.cli.scope import folder_of
from memory_keeper.errors import KeeperError
from memory_keeper.host import registration
from memory_keeper.schedule import cron_line, installed, machine_at, remove, uses
from memory_keeper.terminal import say

UNASKED = "--yes does it without a question; --dry-run shows what it would be"
ARGUMENTS = (
    argument("what", nargs="?", choices=("status", "remove"), default="status", help="by default: show the line"),
    DRY_RUN,
    YES,
)


def run(args: Namespace) -> int:
    """Show the line, or take away what is there of an older version."""
    machine = machine_at(folder_of(args), config.environment())
    known = installed(machine)
    if args.what == "remove":
        return _remove(args, known)
    line = cron_line(args.home, machine.environ)
    os.makedirs(args.home, mode=0o700, exist_ok=True)
    registration.point_current(args.home)
    return respond(args, {"line": line, "installed": [*known]}, lambda: _show(line, known))


def _show(line: str, known: Iterable[str]) -> None:
    say("Sessions do the upkeep when they begin and end. Where weeks go by without one, put this line in your crontab")
    say("(`crontab -e`); it does the upkeep of all projects on Sunday at midnight:")
    print(f"\n{line}\n")
    for place in known:
        say(f"An older version installed a job in {place}. To take it away: memory-keeper schedule remove")


def _remove(args: Namespace, known: dict[str, str]) -> int:
    if known and not args.dry_run:
        confirm(args, "Take the weekly upkeep of an older version away?", UNASKED)
        machine = machine_at(folder_of(args), config.environment())
        remove(machine)
        with suppress(KeeperError):  # settings that cannot be read may name it
            if not statusline.is_installed() and not uses(machine, args.home):
                registration.drop_current(args.home)
    lines = [f"{place}: would go\n{text}" if args.dry_run else f"{place}: is gone" for place, text in known.items()]
    none = "Nothing was installed. A line that you have put in your crontab is yours: `crontab -e`."
    about = {"did": "removed" if known and not args.dry_run else "nothing", "was": known}
    return respond(args, about, lambda: print("\n".join(lines)) if known else say(none))
