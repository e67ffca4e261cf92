"""`load`: print what was saved, as a context that goes on from it is told."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from memory_keeper.briefs import UNLIMITED
from memory_keeper.cli.arguments import BUDGET, argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import project_of, settings_of
from memory_keeper.cli.work import catch_up
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.request import Brief
from memory_keeper.terminal import say

EARLIER = "`memory-keeper import transcripts` brings in what Claude Code has written down"
WHATEVER = 1 << 30  # tokens
ARGUMENTS = (
    argument("--session", default="", metavar="ID", help="default: the newest; inside a session, the one before it"),
    argument("--memory", action="store_true", help="the memory of the project instead of one session's handoff"),
    BUDGET,
)


def run(args: Namespace) -> int:
    """Compose it from what is kept now."""
    settings = settings_of(args)
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        catch_up(keeper, [project])
        brief, about = (
            _memory(keeper, args, project, settings) if args.memory else _handoff(keeper, args, project, settings)
        )
    return respond(args, {**brief._asdict(), "cites": list(brief.cites), **about}, lambda: say(brief.text))


def _handoff(keeper: Keeper, args: Namespace, project: str, settings: dict[str, Any]) -> tuple[Brief, dict[str, str]]:
    session = session_of(keeper, args.session) if args.session else _before(keeper, project)
    budget = args.budget or settings["tell.handoffBudget"]
    brief = keeper.brief("handoff", keeper.view("", "", project=project, of=session), budget, UNLIMITED)
    if not brief.text:
        raise KeeperError(f"Nothing of session {session[:8]} fits into {budget} tokens", hint="give a larger --budget")
    return brief, {"session": session}


def _memory(keeper: Keeper, args: Namespace, project: str, settings: dict[str, Any]) -> tuple[Brief, dict[str, str]]:
    """What is remembered of the project; a session that asks knows itself, unless there is nothing else."""
    budget, own = args.budget or settings["reduce.memoryTokens"], os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    notes = max(settings["tell.notesBudget"], budget // 5)
    view = keeper.view(own, "startup", project=project, notes=notes)
    brief = keeper.brief("memory", view, budget, UNLIMITED)
    brief = brief if brief.text else keeper.brief("memory", view._replace(session=""), budget, UNLIMITED)
    if not brief.text and keeper.brief("memory", view._replace(session=""), WHATEVER, UNLIMITED).text:
        raise KeeperError(f"Nothing to tell fits into {budget} tokens", hint="give a larger --budget")
    if not brief.text:
        raise NotSetUp("Nothing is saved of this project yet", hint=EARLIER)
    return brief, {"project": project}


def _before(keeper: Keeper, project: str) -> str:
    """The newest session of the project that said something, other than the one that asks."""
    own = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    found = [session.id for session in keeper.store.sessions(project, 10) if session.prompts]
    others = [session for session in found if session != own]
    if not found:
        raise NotSetUp("Nothing is saved of this project yet", hint=EARLIER)
    return (others or found)[0]
