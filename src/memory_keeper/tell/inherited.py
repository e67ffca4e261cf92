"""What a handoff hands on of the one that its session began with.

A context that was told a handoff at its start holds that too, and loses it when it is cleared. A session that did
little, such as one question, hands on all of it. One that worked hands on only what outlives that: the goal before, the
user's rules, decisions, dead ends, errors still open, files to read again; and not what had been handed on to that one
before. So nothing is handed on through more than one piece of work, but for the tasks that are known to be open, and
own lines always come first.
"""

from __future__ import annotations

from memory_keeper.keep.telling import told
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding import goal, lists
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.finding.worked_on import QUOTE as TASK
from memory_keeper.reduce.notes.phrasing import quote
from memory_keeper.reduce.sentences import ASKED_BEFORE, ASKED_LAST, GOAL, WENT_ON, Sentence, apart
from memory_keeper.reduce.words.loose_ends import is_taken_up
from memory_keeper.tell.lines import OUTLIVES, TASKS, handed_on_whole, load
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.model import Event, Note
    from memory_keeper.tell import View

FEW_REQUESTS, FEW_CALLS = 3, 12  # of a session that did little
SAID = (
    "where",
    "asked",
    "last",
    "next",
    "question",
    "request",
    "came",
    *OUTLIVES,
)  # what is more than names
STATED = {"rule": "correction", "decision": "decision"}  # sections of which a later one may take the place of another
GONE = (", gone later", ", gone after editing ")  # what is said of an error that was mended
DID = "Was doing: "  # of a call, no task


def hand_on(view: View, events: Sequence[Event], own: list[Sentence]) -> list[Sentence]:
    """The lines of a session's handoff, with those that it hands on; most needed first."""
    note = began_with(view)
    if not note or not own:
        return own
    turns = goal.turns(events)
    little = _did_little(turns, events)
    open = {quote(one_line(task.text, TASK)) for task in lists.left_open(lists.newest(view.store, view.project))}
    lines = list(_still_true(_handed_on(view, note, little), own, [turn.asked.text for turn in turns], open))
    first = next((line for line in lines if line.section == "goal"), None)
    if first and not goal.has_goal(turns):
        with_it = [line for line in lines if line is first or _belongs(line, first)]
        lines = [line for line in lines if line not in with_it]
        own = [*(_promoted(line) for line in with_it), *_asked(own)]
    if not little:
        return [*own, *lines]
    return [*(one for one in own if one.section in SAID), *lines, *(one for one in own if one.section not in SAID)]


def began_with(view: View) -> Note | None:
    """The handoff that the oldest of some sessions was told when it began; None: none of another session."""
    for one in told(view.store.db, view.project, view.of[-1]) if view.of else ():
        id = one.said.get("handed")
        note = view.store.note(id) if isinstance(id, str) else None
        if note and note.session not in view.of:
            return note
    return None


def _did_little(turns: Sequence[goal.Turn], events: Sequence[Event]) -> bool:
    """Whether a session has nothing of its own to go on with: a few words, and at most a look around."""
    calls = sum(event.kind == "call" for event in events)
    worked = goal.has_goal(turns) or any(turn.worked for turn in turns)
    return not worked and len(turns) <= FEW_REQUESTS and calls <= FEW_CALLS


def _handed_on(view: View, note: Note, little: bool) -> Iterator[Sentence]:
    """The lines of a handoff that the session which began with it hands on, each with whose it is."""
    lines = load(note)
    idle = bool(handed_on_whole(lines))  # that one did little itself: what it asked is of no use any more
    passing = _asked_in_passing(lines)
    for line in lines:
        task = line.section in TASKS and not line.text.startswith(DID)
        if line.section == "where" or (line.of and not (little or idle or task)):
            continue
        if line is passing or (passing and _belongs(line, passing)):
            continue
        over = line.text.startswith(DID) or any(mended in line.text for mended in GONE)
        outlives = line.section in OUTLIVES and (task or not over)
        if outlives or (little and (line.of or not idle or line.text.startswith(WENT_ON))):
            yield line._replace(of=line.of or _said_in(view, line) or note.session)


