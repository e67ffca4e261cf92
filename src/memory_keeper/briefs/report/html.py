"""The report of a month as one page, made of the one in Markdown: nothing is loaded, no script runs, names are escaped.

Of Markdown it reads what that report is made of: headings, tables, lists, and text in bold or between backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby

from memory_keeper.briefs.report.markdown import show, title
from memory_keeper.briefs.report.month import Month
from memory_keeper.text import clean

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.75rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
td.bar { text-align: left; color: #d97757; letter-spacing: -0.1em; white-space: nowrap; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(month: Month) -> str:
    """A month as HTML."""
    head = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f"<title>Monthly Report - {escape(title(month))}</title><style>{STYLE}</style></head><body><main>",
    ]
    return "\n".join([*head, *render(clean(show(month))), "</main></body></html>", ""])


def render(markdown: str) -> Iterator[str]:
    """The elements of a page."""
    for kind, group in groupby(markdown.split("\n"), _kind):
        lines = list(group)
        if kind == "table":
            yield from _table(lines)
        elif kind == "list":
            yield f"<ul>{''.join(f'<li>{_inline(line[2:])}</li>' for line in lines)}</ul>"
        elif kind == "heading":
            for line in lines:
                mark, _, text = line.partition(" ")
                yield f"<h{len(mark) - 1}>{_inline(text)}</h{len(mark) - 1}>"
        elif kind == "text":
            yield f"<p>{'<br>'.join(map(_inline, lines))}</p>"


def _kind(line: str) -> str:
    starts = {"| ": "table", "- ": "list", "##": "heading"}
    return starts.get(line[:2], "text") if line else ""


def _table(lines: list[str]) -> Iterator[str]:
    """A table; its second line only says how columns are aligned."""
    yield '<div tabindex="0" role="group" aria-label="table"><table>'
    for place, line in enumerate(lines):
        if place != 1:
            cells = (_cell("td" if place or not cell else "th", cell) for cell in _split(line))
            yield f"<tr>{''.join(cells)}</tr>"
    yield "</table></div>"


def _split(line: str) -> list[str]:
    """The cells of a line of a table; a backslash makes what follows it a character like any other."""
    parts = re.findall(r"((?:\\.|[^|\\])*)\|", line)[1:]
    return [part.strip() for part in parts]


def _cell(tag: str, text: str) -> str:
    drawn = ' class="bar"' if text and not text.strip("█") else ""
    return f"<{tag}{drawn}>{_inline(text)}</{tag}>"


def _inline(text: str) -> str:
    text = escape(re.sub(r"\\(.)", r"\1", text))
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)
