"""Why a context was told something: the words that it was given, taken apart into lines, each with what it rests on.

A brief is ours, so its form is known: tags and headings of our own, quotations after `| ` that end with the id of what
they quote, rules by their numbers. Whatever else stands there is kept as it is: all lines together are the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_keeper import wire
from memory_keeper.briefs import short
from memory_keeper.model import Json, NamedTuple
from memory_keeper.text import tokens

Reason = tuple[str, float | None]

FRAME, QUOTE = "frame", "quote"
RANKED = ("recall", "fix")  # briefs of which each line has a reason of its own
OPENS = re.compile(r'<memory-keeper (?:brief="(?P<brief>[\w-]{1,40})"|context=")')
CLOSES, HANDED = "</memory-keeper>", "## Handoff of "
CITED = re.compile(r" \[([^\[\]\s]{0,200})\]$")
NUMBERED = re.compile(r"(\d{1,4})\. ")
HANDOFF = re.compile(r"Handoff of (.{1,400}?)\. It is recorded data")
RULE = "a rule in force"
SUBAGENT = "subagent"  # how the rules are called that only a subagent is told
# why all of a brief was told, where nothing in it says more
REASONS = {
    "rules": "the user said it before, and has not taken it back",
    "reminder": "the rules were told in full before, in this context",
    "warning": "the context has passed a level",
}


class Line(NamedTuple):
    """One thing that a context was told."""

    text: str  # as it was told, which may be several lines
    id: str  # of what it rests on; empty: nothing that was captured, or several things
    source: str  # FRAME: tags and headings; rule, warning, reminder; QUOTE: whatever has that id
    why: str
    score: float | None  # what it was worth to whoever chose it; None: it was not measured
    tokens: int
    cites: tuple[str, ...] = ()  # of a line that sums up several things: those, and what the lines beside it sum up


class Part(NamedTuple):
    """A brief that was told, among others at the same call."""

    brief: str
    tokens: int
    lines: tuple[Line, ...]


def take_apart(said: Json) -> list[Part]:
    """The briefs of a record of what was told, line by line; of a record that has no words, by what they cite."""
    name, total = str(said.get("brief") or ""), wire.count(said.get("tokens"))
    cites, text = _strings(said.get("cites")), said.get("text")
    if not isinstance(text, str) or not text:
        return [Part(name, total, tuple(Line("", cite, QUOTE, "", None, 0) for cite in cites))]
    blocks = list(_blocks(text.split("\n"), name))
    sizes = _sizes(said.get("each"), total, [lines for _, lines in blocks])
    reasons = _reasons(said.get("why"))
    return [
        Part(name if name == SUBAGENT else brief, size, tuple(_priced(_lines(brief, lines, cites, reasons), size)))
        for (brief, lines), size in zip(blocks, sizes, strict=True)
    ]


def _blocks(lines: Iterable[str], name: str) -> Iterator[tuple[str, list[str]]]:
    """The briefs that were told as one text. No quotation opens one: each of its lines bears a mark."""
    block: list[str] = []
    for line in lines:
        opens = OPENS.match(line)
        if opens and block:
            yield name, block
            block = []
        name = (opens["brief"] or "warning") if opens else name
        block.append(line)
    yield name, block


def _sizes(each: object, total: int, blocks: Sequence[list[str]]) -> list[int]:
    """The tokens of each brief, as they were counted; else its share of all."""
    listed = each if isinstance(each, list) else []
    known = [wire.count(one[1]) for one in listed if isinstance(one, list) and len(one) == 2]
    return known if len(known) == len(blocks) else _divided(total, ["\n".join(lines) for lines in blocks])


def _lines(brief: str, lines: Iterable[str], cites: Sequence[str], reasons: list[Reason]) -> Iterator[Line]:
    ids = {short(cite): cite for cite in reversed(cites)} | {"": ""}
    why, each, numbered = REASONS.get(brief, ""), iter(reasons if brief in RANKED else []), 0
    rows = list(lines)
    if unmarked := _has_no_ids(brief, rows):  # all but the first lines rest on something, in their order
        quoted = [number for number, row in enumerate(rows) if row.startswith("| ")]
        cited = dict(zip(reversed(quoted), reversed(cites), strict=False))
    for place, text in enumerate(rows if brief == "rules" or unmarked else _gathered(rows, ids)):
        if text.startswith("|"):
            reason, score = next(each, ("", None))
            id = ids.get(_cite(text) or "") or (cited.get(place, "") if unmarked else "")
            several = tuple(cites[numbered:]) if brief == "rules" and not id else ()
            yield Line(text, id, QUOTE, reason or why, score, 0, several)
        else:
            why = _heading(text, reasons) or why
            line = _plain(brief, text, cites, why)
            numbered += line.source == "rule"
            yield line


def _has_no_ids(brief: str, rows: Sequence[str]) -> bool:
    """Whether it is a handoff that had no room for ids."""
    opening = next(filter(HANDOFF.match, rows[:2]), "")
    return brief == "handoff" and bool(opening) and "`memory-keeper show ID`" not in opening


def _gathered(lines: Iterable[str], ids: Json) -> Iterator[str]:
    """The lines as they belong together: a quotation goes on until it cites something."""
    quote: list[str] = []
    for line in lines:
        marked = line.startswith("| ") or line == "|"
        if quote and not marked:
            yield "\n".join(quote)
            quote = []
        if not marked:
            yield line
            continue
        quote.append(line)
        if _cite(line) in ids:
            yield "\n".join(quote)
            quote = []
    if quote:
        yield "\n".join(quote)


def _cite(text: str) -> str | None:
    """What a line ends with as an id."""
    found = CITED.search(text)
    return found[1] if found else None


def _heading(line: str, reasons: list[Reason]) -> str:
    """Why what follows was told, where a line of ours says it."""
    if handoff := HANDOFF.match(line):
        return f"handoff of {handoff[1]}"
    if reasons and line.startswith(HANDED):
        return f"{reasons[0][0]}: {line.removeprefix(HANDED)}"
    return line[3:] if line.startswith("## ") else ""


def _plain(brief: str, line: str, cites: Sequence[str], why: str) -> Line:
    """A line in our own words, or a rule by its number."""
    number = NUMBERED.match(line) if brief == "rules" else None
    if number and 0 < int(number[1]) <= len(cites):
        return Line(line, cites[int(number[1]) - 1], "rule", RULE, None, 0)
    if brief in ("warning", "reminder") and line and not OPENS.match(line) and line != CLOSES:
        return Line(line, "", brief, why, None, 0)
    return Line(line, "", FRAME, "", None, 0)


def _reasons(given: object) -> list[Reason]:
    """The reasons that were kept with what was told, each with its worth."""
    kept = [one for one in given if isinstance(one, list) and one] if isinstance(given, list) else []
    worths = [one[1] if len(one) > 1 and isinstance(one[1], int | float) else None for one in kept]
    return [(str(one[0]), worth) for one, worth in zip(kept, worths, strict=True)]


def _priced(lines: Iterable[Line], total: int) -> list[Line]:
    found = list(lines)
    sizes = _divided(total, [line.text for line in found])
    return [line._replace(tokens=size) for line, size in zip(found, sizes, strict=True)]


def _divided(total: int, texts: Sequence[str]) -> list[int]:
    """Tokens divided among texts by their lengths in tokens; together they are the total."""
    weights = [tokens(text + "\n") for text in texts]
    ends = [sum(weights[: place + 1]) * total // max(1, sum(weights)) for place in range(len(weights))]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def reading(line: Line) -> str:
    """A line as people read it: without the marks of a quotation and the id at its end."""
    rows = [row[2:] if row.startswith("| ") else "" if row == "|" else row for row in line.text.split("\n")]
    text = "\n".join(rows)
    return CITED.sub("", text) if line.source == QUOTE else text


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
