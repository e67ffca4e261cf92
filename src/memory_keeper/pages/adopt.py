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
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.briefs.edits import Change, Kept, changes
from memory_keeper.briefs.files import EDITED, INDEX, LISTED, ONE_EACH, Folder, Found, Unwritable, is_hosts
from memory_keeper.briefs.memory import (
    NEVER,
    Page,
    Section,
    body_of,
    decode,
    is_ours,
    item,
    owner,
    parse,
    parse_first,
    plain,
    said,
    text_of,
)
from memory_keeper.briefs.observations import LONGEST, OPEN
from memory_keeper.briefs.pages import is_our_index, observed_in
from memory_keeper.briefs.rules import rules_of
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import NamedTuple, Note, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.rules.observations import Observed
from memory_keeper.store.home import Lock
from memory_keeper.text import digest_of

PATIENCE = 10.0  # seconds for others who render or write
SETTLED = 2.0  # seconds after which a page without its end is not one that an editor is just writing
USER = "user"


class Read(NamedTuple):
    """A file as it was read, for one project."""

    name: str
    path: str
    found: Found
    page: Page
    trusted: bool  # we wrote it for this project, whoever has changed it since
    waits: bool = False  # somebody may be writing it now, or has a word to say first


class Memory(NamedTuple):
    """What is adopted into: the memory of one project."""

    keeper: Keeper
    project: str


def adopt(keeper: Keeper, project: str, root: str, now: float, patience: float = PATIENCE) -> list[Note]:
    """Make notes of what people changed in the pages that a start asks about; waits no longer than `patience`."""
    if not is_wanted(keeper, root):
        return []
    until = monotonic() + patience
    with Lock(keeper.home, patience, "render"):
        try:
            with Folder(root) as folder:
                found = {name: folder.read(name) for name in EDITED}
        except Unwritable:
            return []  # there is no such folder
        reads = [read(keeper, project, f"{folder.path}/{name}", one, now) for name, one in found.items() if one]
        return adopt_all(keeper, project, root, reads, patience=max(0.0, until - monotonic()))


def is_wanted(keeper: Keeper, root: str) -> bool:
    """Whether a project is to have pages."""
    settings = config.load(keeper.home, root, keeper.environ)[0] if root else {}
    return bool(settings) and settings["tell.files"] and not is_hosts(root, keeper.environ)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(keeper: Keeper, project: str, path: str, found: Found, now: float, whole: bool = False) -> Read:
    """What a file says, and whether we wrote it for this project: a signature counts, and where there can be none, that
    nobody has written to it since. One that is not ours is read only when the `whole` of it is wanted."""
    name = path.rpartition("/")[2]
    if name == INDEX:
        return Read(name, path, found, Page(()), is_our_index(found.data, project, keeper.salt))
    if not name.endswith(".md"):
        return Read(name, path, found, Page(()), found.ours)
    kind = _kind(name)
    blank = not found.data.strip()  # of a save that was cut short, or deleted: there is nothing to lose
    trusted = blank or is_ours(parse_first(found.data), owner(project, kind), keeper.salt)
    if not trusted and not whole:
        return Read(name, path, found, Page(()), False)
    page = parse(decode(found.data), headings=kind not in ONE_EACH)
    if kind in ONE_EACH:
        page = page._replace(sections=_joined(page.sections))
    fresh = min(abs(moment - found.at) for moment in (now, time())) < SETTLED  # we may have waited for a lock since
    return Read(name, path, found, page, trusted, trusted and page.shown is None and fresh)


