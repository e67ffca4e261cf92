"""The levels of the tree: which events one note covers, how long it may be, and what it says.

A note covers a stretch of a session: whole turns where it can, and calls with their answers, unless those never come
or a compaction comes between. Notes of a project are covered in their turn when they have grown too many: the oldest by
an outline, the newest stay open.
"""

from __future__ import annotations

from memory_keeper.model import Event, NamedTuple, Note
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.kept_note import measure
from memory_keeper.reduce.sentences import Sentence
from memory_keeper.text import clip, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.model import Json

CALLS = ("call", "todo")
SAID = ("prompt", "reply", "queued", "task")
PATIENCE = 2  # times the size at which a stretch is cut inside a turn, when none of its calls is open
LIMIT = 4  # times the size at which it is cut anywhere
WORDS_PER_SENTENCE, SENTENCE = 200, 45  # of what is read, and tokens of what is told for them
TURNS = 0.6  # of a note, at most, for what was asked and what came of it
REQUEST, GIST = 60, 70  # tokens of each
ASIDE = 8  # tokens of the words around a quote
TALK = 12  # tokens of a request or an answer that is small talk
MISSED = 4  # turns that do not fit, where no more is tried
FAR = 4000  # characters of a prompt that are looked at
TURN, CALL = 50, 14  # tokens for what was asked in a turn and what came of it, and for what was done in a call
LEAST = 250  # tokens that the shortest stretch may take: what was asked, what came of it, and where
OPEN_THEN = {"In progress: ": "In progress then: ", "Still open: ": "Open then: "}  # what a handoff says, and a note
FACTS, QUOTED = 24, 300  # facts that a note carries along for the outline above it, and characters of each


class Turn(NamedTuple):
    """A request and the last answer to it."""

    asked: Event | None  # None: before the stretch
    answer: Event | None
    worked: bool = False  # something was looked at, run or changed


class Draft(NamedTuple):
    """What a note says, and what each of its lines rests on."""

    text: str
    cites: tuple[tuple[str, ...], ...] = ()
    facts: tuple[Fact, ...] = ()


def stretches(events: Sequence[Event], interval: int, characters: int, over: bool) -> Iterator[list[Event]]:
    """The events in order, cut where a note may end; the last ones only when nothing will follow them, or enough has
    happened and the turn seems to be over."""
    stretch: list[Event] = []
    tools = said = 0.0
    waiting: set[str] = set()  # calls that have no answer yet
    for event in events:
        full = max(tools / interval, said / characters)
        turn, pause = event.kind == "prompt", not waiting
        if stretch and (
            (full >= 1 and turn) or (full >= PATIENCE and pause) or full >= LIMIT or _is_compacted(stretch[-1], event)
        ):
            yield stretch
            stretch, tools, said = [], 0.0, 0.0
            waiting.clear()  # what was cut off from its answer, or never gets one, holds up nothing more
        stretch.append(event)
        tools += event.kind in CALLS
        said += len(event.text) if event.kind in SAID else 0
        if event.kind in CALLS and event.ref:
            waiting.add(event.ref)
        elif event.kind == "result":
            waiting.discard(event.ref)
    full = max(tools / interval, said / characters)
    done = full >= 1 and not waiting and _last_said(stretch) == "reply"
    if stretch and (over or done or (full >= PATIENCE and not waiting) or full >= LIMIT):
        yield stretch


def _is_compacted(before: Event, event: Event) -> bool:
    """Whether a context was compacted between two events; the summary that this left belongs to what it sums up."""
    return before.kind == "summary" or (before.kind == "compact" and event.kind != "summary")


def _last_said(stretch: list[Event]) -> str:
    return next((event.kind for event in reversed(stretch) if event.kind in (*CALLS, *SAID) and not event.agent), "")


