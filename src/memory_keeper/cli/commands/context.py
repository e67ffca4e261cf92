"""`context`: how full the context is, what ate it, and how long it will last."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from memory_keeper.capture.claude_code import read_moment
from memory_keeper.capture.newest import newest_lines
from memory_keeper.cli.arguments import SESSION, argument, limit
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, running_session
from memory_keeper.config import environment
from memory_keeper.errors import KeeperError
from memory_keeper.hooks.actions.fullness import Fullness, measure
from memory_keeper.keeper import Keeper
from memory_keeper.notes.usage import breakdown
from memory_keeper.policy import clears_at, compacts_at, thresholds
from memory_keeper.terminal import as_called, bar, fitting, format_time, paint, say, width
from memory_keeper.text import clean

TURNS, MANY = 3, 50  # how many turns say how fast it fills; how many are as good as any
NAMES = {"injected": "added by Claude Code: reminders, what hooks say", "summary": "the compaction's summary"}
STYLES = {"ok": "green", "warn": "yellow", "critical": "red", "unknown": "dim"}
ARGUMENTS = (
    SESSION,
    argument("--transcript", default="", metavar="FILE", help="measure this file instead"),
    limit(5, "rows of each list"),
)


def run(args: Namespace) -> int:
    """Measure, and take apart what was said since the context began."""
    environ = environment()
    if args.transcript:
        if not os.path.isfile(args.transcript):
            raise KeeperError(f"{args.transcript} is not a file", hint="--transcript takes a transcript of Claude Code")
        session, transcript, folder = "", os.path.abspath(args.transcript), folder_of(args)
    else:
        with Keeper(args.home) as keeper:
            session, context = running_session(keeper, args)
        transcript, folder = context.transcript, context.folder
    if not transcript or not os.path.exists(transcript):
        where = f" at {transcript}" if transcript else ""
        hint = "Claude Code writes it after the first prompt; --session names another session"
        raise KeeperError(f"There is no transcript of session {session[:8]}{where}", hint=hint)
    fullness = measure(args.home, session, transcript, folder, environ)
    lines = newest_lines(transcript, session)
    if args.transcript and not any(line.usage for line in lines) and not fullness.gauge:
        raise KeeperError(f"{args.transcript} is no transcript of Claude Code, or has no response yet")
    found = breakdown.measure(*breakdown.since_compaction(lines))
    about = describe(session, fullness, found, args.limit)
    return respond(args, about, lambda: _show(about, fullness, found))


def describe(session: str, fullness: Fullness, found: breakdown.Breakdown, limit: int) -> dict[str, Any]:
    """How full a context is, how fast it fills, and what ate it."""
    gauge, limits, burn = fullness.gauge, fullness.limits, breakdown.burn(found)
    clears, compacts = clears_at(limits, fullness.settings), compacts_at(limits, fullness.settings, fullness.tended)
    end = clears or compacts or limits.refuses_at
    known = burn.turns >= TURNS and burn.turn >= burn.response  # before that it says nothing about the next turns
    return {
        "session": session,
        "tokens": gauge.tokens if gauge else None,
        "window": limits.window or None,
        "percent": fullness.percent,
        "compacts_at": compacts or None,
        "refuses_at": limits.refuses_at or None,
        "clears_at": clears or None,
        "level": fullness.level,
        "warns_at": {name: mark for name, mark in thresholds(limits, fullness.settings).items() if name != "handoff"},
        "mode": fullness.settings["compaction.mode"],
        "model": gauge.model if gauge else fullness.context.model or None,
        "at": read_moment(gauge.stamp) if gauge and gauge.stamp else None,
        "since": fullness.context.source or None,
        "tokens_per_turn": burn.turn if known else None,
        "tokens_per_response": burn.response if known else None,
        "turns_left": breakdown.turns_left(fullness.tokens, end, burn.turn) if gauge and known else None,
        "breakdown": _breakdown(found, limit),
    }


def _breakdown(found: breakdown.Breakdown, limit: int) -> dict[str, Any]:
    """What ate the context."""
    return {
        "base": found.base,
        "freed": found.freed,
        "not_counted_yet": found.estimated,
        "tools": [share._asdict() for share in found.shares],
        "files": [_file(share) for share in breakdown.by_file(found.costs)[:limit]],
        "reread": [_file(share) for share in breakdown.rereads(found)[:limit]],
        "largest": [large._asdict() for large in breakdown.largest(found.costs, limit)],
    }


def _relative(path: str, folder: str) -> str:
    return path.removeprefix(folder.rstrip("/") + "/") if folder else path


def _file(share: breakdown.Share) -> dict[str, Any]:
    return {"path": share.what, "tokens": share.tokens, "times": share.times}


def _show(about: dict[str, Any], fullness: Fullness, found: breakdown.Breakdown) -> None:
    style = STYLES[about["level"]]
    if about["tokens"] is None:
        say("The context has no response yet: nothing is known of its size.")
        return
    tokens, window = about["tokens"], about["window"]
    ends = (("clears at", "clears_at"), ("compacts at", "compacts_at"), ("refuses from", "refuses_at"))
    what, end = next(((words, about[name]) for words, name in ends if about[name]), ("", 0))
    if window:
        mark = end / window if end else None
        say(f"{paint(bar(tokens / window, 40, mark), style)} {about['percent']} %  {tokens:,} of {window:,} tokens")
    else:
        unknown = "how many the window has is not known (a statusline tells: memory-keeper statusline)"
        say(as_called(f"{tokens:,} tokens; {unknown}"))
    say(f"  level        {paint(about['level'], style)}{_marks(about)}")
    if end:
        say(f"  {what:12} {end:,}{_left(about)}")
    if about["tokens_per_turn"]:
        each = f"{about['tokens_per_turn']:,} a turn, {about['tokens_per_response'] or 0:,} a response"
        say(f"  burn rate    {each} (medians of the last turns)")
    at = f", {format_time(about['at'])}" if about["at"] else ""
    say(f"  model        {clean(about['model'] or 'unknown')}{at}")
    _show_shares(about["breakdown"], fullness.context.folder, found, tokens)


def _show_shares(taken: dict[str, Any], here: str, found: breakdown.Breakdown, tokens: int) -> None:
    kept = ", what the compaction kept" if any(share.what == "summary" for share in found.shares) else ""
    parts = [(f"system prompt, tools, memory files{kept}", found.base, 0), *found.shares]
    tokens += found.freed  # of all that was ever in it, so that no share is more than the whole
    _table("What ate the context", [(what, size, times) for what, size, times in parts if size], tokens)
    for heading, files in (("Files", taken["files"]), ("Read again, though it was there", taken["reread"])):
        _table(heading, [(_relative(file["path"], here), file["tokens"], file["times"]) for file in files], tokens)
    large = [(f"{entry['tool']} {_relative(entry['about'], here)}", entry["tokens"], 0) for entry in taken["largest"]]
    _table("Largest results", large, tokens)
    if found.freed:
        say(f"\n{found.freed:,} tokens of that were freed again by Claude Code itself.")


def _marks(about: dict[str, Any]) -> str:
    marks = [f"{name} from {tokens:,}" for name, tokens in about["warns_at"].items()]
    return f" ({', '.join(marks)})" if marks else ""


def _left(about: dict[str, Any]) -> str:
    left = about["turns_left"]
    if left is None:
        return ""
    if left > MANY:
        return f", in more than {MANY} turns"
    return f", in about {left} turn{'s' * (left != 1)}" if left else ", within the next turn"


def _table(heading: str, rows: list[tuple[str, int, int]], tokens: int) -> None:
    if not rows:
        return
    print(f"\n{paint(heading, 'bold')}")
    for what, size, times in rows:
        often = f"  {times}x" if times > 1 else ""
        share = round(size * 100 / max(1, tokens))
        text = fitting(clean(NAMES.get(what, what)), min(90, width() - 20 - len(often)))
        print(f"  {size:>9,}  {share if share else '<1':>3} %  {text}{often}")
