"""What each page shows: a query that a command has too, as values that a template says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from statistics import median
from time import time
from typing import Any

from markupsafe import Markup

from memory_keeper import config
from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.report.html import render
from memory_keeper.briefs.report.markdown import HEADS, percent, priced, short_name
from memory_keeper.briefs.report.markdown import show as show_month
from memory_keeper.briefs.report.month import find_month
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.savings import Sessions, find_compactions
from memory_keeper.briefs.report.sums import SPANS, Sum, by_tool, largest, sums, total
from memory_keeper.briefs.report.survival import find_survival, summed_up
from memory_keeper.briefs.report.survival_svg import SAYS, draw
from memory_keeper.briefs.rules import rules_of
from memory_keeper.briefs.timeline import STEPS, around, of_project
from memory_keeper.capture.newest import newest_lines
from memory_keeper.cli.commands.context import NAMES
from memory_keeper.cli.commands.context import describe as describe_context
from memory_keeper.cli.commands.doctor import check
from memory_keeper.cli.commands.observation import BY, STATES
from memory_keeper.cli.commands.session import describe as describe_session
from memory_keeper.cli.scope import runs
from memory_keeper.cli.work import catch_up
from memory_keeper.dashboard.charts import columns
from memory_keeper.dates import bounds, month_of, read_when
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.hooks.actions.fullness import describe, measure
from memory_keeper.hooks.actions.lost import scores
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.by_id import find_one
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import EVER, HIGHEST, Filter, Note, Scope, Session, origin
from memory_keeper.notes.kept_note import lines_of
from memory_keeper.notes.tasks.done import done, open_tasks
from memory_keeper.notes.usage import breakdown
from memory_keeper.project_settings import Settings
from memory_keeper.provenance import whose
from memory_keeper.rules.observations import clashes, observed_here
from memory_keeper.search import find
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.events import as_of, began_at
from memory_keeper.store.store import Store
from memory_keeper.text import clean

FEW, ROWS, LONG = 10, 30, 100  # of a list, a page, a conversation
TEXT = 20_000  # characters of one text on a page; the address of what follows names where
HEAD = 1_500  # and of one among many
MOST = 64 << 20  # bytes of a transcript that a page takes apart
PERIODS = {"7d": "7 days", "30d": "30 days", "365d": "a year"}
ANY = ("prompt", "reply", "call", "result", "summary", "session", "outline", "handoff", "decision")  # kinds to look for
Json = dict[str, Any]


class Visit:
    """One look at a page: what was asked, and what of the memory it is about."""

    def __init__(self, keeper: Keeper, folder: str, given: Json) -> None:
        self.keeper, self.folder, self.given = keeper, folder, given

    @property
    def store(self) -> Store:
        """What is kept; NotSetUp when nothing ever was."""
        return self.keeper.store

    def get(self, name: str) -> str:
        """A word of the address."""
        return str(self.given.get(name, ""))

    def number(self, name: str) -> int:
        """A number of the address; 0 where there is none."""
        word = self.get(name)
        return int(word) if word.isdecimal() and len(word) < 16 else 0

    @cached_property
    def projects(self) -> list[tuple[str, str]]:
        """Every project and its name, for people."""
        named = ((one, project_name(self.store, one)) for one in self.store.projects())
        return sorted(named, key=lambda one: one[1])

    @cached_property
    def chosen(self) -> str:
        """The project that the address names."""
        known = {key for key, _ in self.projects}
        return self.get("project") if self.get("project") in known else ""

    @cached_property
    def project(self) -> str:
        """The project a page is about: the one chosen, that of the folder, else that of the newest session."""
        if self.chosen:
            return self.chosen
        here = self.keeper.project(self.folder) if os.path.isdir(self.folder) else ""
        if here in {key for key, _ in self.projects}:
            return here
        newest = self.store.sessions(None, 1)
        if not newest:
            raise NotSetUp("Nothing is kept yet", hint="it begins with the next session, or `memory-keeper import`")
        return newest[0].project

    @cached_property
    def root(self) -> str:
        """The folder of that project; empty where it is not known."""
        return self.keeper.root_of(self.project) or next(iter(self.store.roots(self.project)), "")

    @cached_property
    def settings(self) -> Json:
        """Those in force there."""
        return Settings(self.keeper).of(self.project)

    def session(self) -> str:
        """The session that the address names, whose project is the one of the page."""
        session = session_of(self.keeper, self.get("id"))
        self.project = self.store.project_of(session)
        return session


View = Callable[[Visit], Json]


def empty(visit: Visit) -> Json:
    """A page whose only part takes its time; NotSetUp where nothing was ever kept."""
    assert visit.project
    return {}


# --- now and sessions -------------------------------------------------------------------------------------------------


def now(visit: Visit) -> Json:
    """The sessions that run."""
    assert visit.project
    return live(visit)


def recent(visit: Visit) -> Json:
    """The last sessions of all projects."""
    catch_up(visit.keeper, [visit.project])
    return {"sessions": _described(visit, visit.store.sessions(None, FEW)), "names": dict(visit.projects)}


def live(visit: Visit) -> Json:
    """The sessions that run: how full each is, how fast it fills, and how long that lasts."""
    return {"live": sorted(_live(visit, spool.names(visit.keeper.home)), key=lambda one: -one["tokens"])}


def _live(visit: Visit, sessions: Iterable[str]) -> Iterator[Json]:
    keeper = visit.keeper
    for session in sessions:
        context = read_context(keeper.home, session)
        if not runs(context):
            continue
        full = measure(keeper.home, session, context.transcript, context.folder, keeper.environ)
        found = breakdown.measure(*breakdown.since_compaction(newest_lines(context.transcript, session, MOST)))
        about = describe_context(session, full, found, 0)
        handoff = visit.store.handoff(session)
        yield {
            **about,
            "tokens": about["tokens"] or 0,
            "words": describe(full),
            "title": visit.store.title(session),
            "folder": context.folder,
            "minutes": _minutes(found, about["turns_left"]),
            "handoff": handoff and {"id": handoff.id, "at": as_of(visit.store, handoff)},
        }


def _minutes(found: breakdown.Breakdown, turns: int | None) -> float | None:
    """How many minutes so many turns take, by the newest ones; None where that cannot be said."""
    begun = {one.turn: one.at for one in reversed(found.responses)}
    starts = sorted(begun.values())[-breakdown.TURNS - 1 :]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    return median(gaps) * turns / 60 if turns is not None and gaps else None


def sessions(visit: Visit) -> Json:
    """The sessions of a project, the newest first."""
    catch_up(visit.keeper, [visit.project])
    page = visit.number("page")
    found = visit.store.sessions(visit.project, (page + 1) * ROWS + 1)[page * ROWS :]
    return {"sessions": _described(visit, found[:ROWS]), "page": page, "more": len(found) > ROWS}


def _described(visit: Visit, found: list[Any]) -> list[Json]:
    prices, home = read_prices(visit.keeper.home), visit.keeper.home
    live = {name for name in spool.names(home) if runs(read_context(home, name))}
    return [
        describe_session(visit.keeper, one, one.id in live, total(sums(visit.store, prices, session=one.id)))
        for one in found
    ]


def session(visit: Visit) -> Json:
    """One session: its figures, its responses, and what was said, a page of it at a time."""
    return {**said(visit), **figures(visit)}


def figures(visit: Visit) -> Json:
    """How large a session is, how full while it runs, and the tokens of its responses."""
    id, store = visit.session(), visit.store
    said = Filter(sessions=(id,))
    counts = store.count(said), store.count(said._replace(kinds=("prompt",)))
    (about,) = _described(visit, [Session(id, visit.project, began_at(store, id), store.last_moment(id), *counts)])
    spent = total(sums(store, prices := read_prices(visit.keeper.home), session=id))
    main = [one for one in store.usages(id) if not one.agent]
    handoff = store.handoff(id)
    return {
        "one": about,
        "live": [*_live(visit, (id,))],
        "cost": f"{priced(spent, prices)} ({prices.label})",
        "cached": percent(spent.cached),
        "chart": columns([(one.at, (one.cache_read, one.cache_write, one.input)) for one in main], ATE),
        "handoff": handoff and handoff.id,
    }


def said(visit: Visit) -> Json:
    """What was said in a session from a place on; of one that runs, up to now."""
    id, after = visit.session(), visit.number("after")
    if goes_on := runs(read_context(visit.keeper.home, id)):
        catch_up(visit.keeper, [visit.project])
    which = Filter(sessions=(id,), kinds=STEPS, agent="", after=after, limit=LONG + 1, text=HEAD)
    found = [*visit.store.find(which)]
    more = len(found) > LONG
    return {
        "id": id,
        "turns": [*_turns(found[:LONG])],
        "after": after,
        "next": found[:LONG][-1].key if found else after,
        "more": more,
        "goes_on": goes_on and not more,
    }


ATE = ("read from the cache", "written to the cache", "new")


def _turns(found: list[Any]) -> Iterator[Json]:
    """What was said, in turns: each begins with what the user asked."""
    turn: Json = {"opening": None, "steps": []}
    for kept in found:
        if kept.event.kind in ("prompt", "command", "compact") and (turn["opening"] or turn["steps"]):
            yield turn
            turn = {"opening": None, "steps": []}
        if kept.event.kind in ("prompt", "command", "compact"):
            turn["opening"] = kept.event
        else:
            turn["steps"].append(kept.event)
    if turn["opening"] or turn["steps"]:
        yield turn


def survival(visit: Visit) -> Json:
    """What survived of a session, as the picture of the report."""
    id = visit.session()
    found = find_survival(visit.store, read_prices(visit.keeper.home), id)
    asked = visit.store.latest(visit.project, "prompt", 1, (id,))
    title = visit.store.title(id) or (asked[0].text if asked else f"session {id[:8]}")
    return {"picture": lambda link: draw(found, f"What survived: {title}", link), "facts": len(found.threads)}


def eaten(visit: Visit) -> Json:
    """What ate the newest context of a session."""
    id = visit.session()
    found = breakdown.measure(*breakdown.since_compaction(newest_lines(visit.store.transcript(id), id, MOST)))
    most = max(1, found.tokens + found.freed)
    base = breakdown.Share("system prompt, tools, memory files", found.base, 0)
    shares = [(NAMES.get(one.what, one.what), one.tokens, one.times) for one in (base, *found.shares) if one.tokens]
    return {
        "found": found,
        "most": most,
        "tables": [
            ("What ate the context", shares),
            ("Files", breakdown.by_file(found.costs)[:FEW]),
            ("Read again, though it was there", breakdown.rereads(found)[:FEW]),
        ],
    }


# --- compactions ------------------------------------------------------------------------------------------------------


def compactions(visit: Visit) -> Json:
    """Where contexts were compacted, and what the summaries kept."""
    prices = read_prices(visit.keeper.home)
    found = find_compactions(Sessions(visit.store, visit.project), prices, 0.0, EVER)[::-1]
    page = visit.number("page")
    measured = {one.session: one for one in reversed(scores(visit.store, visit.project, 1000))}
    shown = [
        {**one._asdict(), "number": sum(other.session == one.session and other.at < one.at for other in found)}
        for one in found[page * ROWS : (page + 1) * ROWS]
    ]
    return {
        "compactions": shown,
        "titles": {one["session"]: visit.store.title(one["session"]) for one in shown},
        "scores": measured,
        "page": page,
        "more": len(found) > (page + 1) * ROWS,
    }


def compaction(visit: Visit) -> Json:
    """One compaction: the host's summary beside our handoff, and which facts each kept."""
    id, number = visit.session(), visit.number("number")
    prices = read_prices(visit.keeper.home)
    mine = find_compactions(Sessions(visit.store, visit.project), prices, 0.0, EVER, id)
    if number >= len(mine):
        raise KeeperError("There is no such compaction")
    one, found = mine[number], find_survival(visit.store, prices, id)
    place = next((place for place, each in enumerate(found.boundaries) if each.at == one.at), -1)
    which = Filter(sessions=(id,), kinds=("summary",), since=one.at - 1, until=one.at + 60, text=TEXT)
    summary = next((kept.event for kept in visit.store.find(which)), None)
    written = [note for note in visit.store.notes(visit.project, 0, "handoff") if note.session == id]
    before = [note for note in written if note.at <= one.at + 1] or written[:1]
    fates = [(thread, fate) for thread in found.threads for at, fate in thread.fates if at == place]
    return {
        "one": one,
        "line": summed_up(place, one, found.tally(place)) if place >= 0 else "",
        "summary": summary,
        "handoff": before[-1] if before else None,
        "fates": {fate: [thread for thread, each in fates if each == fate] for fate in reversed(SAYS)},
        "says": SAYS,
    }


