"""`brief NAME`: print what a new context would be told."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from memory_keeper import config
from memory_keeper.app.commands import positive, project_of, session_of
from memory_keeper.app.terminal import print_json
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.tell.parts import PLANS

EXAMPLE = "memory-keeper brief start --budget 800"
BUDGETS = {"handoff": "tell.handoffBudget", "memory": "reduce.memoryTokens"}  # the setting that limits each


def configure(parser: ArgumentParser) -> None:
    """Which, for whom, and how long."""
    parser.add_argument("name", metavar="NAME", choices=sorted(PLANS), help=", ".join(sorted(PLANS)))
    parser.add_argument("--budget", type=positive, default=0, metavar="N", help="tokens it may cost")
    parser.add_argument(
        "--session", default="", metavar="ID", help="the session to tell of; of a handoff, default: the newest"
    )


def run(args: Namespace) -> int:
    """Compose it from what is kept now."""
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        session = session_of(keeper, args.session)
        with suppress(Busy):  # then tell what there is
            keeper.look(keeper.behind(project) or ())
        settings = config.load(args.home, find_root(args.project or os.getcwd()), config.environment())[0]
        budget = args.budget or settings[BUDGETS.get(args.name, "tell.startBudget")]
        notes = max(settings["tell.notesBudget"], budget // 5 if args.name == "memory" else 0)
        if args.name == "handoff" and not session:
            session = next((one.id for one in keeper.store.sessions(project, 10) if one.prompts), "")
        source = "compact" if session and args.name != "memory" else "startup"
        brief = keeper.brief(args.name, project, session, source, budget, notes=notes)
        kept = keeper.store.counts(project)["events"]
    if args.json:
        print_json({**brief._asdict(), "cites": list(brief.cites)})
        return 0
    if not brief.text and kept:
        raise KeeperError(f"Nothing to tell fits into {budget} tokens", hint="give it a larger --budget")
    if not brief.text:
        raise NotSetUp("Nothing is kept of this project yet", hint="run `memory-keeper import transcripts`")
    print(brief.text)
    return 0