def note_budget(events: Sequence[Event], most: int) -> int:
    """How long a note about these may be: about a sentence for every 200 words that were said, one for each turn, and
    a few words for each call."""
    words = sum(len(event.text[:20_000].split()) for event in events if event.kind in SAID)
    turns = sum(event.kind == "prompt" and not event.agent for event in events)
    calls = sum(event.kind in CALLS for event in events)
    return min(most, max(LEAST, words * SENTENCE // WORDS_PER_SENTENCE + turns * TURN + calls * CALL))


def write(events: Sequence[Event], most: int, folder: str = "") -> Draft:
    """A note about a stretch, by rule; empty when there is nothing to tell but of our own commands, or small talk."""
    from memory_keeper.reduce.finding.found import facts_of
    from memory_keeper.reduce.finding.weights import weigh
    from memory_keeper.reduce.notes.digest import digest
    from memory_keeper.reduce.own_commands import others

    events = list(others(events))
    if _is_small_talk(events):
        return Draft("")
    weighed, budget = weigh(events, folder), note_budget(events, most)
    told = turns(events, int(budget * TURNS))
    left = budget - measure("\n".join(sentence.text for sentence in told))
    sentences = [*told, *digest(events, left, folder=folder, weighed=weighed, told=told)]
    text = "\n".join(one_line(_in_its_time(sentence.text), 2000) for sentence in sentences)
    facts = facts_of(events, FACTS, weighed) if text else []
    return Draft(text, tuple(sentence.cites for sentence in sentences), tuple(facts))


def _in_its_time(line: str) -> str:
    """A line of tasks that says of when it is: it is read long after, and nobody writes it again."""
    head = next((head for head in OPEN_THEN if line.startswith(head)), "")
    return OPEN_THEN.get(head, "") + line.removeprefix(head)


def _is_small_talk(events: Sequence[Event]) -> bool:
    """Whether nothing was looked at, run, changed, decided or wanted in a stretch, and next to nothing said."""
    from memory_keeper.reduce.finding.found import facts_of
    from memory_keeper.reduce.finding.goal import is_passing

    if any(event.kind in (*CALLS, "task", "summary") for event in events):
        return False
    if not all(is_passing(event.text) for event in events if event.kind in SAID):
        return False
    return all(fact.kind in ("request", "question") for fact in facts_of(events))


def turns(events: Sequence[Event], budget: int) -> list[Sentence]:
    """What was asked in each turn and what came of it, in order; of too many turns, those that say most."""
    most = budget // 2 - ASIDE  # of either half of a line
    found, chosen, missed = _turns(events), dict[int, Sentence](), 0
    for place in _by_worth(found):
        sentence = _turn(found[place], most)
        cost = measure(sentence.text)
        if cost > budget:
            missed += 1
            if missed == MISSED:
                break
        elif sentence.text:
            budget -= cost
            chosen[place] = sentence
    return [chosen[place] for place in sorted(chosen)]


def _by_worth(found: Sequence[Turn]) -> list[int]:
    """The places of turns, the most telling first: the last one, the one that it all began with, the others from the
    newest on, and small talk ("Is that all?" "Yes.") at the end."""
    newest = range(len(found) - 1, -1, -1)
    work, talk = ([place for place in newest if _is_talk(found[place]) is one] for one in (False, True))
    return [*work[:1], *(work[-1:] if len(work) > 1 else ()), *work[1:-1], *talk]


def _is_talk(turn: Turn) -> bool:
    """Whether nothing was done in a turn, and next to nothing said."""
    said = [event.text.strip() for event in (turn.asked, turn.answer) if event]
    return not turn.worked and all(len(text) <= 4 * TALK and measure(text) <= TALK for text in said)


def _turns(events: Sequence[Event]) -> list[Turn]:
    """Prompts, each with the last answer that it got; the first may have been asked before these events."""
    found: list[Turn] = []
    for event in events:
        if event.agent or (not event.text.strip() and event.kind not in CALLS):
            continue
        if event.kind == "prompt":
            found.append(Turn(event, None))
        elif event.kind == "reply" or (event.kind in CALLS and found):
            last = found.pop() if found else Turn(None, None)
            found.append(last._replace(answer=event) if event.kind == "reply" else last._replace(worked=True))
    return found


def _turn(turn: Turn, most: int) -> Sentence:
    from memory_keeper.reduce.notes.phrasing import quote
    from memory_keeper.reduce.summarizers.extractive import gist
    from memory_keeper.reduce.words.prose import unmarked

    asked, answer, _ = turn
    request = clip(unmarked(asked.text.lstrip()[:FAR]), min(REQUEST, most)) if asked else ""
    said = gist(answer.text, min(GIST, most)) if answer else ""
    # one kind of marks for both, so that nobody takes what stands between them for a quote
    alike = '"' in request + said or len(request.strip()) < 2
    quoted = [f"“{one_line(part, FAR)}”" if alike else quote(part) for part in (request, said) if part]
    text = " → ".join(quoted)
    return Sentence(
        (f"Asked: {text}" if request else f"Last said: {text}") if text else "",
        tuple(event.id for event in (asked, answer) if event),
    )


def about(draft: Draft, events: Sequence[Event]) -> Json:
    """What a note of level 1 carries beside its text."""
    return {
        "by": "extractive",
        "first": events[0].at,
        "cites": [list(cites) for cites in draft.cites],
        "facts": [_fact(fact) for fact in draft.facts],
    }


def _fact(fact: Fact) -> Json:
    from memory_keeper.reduce.notes.phrasing import short

    said = {**fact._asdict(), "cites": list(fact.cites)}
    for name in ("text", "about", "because"):
        said[name] = short(said[name], QUOTED)
    return {name: value for name, value in said.items() if value}


def rotated(notes: Sequence[Note], most: int, carry: int) -> list[Note]:
    """The oldest of some open notes, to be covered by one above them because all together are too long; empty when
    they are not. As many of the newest as fit into `carry` stay open, and always the very newest."""
    if sum(note.tokens for note in notes) <= most:
        return []
    kept = 0
    left = list(notes)
    while left and (left[-1] is notes[-1] or kept + left[-1].tokens <= carry):
        kept += left.pop().tokens
    taken: list[Note] = []
    size = 0
    for note in left:
        if taken and size + note.tokens > most:
            break
        size += note.tokens
        taken.append(note)
    return taken
