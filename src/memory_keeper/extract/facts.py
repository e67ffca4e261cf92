"""Facts: what events state, as values. English is made of them once, when a brief or a note is written.

A fact knows who said it, which events state it, when, to which request it belongs and what became of it. KINDS is the
one table of the kinds there are: what each states, where it stands in a handoff, how it is worded, whether it still
holds after other work was done, and what it is worth to whom. A new kind is a row here and a function that finds it.

Hooks load this module, so it needs nothing that is slow to load.
"""

from __future__ import annotations

from itertools import groupby

from memory_keeper import wire
from memory_keeper.model import EVER, NamedTuple
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memory_keeper.model import Note

FIELDS = 11  # of a fact as it is kept
LONG = 300  # characters of a quotation


class Fact(NamedTuple):
    """Something that events state."""

    kind: str  # see KINDS
    text: str  # what was said, quoted, or what it is about: a command, a path, the subject of a commit
    cites: tuple[str, ...]  # the events that state it
    at: float
    who: str = "model"  # user | model | tool
    turn: int = 0  # the request that it belongs to, by number
    place: int = 0  # its order in the session
    about: str = ""  # the question of an answer, the heading of an item, the names defined in a file, a commit's hash
    why: str = ""  # the reason of a decision, the line that says how a command ended
    status: str = ""  # open | done | failed | fixed | dropped | passed | created | changed …
    of: str = ""  # the session that it was carried over from


class Kind(NamedTuple):
    """A kind of fact, and what one is worth: in a handoff where no sentence is judged, in a note, in an outline, and
    when it is recalled; 0: it is not told there for itself."""

    what: str
    part: str  # of a handoff; see PARTS
    say: Callable[[Fact], str]
    outlives: bool = False  # it holds after other work too, and is carried over to later sessions
    handoff: float = 0.0
    note: float = 0.0
    outline: float = 0.0
    recall: float = 0.0
    work: bool = False  # it was done with a tool, and is told in brackets
    open: bool = False  # it is left to do


# the parts of a handoff, in the order of reading, with their headings
PARTS = {
    "goal": "Goal",
    "state": "State",
    "next": "Next",
    "rules": "What the user insists on",
    "story": "What was asked, and what came of it",
    "last": "Last steps",
    "files": "Files, and names used in them",
    "commands": "How things are run here",
    "references": "References",
}


def _text(fact: Fact) -> str:
    return fact.text


def _quoted(fact: Fact) -> str:
    return quote(fact.text)


def _goal(fact: Fact) -> str:
    return f"{fact.about}: {fact.text if fact.about in PLAIN else quote(fact.text)}"


def _answer(fact: Fact) -> str:
    return f"asked {quote(fact.about)}, the user chose {quote(fact.text)}"


def _accepted(fact: Fact) -> str:
    return f"{quote(fact.text)} (to: {quote(fact.about)})" if fact.about else quote(fact.text)


def _error(fact: Fact) -> str:
    gone = ", fixed later" if fact.status == "fixed" else ""
    return f"`{fact.text}` failed{gone}{f': {fact.why}' if fact.why else ''}"


def _command(fact: Fact) -> str:
    said = fact.about or fact.why
    return f"`{fact.text}` passed: {said}" if said else f"`{fact.text}` succeeded"


def _commit(fact: Fact) -> str:
    return f"committed {f'{fact.about} ' if fact.about else ''}{quote(fact.text)}"


def _edit(fact: Fact) -> str:
    return f"{fact.status} {fact.text}{f' ({fact.about})' if fact.about else ''}"


def _decision(fact: Fact) -> str:
    return f"{fact.text} (which the user took back)" if fact.status == "dropped" else fact.text


def _step(fact: Fact) -> str:
    return f"{fact.about}: {fact.text}" if fact.about else fact.text


def _next(fact: Fact) -> str:
    return f"was doing: {fact.text}" if fact.status == "begun" else fact.text


