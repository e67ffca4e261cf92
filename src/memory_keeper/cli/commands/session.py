"""`session`: the sessions of this project, the newest first."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.sums import sums, total
from memory_keeper.cli.arguments import ALL_PROJECTS, ID, Verb, limit
from memory_keeper.cli.output import Entry, print_entries, print_ways, respond
from memory_keeper.cli.scope import live_sessions, project_of
from memory_keeper.cli.work import catch_up
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import Filter, Session
from memory_keeper.terminal import format_time
from memory_keeper.text import many

NONE = (
    "No sessions. They are kept from `memory-keeper install` on; `memory-keeper import transcripts` reads in old ones."
)


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        catch_up(keeper, [project])
        found = keeper.store.sessions(None if args.all_projects else project, args.limit)
        about = _described(keeper, args, found)
    return respond(args, about, lambda: print_entries(map(_entry, about), NONE))


def _show(args: Namespace) -> int:
    if not args.id:
        args.fail("the ID is empty")
    with Keeper(args.home) as keeper:
        id = session_of(keeper, args.id)
        known = keeper.store.sessions(keeper.store.project_of(id), 1 << 30)
        (about,) = _described(keeper, args, [session for session in known if session.id == id])
        handoff = keeper.store.handoff(id)

    def show() -> None:
        print_entries([_entry(about)])
        print_ways(f"timeline --session {id[:8]}", f"show {handoff.id}" if handoff else "", f"why --session {id[:8]}")

    return respond(args, {**about, "handoff": handoff.id if handoff else None}, show)


def _described(keeper: Keeper, args: Namespace, found: list[Session]) -> list[dict[str, Any]]:
    """What is known of sessions: when, title, turns, tokens, and how each stands."""
    live, prices = {*live_sessions(keeper, args)}, read_prices(keeper.home)
    return [
        describe(keeper, session, session.id in live, total(sums(keeper.store, prices, session=session.id)))
        for session in found
    ]


def describe(keeper: Keeper, session: Session, live: bool, spent: Any) -> dict[str, Any]:
    """What is known of a session, as every list has it."""
    which = Filter(sessions=(session.id,), agent="", newest=True, limit=1)
    found = (keeper.store.find(which._replace(kinds=(kind,))) for kind in LAST)
    title, prompt, start, end = (next((kept.event for kept in each), None) for each in found)
    over = end is not None and (start is None or end.at >= start.at)
    return {
        "id": session.id,
        "at": session.last,
        "began": session.first,
        "title": (title.text if title else "") or (prompt.text if prompt else ""),
        "turns": session.prompts,
        "events": session.events,
        "tokens": spent.input + spent.cache_read + spent.cache_write + spent.output,
        "state": "running" if live else "ended" if over else "left open",
        "project": session.project,
    }


LAST = ("title", "prompt", "start", "end")  # the events that say how a session is called and how it stands


def _entry(about: dict[str, Any]) -> Entry:
    counts = f"{many(about['turns'], 'turn')}, {about['tokens']:,} tokens, {about['state']}"
    return Entry(about["id"][:8], about["title"] or "(no prompt)", f"{format_time(about['at'])}  {counts}")


VERBS = {
    "list": Verb(_list, "when, title, turns, tokens and state of each", "memory-keeper sessions",
            (limit(10), ALL_PROJECTS)),
    "show": Verb(_show, "one session", "memory-keeper session show 12ab34cd", (ID,)),
}  # fmt: skip