def _asked_in_passing(lines: Sequence[Sentence]) -> Sentence | None:
    """What a handoff has as a goal for want of a better one: a hello, a short question, and nothing was done for it."""
    if any(line.section in (*TASKS, "again") and not line.of for line in lines):
        return None
    own = (line for line in lines if line.section == "goal" and line.text.startswith(GOAL))
    return next((line for line in own if not goal.asks_for_work(_quoted(line.text))), None)


def _said_in(view: View, line: Sentence) -> str:
    """The session that a line is of: a handoff may tell of several, each cleared; empty when nothing tells."""
    event = view.store.event(line.cites[0]) if line.cites else None
    return event.session if event else ""


def _still_true(
    lines: Iterable[Sentence], own: Sequence[Sentence], asked: Sequence[str], open: set[str]
) -> Iterator[Sentence]:
    """Lines without what own ones say again, and what was answered, done or changed since."""
    known = "\n".join(line.text for line in own)
    lines = list(lines)
    stated = [_stated(line, 0.0) for line in lines] + [_stated(line, 1.0) for line in own]
    held = {(fact.at, fact.text) for fact in holding([fact for fact in stated if fact])}
    for line in lines:
        fact = _stated(line, 0.0)
        if fact and (fact.at, fact.text) not in held:
            continue
        if line.section == "question" and any(is_taken_up(_question(line), said) for said in asked):
            continue
        if line.section == "error" and line.text.partition(": ")[0] in known:
            continue  # the same was run again
        yield from _without(line, known, open)


def _stated(line: Sentence, at: float) -> Fact | None:
    kind = STATED.get(line.section)
    return Fact(kind, _quoted(line.text), line.cites, at) if kind else None


def _quoted(text: str) -> str:
    """What a line quotes, without the word that introduces it."""
    return text.partition(": ")[2].strip('"“”…') or text


def _question(line: Sentence) -> str:
    """The question itself, without what had to be told before it."""
    return _quoted(line.text).rpartition(". ")[2]


def _without(line: Sentence, known: str, open: set[str]) -> Iterator[Sentence]:
    """A line without the things in it that are known, and tasks that are not open any more; none when nothing is
    left."""
    if not line.cut or not line.least:
        if _quoted(line.text) not in known:
            yield line
        return
    things = apart(line.text[line.least :], line.cut)
    each = line.each if len(line.each) == len(things) else ("",) * len(things)
    left = [
        (thing, cite)
        for thing, cite in zip(things, each, strict=True)
        if thing.strip('"“”') not in known and not (line.section in TASKS and _words(thing) not in open)
    ]
    if len(left) == len(things):
        yield line
    elif left:
        text = line.text[: line.least] + line.cut.join(thing for thing, _ in left)
        yield line._replace(text=text, each=tuple(cite for _, cite in left) if line.each else ())


def _words(task: str) -> str:
    """The words of a task, as they are quoted behind its number."""
    return task.partition(" ")[2] if task.startswith("#") else task


def _belongs(line: Sentence, goal: Sentence) -> bool:
    """Whether a line goes on with a goal, or says what came of it."""
    return line.cites[:1] == goal.cites[:1] and (line.text.startswith(WENT_ON) or line.section == "came")


def _promoted(line: Sentence) -> Sentence:
    """A line of the goal of the session before as one of this session's goal; it says whose it was."""
    return line._replace(text=line.text.replace(GOAL, f"Goal, of session {line.of[:8]}: ", 1), of="")


def _asked(own: Iterable[Sentence]) -> Iterator[Sentence]:
    """Own lines, where what would have been the goal is only something that was asked."""
    own = list(own)
    last = not any(line.section == "asked" for line in own)
    for line in own:
        if line.section != "goal":
            yield line
            continue
        text = line.text.removeprefix(GOAL)
        if last:
            yield line._replace(text=ASKED_LAST + text, section="asked")
        else:
            before = line._replace(text=ASKED_BEFORE + text, section="request", cut="; ", each=line.cites[:1])
            yield before._replace(least=len(ASKED_BEFORE))
