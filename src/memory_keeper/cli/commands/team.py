"""`team`: with whom this project is shared, what they propose, and whether their rules hold here."""

from __future__ import annotations

from argparse import Namespace
from time import time

from memory_keeper.cli import hub
from memory_keeper.cli.arguments import YES, Verb, argument
from memory_keeper.cli.output import Entry, confirm, print_entries, respond
from memory_keeper.cli.scope import known_project
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.store.rules_cache import forget_rules
from memory_keeper.store.shared import shared_notes
from memory_keeper.team.inbox import as_json
from memory_keeper.team.teams import Team, find, keep, leave, teams_of
from memory_keeper.terminal import say
from memory_keeper.text import ago, clean, many

NONE = "This project is shared with nobody. memory-keeper sync --git or memory-keeper team init shares it."


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        teams = teams_of(keeper.store, project) if project else []
        entries = [Entry(team.name, team.address, _state(team)) for team in teams]
    return respond(args, [*map(_as_json, teams)], lambda: print_entries(entries, NONE))


def _as_json(team: Team) -> Json:
    names = ("name", "address", "transport", "accepted", "auto")
    return {name: getattr(team, name) for name in names}


def _state(team: Team) -> str:
    rules = "its rules hold here" if team.accepted else "its rules are proposals: memory-keeper team accept"
    return f"{team.transport}, {rules}" + ", synced with sessions" * team.auto


def _shared(args: Namespace) -> int:
    """What others share of this project."""
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        found = shared_notes(keeper.store, project) if project else []
    now = time()
    entries = (
        Entry(note.id, note.text, f"{item.kind} by {clean(item.author)}, {ago(item.at, now)}") for note, item in found
    )
    return respond(
        args,
        [as_json(note, item) for note, item in found],
        lambda: print_entries(entries, "Nobody shares anything yet."),
    )


def _accept(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        team = find(keeper.store, project, args.name)
        rules = [(note, item) for note, item in shared_notes(keeper.store, project) if item.kind == "rule"]
        if not args.json:
            for _, item in rules:
                say(f"{clean(item.text)}  ({clean(item.author)})", "  - ", "    ")
        by_a_person(args, "accept the rules of others")
        question = f"Have the rules of {clean(team.name)} hold here, these and later ones?"
        confirm(args, question, "--yes accepts them without a question")
        keep(keeper, team._replace(accepted=True))
        forget_rules(keeper.home)
    words = f"Accepted: {many(len(rules), 'rule')} of {clean(team.name)} hold here, told as theirs."
    return respond(args, {"name": team.name, "accepted": True, "rules": len(rules)}, words)


def _leave(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        team = find(keeper.store, known_project(keeper, args), args.name)
        by_a_person(args, "leave a team")
        confirm(args, f"Leave {clean(team.name)}?", "--yes leaves without a question")
        leave(keeper, team)
        forget_rules(keeper.home)
    words = f"Left {clean(team.name)}: nothing is sent or fetched any more. What you shared is still there."
    return respond(args, {"name": team.name, "left": True}, words)


NAME = argument("name", nargs="?", default="", metavar="NAME", help="of a team; default: the only one")
VERBS = {
    "list": Verb(_list, "the teams of this project", "memory-keeper team list"),
    "shared": Verb(_shared, "what others share of this project", "memory-keeper team shared"),
    "accept": Verb(_accept, "have the rules of a team hold here", "memory-keeper team accept", (NAME, YES)),
    "leave": Verb(_leave, "share nothing more with a team", "memory-keeper team leave", (NAME, YES)),
    **hub.VERBS,
}
