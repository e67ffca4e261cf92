"""Notes, read again: the lines of each with what they rest on, the facts they state, the outline they carry.

A note may be anybody's: by rule, by a model, by hand, or by a program that means harm. What it carries beside its text
is read as far as it is what it should be, and its text is cleaned.
"""

from __future__ import annotations

import re

from memory_keeper import wire
from memory_keeper.model import NamedTuple, Note, origin
from memory_keeper.reduce.facts import FACTS, Fact
from memory_keeper.reduce.kept_note import begun, lines_of
from memory_keeper.reduce.notes.phrasing import short
from memory_keeper.reduce.schema import Outline, read_body
from memory_keeper.reduce.sentences import ASKED_BEFORE, ASKED_LAST, GOAL, WENT_ON
from memory_keeper.reduce.words.claims import is_decision, reason_of
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LINES, LINE = 400, 2000  # of a note that are looked at, and characters of each
FACTS_READ, QUOTED = 100, 300  # facts of a note, and characters of their parts
CITED = 50  # events that one line cites


class Kind(NamedTuple):
    """A kind of line: how it begins, its share of the budget, and what stands between the things it lists."""

    name: str
    heads: tuple[str, ...]
    share: float
    between: str = ""  # empty: it lists nothing
    last: bool = False  # only a session's last note can say it: a later one takes its place


LISTS = (GOAL, ASKED_LAST, ASKED_BEFORE)  # requests, which are told one by one
# in the order in which they are told
KINDS = (
    Kind("rule", ("The user's rule: ",), 4),
    Kind("request", ("Asked: ", *LISTS), 6),
    Kind("open", ("In progress then: ", "Open then: ", "In progress: ", "Still open: "), 2, '; "', last=True),
    Kind("prose", (), 6),  # what a model or a person wrote
    Kind("answer", ("Asked ",), 2),
    Kind("decision", ("Decided: ",), 5),
    Kind("done", ("Done: ",), 4, '; "'),
    Kind("commit", ("Committed ",), 3),
    Kind("said", ("Last said: ",), 2, last=True),
    Kind("end", ("Dead end: ", "Taken back: "), 2),
    Kind("error", ("Error of ",), 2),
    Kind("change", ("Created ", "Changed "), 6, "; "),
    Kind("command", ("Commands that worked: ", "Commands that failed: "), 3, "; "),
    Kind("test", ("Tests by ",), 0.5, last=True),
    Kind("ref", ("References: ",), 1, " "),
    Kind("look", ("Read ", "Searched ", "Seen in output: "), 1.5, "; "),
    Kind("name", ("Also named: ",), 0.5, " "),
    Kind("rest", (WENT_ON, "A number that came up again: "), 0.5),
)
BY_NAME = {kind.name: kind for kind in KINDS}
# the facts that a line states, for notes that carry none
STATES = {
    "rule": "correction",
    "request": "request",
    "decision": "decision",
    "done": "done",
    "error": "error",
    "open": "todo",
}
QUOTES = re.compile(r'"([^"]+)"|“([^”]+)”')
SEVERAL = re.compile(r'(?<=["”]); (?=["“])')
CUT = re.compile(r"(?<=\s)\S*…$")
ERROR = re.compile(r"^Error of (.{1,80}?): ")


class Line(NamedTuple):
    """A line of a note."""

    kind: str
    text: str
    cites: tuple[str, ...]
    at: float
    session: str
    users: bool


class Child(NamedTuple):
    """A note, read."""

    note: Note
    lines: list[Line]
    facts: list[Fact]
    outline: Outline | None
    first: float


def read(note: Note) -> Child:
    """A note with all that can be made of it; nothing it carries makes this fail."""
    carried = wire.read_object(note.extra)
    by_hand = note.who == "user"
    ours = carried.get("by") in (None, "extractive")
    lines = list(_lines(note, by_rule=ours or by_hand))
    # a person who wrote it anew may have taken a fact away
    facts = [] if by_hand else list(_facts(carried.get("facts"), origin(note), note.at))
    made = None if by_hand else _outline_of(carried.get("outline"))
    return Child(note, lines, facts or list(stated(lines)), made, begun(note))


def _outline_of(value: object) -> Outline | None:
    try:
        return read_body(value)
    except (ValueError, RecursionError):
        return None


def _lines(note: Note, by_rule: bool) -> Iterator[Line]:
    """The lines of a note; a model's are prose, however they begin."""
    for line, cites in lines_of(note)[:LINES]:
        text = one_line(clean(line), LINE)
        if text:
            kind = kind_of(text) if by_rule else "prose"
            rests = cites[:CITED] or (origin(note),)
            yield Line(kind, text, rests, note.at, note.session, note.who == "user")


def kind_of(text: str) -> str:
    return next((kind.name for kind in KINDS for head in kind.heads if text.startswith(head)), "prose")


def _facts(listed: object, cite: str, at: float) -> Iterator[Fact]:
    """The facts that a note carries, as far as they are facts."""
    for one in listed[:FACTS_READ] if isinstance(listed, list) else ():
        kind = one.get("kind") if isinstance(one, dict) else None
        if not isinstance(kind, str) or kind not in FACTS:
            continue
        text, about, status, because = (_string(one.get(key)) for key in ("text", "about", "status", "because"))
        cites = one.get("cites")
        ids = tuple(id for id in cites if isinstance(id, str) and id)[:CITED] if isinstance(cites, list) else ()
        when = one.get("at")
        moment = float(when) if isinstance(when, int | float) and abs(when) < 1e12 else at
        if text:
            yield Fact(kind, text, ids or (cite,), moment, about, status, because)


def _string(value: object) -> str:
    said = short(clean(value[: 4 * QUOTED]), QUOTED) if isinstance(value, str) else ""
    return CUT.sub(" …", said) if said.endswith("…") else said  # half a name would be another


def stated(lines: Iterable[Line]) -> Iterator[Fact]:
    """The facts that lines state, where nobody carried them along."""
    for line in lines:
        kind = STATES.get(line.kind, "decision" if line.kind == "prose" and is_decision(line.text) else "")
        said = [one or other for one, other in QUOTES.findall(line.text)] if line.kind in STATES else [line.text]
        about = found[1] if (found := ERROR.match(line.text)) else ""
        status = "user" if line.users else "open" if kind in ("error", "todo") else ""
        status = "fixed" if kind == "error" and "gone " in line.text.rpartition('"')[2] else status
        for text in said if kind else ():
            text = short(text, QUOTED)
            yield Fact(kind, text, line.cites, line.at, about, status, reason_of(text) if kind == "decision" else "")


def quoted(text: str) -> str:
    found = QUOTES.search(text)
    return short(found[1] or found[2], QUOTED) if found and kind_of(text) != "prose" else short(text, QUOTED)


def things_of(line: Line) -> tuple[str, list[str]]:
    """The beginning of a line that lists, and what it lists; nothing where it does not."""
    kind = BY_NAME[line.kind]
    head = next((head for head in kind.heads if line.text.startswith(head)), "")
    if not kind.between or not head:
        return "", []
    if kind.between == '; "':  # what is quoted may have a semicolon of its own
        parts = SEVERAL.split(line.text[len(head) :])
    else:
        parts = line.text[len(head) :].split(kind.between)
    return head, [part for part in parts if part]