# --- memory -----------------------------------------------------------------------------------------------------------


def memory(visit: Visit) -> Json:
    """The tree from its top, and the newest of what happened."""
    store, until = visit.store, float(visit.number("until"))
    highest = next((level for level in range(HIGHEST, 0, -1) if store.notes(visit.project, level, limit=1)), 0)
    top = store.notes(visit.project, highest, limit=ROWS)[::-1] if highest else []
    entries = of_project(store, visit.project, 0.0, until, ROWS)[::-1]
    return {"top": top, "entries": entries, "more": len(entries) == ROWS}


def kept(visit: Visit) -> Json:
    """How much is kept of a project."""
    return {"counts": visit.store.counts(visit.project)}


def show(visit: Visit) -> Json:
    """One event or note, whole: what it covers, what covers it, and the transcript's own line."""
    store, found = visit.store, find_one(visit.keeper, visit.get("id"))
    visit.project = found.project if found.project in {key for key, _ in visit.projects} else visit.project
    start = min(visit.number("from"), max(0, len(found.text) - 1))
    about: Json = {"one": found, "start": start, "text": found.text[start : start + TEXT], "whole": len(found.text)}
    about["next"] = start + TEXT if start + TEXT < len(found.text) else 0
    if isinstance(found, Note):
        ids = [id for id in store.children(found.id) if not id.startswith("spent-")]
        page = visit.number("page")
        children = [store.wording(id) or store.event(id) for id in ids[page * ROWS : (page + 1) * ROWS]]
        wordings = store.wordings(found.id)
        return {
            **about,
            "note": True,
            "lines": lines_of(found) if not start and not about["next"] else [],
            "whose": whose(found),
            "above": store.cover(origin(found)),
            "children": [one for one in children if one],
            "covers": len(ids),
            "page": page,
            "more": len(ids) > (page + 1) * ROWS,
            "wordings": wordings if len(wordings) > 1 else [],
        }
    raw = b"\n".join(visit.keeper.raw_lines((found.id,))).decode("utf-8", "replace") if visit.get("raw") else ""
    return {
        **about,
        "above": store.cover(found.id),
        "raw": raw[:TEXT],
        "cut": len(raw) > TEXT,
        "entries": around(store, found, FEW),
    }


