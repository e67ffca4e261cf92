"""`schedule`: have the machine's own scheduler do the weekly upkeep, see whether it does, take that away again."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import Any

from memory_keeper import config
from memory_keeper.app.commands import confirm, folder_of, statusline
from memory_keeper.app.host import registration
from memory_keeper.app.host.consent import by_a_person
from memory_keeper.app.schedule import (
    SCHEDULERS,
    WEEKLY,
    Installed,
    Job,
    Machine,
    command_in,
    install,
    installed,
    machine_at,
    pick,
    read_weekly,
    remove,
    scheduler,
)
from memory_keeper.app.terminal import print_json, say
from memory_keeper.errors import KeeperError

EXAMPLE = 'memory-keeper schedule install --at "Sun 00:00"'
VERBS = ("status", "install", "remove")
UNASKED = "--yes does it without a question; --dry-run shows what it would be"


def configure(parser: ArgumentParser) -> None:
    """What to do, when it is to be run, and by whom."""
    parser.add_argument("what", nargs="?", choices=VERBS, default="status", help="by default: status")
    parser.add_argument("--at", default=WEEKLY, metavar="WHEN", help=f'"{WEEKLY}" by default; "03:30" is every day')
    parser.add_argument("--with", dest="by", choices=SCHEDULERS, default="", help="default: what the machine has")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written or go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Namespace) -> int:
    """Ask the schedulers, and change something only when the user says so."""
    machine = machine_at(folder_of(args), config.environment())
    did: dict[str, Any] = {"status": _status, "install": _install, "remove": _remove}[args.what](args, machine)
    if args.json:
        print_json(did)
    return 0


def _status(args: Namespace, machine: Machine) -> dict[str, Any]:
    known = [*installed(machine)]
    usable = [name for name in SCHEDULERS if not scheduler(name).problem(machine)]
    if not args.json:
        for one in known:
            say(f"The upkeep runs {_when(one)}, by {one.by} ({', '.join(one.texts)}).")
        if not known:
            say("Nothing is scheduled: sessions do the upkeep when they begin and end.")
            say(f"This machine has {' and '.join(usable) or 'no scheduler'}.")
    return {"installed": [_described(one) for one in known], "usable": usable}


def _install(args: Namespace, machine: Machine) -> dict[str, Any]:
    when = read_weekly(args.at)
    member = scheduler(args.by) if args.by and args.dry_run else pick(machine, args.by)
    name = member.__name__.rpartition(".")[2]
    texts = member.texts(machine, Job(command_in(args.home, machine.environ), when))
    told = {"did": "nothing", "with": name, "at": str(when), "texts": texts}
    if args.dry_run or not (args.yes or args.json):
        _show(texts, args)
    if args.dry_run:
        return told
    by_a_person(args, "have the upkeep run by the clock")
    confirm(args, f"Have {name} run this {when}?", UNASKED)
    os.makedirs(args.home, mode=0o700, exist_ok=True)
    told["did"] = "installed" if install(args.home, machine, member, when) else "unchanged"
    if not args.json:
        say(f"The upkeep of all projects runs {when}, by {name}. To take it away: memory-keeper schedule remove")
    return told


def _remove(args: Namespace, machine: Machine) -> dict[str, Any]:
    known = [*installed(machine)]
    if known and not args.dry_run:
        confirm(args, "Take the weekly upkeep away?", UNASKED)
        remove(args.home, machine)
        with suppress(KeeperError):  # settings that cannot be read may name it
            if not statusline.is_installed():
                registration.drop_current(args.home)
    if not args.json:
        would = "would be " if args.dry_run else ""
        for one in known:
            say(f"{', '.join(one.texts)}: what ran {_when(one)} by {one.by} {would or 'is '}gone.")
        if not known:
            say("Nothing was scheduled.")
    return {"did": "removed" if known and not args.dry_run else "nothing", "was": [_described(one) for one in known]}


def _described(one: Installed) -> dict[str, Any]:
    return {"with": one.by, "at": one.at or None, "texts": one.texts}


def _when(one: Installed) -> str:
    return one.at or "at a time that you chose"


def _show(texts: dict[str, str], args: Namespace) -> None:
    for place, text in () if args.json else texts.items():
        print(f"--- {place}\n{text}")
