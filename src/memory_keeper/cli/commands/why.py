"""`why`: every line that a context was told, with its source, the reason, and the tokens it took."""

from __future__ import annotations

import sys
from argparse import Namespace
from bisect import bisect_right
from time import localtime, strftime, time
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs import short
from memory_keeper.briefs.parts import STANDING
from memory_keeper.briefs.rules import PREFIX
from memory_keeper.briefs.why import FRAME, QUOTE, Line, Part, reading, take_apart
from memory_keeper.capture.project import short_path
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import project_of, running_session
from memory_keeper.cli.work import catch_up
from memory_keeper.dates import month_of
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.by_id import unwritten
from memory_keeper.model import Event, NamedTuple, Note
from memory_keeper.notes.kept_note import shown_at
from memory_keeper.store import spool
from memory_keeper.store.injected import REMINDER, TOOLS, Told, equipped, tally, told
from memory_keeper.terminal import format_time, paint, width, wrapped
from memory_keeper.text import clean, local_moment, many, one_line

LAG = 1.0  # seconds that may be between the call that we heard and what the host writes down as the time of a prompt
PROMPTS, STARTS = 10_000, 1_000  # of a session
WIDEST, PIPED = 100, 80  # columns
PROMPT, START = "UserPromptSubmit", "SessionStart"
CALLS = {
    "PostToolUse": "after a tool call",
    "PostToolUseFailure": "after a failure",
    "SubagentStart": "start of a subagent",
}
RULES = "rules"
USERS, SHIPPED = "a rule in force, by the user", "a rule that comes with Memory Keeper"
CARRIED = (
    f"tools: the list of its tools, {TOOLS} tokens once per context. Every request carries it, and what was told,"
    " until the context ends: memory-keeper report counts that."
)
UNKEPT = "What it said was not kept then; it rests on this:"


class Session(NamedTuple):
    """What hooks and the store know of a session's contexts."""

    id: str
    project: str
    told: list[Told]  # the oldest first
    starts: list[tuple[float, str]]  # when a context began, and how
    prompts: list[float]


class Telling(NamedTuple):
    """A brief that was told at a call of the host."""

    at: float
    event: str  # the host's name of the call; empty: not known
    label: str  # the same for people
    part: Part
    call: str  # its id


ARGUMENTS = (
    argument("--last", action="store_true", help="only what was told last; before the rules, what it began with"),
    argument(
        "--session", default="", metavar="ID", help="default: the one that runs this, else the newest of this project"
    ),
)


def run(args: Namespace) -> int:
    """What was told in a session, in order."""
    with Keeper(args.home) as keeper:
        session = _read(keeper, args)
        tellings = [telling for injection in session.told for telling in _tellings(session, injection)]
        if args.last:
            tellings = _last(tellings)
        about = [_about(keeper, telling) for telling in tellings] if args.json else []
        return respond(args, about, lambda: _show(keeper, session, tellings))


# --- what was told ----------------------------------------------------------------------------------------------------


def _read(keeper: Keeper, args: Namespace) -> Session:
    """A session by the store, and its last prompts by its spool: a transcript may not have them yet."""
    id, _ = running_session(keeper, args)
    catch_up(keeper)
    project = keeper.store.project_of(id) or project_of(keeper, args)
    starts = [(event.at, event.tool) for event in keeper.store.latest(project, "start", STARTS, (id,))]
    asked = [event.at for event in keeper.store.latest(project, "prompt", PROMPTS, (id,), text=False)]
    prompts = sorted(map(spool.time_of, spool.records(spool.read(keeper.home, id), PROMPT)))
    before = [at - LAG for at in asked if not prompts or at < prompts[0] - LAG]
    return Session(id, project, told(keeper.store, project, id, reminders=True), starts, sorted([*before, *prompts]))


def _tellings(session: Session, telling: Told) -> list[Telling]:
    event, label = _call(session, telling)
    return [
        Telling(telling.at, event, label, part, str(telling.said.get("call") or ""))
        for part in take_apart(telling.said)
    ]


def _call(session: Session, telling: Told) -> tuple[str, str]:
    """The call of the host at which something was told, and what people call it."""
    event = str(telling.said.get("on") or "")
    if event == START:
        how = next((source for at, source in sorted(session.starts, reverse=True) if at <= telling.at), "")
        return event, f"start ({clean(how)})" if how else "start"
    if event == PROMPT:
        number = bisect_right(session.prompts, telling.at)
        return event, f"prompt {number}" if number else "a prompt"
    return event, CALLS.get(event, "in between")


def _last(tellings: list[Telling]) -> list[Telling]:
    """What was told at the last call at which more was told than a reminder; else the last reminder.

    When that was the rules, which the first prompt brings, what the context began with says more.
    """
    last = next((telling for telling in reversed(tellings) if telling.part.brief != REMINDER), None)
    if last is None:
        return tellings[-1:]
    found = [telling for telling in tellings if telling.call == last.call]
    if any(telling.part.brief != RULES for telling in found):
        return found
    begun = next(
        (telling.call for telling in reversed(tellings) if telling.event == START and telling.at <= last.at), None
    )
    return [*(telling for telling in tellings if telling.call == begun), *found]


# --- what it rests on -------------------------------------------------------------------------------------------------