def search(visit: Visit) -> Json:
    """What answers a query best."""
    query, all, kind = visit.get("q").strip(), bool(visit.get("all")), visit.get("kind")
    about: Json = {"query": query, "all": all, "kind": kind, "kinds": ANY, "hits": [], "names": dict(visit.projects)}
    if query:
        catch_up(visit.keeper, [visit.project])
        scope = Scope(None if all else visit.project, kind=kind if kind in ANY else "")
        about["hits"] = find(visit.keeper.searchable, query, scope, ROWS, meaning=True)
    return about


def handoffs(visit: Visit) -> Json:
    """What sessions left to the next context."""
    found = visit.store.handoffs(visit.project, ROWS)
    return {"handoffs": [(note, as_of(visit.store, note), visit.store.title(note.session)) for note in found]}


# --- what is kept by hand ---------------------------------------------------------------------------------------------


def rules(visit: Visit) -> Json:
    """The rules in force, and what may be worth one."""
    store, settings = visit.store, visit.settings
    found = observed_here(store, visit.project, settings, time())
    return {
        "rules": rules_of(store, visit.project, settings["rules.shipped"]),
        "enabled": settings["rules.enabled"],
        "clashes": {origin(clash.rule): clash.said for clash in clashes(store, visit.project, found)},
        "states": STATES,
        "by": BY,
        "observed": {state: [one for one in found if one.state == state] for state in STATES},
    }


