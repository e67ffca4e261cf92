"""A person's edits of the pages, made into notes.

A page tells by itself what in it is ours (`tell.memory`); what is not as it says was edited. Killed anywhere, the page
still says what it said, or the note has it; adopting twice is adopting once. A start adopts and writes nothing: the
context that begins is told the new words, and the page is brought up to date with the next notes.

On the pages of rules and observations the writer counts as well: what a session's tools may have written there is no
person's word, and such a page is left alone. Nor is one of somebody else's ever taken over.
"""

from __future__ import annotations

import posix
from itertools import count
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.keep.home import Lock
from memory_keeper.keep.ready import forget_rules
from memory_keeper.keeper import RECENT, Keeper, digest_of
from memory_keeper.model import USER as EVERYWHERE
from memory_keeper.model import Event, NamedTuple, Note, origin
from memory_keeper.reduce.levels import measure
from memory_keeper.tell.files import EDITED, INDEX, LISTED, ONE_EACH, Folder, Found, Unwritable, is_hosts
from memory_keeper.tell.memory import (
    NEVER,
    Page,
    Section,
    body_of,
    decode,
    is_ours,
    owner,
    parse,
    parse_first,
    plain,
    said,
    text_of,
)
from memory_keeper.tell.rules import PREFIX, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.model import Json

PATIENCE = 10.0  # seconds for others who render or write
SETTLED = 2.0  # seconds after which a page without its end is not one that an editor is just writing
NAMED = 500  # events that name a page, among which a call that wrote to it is looked for
READERS = ("Read", "Grep", "Glob")  # tools that write to none
USER = "user"


class Read(NamedTuple):
    """A file as it was read, for one project."""

    name: str
    path: str
    found: Found
    page: Page
    trusted: bool  # we wrote it for this project, whoever has changed it since
    unsettled: bool = False  # somebody may be writing it now


class Desk(NamedTuple):
    """What adopting goes by."""

    keeper: Keeper
    project: str
    settings: Json
    now: float


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
        return adopt_all(keeper, project, root, reads, now, patience=max(0.0, until - monotonic()))


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
        from memory_keeper.tell.pages import is_our_index

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
    elif name in LISTED:
        from memory_keeper.tell.observations import parted

        page = page._replace(sections=tuple(parted(page.sections)))
        trusted = trusted and (blank or found.ours or not _is_by_a_session(keeper, project, path, page))
    fresh = min(abs(moment - found.at) for moment in (now, time())) < SETTLED  # we may have waited for a lock since
    unsettled = page.shown is None and fresh
    if name in LISTED and not found.ours and not unsettled:
        unsettled = _is_unread(keeper, project, found.at)
    return Read(name, path, found, page, trusted, trusted and unsettled)


def _is_by_a_session(keeper: Keeper, project: str, path: str, page: Page) -> bool:
    """Whether a tool of a session was given a page's name since the newest wording on it: it may have written there."""
    store = keeper.store
    shown = [store.note(id) for id in page.shown or ()]
    since = max((_written_at(note) for note in shown if note), default=0.0)
    named = store.rows(store.matching(f'"{path.rpartition("/")[2]}"', NAMED, since=since))
    calls = [row for row in named if row.kind == "call" and row.tool not in READERS]
    return any(row.project == project or row.path == path for row in calls)


def _is_unread(keeper: Keeper, project: str, since: float) -> bool:
    """Whether a session has said something since that nobody has read yet."""
    return any(_grew(source.path, source.offset, since) for source in keeper.store.recent_sources(project, RECENT))


def _written_at(note: Note) -> float:
    at = wire.read_object(note.extra).get("written")
    return at if isinstance(at, float) else note.at


def _grew(path: str, offset: int, since: float) -> bool:
    """Whether there is something in a transcript, written since, that nobody has read yet."""
    try:
        about = posix.stat(path)
    except OSError:
        return False
    return about.st_size > offset and about.st_mtime >= since


