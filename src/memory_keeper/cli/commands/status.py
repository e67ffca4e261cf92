"""`status`: this project at a glance."""

from __future__ import annotations

import os
from argparse import Namespace
from time import time
from typing import Any

from memory_keeper import config
from memory_keeper.briefs.parts import STANDING
from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.rules import rules_of
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.errors import NotSetUp
from memory_keeper.hooks.actions.lost import Score, scores
from memory_keeper.host.registration import claude_folder, installed_at
from memory_keeper.imports import glance
from memory_keeper.jobs.allowance import attempts
from memory_keeper.keeper import Keeper
from memory_keeper.model import NamedTuple, Note, Open, Session
from memory_keeper.notes.usage.compactions import Compaction, saved
from memory_keeper.pages.reading import Pages
from memory_keeper.rules.observations import clashes, observed
from memory_keeper.store.events import as_of, model_calls
from memory_keeper.terminal import as_called, moment, paint, say, size
from memory_keeper.text import ago, clean, many, one_line

COPY = "marketplace"  # the folder of the home with the plugin's code
JOURNAL = ("-wal", "-shm")
COMPACTIONS = 1000  # the newest of a project that are looked at
ARGUMENTS = (argument("--all-projects", action="store_true", help="everything in the store"),)


class Found(NamedTuple):
    """What there is to say of a project, or of all."""

    project: str | None  # None: all of them
    name: str
    root: str
    counts: dict[str, Any]
    sessions: list[Session]
    handoff: Note | None
    standing: int
    open: list[Open]
    spent: dict[str, Any]
    measured: list[Score]
    savings: list[Compaction]
    replaced: int  # compactions without a model; of some no later request has told yet what they saved
    learnt: dict[str, Any]


def run(args: Namespace) -> int:
    """When capture last worked, and how much is kept."""
    with Keeper(args.home) as keeper:
        try:
            project = None if args.all_projects else project_of(keeper, args)
            counts = keeper.store.counts(project)
        except NotSetUp:
            there = installed_at(claude_folder())
            first = "it begins with the next session" if there else "run `memory-keeper install`"
            older = glance(config.find_root(folder_of(args)), keeper.environ)
            known = "".join(f", or `memory-keeper import {tool}`: {counted}" for tool, counted in older.items())
            hint = f"{first}, or `memory-keeper import transcripts`{known}"
            raise NotSetUp("Nothing is kept yet", hint=hint) from None
        found = _find(keeper, project, counts, args)
    return respond(args, _about(found, args.home), lambda: _say(found, args.home))


def _find(keeper: Keeper, project: str | None, counts: dict[str, Any], args: Namespace) -> Found:
    store = keeper.store
    common = Found(
        project, "all projects", "", counts, store.sessions(project, 5), None, 0, store.open_sessions(project),
        _spent(keeper, project), [], [], 0, {},
    )  # fmt: skip
    if not project:
        return common
    handoff = store.handoff(project=project)
    return common._replace(
        name=project_name(store, project),
        root=next(iter(store.roots(project)), ""),
        handoff=handoff._replace(at=as_of(store, handoff)) if handoff else None,
        standing=sum(bool(note.text) for kind in STANDING for note in store.notes(project, 0, kind)),
        measured=scores(store, project, COMPACTIONS),
        savings=saved(store, project),
        replaced=len(store.latest(project, "replaced", COMPACTIONS, text=False)),
        learnt=_learnt(keeper, project, args),
    )


def _about(found: Found, home: str) -> dict[str, Any]:
    handoff = found.handoff
    return {
        "project": found.project or found.name,
        **found.counts,
        "pending_sessions": len(found.open),
        "standing_notes": found.standing,
        "spent": found.spent,
        "store": home,
        "store_bytes": _bytes(home),
        "last_handoff": {"id": handoff.id, "at": handoff.at, "session": handoff.session} if handoff else None,
        "compactions": _compactions(found.measured),
        **found.learnt,
        "replaced": [_saving(one) for one in found.savings],
        "recent": [session._asdict() for session in found.sessions],
    }


def _saving(one: Compaction) -> dict[str, Any]:
    sizes = {"before": one.before, "after": one.after, "requests": one.requests, "tokens": one.saved}
    return {"session": one.session, "at": one.at, **sizes}


def _say(found: Found, home: str) -> None:
    now, counts = time(), found.counts
    where = f"  {one_line(clean(found.root), 300)}" if found.root not in ("", found.name) else ""
    say(paint(one_line(clean(found.name), 300), "bold") + where)
    looked = counts["last_look"]
    _row("last captured", moment(looked) + (f" ({ago(looked, now)})" if looked else ""))
    _row("kept", f"{many(counts['events'], 'event')} of {many(counts['sessions'], 'session')}")
    _say_notes(counts["notes"], found.standing, found.open, found.spent)
    if found.handoff:
        _row("last handoff", f"{moment(found.handoff.at)} ({ago(found.handoff.at, now)}), {found.handoff.id}")
    _say_learnt(found.learnt)
    _say_compactions(found.measured, now)
    _say_savings(found.savings, found.replaced)
    _row("store", home)
    _row("", ", ".join(f"{size(number)} {what}" for what, number in _sizes(home).items() if number))
    for session in found.sessions:
        asked = f"{many(session.prompts, 'prompt')}, {many(session.events, 'event')}"
        say(f"  session {session.id[:8]}  {moment(session.last)}  {asked}")