def tasks(visit: Visit) -> Json:
    """What is to be done and what was."""
    ended = done(visit.store, visit.project)
    return {"open": open_tasks(visit.store, visit.project, ended), "done": ended[::-1][:ROWS], "number": len(ended)}


# --- cost and health --------------------------------------------------------------------------------------------------


HEADINGS = ("day", *SPANS, "session", "model", "project", "tool")


def usage(visit: Visit) -> Json:
    """What usage can be asked for."""
    by = visit.get("by") if visit.get("by") in HEADINGS else "day"
    span = visit.get("since") if visit.get("since") in PERIODS else "30d"
    all = bool(visit.get("all")) or by == "project"
    return {"by": by, "headings": HEADINGS, "span": span, "periods": PERIODS, "all": all}


def used(visit: Visit) -> Json:
    """Tokens and cost by day, model, project, or another heading."""
    about = usage(visit)
    by, span = about["by"], about["span"]
    since, prices = read_when(span, time(), False), read_prices(visit.keeper.home)
    project = None if about["all"] else visit.project
    rows = sums(visit.store, prices, "" if by == "tool" else by, project, since)
    tools = by_tool(visit.store, [visit.project], since, time()) if by == "tool" else []
    names = dict(visit.projects)
    dated = by in ("day", *SPANS)
    shown = sorted(rows, key=lambda row: row.name) if dated else largest(rows)[:ROWS]
    return {
        **about,
        "heads": HEADS,
        "rows": [_cells(row, names.get(row.name, row.name), prices) for row in (*shown, total(rows))] if rows else [],
        "tools": tools[:ROWS],
        "prices": prices,
        "chart": columns(
            [(row.name, (row.cache_read, row.cache_write, row.input, row.output)) for row in shown],
            (*ATE[:2], "input", "output"),
        )
        if dated
        else "",
    }


