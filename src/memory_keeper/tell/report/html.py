"""The report of a month as one page: nothing is loaded from anywhere, no script runs, every name is escaped.

Charts are drawings that stretch; what is written beside them is text, so it stays readable on a phone.
"""

from __future__ import annotations

import os
from decimal import Decimal
from html import escape
from math import floor, log10
from time import localtime, mktime, strftime

import memory_keeper
from memory_keeper.tell.report.markdown import named, percent, priced, short_name, summed_up, title
from memory_keeper.tell.report.prices import money
from memory_keeper.tell.report.savings import BY
from memory_keeper.text import local_moment, many, short_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memory_keeper.tell.report.month import Month
    from memory_keeper.tell.report.sums import Sum

STYLE = os.path.join(os.path.dirname(memory_keeper.__file__), "data", "report.css")
KINDS = {"output": "output", "input": "input", "cache_write": "cache write", "cache_read": "cache read"}
CLASSES = {"output": "output", "input": "input", "cache_write": "write", "cache_read": "read"}
SESSIONS = 60  # in the chart, those with the largest contexts
FEWEST = 12  # columns that there is room for: fewer are not wider
ROWS, TOOLS = 8, 10
NAME = 80  # characters
HIGH = 100.0  # of a drawing
NICE = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)  # whose quarters are round
TRACK = '<rect class="track" width="100" height="1"/>'
WEIGHED = "what calls and results put into contexts, estimated from their texts"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(month: Month) -> str:
    """A month as HTML."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>Monthly Report - {said(title(month))}</title>",
            f"<style>\n{style}</style></head><body><main>",
            *_body(month),
            "</main></body></html>",
            "",
        ]
    )


def said(text: str, most: int = NAME) -> str:
    """A text that others chose, harmless on one line."""
    return escape(short_name(text, most))


def _body(month: Month) -> Iterator[str]:
    where = said(month.names.get(month.project, month.project), 200) if month.project else "all projects"
    yield f"<header><h1>Monthly Report - {said(title(month))}</h1><p>{where}</p></header>"
    yield from _cards(month)
    yield from _per_day(month)
    yield from _contexts(month)
    yield '<div class="pair"><div>'
    yield from _by_model(month)
    yield from _by_project(month) if not month.project else ()
    yield from _impact(month)
    yield "</div><div>"
    yield from _by_tool(month)
    yield from _counted(month)
    yield "</div></div>"
    yield from _tables(month)
    made = f"Tokens are as Claude Code reports them, each response counted once. Cost: {said(month.prices.label)}."
    yield f"<footer>{made} Made by Memory Keeper.</footer>"


def _cards(month: Month) -> Iterator[str]:
    currency, marks = month.prices.currency, [one for one in month.compactions if one.by in ("host", "keeper")]
    cards = [
        (short_number(month.total.tokens), "tokens"),
        (money(month.total.cost, currency), f"cost, {month.prices.label}"),
        (percent(month.total.cached), "of what was sent came from the cache"),
        (f"{month.total.requests:,}", f"requests in {many(len(month.sessions), 'session')}"),
        (f"{len(marks):,}", "compaction" + "s" * (len(marks) != 1)),
        (money(month.spared - month.charged, currency), "saved by us, less what we cost"),
    ]
    yield '<div class="cards">'
    yield from (f'<div class="card"><b>{said(number)}</b><span>{said(what)}</span></div>' for number, what in cards)
    yield "</div>"


def _unpriced(month: Month) -> str:
    return f"; {month.total.unpriced:,} tokens have no price and are not in it" if month.total.unpriced else ""


def _cost(row: Sum, month: Month) -> str:
    return priced(row, month.prices)


# --- by day -----------------------------------------------------------------------------------------------------------


def _per_day(month: Month) -> Iterator[str]:
    """Two charts over the days of the month."""
    known = {day.name: day for day in month.days}
    days = _days(month)
    yield "<section><h2>Tokens per day</h2><p class=note>each response once, by what was sent and what came back</p>"
    stacks = [_stack(known.get(day), day) for day in days]
    yield from _columns(stacks, [day[8:] for day in days], short_number)
    yield '<ul class="key">'
    for field, label in reversed(KINDS.items()):
        mark = f'<svg viewBox="0 0 1 1" aria-hidden="true"><rect class="{CLASSES[field]}" width="1" height="1"/></svg>'
        yield f"<li>{mark}{label}: {getattr(month.total, field):,}</li>"
    yield "</ul></section>"
    yield f"<section><h2>Cost per day</h2><p class=note>{said(month.prices.label)}{_unpriced(month)}</p>"
    costs = [[(float(known[day].cost), "bar", f"{day}: {_cost(known[day], month)}")] if day in known else []
             for day in days]  # fmt: skip
    yield from _columns(costs, [day[8:] for day in days], lambda number: _amount(number, month.prices.currency))
    yield "</section>"


def _amount(number: float, currency: str) -> str:
    return money(Decimal(str(number)), currency).replace(".00", "")


def _days(month: Month) -> list[str]:
    """Every day of the month, by this machine's clock."""
    year, number = localtime(month.begin)[:2]
    days = (mktime((year, number, day, 12, 0, 0, 0, 0, -1)) for day in range(1, 32))
    return [strftime("%Y-%m-%d", localtime(noon)) for noon in days if noon < month.end]


