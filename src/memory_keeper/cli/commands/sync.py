"""`sync`: send what is shared, and fetch what others share."""

from __future__ import annotations

import sys
from argparse import Namespace
from getpass import getpass
from time import sleep

from memory_keeper.cli.arguments import YES, argument
from memory_keeper.cli.output import confirm, respond
from memory_keeper.cli.scope import folder_of
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError, PartlyDone
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.team.git import address_of, ask
from memory_keeper.team.outbox import outbox
from memory_keeper.team.own import Sealed, keep_passphrase
from memory_keeper.team.sync import Synced, sync
from memory_keeper.team.teams import GIT, OWN, Team, find, keep, leave, teams_of
from memory_keeper.terminal import say, say_problem
from memory_keeper.text import clean, many, one_line

SHORTEST = 12  # characters of a passphrase
SHOWN = 20  # items that are named before they leave
EVERY = 60.0  # seconds between two while watching
ARGUMENTS = (
    argument("--git", nargs="?", const="origin", default="", metavar="REMOTE",
             help="by a git remote, its name or its address; default: origin"),
    argument("--to", default="", metavar="URL", help="to another machine of yours: a private git remote; it is sealed"),
    argument("--auto", choices=("on", "off"), default="", help="from now on also when sessions begin and end, or not"),
    argument("--watch", action="store_true", help="again every minute, until Ctrl-C"),
    YES,
)  # fmt: skip


def run(args: Namespace) -> int:
    """Sync the teams of this project, or the one that is named."""
    root = find_root(folder_of(args))
    with Keeper(args.home) as keeper:
        with keeper.writing(30.0):
            project = keeper.project(folder_of(args), change=True)
        if args.git and args.to:
            args.fail("--git or --to, not both")
        given = args.git or args.to
        teams = [_named(args, keeper, project, root, given)] if given else teams_of(keeper.store, project)
        if not teams:
            find(keeper.store, project)  # which says what to do
        if args.auto:
            by_a_person(args, "say when a project is synced")
            teams = [team._replace(auto=args.auto == "on") for team in teams]
        new = [team for team in teams if args.auto or not team.note]
        for team in new:
            sync(keeper, team, root)  # what cannot be reached is not remembered
        teams = [*(team for team in teams if team not in new), *(_keep(keeper, team) for team in new)]
        while args.watch:
            _watched(keeper, teams, root)
            keeper.close()
            sleep(EVERY)
        for team in teams:
            _say_moved(keeper, team, root)
        return _once(args, keeper, teams, root)


def _say_moved(keeper: Keeper, team: Team, root: str) -> None:
    """That a remote has another address than what was shared goes to."""
    if team.transport != GIT or set(team.name) & set("/:"):
        return  # it is known by its address
    now, name = ask(root, keeper.environ, f"remote.{team.name}.url"), clean(team.name)
    if now and address_of(root, keeper.environ, team.name) != team.address:
        say_problem(f"{name} is at {clean(now)} now", f"memory-keeper sync --git {name} goes there")


def _watched(keeper: Keeper, teams: list[Team], root: str) -> None:
    """One round of many: what changed is said, and what cannot be reached is tried again."""
    for team in teams:
        try:
            done = sync(keeper, team, root)
        except KeeperError as error:
            say_problem(f"{clean(team.name)}: {error}")
        else:
            if any(done.received[:3]):
                _show([done])


def _once(args: Namespace, keeper: Keeper, teams: list[Team], root: str) -> int:
    done: list[Synced] = []
    failed: list[KeeperError] = []
    for team in teams:
        try:
            done.append(sync(keeper, team, root))
        except KeeperError as error:
            failed.append(error)
    if failed and not done:
        raise failed[0]
    code = respond(args, {"teams": [*map(_as_json, done)], "failed": [*map(str, failed)]}, lambda: _show(done))
    for synced in done:
        for problem in (*synced.received.why, *synced.problems[:10]):
            say_problem(f"{synced.team.name}: {clean(problem)}")
    if failed:
        raise PartlyDone(str(failed[0]), hint=failed[0].hint)
    return code


def _named(args: Namespace, keeper: Keeper, project: str, root: str, remote: str) -> Team:
    """The team of a remote, or the user's other machine; a new one once a person has said so."""
    address = address_of(root, keeper.environ, remote)
    teams = [team for team in teams_of(keeper.store, project) if (team.transport == OWN) == bool(args.to)]
    known = next((team for team in teams if team.address == address), None)
    if known:
        return known
    by_a_person(args, "say where a project is shared")
    if args.to:
        team = Team(project, "own", address, OWN, accepted=True)
        keep_passphrase(keeper, team, _passphrase())
        return team
    items = [item for item in outbox(keeper, project) if not item.gone]
    leaves = "".join(f"\n  {item.id}  {one_line(clean(item.text), 100)}" for item in items[:SHOWN])
    leaves += f"\n  and {len(items) - SHOWN} more" * (len(items) > SHOWN)
    says = f"What you share so far leaves with it:{leaves}\n" if items else ""
    if not args.json:
        say(says + f"Whoever can read {clean(address)} can read what you share; nothing else leaves.")
    confirm(args, "Share by it?", "--yes shares without a question")
    return Team(project, args.git, address, GIT)


def _keep(keeper: Keeper, team: Team) -> Team:
    """Remember a team; one of the same name, whose address was another, is left."""
    for other in teams_of(keeper.store, team.project):
        if (other.name, other.transport) == (team.name, team.transport) and other.address != team.address:
            leave(keeper, other)
    return keep(keeper, team)


def _passphrase() -> str:
    """What the user says at a terminal, else the first line of stdin."""
    asked = sys.stdin.isatty()
    given = (
        getpass("The passphrase, the same on each of your machines: ") if asked else sys.stdin.readline().rstrip("\n")
    )
    if len(given) < SHORTEST:
        hint = "say it at a terminal, or on stdin"
        raise KeeperError(f"A passphrase has {SHORTEST} characters or more", hint=hint)
    Sealed(given)
    return given


def _as_json(synced: Synced) -> Json:
    received = synced.received
    return {
        "name": synced.team.name, "address": synced.team.address, "transport": synced.team.transport,
        "accepted": synced.team.accepted, "new": received.new, "changed": received.changed,
        "withdrawn": received.withdrawn, "shared": synced.shared, "refused": synced.refused,
        "left_out": received.refused, "problems": [*received.why, *synced.problems],
    }  # fmt: skip


def _show(done: list[Synced]) -> None:
    for synced in done:
        new, changed, withdrawn = synced.received[:3]
        parts = [f"{new} new", f"{changed} changed" * bool(changed), f"{withdrawn} taken back" * bool(withdrawn)]
        got = ", ".join(filter(None, parts))
        say(f"{clean(synced.team.name)}: {got}; you share {many(synced.shared, 'item')}.")
