"""What the user said that may be worth a rule, as it is kept, will be kept, and holds.

Only what the user typed in the main thread of a session counts. Everything has an id that comes of what it was found
in, so finding it twice is finding it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_keeper import wire
from memory_keeper.capture.payload import own_text
from memory_keeper.capture.typed import typed_words
from memory_keeper.model import Event, Json, Note, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.provenance import is_users
from memory_keeper.rules.clauses import SAID as LONGEST
from memory_keeper.rules.instructions import hints, instructions
from memory_keeper.rules.observations import Observed, fold, places
from memory_keeper.rules.wishes import DROP, SAME, compare, pack
from memory_keeper.store.events import not_covered
from memory_keeper.store.store import Store
from memory_keeper.text import digest_of

TYPED = ("prompt",)  # kinds of events that are read where a whole project's are
RECENT, NEWEST = 200, 50  # prompts among which those are looked for that no note covers yet; while somebody waits
EVERY = 1 << 40  # as many as there are
CHARACTERS = 40_000  # of prompts that are read while somebody waits
MOST = 300  # notes that are held against each other while somebody waits, the newest


def unlearnt(store: Store, project: str) -> Iterator[Note]:
    """What the user said in the newest prompts that no note covers yet, as it will be kept."""
    left = CHARACTERS
    for prompt in prompts_of(store, project, most=NEWEST):
        left -= min(len(prompt.text), LONGEST)
        if left < 0:
            return
        yield from said(prompt, project)


def in_force(store: Store, project: str, settings: Json, now: float) -> list[Observed]:
    """What the user said, here or for all projects, that holds and is no rule; the newest first, each thing once."""
    kept = [note for place in places(project) for note in store.notes(place, 0, "observation")]
    notes = {origin(note): note for note in (*unlearnt(store, project), *kept)}
    theirs = [note for note in notes.values() if is_users(note)]  # others', however many, change nothing of it
    newest = sorted(theirs, key=lambda note: note.at)[-MOST:]
    holds = [one for one in fold(store, project, newest, settings, now) if one.state in ("open", "proposed")]
    told: list[Observed] = []
    for one in sorted(holds, key=lambda one: one.last, reverse=True):
        if not _is_told(one, told):
            told.append(one)
    return told


def _is_told(one: Observed, told: Sequence[Observed]) -> bool:
    """Whether an observation of another scope says the same, or this one only says that something holds no more."""
    others = [other.wish for other in told if other.wish and other.project != one.project]
    return one.wish is not None and (one.wish.mood == DROP or any(compare(other, one.wish) == SAME for other in others))


def heard(stretch: Sequence[Event]) -> Iterator[Event]:
    """What was typed in a stretch of a session, as prompts: also what waited while the model worked, once the model
    has said something since. Who put it into the queue, only a later line can say."""
    events = {event.id: event for event in stretch}
    last = max((place for place, event in enumerate(stretch) if event.kind == "reply"), default=0)
    answered = {event.id for event in stretch[:last]}
    for typed in typed_words(stretch):
        if typed.how == "prompt" or (typed.how == "queued" and typed.id in answered):
            yield events[typed.id]._replace(kind="prompt", text=typed.text)


def said(prompt: Event, project: str) -> Iterator[Note]:
    """What a prompt says that may be worth a rule; nothing for what nobody typed."""
    prompt = prompt._replace(text=own_text(prompt.text))
    wishes = instructions(prompt)
    for number, one in enumerate((*wishes, *hints(prompt))):
        id = "note-" + digest_of(project, "said", prompt.id, str(number))
        hint = {"hint": True} if number >= len(wishes) else {}
        extra = wire.dumps({"by": "said", "cite": prompt.id, "wish": pack(one), **hint})
        yield Note(id, prompt.at, "observation", 0, project, one.text, prompt.session, measure(one.text), extra)


def prompts_of(store: Store, project: str, everything: bool = False, most: int = RECENT) -> Iterator[Event]:
    """What was typed in a project, the newest first: all of it, or what no note covers."""
    most = EVERY if everything else most
    ids = [prompt.id for kind in TYPED for prompt in store.latest(project, kind, most, text=False)]
    wanted = ids if everything else not_covered(store, ids)
    for id in ids:
        if id in wanted and (prompt := store.event(id)):
            yield prompt
