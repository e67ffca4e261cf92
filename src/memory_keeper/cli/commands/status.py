"""`status`: this project at a glance."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import time

from memory_keeper import config
from memory_keeper.briefs.parts import STANDING
from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.rules import rules_of
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import project_of, settings_of
from memory_keeper.hooks.actions.lost import scores
from memory_keeper.imports import glance
from memory_keeper.jobs.allowance import attempts, unanswered
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.notes.usage.compactions import saved
from memory_keeper.pages.reading import Pages
from memory_keeper.rules.observations import clashes, observed
from memory_keeper.store.events import as_of, model_calls
from memory_keeper.terminal import as_called, format_time, paint, say, size
from memory_keeper.text import ago, clean, many, one_line

COPY = "marketplace"  # the folder of the home with the plugin's code
COMPACTIONS = 1000  # the newest of a project that are looked at
ARGUMENTS = (argument("--all-projects", action="store_true", help="everything in the store"),)


def run(args: Namespace) -> int:
    """When capture last worked, and how much is kept."""
    with Keeper(args.home) as keeper:
        project = None if args.all_projects else project_of(keeper, args)
        about = _describe(keeper, project, settings_of(args))
        if project:
            about |= _of_project(keeper, project) | _learnt(keeper, project, args)
    return respond(args, about, lambda: _show(about))


# --- what there is ----------------------------------------------------------------------------------------------------


def _describe(keeper: Keeper, project: str | None, settings: Json) -> Json:
    """What there is to say of a project, or of all."""
    store, open = keeper.store, keeper.store.open_sessions(project)
    tried = attempts(model_calls(store))
    asked = [attempt for attempt in tried if project in (None, attempt.project)]
    return {
        "project": project or "all projects",
        "name": project_name(store, project) if project else "all projects",
        "folder": next(iter(store.roots(project)), "") if project else "",
        **store.counts(project),
        "pending_sessions": len(open),
        "pending_calls": sum(waiting.tools for waiting in open),
        "spent": {
            "asked": len(asked),
            "tokens": sum(attempt.tokens for attempt in asked),
            "cost": sum(attempt.cost for attempt in asked),
        },
        "unanswered": [attempt._asdict() for attempt in unanswered(tried, settings)],
        "store": keeper.home,
        "store_bytes": _bytes(keeper.home),
        "recent": [session._asdict() for session in store.sessions(project, 5)],
        "standing_notes": 0,
        "last_handoff": None,
        "compactions": {"measured": 0, "kept_percent": None, "brought": None, "last": None},
        "replaced": [],
        "replacements": 0,
    }


def _of_project(keeper: Keeper, project: str) -> Json:
    store, handoff = keeper.store, keeper.store.handoff(project=project)
    found = scores(store, project, COMPACTIONS)
    last = {**found[0]._asdict(), "kept_percent": found[0].percent} if found else None
    kept, brought = _mean([score.percent for score in found]), _mean([score.brought for score in found])
    savings = [
        {
            "session": compaction.session, "at": compaction.at, "before": compaction.before, "after": compaction.after,
            "requests": compaction.requests, "tokens": compaction.saved,
        }
        for compaction in saved(store, project)
    ]  # fmt: skip
    at = {"id": handoff.id, "at": as_of(store, handoff), "session": handoff.session} if handoff else None
    return {
        "standing_notes": sum(bool(note.text) for kind in STANDING for note in store.notes(project, 0, kind)),
        "last_handoff": at,
        # what the summaries of Claude Code kept, all together and the last one
        "compactions": {"measured": len(found), "kept_percent": kept, "brought": brought, "last": last},
        "replaced": savings,  # those without a model, whose savings later requests have measured
        "replacements": max(len(savings), len(store.latest(project, "replaced", COMPACTIONS, text=False))),
    }


def _learnt(keeper: Keeper, project: str, args: Namespace) -> Json:
    """How many rules hold, and what became of what was observed."""
    root = config.find_root(args.project or os.getcwd())
    settings = config.load(keeper.home, root, keeper.environ)[0]
    rules = rules_of(keeper.store, project, settings["rules.shipped"]) if settings["rules.enabled"] else []
    found = observed(keeper.store, project, settings, time())
    states = [observation.state for observation in found]
    return {
        "rules": len(rules),
        "rules_contradicted": len(clashes(keeper.store, project, found)),
        "observations": {state: states.count(state) for state in dict.fromkeys(states)},
        "pages_waiting": Pages(keeper, project, root).waiting(),
        "older_memory": glance(root, keeper.environ, keeper.store, project),
    }


def _mean(numbers: Sequence[int]) -> int | None:
    return round(sum(numbers) / len(numbers)) if numbers else None


def _bytes(top: str, without: str = "") -> int:
    """What a folder takes, but for one in it; what goes away meanwhile takes nothing."""
    taken = 0
    for folder, folders, names in os.walk(top):
        if folder == top and without in folders:
            folders.remove(without)
        for name in names:
            with suppress(FileNotFoundError):
                taken += os.lstat(os.path.join(folder, name)).st_size
    return taken


# --- showing it -------------------------------------------------------------------------------------------------------


def _show(about: Json) -> None:
    where = f"  {one_line(clean(about['folder']), 300)}" if about["folder"] not in ("", about["name"]) else ""
    say(paint(one_line(clean(about["name"]), 300), "bold") + where)
    for name, text in (*_kept(about), *_rules(about), *_compactions(about), *_sizes(about)):
        say(as_called(text), f"  {name:15}", " " * 17)
    for session in about["recent"]:
        asked = f"{many(session['prompts'], 'prompt')}, {many(session['events'], 'event')}"
        say(f"  session {session['id'][:8]}  {format_time(session['last'])}  {asked}")


def _when(at: float) -> str:
    return f"{format_time(at)} ({ago(at, time())})" if at else format_time(at)


def _kept(about: Json) -> Iterator[tuple[str, str]]:
    """What was captured, how far that is also said in notes, and what models took for it."""
    yield "last captured", _when(about["last_look"])
    yield "kept", f"{many(about['events'], 'event')} of {many(about['sessions'], 'session')}"
    notes = [f"{number} at level {level}" for level, number in sorted(about["notes"].items()) if level != "0"]
    notes += [f"{about['standing_notes']} standing"] * bool(about["standing_notes"])
    yield "notes", ", ".join(notes) or "none yet"
    if open := about["pending_sessions"]:
        calls = many(about["pending_calls"], "tool call")
        yield "without a note", f"the end of {many(open, 'session')} ({calls}), too short for one yet"
    spent = about["spent"]
    if spent["asked"]:
        cost = f", ${spent['cost']:.{2 if spent['cost'] >= 0.01 else 4}f}" if spent["cost"] else ""
        yield "models", f"asked {many(spent['asked'], 'time')} for better wordings: {spent['tokens']:,} tokens{cost}"
    if failed := about["unanswered"]:
        text = f"{failed[0]['by']} gave no answer the last {many(len(failed), 'time')}, since {_when(failed[-1]['at'])}"
        yield "", f"{text}: `memory-keeper doctor`"
    if handoff := about["last_handoff"]:
        yield "last handoff", f"{_when(handoff['at'])}, {handoff['id']}"


def _rules(about: Json) -> Iterator[tuple[str, str]]:
    if "rules" not in about:
        return
    proposed, against = about["observations"].get("proposed", 0), about["rules_contradicted"]
    counts = [f"{about['rules']} in force"] + [f"{proposed} proposed"] * bool(proposed)
    counts += [f"{against} that you have spoken against since"] * bool(against)
    yield "rules", ", ".join(counts) + (": `memory-keeper observation list`" if proposed or against else "")
    if about["pages_waiting"]:
        yield "edited", f"{', '.join(about['pages_waiting'])}: `memory-keeper rule adopt` takes it over"
    for tool, counted in about["older_memory"].items():
        yield "not brought in", f"{counted}: `memory-keeper import {tool}`"


def _compactions(about: Json) -> Iterator[tuple[str, str]]:
    """What the summaries of Claude Code kept, and what compactions of our own kept out of later requests."""
    found, last = about["compactions"], about["compactions"]["last"]
    if last:
        facts = f"{last['kept_percent']} % of {last['kept'] + last['lost']} facts in {last['tokens']:,} tokens"
        yield "compaction", f"{_when(last['at'])}, its summary kept {facts};"
        yield "", f"the handoff brought back {many(last['brought'], 'fact')} in {last['told']:,} tokens"
    if found["measured"] > 1:
        yield "", f"mean of {found['measured']}: {found['kept_percent']} % kept, {found['brought']} facts brought back"
    times, savings = many(about["replacements"], "time"), about["replaced"]
    if savings:
        requests, last = many(sum(saving["requests"] for saving in savings), "request"), savings[-1]
        yield "compacted", f"{times} without a model, last from {last['before']:,} to {last['after']:,} tokens;"
        yield "", f"{requests} since then carried {sum(saving['tokens'] for saving in savings):,} tokens less"
    elif about["replacements"]:
        yield "compacted", f"{times} without a model; the next response tells what that saved"


def _sizes(about: Json) -> Iterator[tuple[str, str]]:
    home = about["store"]
    journal = sum(os.path.getsize(path) for end in ("-wal", "-shm") if os.path.exists(path := f"{home}/store.db{end}"))
    code = _bytes(os.path.join(home, COPY))  # compiled while we look: not to be taken from the sum of before
    sizes = {"kept": max(0, _bytes(home, COPY) - journal), "SQLite's journal": journal, "the plugin itself": code}
    yield "store", home
    yield "", ", ".join(f"{size(number)} {what}" for what, number in sizes.items() if number)
