"""`session`: the sessions of this project, the newest first."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.sums import sums, total
from memory_keeper.cli.arguments import ID, Verb, argument, positive
from memory_keeper.cli.output import Entry, print_entries
from memory_keeper.cli.scope import known_project, live_sessions
from memory_keeper.cli.work import catch_up
from memory_keeper.errors import NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import Session
from memory_keeper.terminal import as_called, moment, print_json, say
from memory_keeper.text import many

LIMIT = 10
NONE = (
    "No sessions. They are kept from `memory-keeper install` on; `memory-keeper import transcripts` reads in old ones."
)


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        if not project:
            hint = "run `memory-keeper install`, or `memory-keeper import transcripts`"
            raise NotSetUp("Nothing is kept yet", hint=hint)
        catch_up(keeper, [project])
        found = keeper.store.sessions(None if args.all_projects else project, args.limit)
        about = _described(keeper, args, found)
    print_json(about) if args.json else print_entries(map(_entry, about), NONE)
    return 0


def _show(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        id = session_of(keeper, args.id)
        known = keeper.store.sessions(keeper.store.project_of(id), 1 << 30)
        (about,) = _described(keeper, args, [one for one in known if one.id == id])
        handoff = keeper.store.handoff(id)
    if args.json:
        print_json({**about, "handoff": handoff.id if handoff else None})
        return 0
    print_entries([_entry(about)], "")
    ways = [f"timeline --session {id[:8]}", f"show {handoff.id}" if handoff else "", f"why --session {id[:8]}"]
    say(as_called(f"\nmemory-keeper {' | '.join(filter(None, ways))}"), style="dim")
    return 0


def _described(keeper: Keeper, args: Namespace, found: list[Session]) -> list[dict[str, Any]]:
    """What is known of sessions: when, title, turns, tokens, and how each stands."""
    live, prices = {*live_sessions(keeper, args)}, read_prices(keeper.home)
    return [_describe(keeper, one, one.id in live, total(sums(keeper.store, prices, session=one.id))) for one in found]


def _describe(keeper: Keeper, one: Session, live: bool, spent: Any) -> dict[str, Any]:
    last = {kind: next(iter(keeper.store.latest(one.project, kind, 1, (one.id,))), None) for kind in LAST}
    title, prompt, start, end = (last[kind] for kind in LAST)
    over = end is not None and (start is None or end.at >= start.at)
    return {
        "id": one.id,
        "at": one.last,
        "began": one.first,
        "title": (title.text if title else "") or (prompt.text if prompt else ""),
        "turns": one.prompts,
        "events": one.events,
        "tokens": spent.input + spent.cache_read + spent.cache_write + spent.output,
        "state": "running" if live else "ended" if over else "left open",
        "project": one.project,
    }


LAST = ("title", "prompt", "start", "end")  # the events that say how a session is called and how it stands


def _entry(about: dict[str, Any]) -> Entry:
    counts = f"{many(about['turns'], 'turn')}, {about['tokens']:,} tokens, {about['state']}"
    return Entry(about["id"][:8], about["title"] or "(no prompt)", f"{moment(about['at'])}  {counts}")


MOST = argument("--limit", type=positive, default=LIMIT, metavar="N", help=f"at most so many (default {LIMIT})")
EVERYWHERE = argument("--all-projects", action="store_true", help="not only this project")
VERBS = {
    "list": Verb(_list, "when, title, turns, tokens and state of each", "memory-keeper sessions", (MOST, EVERYWHERE)),
    "show": Verb(_show, "one session", "memory-keeper session show 12ab34cd", (ID,)),
}
