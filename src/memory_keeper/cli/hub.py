"""The verbs of `team` for a hub on PostgreSQL: make one, let people in and out, join one."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import closing
from importlib import import_module
from time import time
from typing import TYPE_CHECKING

from memory_keeper.cli.arguments import YES, Verb, argument, number
from memory_keeper.cli.output import Entry, confirm, print_entries, respond
from memory_keeper.cli.scope import folder_of
from memory_keeper.config import find_root
from memory_keeper.errors import NotSetUp
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.team import hub
from memory_keeper.team.git import author_of
from memory_keeper.team.teams import POSTGRES, Team, keep, teams_of
from memory_keeper.terminal import say
from memory_keeper.text import ago, clean, many, one_line

if TYPE_CHECKING:
    from memory_keeper.team.hub import connection, logins, members
    from memory_keeper.team.hub.connection import Address, Database
else:
    connection = logins = members = None  # loaded when they are asked for: they need the extra

REMOTE = "remote:"
SNIPPET = 200  # characters


def _load() -> None:
    global connection, logins, members
    hub.check()
    connection, logins, members = (
        import_module(f"memory_keeper.team.hub.{name}") for name in ("connection", "logins", "members")
    )


def _address(keeper: Keeper, args: Namespace) -> tuple[str, Address]:
    """The project, and a hub's address that names it as all its machines do."""
    with keeper.writing(30.0):
        project = keeper.project(folder_of(args), change=True)
    given = connection.Address(args.address)
    shared = project.removeprefix(REMOTE) if project.startswith(REMOTE) else given.project
    named = shared or os.path.basename(find_root(folder_of(args)))
    return project, connection.Address(given.of(given.role, given.password, named))


def _begin(args: Namespace, question: str, doing: str) -> Json:
    """Make or join a hub, and share this project by it."""
    _load()
    by_a_person(args, "say where a project is shared")
    with Keeper(args.home) as keeper:
        project, address = _address(keeper, args)
        author = author_of(find_root(folder_of(args)), keeper.environ)
        where = connection.shown(address.kept())
        words = f"{question} Others there see what you share of it, as {author}; nothing else leaves."
        confirm(args, words.format(project=address.project, where=clean(where)), "--yes goes on without a question")
        author = getattr(logins, doing)(keeper.home, address, author)
        known = [team for team in teams_of(keeper.store, project) if team.address == address.kept()]
        name = args.name or os.path.basename(address.url.path) or "team"
        team = known[0] if known else keep(keeper, Team(project, name, address.kept(), POSTGRES))
    return {"name": team.name, "address": team.address, "project": address.project, "author": author}


def _init(args: Namespace) -> int:
    done = _begin(args, "Make {where} a hub, and share {project} by it?", "make_hub")
    return respond(args, done, f"{done['name']} is ready. memory-keeper team invite NAME lets somebody in.")


def _join(args: Namespace) -> int:
    done = _begin(args, "Share {project} by {where}?", "join")
    words = f"Joined {done['name']} as {done['author']}. memory-keeper sync fetches what the others share."
    return respond(args, done, words)


def _team(keeper: Keeper, args: Namespace) -> Team:
    """The hub that this project is shared by."""
    with keeper.writing(30.0):
        project = keeper.project(folder_of(args), change=True)
    teams = [team for team in teams_of(keeper.store, project) if team.transport == POSTGRES]
    if not teams:
        raise NotSetUp("This project is shared by no hub", hint="memory-keeper team init postgresql://…")
    return teams[0]


def _open(args: Namespace) -> tuple[Address, Database]:
    with Keeper(args.home) as keeper:
        team = _team(keeper, args)
        _load()
        address = connection.Address(team.address)
        return address, logins.open_database(keeper.home, address)


def _invite(args: Namespace) -> int:
    by_a_person(args, "let somebody into a team")
    address, db = _open(args)
    with closing(db):
        invitation = members.invite(db, address, args.member, [address.project] if args.only else [])

    def show() -> None:
        say(f"Give {args.member} this, by a way that nobody else reads; it works once, on one machine:")
        say(f"memory-keeper team join '{invitation}'")

    return respond(args, {"member": args.member, "invitation": invitation}, show)


def _members(args: Namespace) -> int:
    _, db = _open(args)
    with closing(db):
        people = members.members(db)
    now = time()
    entries = (
        Entry(
            person.name,
            f"{person.author or 'has not joined yet'}, {many(person.items, 'item')}",
            f"since {ago(person.since, now)}",
        )
        for person in people
    )
    return respond(args, [person._asdict() for person in people], lambda: print_entries(entries))


def _remove(args: Namespace) -> int:
    by_a_person(args, "remove somebody from a team")
    _, db = _open(args)
    with closing(db):
        also = " What they shared is taken back too." if args.items else " What they shared stays."
        confirm(args, f"Remove {args.member}?{also}", "--yes removes without a question")
        gone = members.remove(db, args.member, args.items)
    left = "What others have fetched goes with their next sync." if gone else ""
    words = f"{args.member} is out, with every machine. {left}".strip()
    return respond(args, {"member": args.member, "removed": True, "items": gone}, words)


def _search(args: Namespace) -> int:
    """What the team knows, also what was shared of other projects that are this member's."""
    with Keeper(args.home) as keeper:
        team = _team(keeper, args)
        _load()
        with closing(hub.open_hub(keeper.home, team.address)) as opened:
            hits = opened.search(" ".join(args.query), args.limit, args.all_projects)
    now = time()
    entries = (
        Entry(
            hit.id,
            one_line(clean(hit.text), SNIPPET),
            f"{hit.kind} by {clean(hit.author)}, {ago(hit.at, now)}",
            beneath=hit.project,
        )
        for hit in hits
    )
    found = [{**hit._asdict(), "text": clean(hit.text)} for hit in hits]
    return respond(args, found, lambda: print_entries(entries, "The hub has nothing with these words."))


ADDRESS = argument("address", metavar="ADDRESS", help="postgresql://ROLE@HOST/DATABASE, or an invitation")
NAME = argument("--name", default="", help="what you call the team; default: the database's name")
MEMBER = argument("member", metavar="NAME", help="of the member")
ONLY = argument("--only", action="store_true", help="they see this project only; default: all of the team's")
QUERY = argument("query", nargs="+", metavar="QUERY", help="words")
LIMIT = argument("--limit", type=number(1, 100), default=10, metavar="N", help="default: 10")
EVERYWHERE = argument("--all-projects", action="store_true", help="in all of the team's projects that you may see")
ITEMS = argument("--items", action="store_true", help="and take back what they shared")
VERBS = {
    "init": Verb(_init, "make a team's hub of a PostgreSQL database",
                 "memory-keeper team init postgresql://me@db.example/team", (ADDRESS, NAME, YES)),
    "invite": Verb(_invite, "let somebody in, on one machine", "memory-keeper team invite alice", (MEMBER, ONLY, YES)),
    "join": Verb(_join, "share this project by a hub, with an invitation",
                 "memory-keeper team join 'postgresql://…'", (ADDRESS, NAME, YES)),
    "members": Verb(_members, "who is in the team", "memory-keeper team members"),
    "search": Verb(_search, "search the hub", "memory-keeper team search retry back-off --all-projects",
                   (QUERY, LIMIT, EVERYWHERE)),
    "remove": Verb(_remove, "let a member in no more", "memory-keeper team remove alice", (MEMBER, ITEMS, YES)),
}  # fmt: skip
