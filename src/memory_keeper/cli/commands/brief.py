"""`brief NAME`: print what a new context would be told."""

from __future__ import annotations

import os
from argparse import Namespace
from time import time
from typing import Any

from memory_keeper import config
from memory_keeper.briefs import UNLIMITED, Before, View
from memory_keeper.briefs.handoff import by_part
from memory_keeper.briefs.plans import PLANS
from memory_keeper.capture.host import find_terminal
from memory_keeper.cli.arguments import BUDGET, argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of, settings_of
from memory_keeper.cli.work import catch_up, session_here
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.hooks.actions.previous import find_before
from memory_keeper.hooks.actions.recall import names_something, preview
from memory_keeper.hooks.actions.rules import full_brief
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.request import Brief
from memory_keeper.settings import DEFAULTS
from memory_keeper.terminal import remark, say

RECALL, RULES = "recall", "rules"
NAMES = {  # and what each is
    "start": "what a new session is told",
    "handoff": "what a session leaves to the next context",
    RULES: "the rules, as the first prompt brings them",
    RECALL: "what a PROMPT brings back by what it names",
    "memory": "the notes of this project",
    "observations": "what may be worth a rule",
    "tasks": "what is to be done and what was",
    "sessions": "the contexts that were compacted or cleared",
    "report": "this month in figures",
    "replay": "the last messages of a session, as they were",
}
NOTHING = {  # what is said of those that may well be empty
    "memory": "Nothing is saved of this project yet.",
    "observations": "No observation is open.",
    "report": "No tokens were used in this project this month.",
    "sessions": "No context was compacted or cleared yet.",
    "tasks": "No task is open, and none was done.",
}
UNNAMED = "the prompt names no file, command, error or name that could be looked up"
UNKNOWN = "no earlier session has something of its own about what the prompt names; what most sessions have is left out"
OF_ONE = ("handoff", "replay")  # briefs of one session, which tell of the newest where none is named
ARGUMENTS = (
    argument(
        "name", metavar="NAME", choices=NAMES, help="; ".join(f"{name}: {what}" for name, what in NAMES.items())
    ),
    argument("prompt", nargs="*", default=[], metavar="PROMPT", help="of recall: the prompt that it is told with"),
    BUDGET,
    argument(
        "--session", default="", metavar="ID",
        help="the session to tell of; of a handoff or a replay, default: the newest but the one that runs this",
    ),
)  # fmt: skip


def run(args: Namespace) -> int:
    """Compose it from what is kept now."""
    if args.prompt and args.name != RECALL:
        raise KeeperError(f"A brief called {args.name} takes no prompt", hint="see `memory-keeper brief --help`")
    if args.name in (RECALL, RULES):
        brief = _recall(args) if args.name == RECALL else _rules(args)
        return _show(args, brief._replace(name=args.name))
    settings = settings_of(args)
    with Keeper(args.home) as keeper:
        project, session = project_of(keeper, args), session_of(keeper, args.session)
        catch_up(keeper, [project])
        if args.name in OF_ONE and not session:
            session = _newest(keeper, project)
        budget = _budget(args, settings)
        view = _view(keeper, args, project, session, settings, budget)
        brief = keeper.brief(args.name, view, budget, UNLIMITED)
        if not brief.text and view.session and args.name == "memory":  # there may be nothing but what it says itself
            brief = keeper.brief(args.name, view._replace(session=""), budget, UNLIMITED)
        counts = keeper.store.counts(project)
        kept = session or counts["events"]  # the session may be another project's
    if args.json or brief.text:
        return _show(args, brief, session)
    if args.name in NOTHING and (args.name != "memory" or (kept and not counts["notes"])):
        say(NOTHING[args.name])
        return 0
    if kept:
        raise KeeperError(f"Nothing to tell fits into {budget} tokens", hint="give it a larger --budget")
    raise NotSetUp("Nothing is kept of this project yet", hint="run `memory-keeper import transcripts`")


def _newest(keeper: Keeper, project: str) -> str:
    """The newest session in which something was said; another one than that which asks, if there is one."""
    spoken = [session.id for session in keeper.store.sessions(project, 10) if session.prompts]
    return next((id for id in spoken if id != session_here()), spoken[0] if spoken else "")


def _budget(args: Namespace, settings: dict[str, Any]) -> int:
    budget = args.budget or settings[PLANS[args.name].budget]
    if args.name == "replay" and not budget:  # no context is told one, but this was asked for
        budget = settings["tell.handoffBudget"]
    return int(budget)


def _view(keeper: Keeper, args: Namespace, project: str, session: str, settings: dict[str, Any], budget: int) -> View:
    """What the brief is told of, as a context that was cleared, compacted or is new would be told."""
    memory, of = args.name == "memory", session if args.name in OF_ONE else ""
    source = "clear" if of else "compact" if session and not memory else "startup"
    before = _before(keeper, project, args) if args.name == "start" and not session else None
    notes = max(settings["tell.notesBudget"], budget // 5 if memory else 0)
    own = session_here() if memory and not session else session  # who asks for the memory knows itself
    view = keeper.view(own, source, project=project, of=of, before=before, notes=notes)
    return view._replace(home=keeper.home, settings=settings, now=time())


def _recall(args: Namespace) -> Brief:
    """What a prompt brings back by what it names; that may well be nothing."""
    root, prompt = find_root(args.project or os.getcwd()), " ".join(args.prompt)
    if not prompt:
        raise KeeperError("Of what prompt?", hint='memory-keeper brief recall "fix src/hooks.py"')
    budget = args.budget or settings_of(args)["tell.recallBudget"]
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        brief = preview(keeper, prompt, project, root, budget or DEFAULTS["tell.recallBudget"], time())
    if not brief.text:
        remark(f"nothing would be told: {UNKNOWN if names_something(prompt) else UNNAMED}")
    return brief


def _rules(args: Namespace) -> Brief:
    """The rules in force and what the user said besides, as the first prompt of a context brings them."""
    folder, environ, settings = folder_of(args), config.environment(), settings_of(args)
    if not settings["rules.enabled"]:
        raise KeeperError("No context is told rules", hint="setting rules.enabled is false; `rule list` shows them")
    budget = args.budget or settings["rules.budget"]
    return full_brief(args.home, folder, environ, {**settings, "rules.budget": budget}, fenced=bool(args.json))


def _show(args: Namespace, brief: Brief, session: str = "") -> int:
    shown = {name: value for name, value in brief._asdict().items() if name != "lines"}
    shown |= {"cites": list(brief.cites), **({"session": session} if session else {})}
    shown |= by_part([*brief.facts]) if args.name == "handoff" else {}
    return respond(args, shown, (lambda: say(brief.text)) if brief.text else "")


def _before(keeper: Keeper, project: str, args: Namespace) -> Before | None:
    """What a session that began now would be handed; to print it keeps nothing."""
    where, terminal = args.project or os.getcwd(), find_terminal(config.environment())
    return find_before(keeper, project, "", where, terminal, time(), make=False)