def _todo(fact: Fact) -> str:
    return f"{fact.text} ({fact.status})" if fact.status else fact.text


PLAIN = ("Session", "Folder")  # of a goal's labels: what follows is nobody's words
KINDS = {
    "goal": Kind("what the session is about, in the user's words", "goal", _goal, True, handoff=0.6),
    "accepted": Kind(
        "a short answer of the user's, and the question or proposal that it answers",
        "story",
        _accepted,
        True,
        handoff=0.6,
        outline=0.5,
    ),
    "then": Kind("what the user said after the goal, and what it answers", "goal", _accepted),
    "state": Kind("branch, commits, what is not committed or pushed, what was checked last", "state", _text),
    "next": Kind(
        "what the model said it would do next, or that is left to do", "next", _next, True, handoff=0.4, open=True
    ),
    "todo": Kind("a task of the model's list that is not done", "next", _todo, True, handoff=0.4, open=True),
    "question": Kind("what the model asked and nobody answered", "next", _text, handoff=0.4, open=True),
    "rule": Kind(
        "what the user wants always, never or otherwise", "rules", _quoted, True, handoff=0.6, outline=1.5, recall=4.0
    ),
    "request": Kind("a sentence of what the user asked for", "story", _text, outline=0.5),
    "answer": Kind("what the user chose when asked", "story", _answer, True, outline=2.0),
    "said": Kind("a sentence of the model's", "story", _text, note=1.0, outline=1.0, recall=1.7),
    "finding": Kind("a cause or a conclusion", "story", _text, note=1.6, outline=2.0, recall=1.7),
    "decision": Kind(
        "what was decided, and whether the user took it back",
        "story",
        _decision,
        True,
        note=1.6,
        outline=2.0,
        recall=2.8,
    ),
    "done": Kind("what was finished", "story", _text, note=1.3, outline=1.5),
    "written": Kind("a line that a person or a model wrote into a note", "story", _text, True, outline=3.0),
    "error": Kind(
        "a command that failed, and whether that is fixed", "story", _error, True, handoff=0.26, note=0.25, work=True
    ),
    "check": Kind(
        "a command that verifies something, and what it said", "story", _command, handoff=0.2, note=0.15, work=True
    ),
    "commit": Kind("a commit", "story", _commit, handoff=0.5, outline=3.0, work=True),
    "push": Kind("commits that were pushed", "story", lambda fact: "pushed", handoff=0.2, note=0.1, work=True),
    "pr": Kind(
        "a pull request that was opened or merged",
        "story",
        lambda fact: f"{fact.status or 'opened'} {fact.text}",
        handoff=0.4,
        note=0.5,
        outline=3.0,
        work=True,
    ),
    "edit": Kind(
        "a file that was changed in a turn, and what was defined in it",
        "story",
        _edit,
        handoff=0.16,
        note=0.3,
        work=True,
    ),
    "step": Kind("one of the last things that were said or done", "last", _step, handoff=0.4),
    "file": Kind("a file that may be needed again", "files", _text),
    "name": Kind("an identifier that may be needed again, and the file it is used in", "files", _text),
    "command": Kind("a command that works here", "commands", lambda fact: f"`{fact.text}`"),
    "reference": Kind("a link or a number that came up", "references", _text),
}


TASKS = ("todo", "next")  # what is left to do; a question that nobody answered is none


def say(fact: Fact) -> str:
    """A fact in words."""
    return KINDS[fact.kind].say(fact)


def quote(text: str) -> str:
    """A text in quotation marks that it does not have itself, and that tell its beginning from its end where it is so
    short or so long that one may be taken for the other."""
    return f'"{text}"' if '"' not in text and 2 <= len(text) <= LONG else f"“{text}”"


