"""`status`: this project at a glance."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from time import time

from memory_keeper.app.commands import project_of
from memory_keeper.app.registration import claude_folder, installed_at
from memory_keeper.app.terminal import age, moment, paint, print_json, size
from memory_keeper.errors import NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.text import clean

EXAMPLE = "memory-keeper status"


def configure(parser: ArgumentParser) -> None:
    """Every project, on request."""
    parser.add_argument("--all-projects", action="store_true", help="everything in the store")


def run(args: Namespace) -> int:
    """When capture last worked, and how much is kept."""
    with Keeper(args.home) as keeper:
        try:
            project = None if args.all_projects else project_of(keeper, args)
            counts = keeper.store.counts(project)
        except NotSetUp:
            there = installed_at(claude_folder())
            first = "it begins with the next session" if there else "run `memory-keeper install`"
            raise NotSetUp("Nothing is kept yet", hint=f"{first}, or `memory-keeper import transcripts`") from None
        sessions = keeper.store.sessions(project, 5)
        roots = keeper.store.roots(project) if project else []
        handoff = keeper.store.handoff(project=project) if project else None
    about = {
        "project": project or "all projects",
        **counts,
        "store": args.home,
        "store_bytes": _bytes(args.home),
        "last_handoff": {"id": handoff.id, "at": handoff.at, "session": handoff.session} if handoff else None,
        "recent": [session._asdict() for session in sessions],
    }
    if args.json:
        print_json(about)
        return 0
    now = time()
    print(paint(clean(about["project"]), "bold") + (f"  {roots[0]}" if roots else ""))
    looked = counts["last_look"]
    print(f"  last captured  {moment(looked)}" + (f" ({age(looked, now)})" if looked else ""))
    number = counts["sessions"]
    print(f"  kept           {counts['events']} events of {number} session{'s' * (number != 1)}")
    notes = ", ".join(f"level {level}: {number}" for level, number in counts["notes"].items() if level != "0")
    if notes:
        print(f"  notes          {notes}")
    if handoff:
        print(f"  last handoff   {moment(handoff.at)} ({age(handoff.at, now)}), {handoff.id}")
    print(f"  store          {args.home} ({size(about['store_bytes'])})")
    for session in sessions:
        asked = f"{session.prompts} prompt{'s' * (session.prompts != 1)}"
        print(f"  session {session.id[:8]}  {moment(session.last)}  {asked}, {session.events} events")
    return 0


def _bytes(home: str) -> int:
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(home) for name in names)
