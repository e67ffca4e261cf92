"""Notes where they are due: sessions into notes, notes into outlines, and so on up.

Nothing is marked or counted: what is open is a query, and a note that was kept has covered it. Killed anywhere, what
was not covered is still open; twice at once, one of two notes about the same events is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memory_keeper import wire
from memory_keeper.errors import Damaged, KeeperError
from memory_keeper.extract.facts import dump
from memory_keeper.jobs.due import segments_of
from memory_keeper.jobs.learn import learn
from memory_keeper.keeper import Keeper
from memory_keeper.model import HIGHEST, Event, Json, Note, Open, origin
from memory_keeper.notes.kept_note import begun, measure
from memory_keeper.notes.note import about, write
from memory_keeper.notes.outline import outline
from memory_keeper.notes.schema import body
from memory_keeper.notes.segments import rotated
from memory_keeper.policy import note_is_due
from memory_keeper.project_settings import Settings
from memory_keeper.text import digest_of

PATIENCE = 30.0  # seconds for the writer's lock: nobody waits for a note


def distil(
    keeper: Keeper,
    now: float,
    project: str | None = None,
    force: bool = False,
    progress: Callable[[int], None] = lambda events: None,
    complain: Callable[[Exception], None] | None = None,
) -> list[Note]:
    """Make every note that is due in a project, or in all; `force`: also of what is not due yet.

    `progress` hears of the events as they are covered, `complain` of what nobody could make sense of: that must not
    keep out the others.
    """
    made: list[Note] = []
    settings = Settings(keeper)
    for open in keeper.store.open_sessions(project):
        if force or note_is_due(open, settings.of(open.project), now):
            with Apart(complain):
                made += reduce_session(keeper, open, settings.of(open.project), now, force, progress, complain)
    for id, size in keeper.store.open_tokens(project):
        if size > settings.of(id)["reduce.memoryTokens"]:
            with Apart(complain):
                made += outline_project(keeper, id, settings.of(id))
    return made


class Apart:
    """Keeps one thing's failure from the others; the store's own trouble is everybody's, but for a row of it that
    cannot be read."""

    def __init__(self, complain: Callable[[Exception], None] | None) -> None:
        self.complain = complain

    def __enter__(self) -> None:
        """Nothing has failed yet."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        everybodys = isinstance(error, KeeperError) and not isinstance(error, Damaged)
        if not self.complain or not isinstance(error, Exception) or everybodys:
            return False
        self.complain(error)
        return True


def reduce_session(
    keeper: Keeper,
    open: Open,
    settings: Json,
    now: float,
    force: bool = False,
    progress: Callable[[int], None] = lambda events: None,
    complain: Callable[[Exception], None] | None = None,
) -> Iterator[Note]:
    """Cover what is open of a session with notes, as far as notes may end there; what it teaches is kept before."""
    folder = next(iter(keeper.store.roots(open.project)), "")
    for segment in segments_of(keeper, open, settings, now, force):
        note = write_note(segment.events, settings["reduce.noteTokens"], folder, segment.midway)
        with Apart(complain):
            learn(keeper, open.project, now, segment=segment.events, settings=settings)
        if not _kept(keeper, note, [event.id for event in segment.events]):
            return  # somebody else is at it
        yield note
        progress(len(segment.events))


def write_note(segment: Sequence[Event], most: int, folder: str, midway: bool = False) -> Note:
    """The note of a segment of one session; without words when nothing was said in it."""
    draft, last = write(segment, most, folder, midway), segment[-1]
    id = "note-" + digest_of(last.session, *[event.id for event in segment])
    extra = wire.dumps(about(draft, segment) | ({"midway": True} if midway else {}))
    at = max(event.at for event in segment)
    return Note(id, at, "session", 1, last.project, draft.text, last.session, measure(draft.text), extra)


def outline_project(keeper: Keeper, project: str, settings: Json, everything: bool = False) -> Iterator[Note]:
    """Cover the oldest open notes of a project with an outline where they have grown too many, level by level;
    `everything`: all that are open at the first level."""
    most, carry = (
        settings["reduce.memoryTokens"],
        min(settings["reduce.carryOverTokens"], settings["reduce.memoryTokens"] // 2),
    )
    for level in range(1, HIGHEST):
        while True:
            open = keeper.store.notes(project, level, open=True)
            taken = open if everything and level == 1 else rotated(open, most, carry)
            if not taken:
                break
            note = write_outline(keeper, taken, settings["reduce.outlineTokens"])
            if not _kept(keeper, note, [origin(note) for note in taken]):
                return  # somebody else is at it
            yield note


def write_outline(keeper: Keeper, notes: Sequence[Note], most: int) -> Note:
    """The note above some notes of one project."""
    titles = {session: keeper.store.title(session) for session in {note.session for note in notes} - {""}}
    draft, last = outline(notes, most, {session: title for session, title in titles.items() if title}), notes[-1]
    id = "note-" + digest_of(last.project, *[origin(note) for note in notes])
    first = min(begun(note) for note in notes)
    extra = {"by": "extractive", "first": first, "cites": [list(cites) for cites in draft.cites]}
    extra |= {"facts": dump(draft.facts), "outline": body(draft.outline)}
    return Note(
        id, last.at, "outline", last.level + 1, last.project, draft.text, "", measure(draft.text), wire.dumps(extra)
    )


def _kept(keeper: Keeper, note: Note, covers: list[str]) -> bool:
    with keeper.writing(PATIENCE):
        return keeper.writer.add(note, covers) > 0