def _joined(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """A page of one standing note is that note: what stands around it belongs to it."""
    known = [section for section in sections if section.origin] or [Section("")]
    if len(known) > 1 or not sections:
        return sections
    return (known[0]._replace(body="\n\n".join(filter(None, map(said, sections)))),)


# --- making notes ----------------------------------------------------------------------------------------------------


def adopt_all(
    keeper: Keeper,
    project: str,
    root: str,
    reads: Iterable[Read],
    now: float,
    foreign: bool = False,
    patience: float = PATIENCE,
) -> list[Note]:
    """The notes that people made of some pages, now kept; `foreign`: also of files that are not ours, but nothing in
    those becomes a rule."""
    desk = Desk(keeper, project, config.load(keeper.home, root, keeper.environ)[0], now)
    pages = [one for one in reads if (one.trusted or (foreign and one.name not in LISTED)) and not one.unsettled]
    if not any(_has_news(desk, page) for page in pages):
        return []
    with Lock(keeper.home, patience):
        keeper.forget_old_store()
        keeper.project(root, change=True)  # so that the secrets of this very folder are known
        made = list(_adopted(desk, pages))
    if any(page.name in LISTED for page in pages):
        forget_rules(keeper.home)
    return made


def _has_news(desk: Desk, read: Read) -> bool:
    return not read.found.ours or any(_is_lost(desk, section) for section in read.page.sections)


def _is_lost(desk: Desk, section: Section) -> bool:
    """Whether a page has what a person wrote and the store does not: it was lost, and made again from transcripts."""
    return section.yours and desk.keeper.store.note(section.wording) is None


def _adopted(desk: Desk, pages: Sequence[Read]) -> Iterator[Note]:
    seen: set[str] = set()
    for read in pages:
        for section in read.page.sections:
            if not read.found.ours or _is_lost(desk, section):
                yield from _adopt_section(desk, section, read, seen)
    for read in pages:
        if read.trusted and not read.found.ours:
            yield from _taken_away(desk, read, seen)


def _adopt_section(desk: Desk, section: Section, read: Read, seen: set[str]) -> Iterator[Note]:
    body = plain(said(section), headings=_kind(read.name) not in ONE_EACH)
    now = _in_force(desk, section.origin) if section.origin else None
    if not now:
        yield from _written(desk, section, body, read)
        return
    first = origin(now)
    if read.name in LISTED and (now.kind != LISTED[read.name] or now.kind == "observation"):
        yield from _adopt_observation(desk, section, body, read, now)
        seen |= {first} if now.kind == "observation" else set()  # a rule that is one no more stands nowhere
        return
    again, shown = first in seen, desk.keeper.store.note(section.wording)
    shown = shown if shown and origin(shown) == first else desk.keeper.store.note(first) or now
    seen.add(first)
    if body == body_of(shown):
        if not now.text and now.who == USER and body and not again:  # it was taken away, and somebody put it back
            yield from _replaced(desk, now, body, read)
        return
    body = desk.keeper.redacted(body, desk.project)
    if body in (body_of(shown), body_of(now)):
        return  # adopted before
    elsewhere = (
        now.text
        and now.who == USER
        and now.id != shown.id
        and wire.read_object(now.extra).get("edited") != [read.path, shown.id]
    )
    if again or elsewhere:  # both are kept
        yield from _written(desk, section, body, read)
    else:
        yield from _replaced(desk, now, body, read, shown.id)


def _in_force(desk: Desk, id: str) -> Note | None:
    """The wording in force of a note that a page of the project's may show; a rule that came with us needs none."""
    now = desk.keeper.store.wording(id)
    if not now and id.startswith(PREFIX):
        shipped = rules_of(None, "")
        now = next((_as_note(rule.id, rule.text) for rule in shipped if rule.id == id), None)
    return now if now and now.project in (desk.project, EVERYWHERE) else None


def _as_note(id: str, text: str) -> Note:
    return Note(id, 0.0, "rule", 0, EVERYWHERE, text, "", measure(text), wire.dumps({"by": "shipped"}))


def _adopt_observation(desk: Desk, section: Section, body: str, read: Read, now: Note) -> Iterator[Note]:
    """An observation in other words is another one, by the user; put among the rules, it is one from now on."""
    body = desk.keeper.redacted(body, desk.project)
    if LISTED[read.name] != now.kind:
        yield from _written(desk, section, body, read, {"source": origin(now)} if now.kind == "observation" else {})
    elif body not in (body_of(now), body_of(desk.keeper.store.note(section.wording) or now)):
        yield from _written(desk._replace(project=now.project), section, body, read)
        _deny(desk, now, body, read)


def _deny(desk: Desk, note: Note, body: str, read: Read) -> None:
    """Keep that the user does not hold an observation any more, unless it goes on in these words."""
    from memory_keeper.reduce.observed import observed

    first = origin(note)
    for one in observed(desk.keeper.store, note.project, desk.settings, desk.now):
        if first in one.notes and one.state in ("open", "proposed") and one.text != body:
            id = f"contradicted-{digest_of(first, repr(read.found.at))}:0"
            desk.keeper.writer.mark(Event(id, read.found.at, "contradicted", "", note.project, "", ref=first))


def _taken_away(desk: Desk, read: Read, seen: set[str]) -> Iterator[Note]:
    """The notes that a page showed and that stand nowhere any more, unless a person has changed them elsewhere."""
    for id in read.page.shown or ():
        now = _in_force(desk, id)
        if not now or origin(now) in seen or not now.text:
            continue
        if now.kind == "observation":
            _deny(desk, now, "", read)
        elif now.id == id or now.who != USER:
            yield from _replaced(desk, now, "", read)


def _replaced(desk: Desk, now: Note, body: str, read: Read, shown: str = "") -> Iterator[Note]:
    """A wording by the user in the place of the one in force, and which wording of which page was edited for it."""
    text, form = _text(body, now.level)
    before = wire.read_object(now.extra)
    stays = {name: before[name] for name in ("first", "source") if before.get(name) is not None}
    extra = {**_about(form, read), "edited": [read.path, shown], **stays}
    if origin(now).startswith(PREFIX) and not desk.keeper.store.note(origin(now)):
        _kept(desk, now)  # as it came with us
    yield _kept(
        desk,
        now._replace(
            id="note-" + digest_of(origin(now), now.id, text),
            text=text,
            tokens=measure(text),
            extra=wire.dumps(extra),
            replaces=origin(now),
            who=USER,
        ),
    )


def _written(desk: Desk, section: Section, body: str, read: Read, more: Json | None = None) -> Iterator[Note]:
    """A note of what somebody wrote by hand; none when it is one already."""
    body = desk.keeper.redacted(body, desk.project)
    kind = _kind(read.name)
    level = 1 if kind == "note" else 0
    text, form = _text(body, level)
    if not text:
        return
    begun = _begun(desk, kind, level, body, read.page.shown or ())
    if begun:
        if body_of(begun) != body:
            yield from _replaced(desk, begun, body, read)
        return
    for number in count():
        id = "note-" + digest_of(desk.project, kind, f"{section.at:.0f}", text, str(number))
        known = desk.keeper.store.wording(id)
        if not known:
            break
        if body_of(known) == body:
            return
    at = section.at if section.at != NEVER else read.found.at
    extra = wire.dumps({**_about(form, read), **(more or {})})
    yield _kept(desk, Note(id, at, kind, level, desk.project, text, "", measure(text), extra, "", USER))


def _about(form: str, read: Read) -> dict[str, object]:
    """What a note by the user carries beside its text."""
    return {"by": USER, "written": read.found.at, **({"form": form} if form else {})}


def _begun(desk: Desk, kind: str, level: int, body: str, shown: tuple[str, ...]) -> Note | None:
    """The note of what stood there when we last read it, if the page was not written since and somebody went on."""
    for note in desk.keeper.store.notes(desk.project, level, kind, open=True):
        if note.who == USER and note.text and note.id not in shown and f"{body}\n".startswith(body_of(note) + "\n"):
            return note
    return None


def _kept(desk: Desk, note: Note) -> Note:
    desk.keeper.writer.add(note)
    return note


def _kind(name: str) -> str:
    """The kind of the notes that somebody writes on a page."""
    stem = name.removesuffix(".md")
    return stem if stem in ONE_EACH else LISTED.get(name, "note")


def _text(body: str, level: int) -> tuple[str, str]:
    return text_of(body) if level else (body, "")
