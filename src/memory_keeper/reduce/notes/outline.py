"""The outline above some notes: what still counts of them, a sentence a line, and the same as themes and lists.

Every line is one of theirs, or as many of the things it lists as are new; so what held of theirs holds of it. Each kind
of line has a share of the budget, and the kind that has had least of its share says the next one. Rules and decisions
that a later one took the place of are left out, and so are errors that went away and what was open in a session that
went on. What the user wrote by hand comes first, all of it, before anything else has a line.
"""

from __future__ import annotations

from memory_keeper.model import NamedTuple, Note
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.notes.children import (
    BY_NAME,
    KINDS,
    LISTS,
    QUOTES,
    SEVERAL,
    Child,
    Line,
    quoted,
    read,
    stated,
    things_of,
)
from memory_keeper.reduce.notes.phrasing import quote
from memory_keeper.reduce.notes.themes import mended, outlined
from memory_keeper.reduce.schema import Outline
from memory_keeper.reduce.words.prose import words
from memory_keeper.text import clip, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LISTED = 70  # tokens of a line that lists things: the rest of it may come later, after lines of other kinds
DATED = ("rule", "decision", "answer", "prose", "error")  # kinds of lines that something later may belie
TELLS = 4  # words that a request has, to be told before others


class Draft(NamedTuple):
    """What a note above others says, what each of its lines rests on, and its outline."""

    text: str
    cites: tuple[tuple[str, ...], ...]
    outline: Outline


def outline(notes: Sequence[Note], budget: int, titles: Mapping[str, str] = {}) -> Draft:
    """What some notes of one project say in fewer words, in order of time; never over budget."""
    children = [read(note) for note in notes]
    there = [child for child in children if child.lines]  # a note without text was taken away
    chosen = _chosen(there, budget)
    text = "\n".join(line.text for line in chosen)
    return Draft(text, tuple(line.cites for line in chosen), outlined(there, text, len(notes), titles))


def _chosen(children: Sequence[Child], budget: int) -> list[Line]:
    """The lines worth their place, in the order of their kinds; the user's first."""
    lines = [line for child in children for line in (*_requests(child), *child.lines, *_finished(child))]
    told: list[Line] = []
    left = budget
    for line in _of_user(children):
        cost = tokens(line.text + "\n")
        if cost > left:
            cut = clip(line.text, left - tokens("\n")).strip()
            return [*told, line._replace(text=cut)] if cut not in ("", "…") else told
        told.append(line)
        left -= cost
    said = _Said(told)
    queues = _queues([line for line in lines if not line.users and not line.text.startswith(LISTS)], children)
    others = list(_shared_out(queues, left, said))
    order = {kind.name: number for number, kind in enumerate(KINDS)}
    return told + sorted(others, key=lambda line: order[line.kind])


def _of_user(children: Sequence[Child]) -> Iterator[Line]:
    """What the user wrote by hand, newest note first."""
    seen = set()
    for child in reversed(children):
        for line in child.lines:
            if line.users and line.text not in seen:
                seen.add(line.text)
                yield line


def _requests(child: Child) -> list[Line]:
    """What was asked, each by itself; what says little last."""
    found = [
        line._replace(text=f"Asked: {said}")
        for line in child.lines
        if line.text.startswith(LISTS)
        for said in SEVERAL.split(line.text.partition(": ")[2])
    ]
    return sorted(found, key=lambda line: len(set(words(line.text))) < TELLS)


def _finished(child: Child) -> Iterator[Line]:
    """What was done, which facts know and lines mostly do not."""
    for fact in child.facts:
        if fact.kind == "done" and child.note.who != "user":
            yield Line("done", f"Done: {quote(fact.text)}", fact.cites, child.note.at, child.note.session, False)


def _queues(lines: Sequence[Line], children: Sequence[Child]) -> dict[str, list[Line]]:
    """The lines of each kind: each note's first before any note's second, of newer notes before older; next is last."""
    last = {child.note.session: child.note.at for child in children}
    stale = _stale(children)
    rules = {quoted(line.text) for line in lines if line.kind == "rule"}  # what is told as one is told
    places: dict[tuple[str, float, str], int] = {}
    ranked: dict[str, list[tuple[int, int, Line]]] = {}
    for number, line in enumerate(lines):
        past = BY_NAME[line.kind].last and line.session and line.at < last[line.session]
        past = past or (line.kind == "decision" and quoted(line.text) in rules)
        if not past and not (line.kind in DATED and quoted(line.text) in stale and line.text[-1] in '"”.'):
            key = (line.kind, line.at, line.session)
            places[key] = place = places.get(key, 0) + 1
            ranked.setdefault(line.kind, []).append((-place, number, line))
    return {kind: [line for _, _, line in sorted(those, key=lambda one: one[:2])] for kind, those in ranked.items()}


def _stale(children: Sequence[Child]) -> set[str]:
    """What was said of rules and decisions that a later one took the place of, and of errors that went away later."""
    facts = [fact for child in children for fact in stated(child.lines) if fact.kind in ("correction", "decision")]
    left = {id(fact) for fact in holding(facts)}
    kept = {fact.text for fact in facts if id(fact) in left}
    return {fact.text for fact in facts} - kept | mended(children)


def _shared_out(queues: dict[str, list[Line]], left: int, said: _Said) -> Iterator[Line]:
    """Lines by turns: next says the kind that has had least of its share."""
    spent = dict.fromkeys((kind.name for kind in KINDS if queues.get(kind.name)), 0.0)
    while spent:
        kind = min(spent, key=lambda name: spent[name] / BY_NAME[name].share)
        if not queues[kind]:
            del spent[kind]
            continue
        whole = queues[kind].pop()
        line = said.new_of(whole, min(left, LISTED))
        cost = tokens(line.text + "\n") if line else 0
        if line and cost <= left:
            said.add(line)
            left -= cost
            spent[kind] += cost
            yield line
            if said.new_of(whole, 0):
                queues[kind].insert(0, whole)


class _Said:
    """What has been told already, line by line and thing by thing."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.things: set[str] = set()
        self.text = ""
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        self.things.update(things_of(line)[1] or [line.text])
        self.text += line.text + "\n"

    def knows(self, thing: str) -> bool:
        """Whether it was told, or stands in a quote that was."""
        quoted = thing[:1] in '"“' and thing[-1:] in '"”' and len(thing) > 2
        return thing in self.things or (quoted and thing[1:-1] in self.text)

    def new_of(self, line: Line, budget: int) -> Line | None:
        """A line, or what it lists that is new and fits; None: nothing is."""
        head, things = things_of(line)
        if not things:
            inner = QUOTES.search(line.text) if line.kind in ("said", "request") else None
            return None if self.knows(line.text) or (inner and self.knows(inner[0])) else line
        between = BY_NAME[line.kind].between.rstrip('"')
        text = ""
        for thing in things:
            longer = f"{text}{between}{thing}" if text else head + thing
            if not self.knows(thing) and (not text or tokens(longer + "\n") <= budget):
                text = longer
        return line._replace(text=text) if text else None