def _cells(row: Sum, name: str, prices: Any) -> list[str]:
    counts = (row.requests, row.input, row.cache_read, row.cache_write, row.output)
    return [short_name(name or "unknown"), *(f"{each:,}" for each in counts), percent(row.cached), priced(row, prices)]


def report(visit: Visit) -> Json:
    """The report of a month, once it is counted."""
    begin, _ = _span(visit)
    earlier, later = month_of(begin - 86_400)[0], month_of(begin + 40 * 86_400)[0]
    return {"begin": begin, "earlier": earlier, "later": later if later < time() else 0}


def month(visit: Visit) -> Json:
    """The report itself."""
    store = visit.store
    prices, project = read_prices(visit.keeper.home), None if visit.get("all") else visit.project
    found = find_month(store, prices, project, _span(visit), visit.settings, time())
    return {"html": Markup("\n".join(render(clean(show_month(found))))) if found.total.requests else ""}


def _span(visit: Visit) -> tuple[float, float]:
    year, _, number = visit.get("month").partition("-")
    if (year + number).isdecimal() and 1970 < int(year) < 2100 and 1 <= int(number) <= 12:
        return bounds(int(year), int(number))
    return month_of(time())


def findings(visit: Visit) -> Json:
    """What `doctor` finds."""
    found = check(visit.keeper.home, config.find_root(visit.root or visit.folder))
    worst = next((one for one in ("FAIL", "WARN") if any(each.verdict == one for each in found)), "OK")
    return {"findings": found, "worst": worst, "counts": visit.store.counts(), "home": visit.keeper.home}