def _source(keeper: Keeper, line: Line, told_at: float) -> dict[str, Any]:
    """What a line rests on, as the store knows it: what it is, whose, when, and of which file."""
    item = _find(keeper, line.id, told_at) if line.id else None
    rule = line.id.startswith(PREFIX)
    source = "rule" if rule else _kind(item) if item else "unknown" if line.id else line.source
    why = line.why
    if line.source == "rule":
        why = USERS if isinstance(item, Note) and item.who else SHIPPED if rule else line.why
    at, session = (shown_at(item) if isinstance(item, Note) else item.at, item.session) if item else (None, "")
    path = short_path(item.path, keeper.store.roots(item.project)) if isinstance(item, Event) and item.path else ""
    return {"id": line.id, "source": source, "at": at, "session": session, "path": path, "why": why}


def _find(keeper: Keeper, id: str, told_at: float) -> Event | Note | None:
    """What has an id; of a note, the wording that it had then."""
    wordings = keeper.store.wordings(id)
    then = [note for note in wordings if wire.read_object(note.extra).get("written", 0.0) <= told_at]
    return (then or wordings[:1])[-1] if wordings else keeper.event(id) or unwritten(keeper, id)


def _kind(item: Event | Note) -> str:
    """What something is called that was kept."""
    return "standing note" if isinstance(item, Note) and item.kind in STANDING else item.kind


def _about(keeper: Keeper, telling: Telling) -> dict[str, Any]:
    lines = [
        {
            "text": line.text,
            **_source(keeper, line, telling.at),
            "cites": line.cites or [line.id] * bool(line.id),
            "score": line.score,
            "tokens": line.tokens,
        }
        for line in telling.part.lines
    ]
    part = {"brief": telling.part.brief, "tokens": telling.part.tokens, "lines": lines}
    return {"at": telling.at, "event": telling.event or "unknown", **part}


# --- showing it -------------------------------------------------------------------------------------------------------


def _show(keeper: Keeper, session: Session, tellings: list[Telling]) -> None:
    name = session.id[:8]
    print(paint(f"What session {name} was told", "bold") if tellings else f"Session {name} was told nothing.")
    for telling in tellings:
        clock, part = local_moment(telling.at), telling.part
        print(f"\n{paint(f'{clock}  {telling.label}: {clean(part.brief)}, {part.tokens:,} tokens', 'bold')}")
        _show_lines(keeper, part, telling.at)
    _show_costs(keeper, session)


def _show_lines(keeper: Keeper, part: Part, told_at: float) -> None:
    frame = sum(line.tokens for line in part.lines if line.source == FRAME)
    if any(line.id and not line.text for line in part.lines):
        print(f"        {UNKEPT}")
    before = ""
    for line in part.lines:
        if line.source == FRAME:
            continue
        about = _source(keeper, line, told_at)
        why = f"{about['why']}{f' ({line.score:g})' if line.score is not None else ''}"
        if why and why != before:
            print(paint(_wrapped(f"because: {why}", "  ", "    "), "yellow"))
        before = why
        if line.text:
            print(_wrapped(reading(line), f"{line.tokens:6,}  ", " " * 8))
        if line.id:
            print(paint(_wrapped(_named(about), "        <- ", " " * 11), "dim"))
    for id in dict.fromkeys(id for line in part.lines for id in line.cites):
        about = _source(keeper, Line("", id, QUOTE, "", None, 0), told_at)
        print(paint(_wrapped(_named(about), "        <- ", " " * 11), "dim"))
    if frame:
        print(paint(f"{frame:6,}  for what opens and closes it, and headings", "dim"))


def _named(about: dict[str, Any]) -> str:
    """`reply 4914e47a of 2026-11-14 10:22, session 12ab34cd, src/sms.py`."""
    when = f" of {format_time(about['at'])}" if about["at"] else ""
    of = f", session {about['session'][:8]}" if about["session"] else ""
    path = f", {about['path']}" if about["path"] else ""
    return f"{about['source']} {short(about['id'])}{when}{of}{path}"


def _wrapped(text: str, first: str, rest: str) -> str:
    """A text of any length, indented, in the columns of a terminal; the lines that it has stay its lines."""
    rows = [one_line(clean(row), len(row) + 1) for row in text.split("\n")]
    room = min(width(), WIDEST) if sys.stdout.isatty() else PIPED
    return wrapped("\n".join(row for row in rows if row), first, rest, room)


def _show_costs(keeper: Keeper, session: Session) -> None:
    """What all that we told took so far, and our tools: of this session, this project, and this month in it."""
    now = time()
    print(paint("\nWhat Memory Keeper took of contexts", "bold"))
    for name, since, of in (
        ("this session", 0.0, session.id),
        ("this project", 0.0, ""),
        (strftime("in %B %Y", localtime(now)), month_of(now)[0], ""),
    ):
        costs = tally(told(keeper.store, session.project, of, since, reminders=True))
        briefs = sum(cost[0] for cost in costs.values())
        contexts = sum(at >= since for at, _ in equipped(keeper.store, session.project, of))
        costs |= {"tools": (contexts, TOOLS * contexts)} if contexts else {}
        each = ", ".join(
            f"{clean(brief)} {all:,}" for brief, (_, all) in sorted(costs.items(), key=lambda pair: -pair[1][1])
        )
        tokens = sum(all for _, all in costs.values())
        of_tools = f" and the tools of {many(contexts, 'context')}" if contexts else ""
        text = f"{name}: {tokens:,} tokens in {many(briefs, 'brief')}{of_tools}{f' ({each})' if each else ''}"
        print(_wrapped(text, "  ", " " * 4))
    print(_wrapped(CARRIED, "  ", "  "))