def _stack(day: Sum | None, date: str) -> list[tuple[float, str, str]]:
    """The parts of a column, the lowest first: how high, of which kind, and what it says."""
    if not day:
        return []
    return [(getattr(day, field), CLASSES[field], f"{date}, {label}: {getattr(day, field):,}")
            for field, label in KINDS.items()]  # fmt: skip


def _columns(
    stacks: Sequence[Sequence[tuple[float, str, str]]], labels: Sequence[str], number: Callable[[float], str]
) -> Iterator[str]:
    """Columns over a common scale."""
    top, ticks = _scale(max((sum(part[0] for part in stack) for stack in stacks), default=0.0))
    wide = 100 / max(FEWEST, len(stacks))
    yield '<div class="plot"><div class="ticks">'
    yield from (f'<span style="top:{100 - 100 * tick / top:.1f}%">{said(number(tick))}</span>' for tick in ticks)
    yield '</div><div class="area"><svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img">'
    for tick in ticks:
        yield f'<line x1="0" x2="100" y1="{HIGH - HIGH * tick / top:.2f}" y2="{HIGH - HIGH * tick / top:.2f}"/>'
    for place, stack in enumerate(stacks):
        below = 0.0
        for size, kind, words in stack:
            if size > 0:
                high, y = HIGH * size / top, HIGH - HIGH * (below + size) / top
                box = f'x="{(place + 0.14) * wide:.2f}" y="{y:.2f}" width="{0.72 * wide:.2f}" height="{high:.2f}"'
                yield f'<rect class="{kind}" {box}><title>{said(words)}</title></rect>'
            below += size
    yield '</svg></div><div class="days">'
    step = max(1, -(-len(labels) // 8))
    before = ""
    for place, label in list(enumerate(labels))[::step]:
        if label != before:  # several sessions of one day have one
            yield f'<span style="left:{(place + 0.5) * wide:.2f}%">{said(label)}</span>'
        before = label
    yield "</div></div>"


def _scale(most: float) -> tuple[float, list[float]]:
    """A round number at the top, and the lines up to it."""
    if most <= 0:
        return 1.0, [0.0]
    size = 10.0 ** floor(log10(most))
    step = next((size * nice / 4 for nice in NICE if size * nice >= most), most / 4)
    return 4 * step, [place * step for place in range(5)]


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(rows: Iterable[tuple[str, str, float]]) -> Iterator[str]:
    """A name, what is said of it, and a bar."""
    listed = list(rows)
    most = max((size for _, _, size in listed), default=0) or 1
    yield '<div class="rows">'
    for what, words, size in listed:
        bars = f'{TRACK}<rect class="bar" width="{100 * size / most:.2f}" height="1"/>'
        drawn = f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'
        yield f'<div class="row"><span>{said(what)}</span><span>{said(words)}</span>{drawn}</div>'
    yield "</div>"


def _spent(rows: Sequence[Sum], month: Month) -> Iterator[str]:
    shown = ((row.name or "unknown", f"{short_number(row.tokens)} · {_cost(row, month)}", row.tokens)
             for row in summed_up(rows, ROWS))  # fmt: skip
    return _rows(shown)


def _by_model(month: Month) -> Iterator[str]:
    yield "<section><h2>By model</h2>"
    yield from _spent(month.models, month)
    yield "</section>"


def _by_project(month: Month) -> Iterator[str]:
    yield "<section><h2>By project</h2>"
    yield from _spent(named(month), month)
    yield "</section>"


def _by_tool(month: Month) -> Iterator[str]:
    yield f"<section><h2>By tool</h2><p class=note>{WEIGHED}</p>"
    yield from _rows(
        (one.what, f"{short_number(one.tokens)} · {many(one.times, 'call')}", one.tokens) for one in month.tools[:TOOLS]
    )
    yield "</section>"


def _contexts(month: Month) -> Iterator[str]:
    """How large contexts became."""
    shown = sorted(month.sessions[:SESSIONS], key=lambda one: one.first)
    left = f", the largest {SESSIONS} of {len(month.sessions)}" if len(month.sessions) > SESSIONS else ""
    yield f"<section><h2>Largest context of each session</h2><p class=note>in tokens, by when they began{left}</p>"
    stacks = [[(one.peak, "bar", f"{one.session[:8]}, {local_moment(one.first)}: {one.peak:,}")] for one in shown]
    began = [local_moment(one.first) for one in shown]
    same_day = len({each[:10] for each in began}) == 1
    yield from _columns(stacks, [each[11:] if same_day else each[8:10] for each in began], short_number)
    yield "</section>"


# --- what it came to --------------------------------------------------------------------------------------------------


def _impact(month: Month) -> Iterator[str]:
    """What compactions of our own saved, and what we took."""
    currency, hosts = month.prices.currency, [one for one in month.compactions if one.by == "host"]
    told, asked = sum(one.tokens for one in month.tellings), month.asking
    mine = sum(one.by == "keeper" and one.saved > 0 for one in month.compactions)
    yield "<section><h2>Cost impact</h2><dl>"
    yield _item(
        f"Saved by {many(mine, 'compaction')} of our own", "tokens that later requests did not carry", month.saved
    )
    yield _item(
        "Added by Memory Keeper",
        f"about {told:,} tokens told or in its list of tools, once for each request that carried them",
        -month.carried,
    )
    yield _item("Models asked to write notes", many(asked.times, "time"), -asked.tokens)
    worth = money(month.spared - month.charged, currency)
    yield f'<dt class="net">Net<small>about {said(worth)}, as cache reads</small></dt>'
    yield f'<dd class="net {"good" if month.net >= 0 else "bad"}">{month.net:,}</dd></dl>'
    if hosts:
        before = sum(one.before or 0 for one in hosts if one.after is not None)
        after = sum(one.after or 0 for one in hosts if one.before is not None)
        words = f"Claude Code compacted {many(len(hosts), 'time')} by itself, {before:,} tokens to {after:,}"
        yield f"<p class=note style='margin-top:.9rem'>{words}; no saving is claimed for that.</p>"
    yield "</section>"


def _item(what: str, about: str, number: int) -> str:
    return f"<dt>{said(what)}<small>{said(about)}</small></dt><dd>{number:,}</dd>"


def _counted(month: Month) -> Iterator[str]:
    peaks = [one.peak for one in month.sessions if one.peak]
    freed = sum(one.freed for one in month.measured)
    whose = " and ".join(BY[by] for by in ("host", "keeper") if any(one.by == by for one in month.measured))
    yield "<section><h2>What was kept</h2><dl>"
    for what, about, number in (
        ("Average session tokens", "the largest context of each", short_number(sum(peaks) // max(1, len(peaks)))),
        ("Token recovery", f"by {whose}, as measured" if whose else "none measured", short_number(max(0, freed))),
        ("Observations escalated", "to ACTIVE_RULES", f"{month.escalated:,}"),
        ("Observations archived", "unconfirmed", f"{month.archived:,}"),
        ("Tasks archived", "moved to TASK_ARCHIVE.md", f"{month.finished:,}"),
    ):
        yield f"<dt>{what}<small>{about}</small></dt><dd>{number}</dd>"
    yield "</dl></section>"


def _tables(month: Month) -> Iterator[str]:
    """The figures themselves."""
    yield "<section><h2>In figures</h2>"
    for heading, rows in (("By day", month.days), ("By model", month.models), ("By project", named(month))):
        yield f"<details><summary>{heading}</summary><div class=scroll><table>"
        heads = ("", "requests", "input", "cache read", "cache write", "output", "cached", "cost")
        yield f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"
        for row in (*rows, month.total):
            counts = (
                f"{getattr(row, field):,}" for field in ("requests", "input", "cache_read", "cache_write", "output")
            )
            cells = (said(row.name or "unknown"), *counts, percent(row.cached), said(_cost(row, month)))
            yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        yield "</table></div></details>"
    yield "</section>"
