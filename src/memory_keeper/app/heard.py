"""What the user said that may be worth a rule, as it is kept, will be kept, and holds.

Only what the user typed in the main thread of a session counts. Everything has an id that comes of what it was found
in, so finding it twice is finding it once.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.capture.payload import COMMANDS, NOTICES
from memory_keeper.keeper import digest_of
from memory_keeper.model import USER, Event, Note, origin
from memory_keeper.reduce.instructions import instructions
from memory_keeper.reduce.levels import measure
from memory_keeper.reduce.observed import USERS, Observed, fold, observed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Json

TYPED = ("prompt", "queued")  # kinds of events that a person typed
RECENT = 200  # prompts among which those are looked for that no note covers yet
EVERY = 1 << 40  # as many as there are


def unlearnt(store: SqliteStore, project: str) -> list[Note]:
    """What the user said in prompts that no note covers yet, as it will be kept."""
    return [note for prompt in prompts_of(store, project) for note in said(prompt, project)]


def in_force(store: SqliteStore, project: str, settings: Json, now: float) -> list[Observed]:
    """What the user said that holds and is no rule, the newest first."""
    notes = {origin(note): note for note in (*unlearnt(store, project), *store.notes(project, 0, "observation"))}
    found = [*fold(store, project, notes.values(), settings, now), *observed(store, USER, settings, now)]
    holds = [one for one in found if one.by in USERS and one.state in ("open", "proposed")]
    return sorted(holds, key=lambda one: one.last, reverse=True)


def said(prompt: Event, project: str) -> Iterator[Note]:
    """What a prompt says that may be worth a rule; nothing for what nobody typed."""
    if prompt.kind not in TYPED or prompt.agent or prompt.text.startswith((*NOTICES, *COMMANDS, "/")):
        return  # what a command is given is meant for that command, and a model can run one too
    for number, one in enumerate(instructions(prompt)):
        id = "note-" + digest_of(project, "said", prompt.id, str(number))
        about = {"subject": one.subject, "values": one.values, "changes": one.changes}
        extra = wire.dumps({"by": "said", "cite": prompt.id, **about})
        yield Note(id, prompt.at, "observation", 0, project, one.text, prompt.session, measure(one.text), extra)


def prompts_of(store: SqliteStore, project: str, everything: bool = False) -> list[Event]:
    """What was typed in a project: all of it, or what no note covers."""
    if everything:
        return [prompt for kind in TYPED for prompt in store.latest(project, kind, EVERY)]
    recent = [prompt.id for kind in TYPED for prompt in store.latest(project, kind, RECENT, text=False)]
    return [prompt for id in sorted(store.open_among(recent)) if (prompt := store.event(id))]
