"""A person's edits of the pages, made into notes.

A page tells by itself what in it is ours (`tell.memory`); what is not as it says was edited. Killed anywhere, the page
still says what it said, or the note has it; adopting twice is adopting once. A start adopts and writes nothing: the
context that begins is told the new words, and the page is brought up to date with the next notes.

The pages of rules and observations are not adopted so: a tool of a session, or a script of the project, can write there
as well as a person. Such a page is left alone until a person says that these are their words (`adopt_rules`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from time import monotonic

from memory_keeper import wire
from memory_keeper.briefs.edits import Change
from memory_keeper.briefs.files import EDITED, LISTED, ONE_EACH, SEALED, Folder, Unwritable
from memory_keeper.briefs.memory import NEVER, Section, body_of, item, plain, said, text_of
from memory_keeper.briefs.observations import LONGEST, OPEN
from memory_keeper.errors import KeeperError
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import Note, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.pages.reading import Pages, Read, kind_of
from memory_keeper.rules.observations import Observed
from memory_keeper.store.home import Lock
from memory_keeper.text import digest_of

PATIENCE = 10.0  # seconds for others who render or write
USER = "user"


def adopt(pages: Pages, patience: float = PATIENCE) -> list[Note]:
    """Make notes of what people changed in the pages that a start asks about; waits no longer than `patience`."""
    if not pages.are_wanted:
        return []
    until = monotonic() + patience
    with Lock(pages.keeper.home, patience, "render"):
        try:
            with Folder(pages.root) as folder:
                reads = [reading for name in EDITED if (reading := pages.read(folder, name))]
        except Unwritable:
            return []  # there is no such folder
        return adopt_all(pages, reads, patience=max(0.0, until - monotonic()))


# --- making notes ----------------------------------------------------------------------------------------------------


def adopt_all(pages: Pages, reads: Iterable[Read], foreign: bool = False, patience: float = PATIENCE) -> list[Note]:
    """The notes that people made of some pages, now kept; `foreign`: also of files that are not ours."""
    readable = [
        reading
        for reading in reads
        if reading.name not in (*LISTED, *SEALED) and (reading.trusted or foreign) and not reading.waits
    ]
    if all(
        reading.found.ours and not any(_is_lost(pages, part) for part in reading.page.sections) for reading in readable
    ):
        return []
    with pages.keeper.writing(patience):
        pages.keeper.project(pages.root, change=True)  # so that the secrets of this very folder are known
        return list(_adopted(pages, readable))


def _is_lost(pages: Pages, section: Section) -> bool:
    """Whether a page has what a person wrote and the store does not: it was lost, and made again from transcripts."""
    return section.yours and pages.keeper.store.note(section.wording) is None


def _adopted(pages: Pages, reads: Sequence[Read]) -> Iterator[Note]:
    seen: set[str] = set()
    for read in reads:
        for section in read.page.sections:
            if not read.found.ours or _is_lost(pages, section):
                yield from _adopt_section(pages, section, read, seen)
    for read in reads:
        if read.trusted and not read.found.ours:
            yield from _taken_away(pages, read, seen)


def _adopt_section(pages: Pages, section: Section, read: Read, seen: set[str]) -> Iterator[Note]:
    body = plain(said(section), headings=kind_of(read.name) not in ONE_EACH)
    now = _in_force(pages, section.origin, read) if section.origin else None
    if not now:
        yield from _written(pages, section, body, read)
        return
    first = origin(now)
    again, shown = first in seen, pages.keeper.store.note(section.wording)
    shown = shown if shown and origin(shown) == first else pages.keeper.store.note(first) or now
    seen.add(first)
    if body == body_of(shown):
        if not now.text and now.who == USER and body and not again:  # it was taken away, and somebody put it back
            yield from _replaced(pages, now, body, read)
        return
    body = pages.keeper.redacted(body, pages.project)
    if body in (body_of(shown), body_of(now)):
        return  # adopted before
    elsewhere = (
        now.text
        and now.who == USER
        and now.id != shown.id
        and wire.read_object(now.extra).get("edited") != [read.path, shown.id]
    )
    if again or elsewhere:  # both are kept
        yield from _written(pages, section, body, read)
    else:
        yield from _replaced(pages, now, body, read, shown.id)


def _in_force(pages: Pages, id: str, read: Read) -> Note | None:
    """The wording in force of a note that stands on such a page: no comment in the memory leads to a rule."""
    now, kind = pages.keeper.store.wording(id), kind_of(read.name)
    fits = now and now.project == pages.project and (now.kind == kind if kind in ONE_EACH else now.level > 0)
    return now if fits else None


def _taken_away(pages: Pages, read: Read, seen: set[str]) -> Iterator[Note]:
    """The notes that a page showed and that stand nowhere any more, unless a person has changed them elsewhere."""
    for id in read.page.shown or ():
        now = _in_force(pages, id, read)
        if now and origin(now) not in seen and now.text and (now.id == id or now.who != USER):
            yield from _replaced(pages, now, "", read)


def _replaced(pages: Pages, now: Note, body: str, read: Read, shown: str = "") -> Iterator[Note]:
    """A wording by the user in the place of the one in force, and which wording of which page was edited for it."""
    text, form = _text(body, now.level)
    first = wire.read_object(now.extra).get("first")
    extra = {**_about(form, read), "edited": [read.path, shown], **({"first": first} if first is not None else {})}
    yield _kept(
        pages,
        now._replace(
            id="note-" + digest_of(origin(now), now.id, text),
            text=text,
            tokens=measure(text),
            extra=wire.dumps(extra),
            replaces=origin(now),
            who=USER,
        ),
    )


def _written(pages: Pages, section: Section, body: str, read: Read) -> Iterator[Note]:
    """A note of what somebody wrote by hand; none when it is one already."""
    body = pages.keeper.redacted(body, pages.project)
    kind = kind_of(read.name)
    level = 0 if kind in ONE_EACH else 1
    text, form = _text(body, level)
    if not text:
        return
    begun = _begun(pages, kind, level, body, read.page.shown or ())
    if begun:
        if body_of(begun) != body:
            yield from _replaced(pages, begun, body, read)
        return
    for number in count():
        id = "note-" + digest_of(pages.project, kind, f"{section.at:.0f}", text, str(number))
        known = pages.keeper.store.wording(id)
        if not known:
            break
        if body_of(known) == body:
            return
    at = section.at if section.at != NEVER else read.found.at
    extra = wire.dumps(_about(form, read))
    yield _kept(pages, Note(id, at, kind, level, pages.project, text, "", measure(text), extra, "", USER))


def _about(form: str, read: Read) -> dict[str, object]:
    """What such a note carries beside its text: whoever can write to the project can edit its pages."""
    return {"by": USER, "page": read.name, "written": read.found.at, **({"form": form} if form else {})}


def _begun(pages: Pages, kind: str, level: int, body: str, shown: tuple[str, ...]) -> Note | None:
    """The note of what stood there when we last read it, if the page was not written since and somebody went on."""
    for note in pages.keeper.store.notes(pages.project, level, kind, open=True):
        if note.who == USER and note.text and note.id not in shown and f"{body}\n".startswith(body_of(note) + "\n"):
            return note
    return None


def _kept(pages: Pages, note: Note) -> Note:
    pages.keeper.writer.add(note)
    return note


def _text(body: str, level: int) -> tuple[str, str]:
    return text_of(body) if level else (body, "")


# --- rules and observations ------------------------------------------------------------------------------------------


def adopt_rules(
    pages: Pages, dry: bool = False, shown: Sequence[str] | None = None, untouched: bool = False
) -> list[str]:
    """Take over what a person changed on the pages of rules and observations, which can be rendered again then; a line
    for each change. `dry`: only say what would be. `shown`: what the person said yes to; nothing else is taken over.
    `untouched`: only from pages that are as we wrote them, what the store has lost since.
    """
    keeper = pages.keeper
    with Lock(keeper.home, PATIENCE, "render"):
        pages.observed = pages.observe()
        reads = [reading for reading in pages.read_listed() if reading.found.ours or not untouched]
        with keeper.writing(PATIENCE):
            keeper.project(pages.root, change=True)  # so that the secrets of this very folder are known
            changes = list(pages.changes(reads, redact=True))
        strange = [reading.path for reading in reads if not reading.trusted]
        if strange and not changes:
            raise KeeperError(
                f"{strange[0]} was not made here for this project, and makes no rule",
                hint="read it; `memory-keeper rule add` takes what you want of it",
            )
        if long := next((change.text for change in changes if len(change.text) > LONGEST), ""):
            raise KeeperError(
                f"A rule has at most {LONGEST:,} characters, and this line more: {long[:60]}…", hint="shorten it"
            )
        lines = [str(change) for change in changes]
        if shown is not None and not set(lines) <= set(shown):
            raise KeeperError("A page was changed meanwhile, and nothing was taken over", hint="look at it once more")
        for change in () if dry else changes:
            _take_over(pages, change)
        if reads and (not dry or not changes):  # one who was killed after taking it over left only this
            with Folder(pages.root) as folder:  # all that stands there is kept: the pages may be written over
                for read in reads:
                    if read.trusted:
                        folder.keep(read.name, read.found)
        return lines


def _take_over(pages: Pages, change: Change) -> None:
    """Keep a change as the user's word."""
    keeper, now, observation = pages.keeper, pages.now, change.observed
    place = observation.project if observation else pages.project
    if change.rule:
        change_rule(keeper, change.rule, change.text)
    elif change.kind == "rule":
        add_rule(keeper, place, change.text, source=observation.id if observation else "")
    else:
        if change.text and not _open(pages, text=change.text):
            id = "note-" + digest_of(place, "observation", change.text, repr(now))
            extra = wire.dumps({"by": USER, "written": now})
            keeper.write(Note(id, now, "observation", 0, place, change.text, "", measure(change.text), extra, who=USER))
        for old in _open(pages, id=observation.id) if observation else ():
            note = keeper.store.note(old.id)
            if note and item(old.text) != change.text:  # else it goes on in these words
                keeper.mark("contradicted", note, at=now)


def _open(pages: Pages, id: str = "", text: str = "") -> list[Observed]:
    """The observations that may become rules, one note of which has this id, or that say this."""
    found = [observation for observation in pages.observe() if observation.state in OPEN]
    return [observation for observation in found if id in observation.notes or item(observation.text) == text]