UNDER = 48  # characters of a heading that is told with its items
REQUESTS = ("request", "accepted")
WENT_ON = "Went on: "  # with what a line begins that has no request
RAN, FILES, FAR = 4, 8, 16  # commands and files of a turn that are told; characters of a folder that is told once
ENDS = ".!?:;,…。！？)]"  # of a sentence
# how a line begins whose words are not what the model answered, by the status of its facts
ASIDE = {
    "thought": "Thought",
    "earlier": "In an earlier summary",
    "planned": "In a plan",
    "document": "In a document",
    "message": "In a commit or pull request",
    "reported": "A subagent reported",
}


def story(facts: Iterable[Fact]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each request, a line for each thought that came of it, and what all that rests on; facts come in order."""
    for those in _by_turn(facts):
        asked, came = _told_apart(those)
        lines = [("", asked)] * bool(asked) + [*_came(came)]
        yield "\n".join(mark + one_line(clean(line), 1 << 20) for mark, line in lines), _cites(those)


def story_lines(facts: Iterable[Fact], went_on: str = WENT_ON) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The same, each request on one line with all that came of it, what was done last; what came of a request of which
    nothing is told stands with the one before."""
    found: list[list[Fact]] = []
    for those in _by_turn(facts):
        if found and not any(fact.kind in REQUESTS for fact in those):
            found[-1] += those
        else:
            found.append(those)
    for those in found:
        asked, came = _told_apart(those)
        came = sorted(came, key=_is_work)
        said = " ".join(line if line[-1:] in ENDS else f"{line}." for _, line in _came(came))
        text = f"{asked} → {said}" if asked and said else asked or f"{went_on}{said}"
        yield one_line(clean(text), 1 << 20), _cites(those)


def _by_turn(facts: Iterable[Fact]) -> Iterable[list[Fact]]:
    turns: dict[int, list[Fact]] = {}
    for fact in facts:
        turns.setdefault(fact.turn, []).append(fact)
    return turns.values()


def _cites(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cite for fact in facts for cite in fact.cites))


def _told_apart(facts: Sequence[Fact]) -> tuple[str, list[Fact]]:
    """A request in words, with what its nods accept; and what came of it."""
    nods = {fact.cites[:1]: fact for fact in facts if fact.kind == "accepted"}
    asked = [fact for fact in facts if fact.kind == "request" and fact.cites[:1] not in nods]
    words = [*([quote(run_on(asked))] if asked else []), *map(say, nods.values())]
    return "; ".join(words), [fact for fact in facts if fact.kind not in REQUESTS]


def run_on(facts: Sequence[Fact]) -> str:
    """Sentences of one text as one; where some are left out between them, that shows."""
    text, last = "", -1
    longest = {fact.place: fact for fact in sorted(whole(facts), key=lambda fact: len(fact.text))}
    for fact in sorted(longest.values(), key=lambda fact: fact.place):  # one may be how another begins
        text += f"{' ' if fact.place == last + 1 else ' … '}{fact.text}" if text else fact.text
        last = fact.place
    return text


def whole(facts: Sequence[Fact]) -> list[Fact]:
    """Sentences of requests, without those that another one of the same event has in it."""
    return [
        fact
        for fact in facts
        if not any(fact.text != one.text and fact.cites == one.cites and fact.text in one.text for one in facts)
    ]


def _is_work(fact: Fact) -> bool:
    return fact.who == "tool" and KINDS[fact.kind].work


def _came(facts: Iterable[Fact]) -> Iterator[tuple[str, str]]:
    """What came of a request, in order: a line for what one text says under one heading, work in brackets; and the mark
    of each line, which is indented where the line before says whose words these are."""
    before: tuple[str, tuple[str, ...]] = ("", ())
    for (by, cites, heading), group in groupby(facts, key=_thought):
        those = list(group)
        goes_on, before = bool(by) and before == (by, cites), (by, cites)
        if by == "work":
            yield "- ", f"[{'; '.join(_done(those))}]"
            continue
        texts = [say(fact) for fact in those]
        text = " ".join(text if text[-1:] in ENDS else f"{text};" for text in texts).removesuffix(";")
        text = quote(run_on(those)) if by == "reported" else text
        text = f"{heading}: {text}" if heading else text
        yield ("  - ", text) if goes_on else ("- ", f"{ASIDE[by]}: {text}" if by else text)


