"""Columns over time as one small SVG, in the colours of the page; each column says in words what it is."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from memory_keeper.terminal import format_time
from memory_keeper.text import clean, short_number

WIDTH, HEIGHT, LEFT, BOTTOM = 960, 180, 52, 18
WIDEST = 60  # a column
MOST = 160  # columns; of more, several are shown as the largest of them

Column = tuple[str | float, tuple[int, ...]]  # its name or time, and its parts from below


def columns(rows: Sequence[Column], parts: Sequence[str]) -> Markup:
    """The rows as columns of parts; nothing where there is none."""
    step = -(-len(rows) // MOST) or 1
    shown = [max(rows[at : at + step], key=lambda row: sum(row[1])) for at in range(0, len(rows), step)]
    most = max((sum(sizes) for _, sizes in shown), default=0)
    if not most:
        return Markup("")
    wide = min(WIDEST, (WIDTH - LEFT) / len(shown))
    drawn = [_column(row, parts, LEFT + wide * place, wide, most) for place, row in enumerate(shown)]
    last = max(LEFT + wide * len(shown), LEFT + 240)
    ends = [
        _label(shown[0][0], LEFT, "start"),
        _label(shown[-1][0], last, "end") if len(shown) > 1 else Markup(""),
    ]
    scale = Markup('<text x="{}" y="{}" text-anchor="end">{}</text>')
    ends += [scale.format(LEFT - 6, y, said) for y, said in ((10, short_number(most)), (HEIGHT - BOTTOM, "0"))]
    key = Markup(" ").join(
        Markup('<span class="key"><i class="part{}"></i>{}</span>').format(number, part)
        for number, part in enumerate(parts)
    )
    svg = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, f"At most {most:,} tokens: {', '.join(parts)}", Markup("").join([*drawn, *ends])
    )
    return Markup('<figure><div class="wide" tabindex="0" role="group" aria-label="chart">{}</div>'
                  "<figcaption>{}</figcaption></figure>").format(svg, key)  # fmt: skip


def _column(row: Column, parts: Sequence[str], x: float, wide: float, most: int) -> Markup:
    name, sizes = row
    each = (f"{size:,} {part}" for size, part in zip(sizes, parts, strict=True))
    said = "\n".join([f"{_said(name)}: {sum(sizes):,} tokens", *each])
    y, drawn = float(HEIGHT - BOTTOM), Markup("")
    for number, size in enumerate(sizes):
        tall = (HEIGHT - BOTTOM) * size / most
        y -= tall
        drawn += Markup('<rect class="part{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            number, x, y, max(0.8, wide * 0.84), tall
        )
    return Markup("<g><title>{}</title>{}</g>").format(said, drawn)


def _label(name: str | float, x: float, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, HEIGHT - 3, anchor, _said(name))


def _said(name: str | float) -> str:
    return clean(name) if isinstance(name, str) else format_time(name)
