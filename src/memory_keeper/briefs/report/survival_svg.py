"""The survival picture: the context curve of a session, and under it a thread for each fact, in one SVG file that opens
anywhere, light or dark.

A thread is drawn where the fact was in the context: a plain line from where it was said, and on behind a dot where the
summary kept it; a double line behind a ring where we brought it back; and nothing behind a cross where it was lost.
What came after the last compaction, and was never at stake, is paler. So no colour alone says it. The sign before a
fact's words is what became of it in the end; of very many facts only those that were lost have room for words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby

from memory_keeper.briefs.report.survival import KEPT, LOST, RESTORED, Survival, Thread, summed_up
from memory_keeper.text import clean, local_moment, one_line, short_number

WIDTH, LABELS, EDGE = 1200, 430, 20  # of the picture, of the words on the left, and of what stays free around
CURVE = 150  # height of the context curve
HEAD, LINE = 26, 18  # height of a heading and of a line of text
FEW, MANY = 140, 300  # threads that have room for words, and for a little
ROWS = (17, 9, 5)  # height of a thread: with words, without, of very many
SIGN = 14  # width of the sign before the words
CHARACTERS = 56  # of a thread's words
LATER, SHORTEST = "later", 6  # said after the last boundary; how much of a thread is always seen
SAYS = {KEPT: "kept by the summary", RESTORED: "brought back by Memory Keeper", LOST: "lost"}
ONLY_LOST = "There are many: only what was lost has its words here. Point at a line to read it."
STYLE = """
svg{background:#fff;color:#1c1f24;font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
text{fill:#1c1f24}.soft{fill:#5d6570}.title{font-size:17px;font-weight:600}.group{font-weight:600}
.area{fill:#dfe7f3;stroke:#4a72b0;stroke-width:1.5}.mark{stroke:#8b93a0;stroke-dasharray:3 3}
.kept{stroke:#7a828e;stroke-width:2;fill:none}.restored{stroke:#1a7f37;stroke-width:1.4;fill:none}
.ring{stroke:#1a7f37;stroke-width:1.8;fill:#fff}.lost{stroke:#c0202d;stroke-width:2;fill:none}
.later{stroke:#c3c9d2}.dot{fill:#7a828e}.hit{fill:transparent}g.thread:hover .hit{fill:#8b93a0;fill-opacity:.16}
@media (prefers-color-scheme:dark){svg{background:#15181d;color:#e3e6ea}text{fill:#e3e6ea}.soft{fill:#9aa3af}
.area{fill:#243349;stroke:#7ba4e0}.mark{stroke:#6b7480}.kept{stroke:#949daa}.restored{stroke:#56d364}
.ring{stroke:#56d364;fill:#15181d}.lost{stroke:#ff7b72}.later{stroke:#4a525d}.dot{fill:#949daa}}
"""


def draw(one: Survival, title: str, link: Callable[[str], str] | None = None) -> str:
    """The picture; with `link`, which gives the address of an event, a thread opens what it rests on."""
    return _Picture(one, link).draw(title)


class _Picture:
    def __init__(self, one: Survival, link: Callable[[str], str] | None) -> None:
        self.one, self.link = one, link
        self.times = [at for at, _ in one.curve]
        if len(self.times) <= len(one.boundaries):  # no response says how large the context was
            self.times = sorted(thread.fact.at for thread in one.threads)
        places = range(len(one.threads))
        lost = [place for place in places if _end(one.threads[place]) == LOST]
        self.worded = {*(places if len(places) <= FEW else lost[:FEW])}
        self.thin = ROWS[1 + (len(places) - len(self.worded) > MANY)]
        self.ends = [self.place(boundary.at) for boundary in one.boundaries]

    def place(self, at: float) -> float:
        """Where a moment is: responses, or facts, are evenly apart, however long somebody slept between them."""
        number = bisect_right(self.times, at)
        return LABELS + (WIDTH - EDGE - LABELS) * number / max(1, len(self.times))

    def draw(self, title: str) -> str:
        """All of it, from the top."""
        parts = [f'<text class="title" x="{EDGE}" y="34">{_words(title, 90)}</text>']
        y = 58.0
        for number, boundary in enumerate(self.one.boundaries):
            line = summed_up(number, boundary, self.one.tally(number))
            parts.append(f'<text x="{EDGE}" y="{y:g}">{_words(line, 160)}</text>')
            y += LINE
        if not self.one.boundaries:
            parts.append(f'<text x="{EDGE}" y="{y:g}">Neither compacted nor cleared: nothing was lost.</text>')
            y += LINE
        parts += self.legend(y + 6)
        if len(self.worded) < len(self.one.threads):
            y += LINE
            parts.append(f'<text class="soft" x="{EDGE}" y="{y + 10:g}">{ONLY_LOST}</text>')
        top = y + 34
        bottom = top + CURVE
        parts += self.curve(top, bottom)
        y = bottom + 14
        for group, those in groupby(enumerate(self.one.threads), key=lambda placed: placed[1].group):
            threads = list(those)
            y += HEAD
            stake = sum(bool(thread.fates) for _, thread in threads)
            many = f"{len(threads)}, of them {stake} at stake" if stake < len(threads) else f"{stake}"
            parts.append(f'<text class="group" x="{EDGE}" y="{y - 8:g}">{group} ({many})</text>')
            for place, thread in threads:
                row = ROWS[0] if place in self.worded else self.thin
                parts.append("".join(self.thread(thread, y, row)))
                y += row
        marks = (
            f'<line class="mark" x1="{x:.1f}" y1="{top:g}" x2="{x:.1f}" y2="{y + 4:g}"/>'
            f'<text class="soft" text-anchor="middle" x="{x:.1f}" y="{top - 4:g}">{number}</text>'
            for number, x in enumerate(self.ends, 1)
        )
        height, role = int(y + EDGE), "group" if self.link else "img"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            f' role="{role}" aria-label="{_words(title, 90)}"><style>{STYLE}</style>\n'
            + "\n".join([*marks, *parts])
            + "\n</svg>\n"
        )

    def legend(self, y: float) -> Iterator[str]:
        """What each way of drawing means."""
        x = float(EDGE)
        for fate, words in (SAYS | {LATER: "said later, not at stake"}).items():
            yield "".join(_line(fate, x, x + 34, y)) + _sign(fate, x + (34 if fate == LOST else 6), y)
            yield f'<text class="soft" x="{x + 46:g}" y="{y + 4:g}">{words}</text>'
            x += 46 + 6.4 * len(words) + 28

    def curve(self, top: float, bottom: float) -> Iterator[str]:
        """How large the context was at each response."""
        most = max([size for _, size in self.one.curve], default=0)
        words = f"{short_number(most)} tokens"
        yield f'<text class="soft" text-anchor="end" x="{LABELS - 8}" y="{top + 10:g}">{words}</text>'
        yield f'<text class="soft" text-anchor="end" x="{LABELS - 8}" y="{bottom:g}">0</text>'
        if not most:
            return
        x, steps = float(LABELS), []
        for at, size in self.one.curve:
            next = self.place(at)
            y = bottom - (bottom - top) * size / most
            steps.append(f"L{x:.1f} {y:.1f}L{next:.1f} {y:.1f}")
            x = next
        yield f'<path class="area" d="M{LABELS} {bottom:g}{"".join(steps)}L{x:.1f} {bottom:g}Z"/>'

    def thread(self, thread: Thread, top: float, row: int) -> Iterator[str]:
        """A fact: its words, its line through the contexts, and a sign wherever something became of it."""
        y = top + row / 2
        yield f'<g class="thread"><title>{escape(_told(thread))}</title>'
        address = self.link(thread.fact.cites[0]) if self.link and thread.fact.cites else ""
        yield f'<a href="{escape(address)}">' if address else ""
        yield f'<rect class="hit" x="{EDGE}" y="{top:g}" width="{WIDTH - 2 * EDGE}" height="{row}"/>'
        if row == ROWS[0]:
            yield _sign(_end(thread), EDGE + 4, y)
            yield f'<text x="{EDGE + SIGN}" y="{y + 4:g}">{_words(thread.text, CHARACTERS)}</text>'
        x, state = self.place(thread.fact.at), KEPT if thread.fates or not self.ends else LATER
        x = min(x, (self.ends[thread.fates[0][0]] if thread.fates else WIDTH - EDGE) - SHORTEST)
        for number, fate in thread.fates:
            end = self.ends[number]
            yield from _line(state, x, end, y)
            x, before, state = end, state, fate
            yield _sign(fate, end, y) if fate != LOST or before != LOST else ""
        yield from _line(state, x, WIDTH - EDGE, y)
        yield "</a></g>" if address else "</g>"


def _end(thread: Thread) -> str:
    """What became of a fact in the end; empty where it was never at stake."""
    return thread.fates[-1][1] if thread.fates else ""


def _line(state: str, x: float, end: float, y: float) -> Iterator[str]:
    if state in (KEPT, LATER):
        also = " later" if state == LATER else ""
        yield f'<line class="kept{also}" x1="{x:.1f}" y1="{y:g}" x2="{end:.1f}" y2="{y:g}"/>'
    elif state == RESTORED:
        yield f'<path class="restored" d="M{x:.1f} {y - 1.5:g}H{end:.1f}M{x:.1f} {y + 1.5:g}H{end:.1f}"/>'


def _sign(fate: str, x: float, y: float) -> str:
    if fate == KEPT:
        return f'<circle class="dot" cx="{x:.1f}" cy="{y:g}" r="2.6"/>'
    if fate == RESTORED:
        return f'<circle class="ring" cx="{x:.1f}" cy="{y:g}" r="3.6"/>'
    if fate == LOST:
        return f'<path class="lost" d="M{x - 3.4:.1f} {y - 3.4:g}l6.8 6.8m0 -6.8l-6.8 6.8"/>'
    return ""


def _told(thread: Thread) -> str:
    """What the pointer shows: the fact as it is, what became of it, and where it is from."""
    fates = "; ".join(f"at {number + 1} {SAYS[fate]}" for number, fate in thread.fates)
    source = f"said {local_moment(thread.fact.at)} in {thread.fact.cites[0]}" if thread.fact.cites else ""
    lines = (one_line(clean(thread.text), 500), fates, source)
    return "\n".join(filter(None, lines))


def _words(text: str, most: int) -> str:
    return escape(one_line(clean(text), most))