def _done(facts: Sequence[Fact]) -> Iterator[str]:
    """What was done, each thing once: files by what became of them, commands by their last result, then commits."""
    files: dict[str, Fact] = {}
    for fact in (fact for fact in facts if fact.kind == "edit"):
        old = files.get(fact.text, fact)
        files[fact.text] = fact._replace(status="created" if old.status == "created" else fact.status)
    for status in dict.fromkeys(fact.status for fact in files.values()):
        edits = [fact for fact in files.values() if fact.status == status]
        paths = [fact.text for fact in edits]
        folder = _shared_folder(paths) if len(paths) > 1 else ""
        where = f" in {folder}" if len(folder) >= FAR else ""
        names = (
            (path[len(folder) :].strip("/") or path if where else path) + (f" ({fact.about})" if fact.about else "")
            for path, fact in zip(paths, edits[:FILES], strict=False)
        )
        yield f"{status} {', '.join(names)}{', …' * (len(edits) > FILES)}{where}"
    ran = {fact.text: fact for fact in facts if fact.kind in ("error", "check")}
    yield from map(say, sorted(ran.values(), key=lambda fact: fact.place)[-RAN:])
    others = {(fact.kind, fact.text): fact for fact in facts if fact.kind not in ("edit", "error", "check")}
    if len(others) > 1:
        others = {key: fact for key, fact in others.items() if not fact.text.startswith("Merge ")}
    yield from map(say, others.values())  # of a commit that was amended the last


def _shared_folder(paths: Iterable[str]) -> str:
    """The folder that some files have in common; `os.path` would be slow to load."""
    folders = [path.split("/")[:-1] for path in paths]
    first, last = min(folders), max(folders)
    same = next((number for number, name in enumerate(first) if last[number : number + 1] != [name]), len(first))
    return "/".join(first[:same])


def _thought(fact: Fact) -> tuple[str, tuple[str, ...], str]:
    """What stands on one line: who says it in what, and under which heading."""
    if _is_work(fact):
        return "work", (), ""
    heading = fact.about if len(fact.about) <= UNDER and fact.kind not in ("answer", "request") else ""
    by = "reported" if fact.who == "tool" else fact.status if fact.status in ASIDE else ""
    return by, fact.cites[:1], heading.rstrip(":")


def dump(facts: Iterable[Fact]) -> list[list[object]]:
    """Facts as they are kept with a note."""
    return [[list(value) if type(value) is tuple else value for value in fact] for fact in facts]


def load(rows: object) -> list[Fact]:
    """What `dump` made, as far as it can be read: a note may be anybody's."""
    return [fact for row in (rows if isinstance(rows, list) else ()) for fact in _load(row)]


def facts_of(note: Note) -> list[Fact]:
    """The facts that are kept with a note; none when it has none that can be read."""
    return load(wire.read_object(note.extra).get("facts"))


def carried_whole(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The sessions that some facts carry over all of: only one that did little carries over what does not outlive."""
    return tuple(dict.fromkeys(fact.of for fact in facts if fact.of and not KINDS[fact.kind].outlives))


def _load(row: object) -> list[Fact]:
    if not isinstance(row, list) or len(row) != FIELDS or type(row[0]) is not str or row[0] not in KINDS:
        return []
    kind, text, cites, at, who, turn, place, about, why, status, of = row
    texts = (text, who, about, why, status, of)
    if not all(type(value) is str for value in texts) or not isinstance(cites, list):
        return []
    if type(at) not in (int, float) or not 0 <= at <= EVER or type(turn) is not int or type(place) is not int:
        return []
    ids = tuple(id for id in cites if type(id) is str and id)
    if not ids:
        return []  # it rests on nothing
    return [Fact(kind, text, ids, float(at), who, turn, place, about, why, status, of)]