def _row(name: str, said: str) -> None:
    say(as_called(said), f"  {name:15}", " " * 17)


def _say_notes(levels: dict[str, int], standing: int, open: list[Open], spent: dict[str, Any]) -> None:
    """How far what is kept is also said in notes, and what models took for it."""
    notes = [f"{number} at level {level}" for level, number in sorted(levels.items()) if level != "0"]
    notes += [f"{standing} standing"] if standing else []
    _row("notes", ", ".join(notes) or "none yet")
    if open:
        calls = many(sum(one.tools for one in open), "tool call")
        _row("without a note", f"the end of {many(len(open), 'session')} ({calls}), too short for one yet")
    if spent["asked"]:
        cost = f", ${spent['cost']:.{2 if spent['cost'] >= 0.01 else 4}f}" if spent["cost"] else ""
        _row("models", f"asked {many(spent['asked'], 'time')} for better wordings: {spent['tokens']:,} tokens{cost}")


def _learnt(keeper: Keeper, project: str, args: Namespace) -> dict[str, Any]:
    """How many rules hold, and what became of what was observed."""
    root = config.find_root(args.project or os.getcwd())
    settings = config.load(keeper.home, root, keeper.environ)[0]
    told = rules_of(keeper.store, project, settings["rules.shipped"]) if settings["rules.enabled"] else []
    found = observed(keeper.store, project, settings, time())
    states = [one.state for one in found]
    return {
        "rules": len(told),
        "rules_contradicted": len(clashes(keeper.store, project, found)),
        "observations": {state: states.count(state) for state in dict.fromkeys(states)},
        "pages_waiting": Pages(keeper, project, root).waiting(),
        "older_memory": glance(root, keeper.environ, keeper.store, project),
    }


def _say_learnt(learnt: dict[str, Any]) -> None:
    if not learnt:
        return
    proposed, against = learnt["observations"].get("proposed", 0), learnt["rules_contradicted"]
    said = [f"{learnt['rules']} in force"] + [f"{proposed} proposed"] * bool(proposed)
    said += [f"{against} that you have spoken against since"] * bool(against)
    hint = ": `memory-keeper observation list`" if proposed or against else ""
    _row("rules", f"{', '.join(said)}{hint}")
    if learnt["pages_waiting"]:
        _row("edited", f"{', '.join(learnt['pages_waiting'])}: `memory-keeper rule adopt` takes it over")
    for tool, counted in learnt["older_memory"].items():
        _row("not brought in", f"{counted}: `memory-keeper import {tool}`")


def _compactions(measured: list[Score]) -> dict[str, Any]:
    """What the summaries of Claude Code kept, all together and the last one."""
    last = {**measured[0]._asdict(), "kept_percent": measured[0].percent} if measured else None
    return {"measured": len(measured), "kept_percent": _mean([one.percent for one in measured]), "last": last}


def _mean(numbers: list[int]) -> int | None:
    return round(sum(numbers) / len(numbers)) if numbers else None


def _say_compactions(measured: list[Score], now: float) -> None:
    if not measured:
        return
    last = measured[0]
    facts = f"{last.percent} % of {last.kept + last.lost} facts in {last.tokens:,} tokens"
    _row("compaction", f"{moment(last.at)} ({ago(last.at, now)}), its summary kept {facts};")
    _row("", f"the handoff brought back {many(last.brought, 'fact')} in {last.told:,} tokens")
    if len(measured) > 1:
        kept, brought = _mean([one.percent for one in measured]), _mean([one.brought for one in measured])
        _row("", f"mean of {len(measured)}: {kept} % kept, {brought} facts brought back")


def _say_savings(savings: list[Compaction], replaced: int) -> None:
    """What compactions of our own kept out of later requests, as those measured it."""
    times = many(max(replaced, len(savings)), "time")
    if not savings:
        if replaced:
            _row("compacted", f"{times} without a model; the next response tells what that saved")
        return
    last, carried = savings[-1], sum(one.saved for one in savings)
    requests = many(sum(one.requests for one in savings), "request")
    _row("compacted", f"{times} without a model, last from {last.before:,} to {last.after:,} tokens;")
    _row("", f"{requests} since then carried {carried:,} tokens less")


def _spent(keeper: Keeper, project: str | None) -> dict[str, Any]:
    """What models were given and gave for better wordings, as far as is known."""
    asked = [one for one in attempts(model_calls(keeper.store)) if project in (None, one.project)]
    return {"asked": len(asked), "tokens": sum(one.tokens for one in asked), "cost": sum(one.cost for one in asked)}


def _sizes(home: str) -> dict[str, int]:
    """How many bytes are there of what."""
    code = _bytes(os.path.join(home, COPY))
    journal = sum(os.path.getsize(path) for end in JOURNAL if os.path.exists(path := f"{home}/store.db{end}"))
    return {"kept": _bytes(home) - code - journal, "SQLite's journal": journal, "the plugin itself": code}


def _bytes(home: str) -> int:
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(home) for name in names)