def _joined(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """A page of one standing note is that note: what stands around it belongs to it."""
    known = [section for section in sections if section.origin] or [Section("")]
    if len(known) > 1 or not sections:
        return sections
    return (known[0]._replace(body="\n\n".join(filter(None, map(said, sections)))),)


# --- making notes ----------------------------------------------------------------------------------------------------


def adopt_all(
    keeper: Keeper, project: str, root: str, reads: Iterable[Read], foreign: bool = False, patience: float = PATIENCE
) -> list[Note]:
    """The notes that people made of some pages, now kept; `foreign`: also of files that are not ours."""
    memory = Memory(keeper, project)
    pages = [one for one in reads if one.name not in LISTED and (one.trusted or foreign) and not one.waits]
    if not any(_has_news(memory, page) for page in pages):
        return []
    with keeper.writing(patience):
        keeper.project(root, change=True)  # so that the secrets of this very folder are known
        return list(_adopted(memory, pages))


def _has_news(memory: Memory, read: Read) -> bool:
    return not read.found.ours or any(_is_lost(memory, section) for section in read.page.sections)


def _is_lost(memory: Memory, section: Section) -> bool:
    """Whether a page has what a person wrote and the store does not: it was lost, and made again from transcripts."""
    return section.yours and memory.keeper.store.note(section.wording) is None


def _adopted(memory: Memory, pages: Sequence[Read]) -> Iterator[Note]:
    seen: set[str] = set()
    for read in pages:
        for section in read.page.sections:
            if not read.found.ours or _is_lost(memory, section):
                yield from _adopt_section(memory, section, read, seen)
    for read in pages:
        if read.trusted and not read.found.ours:
            yield from _taken_away(memory, read, seen)


def _adopt_section(memory: Memory, section: Section, read: Read, seen: set[str]) -> Iterator[Note]:
    body = plain(said(section), headings=_kind(read.name) not in ONE_EACH)
    now = _in_force(memory, section.origin, read) if section.origin else None
    if not now:
        yield from _written(memory, section, body, read)
        return
    first = origin(now)
    again, shown = first in seen, memory.keeper.store.note(section.wording)
    shown = shown if shown and origin(shown) == first else memory.keeper.store.note(first) or now
    seen.add(first)
    if body == body_of(shown):
        if not now.text and now.who == USER and body and not again:  # it was taken away, and somebody put it back
            yield from _replaced(memory, now, body, read)
        return
    body = memory.keeper.redacted(body, memory.project)
    if body in (body_of(shown), body_of(now)):
        return  # adopted before
    elsewhere = (
        now.text
        and now.who == USER
        and now.id != shown.id
        and wire.read_object(now.extra).get("edited") != [read.path, shown.id]
    )
    if again or elsewhere:  # both are kept
        yield from _written(memory, section, body, read)
    else:
        yield from _replaced(memory, now, body, read, shown.id)


def _in_force(memory: Memory, id: str, read: Read) -> Note | None:
    """The wording in force of a note that stands on such a page: no comment in the memory leads to a rule."""
    now, kind = memory.keeper.store.wording(id), _kind(read.name)
    fits = now and now.project == memory.project and (now.kind == kind if kind in ONE_EACH else now.level > 0)
    return now if fits else None


def _taken_away(memory: Memory, read: Read, seen: set[str]) -> Iterator[Note]:
    """The notes that a page showed and that stand nowhere any more, unless a person has changed them elsewhere."""
    for id in read.page.shown or ():
        now = _in_force(memory, id, read)
        if now and origin(now) not in seen and now.text and (now.id == id or now.who != USER):
            yield from _replaced(memory, now, "", read)


def _replaced(memory: Memory, now: Note, body: str, read: Read, shown: str = "") -> Iterator[Note]:
    """A wording by the user in the place of the one in force, and which wording of which page was edited for it."""
    text, form = _text(body, now.level)
    first = wire.read_object(now.extra).get("first")
    extra = {**_about(form, read), "edited": [read.path, shown], **({"first": first} if first is not None else {})}
    yield _kept(
        memory,
        now._replace(
            id="note-" + digest_of(origin(now), now.id, text),
            text=text,
            tokens=measure(text),
            extra=wire.dumps(extra),
            replaces=origin(now),
            who=USER,
        ),
    )


def _written(memory: Memory, section: Section, body: str, read: Read) -> Iterator[Note]:
    """A note of what somebody wrote by hand; none when it is one already."""
    body = memory.keeper.redacted(body, memory.project)
    kind = _kind(read.name)
    level = 0 if kind in ONE_EACH else 1
    text, form = _text(body, level)
    if not text:
        return
    begun = _begun(memory, kind, level, body, read.page.shown or ())
    if begun:
        if body_of(begun) != body:
            yield from _replaced(memory, begun, body, read)
        return
    for number in count():
        id = "note-" + digest_of(memory.project, kind, f"{section.at:.0f}", text, str(number))
        known = memory.keeper.store.wording(id)
        if not known:
            break
        if body_of(known) == body:
            return
    at = section.at if section.at != NEVER else read.found.at
    extra = wire.dumps(_about(form, read))
    yield _kept(memory, Note(id, at, kind, level, memory.project, text, "", measure(text), extra, "", USER))


def _about(form: str, read: Read) -> dict[str, object]:
    """What such a note carries beside its text: whoever can write to the project can edit its pages."""
    return {"by": USER, "page": read.name, "written": read.found.at, **({"form": form} if form else {})}


def _begun(memory: Memory, kind: str, level: int, body: str, shown: tuple[str, ...]) -> Note | None:
    """The note of what stood there when we last read it, if the page was not written since and somebody went on."""
    for note in memory.keeper.store.notes(memory.project, level, kind, open=True):
        if note.who == USER and note.text and note.id not in shown and f"{body}\n".startswith(body_of(note) + "\n"):
            return note
    return None


def _kept(memory: Memory, note: Note) -> Note:
    memory.keeper.writer.add(note)
    return note


def _kind(name: str) -> str:
    """The kind of the notes that somebody writes on a page."""
    stem = name.removesuffix(".md")
    return stem if stem in ONE_EACH else LISTED.get(name, "note")


def _text(body: str, level: int) -> tuple[str, str]:
    return text_of(body) if level else (body, "")


# --- rules and observations ------------------------------------------------------------------------------------------


def waiting(keeper: Keeper, project: str, root: str) -> list[str]:
    """The names of the pages of rules and observations that were changed, and wait for a person's word."""
    now = time()
    reads, observed = _read_listed(keeper, project, root, now), observed_by(keeper, project, root, now)
    return [one.name for one in reads if is_edited(keeper, project, one, observed)]


def is_edited(keeper: Keeper, project: str, read: Read, observed: Sequence[Observed]) -> bool:
    """Whether such a page of ours says what nothing kept does, or says no more what it did."""
    return read.name in LISTED and read.trusted and any(_changes(keeper, project, [read], observed))


def observed_by(keeper: Keeper, project: str, root: str, now: float) -> list[Observed]:
    """The observations that a project's pages tell of."""

    return observed_in(keeper.store, project, config.load(keeper.home, root, keeper.environ)[0], now)


def adopt_rules(
    keeper: Keeper,
    project: str,
    root: str,
    now: float,
    dry: bool,
    shown: Sequence[str] | None = None,
    untouched: bool = False,
) -> list[str]:
    """Take over what a person changed on the pages of rules and observations, which can be rendered again then; a line
    for each change. `dry`: only say what would be. `shown`: what the person said yes to; nothing else is taken over.
    `untouched`: only from pages that are as we wrote them, what the store has lost since.
    """
    with Lock(keeper.home, PATIENCE, "render"):
        reads = [one for one in _read_listed(keeper, project, root, now) if one.found.ours or not untouched]
        with keeper.writing(PATIENCE):
            keeper.project(root, change=True)  # so that the secrets of this very folder are known
            observed = observed_by(keeper, project, root, now)
            ours = [one for one in reads if one.trusted]
            changes = [_checked(one) for one in _changes(keeper, project, ours, observed, redact=True)]
        if not changes and len(ours) < len(reads):
            strange = next(one.path for one in reads if not one.trusted)
            raise KeeperError(
                f"{strange} was not made here for this project, and makes no rule",
                hint="read it; `memory-keeper rule add` takes what you want of it",
            )
        lines = [str(change) for change in changes]
        if shown is not None and not set(lines) <= set(shown):
            raise KeeperError("A page was changed meanwhile, and nothing was taken over", hint="look at it once more")
        for change in () if dry else changes:
            _take_over(keeper, project, root, change, now)
        if not dry or not changes:  # one who was killed after taking it over left only this
            _settle(root, ours)
        return lines


def _read_listed(keeper: Keeper, project: str, root: str, now: float) -> list[Read]:
    try:
        with Folder(root) as folder:
            found = {f"{folder.path}/{name}": folder.read(name) for name in LISTED}
    except Unwritable:
        return []  # there is no such folder
    return [read(keeper, project, path, one, now) for path, one in found.items() if one]


def _changes(
    keeper: Keeper, project: str, reads: Sequence[Read], observed: Sequence[Observed], redact: bool = False
) -> Iterator[Change]:
    """What was changed on some pages of ours; `redact` its secrets, which needs the writer's lock."""

    kept = Kept(keeper.store, rules_of(keeper.store, project), observed)
    pages = {one.name: one.page for one in reads}
    untouched = {one.name for one in reads if one.found.ours}
    return changes(pages, untouched, kept, (lambda text: keeper.redacted(text, project)) if redact else str)


def _checked(change: Change) -> Change:
    if len(change.text) > LONGEST:
        raise KeeperError(
            f"A rule has at most {LONGEST:,} characters, and this line more: {change.text[:60]}…", hint="shorten it"
        )
    return change


def _take_over(keeper: Keeper, project: str, root: str, change: Change, now: float) -> None:
    """Keep a change as the user's word."""

    one = change.observed
    place = one.project if one else project
    if change.rule:
        change_rule(keeper, change.rule, change.text)
    elif change.kind == "rule":
        add_rule(keeper, place, change.text, source=one.id if one else "")
    else:
        if change.text and not _open(keeper, project, root, now, text=change.text):
            id = "note-" + digest_of(place, "observation", change.text, repr(now))
            extra = wire.dumps({"by": USER, "written": now})
            keeper.write(Note(id, now, "observation", 0, place, change.text, "", measure(change.text), extra, who=USER))
        for old in _open(keeper, project, root, now, id=one.id) if one else ():
            note = keeper.store.note(old.id)
            if note and item(old.text) != change.text:  # else it goes on in these words
                keeper.mark("contradicted", note, at=now)


def _open(keeper: Keeper, project: str, root: str, now: float, id: str = "", text: str = "") -> list[Observed]:
    """The observations that may become rules, one note of which has this id, or that say this."""

    found = [one for one in observed_by(keeper, project, root, now) if one.state in OPEN]
    return [one for one in found if id in one.notes or item(one.text) == text]


def _settle(root: str, reads: Sequence[Read]) -> None:
    """All that stands there is kept: the pages may be written over, unless somebody has changed them since."""
    if reads:
        with Folder(root) as folder:
            for one in reads:
                folder.keep(one.name, one.found)
