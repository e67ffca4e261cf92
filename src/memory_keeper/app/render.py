"""The pages for people, kept in step with the notes: first a person's edits become notes, then the pages are written.

What somebody wrote is in the store before anything is written over it, and a page that was saved between our reading
and our writing is read again. Killed anywhere, the page still says what it said, or the note has it; adopting twice is
adopting once.
"""

from __future__ import annotations

from itertools import count

from memory_keeper import config, wire
from memory_keeper.keep.home import Lock
from memory_keeper.keeper import Keeper, digest_of
from memory_keeper.model import NamedTuple, Note, origin
from memory_keeper.tell.files import INDEX, STANDING, Folder, Found, Unwritable, changed, is_rendered, is_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.tell.memory import Page, Section

PATIENCE = 10.0  # seconds for another process that renders
TRIES = 5  # times that somebody may save while we write
SETTLED = 2.0  # seconds after which a page without its end is not one that an editor is just writing
USER = "user"


class Read(NamedTuple):
    """A file that is not as it should be."""

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
    secrets: tuple[str, ...]  # known values, which are never kept


def render(
    keeper: Keeper, project: str, root: str, now: float, foreign: bool = False, patience: float = PATIENCE
) -> list[str]:
    """Adopt what people changed in a project's pages, then bring them up to date; the paths that were written.

    A file that is not ours is left alone; `foreign`: it is taken over, and what it was is kept beside it. A page that
    cannot be written costs only the page: the notes are what counts.
    """
    settings = config.load(keeper.home, root, keeper.environ)[0] if root else {}
    if not settings or not settings["tell.files"] or is_hosts(keeper, root):
        return []
    with Lock(keeper.home, patience, "render"):
        _make_store(keeper)
        try:
            return bring(keeper, project, root, now, foreign)
        except (Unwritable, OSError):
            return []


def adopt(keeper: Keeper, project: str, root: str, foreign: bool = False, now: float = 0.0) -> list[Note]:
    """Make notes of what people changed in a project's pages; `foreign`: also of files that are not ours."""
    with Lock(keeper.home, PATIENCE, "render"):
        _make_store(keeper)
        try:
            with Folder(root) as folder:
                reads = _read_all(keeper, project, folder, _texts(keeper, project), now)
        except Unwritable:
            return []  # there is no such folder
        return _adopt(keeper, project, root, reads, foreign)


def edited(keeper: Keeper, root: str) -> bool:
    """Whether somebody has written to a page since we did: cheap enough for the start of a session."""
    return bool(root) and not is_hosts(keeper, root) and changed(root)


def foreign(keeper: Keeper, project: str, root: str) -> list[str]:
    """The files in the place of our pages that are not ours: a predecessor's, or a repository's."""
    try:
        with Folder(root) as folder:
            reads = _read_all(keeper, project, folder, _texts(keeper, project), 0.0)
            odd = [name for name in _pages_of(folder) if folder.read(name) is None]
            return [f"{folder.path}/{name}" for name in (*odd, *(read.name for read in reads if not read.trusted))]
    except Unwritable:
        return []


def is_hosts(keeper: Keeper, root: str) -> bool:
    """Whether the project's folder would be the host's own, which is not ours to write in."""
    return f"{root}/.claude" == config.claude_folder(keeper.environ)


def bring(keeper: Keeper, project: str, root: str, now: float, foreign: bool = False) -> list[str]:
    """What `render` does, whatever the settings say; under its lock."""
    written: list[str] = []
    for _ in range(TRIES):
        wanted = _texts(keeper, project)
        if not wanted and not is_there(root):
            break
        with Folder(root, make=bool(wanted)) as folder:
            folder.sweep()
            reads = _read_all(keeper, project, folder, wanted, now)
            if _adopt(keeper, project, root, reads, foreign):
                wanted = _texts(keeper, project)
            known = {read.name: read for read in reads}
            done = {name: _write(folder, name, text, known.get(name), foreign) for name, text in wanted.items()}
            done |= {name: _remove(folder, name, known.get(name)) for name in _pages_of(folder) if name not in wanted}
            written += [f"{folder.path}/{name}" for name, said in done.items() if said == "written"]
            if "again" not in done.values():
                break
    return list(dict.fromkeys(written))


def _make_store(keeper: Keeper) -> None:
    """Pages may come before anything was ever kept: a predecessor's."""
    with Lock(keeper.home, PATIENCE):
        keeper.forget_old_store()
        _ = keeper.writer


def _texts(keeper: Keeper, project: str) -> dict[str, str]:
    from memory_keeper.tell.pages import texts

    return texts(keeper.store, project, keeper.salt)


# --- reading and writing ---------------------------------------------------------------------------------------------


def _read_all(keeper: Keeper, project: str, folder: Folder, wanted: dict[str, str], now: float) -> list[Read]:
    """The files with our names that are not as they should be."""
    reads: list[Read] = []
    for name in _pages_of(folder):
        found = folder.read(name)
        if found and name in wanted and found.data == wanted[name].encode():
            if not found.ours:
                folder.keep(name, found)
        elif found:
            reads.append(_read(keeper, project, f"{folder.path}/{name}", found, now))
    pages = {read.name: read.trusted for read in reads}
    return [_with_page(read, pages, wanted) if read.name.endswith(".summary.json") else read for read in reads]


def _pages_of(folder: Folder) -> list[str]:
    """What has a name of ours in it, but for exports."""
    return [name for name in folder.names() if is_rendered(name) and not name.startswith("memory-keeper.")]


def _read(keeper: Keeper, project: str, path: str, found: Found, now: float) -> Read:
    from memory_keeper.tell.memory import Page, decode, is_ours, parse
    from memory_keeper.tell.pages import is_our_index

    name = path.rpartition("/")[2]
    if name == INDEX:
        return Read(name, path, found, Page(()), found.ours or is_our_index(found.data, project, keeper.salt))
    if not name.endswith(".md"):
        return Read(name, path, found, Page(()), found.ours)
    page = parse(decode(found.data), headings=_kind(name) not in STANDING)
    if _kind(name) in STANDING:
        page = page._replace(sections=_joined(page.sections))
    blank = not found.data.strip()  # of a save that was cut short, or deleted: there is nothing to lose
    trusted = blank or found.ours or is_ours(page, project, keeper.salt)
    return Read(name, path, found, page, trusted, trusted and page.shown is None and abs(now - found.at) < SETTLED)


def _joined(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """A page of one standing note is that note: what stands around it belongs to it."""
    from memory_keeper.tell.memory import Section, said

    known = [section for section in sections if section.origin] or [Section("")]
    if len(known) > 1 or not sections:
        return sections
    return (known[0]._replace(body="\n\n".join(filter(None, map(said, sections)))),)


def _with_page(read: Read, pages: dict[str, bool], wanted: dict[str, str]) -> Read:
    """An outline cannot say itself whose it is: it is ours when the archive beside it is."""
    page = read.name.removesuffix(".summary.json") + ".md"
    return read._replace(trusted=read.trusted or pages.get(page, page in wanted))


def _write(folder: Folder, name: str, text: str, read: Read | None, foreign: bool) -> str:
    """Make a file have this text: same, written, left, or again when somebody saved it meanwhile."""
    found = folder.read(name)
    if not found and folder.is_there(name):
        return "left"  # a link, a folder, or far too large
    if found and found.data == text.encode():
        return "same"
    if found and not (read.found.data == found.data if read else found.ours):
        return "again"
    if read and found and not read.trusted and foreign:
        folder.set_aside(name)
    elif read and found and (not read.trusted or read.unsettled):
        return "left"
    return "written" if folder.put(name, text, found) else "again"


def _remove(folder: Folder, name: str, read: Read | None) -> str:
    """Take away a page of ours that tells of nothing any more."""
    found = read.found if read else folder.read(name)
    if not found or not (read.trusted and not read.unsettled if read else found.ours):
        return "left"
    return "removed" if folder.remove(name, found) else "again"


# --- adopting --------------------------------------------------------------------------------------------------------


def _adopt(keeper: Keeper, project: str, root: str, reads: list[Read], foreign: bool) -> list[Note]:
    """The notes that people made of some pages, now kept."""
    from memory_keeper.capture.redact import known_values

    desk = Desk(keeper, project, known_values(keeper.environ, config.read_dotenv(root)))
    pages = [read for read in reads if (read.trusted or foreign) and not read.unsettled]
    seen: set[str] = set()
    made: list[Note] = []
    for read in pages:
        for section in read.page.sections:
            if not read.found.ours or _is_lost(desk, section):
                made += _adopt_section(desk, section, read, seen)
    for read in pages:
        if read.trusted and not read.found.ours:
            made += _taken_away(desk, read, seen)
    return made


def _is_lost(desk: Desk, section: Section) -> bool:
    """Whether a page has what a person wrote and the store does not: it was lost, and made again from transcripts."""
    return section.yours and desk.keeper.store.note(section.wording) is None


def _adopt_section(desk: Desk, section: Section, read: Read, seen: set[str]) -> Iterator[Note]:
    from memory_keeper.tell.memory import body_of, plain, said

    body = plain(said(section), headings=_kind(read.name) not in STANDING)
    now = desk.keeper.store.wording(section.origin) if section.origin else None
    if not now or now.project != desk.project:
        yield from _written(desk, section, body, read)
        return
    first = origin(now)
    again, shown = first in seen, desk.keeper.store.note(section.wording)
    shown = shown if shown and origin(shown) == first else desk.keeper.store.note(first) or now
    seen.add(first)
    if body == body_of(shown):
        if not now.text and now.who == USER and body and not again:  # it was taken away, and somebody put it back
            yield from _replaced(desk, now, body, read)
        return
    body = _redacted(desk, body)
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


def _taken_away(desk: Desk, read: Read, seen: set[str]) -> Iterator[Note]:
    """The notes that a page showed and that stand nowhere any more, unless a person has changed them elsewhere."""
    for id in read.page.shown or ():
        now = desk.keeper.store.wording(id)
        if not now or now.project != desk.project or origin(now) in seen or not now.text:
            continue
        if now.id == id or now.who != USER:
            yield from _replaced(desk, now, "", read)


def _replaced(desk: Desk, now: Note, body: str, read: Read, shown: str = "") -> Iterator[Note]:
    """A wording by the user in the place of the one in force, and which wording of which page was edited for it."""
    text, form = _text(body, now.level)
    first = wire.read_object(now.extra).get("first")
    extra = {**_about(form, read), "edited": [read.path, shown], **({"first": first} if first is not None else {})}
    yield from _kept(
        desk,
        now._replace(
            id="note-" + digest_of(origin(now), now.id, text),
            text=text,
            tokens=_measure(text),
            extra=wire.dumps(extra),
            replaces=origin(now),
            who=USER,
        ),
    )


def _written(desk: Desk, section: Section, body: str, read: Read) -> Iterator[Note]:
    """A note of what somebody wrote by hand; none when it is one already."""
    from memory_keeper.tell.memory import NEVER, body_of

    body = _redacted(desk, body)
    kind = _kind(read.name)
    level = 0 if kind in STANDING else 1
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
    extra = wire.dumps(_about(form, read))
    yield from _kept(desk, Note(id, at, kind, level, desk.project, text, "", _measure(text), extra, "", USER))


def _about(form: str, read: Read) -> dict[str, object]:
    """What a note by the user carries beside its text."""
    return {"by": USER, "written": read.found.at, **({"form": form} if form else {})}


def _begun(desk: Desk, kind: str, level: int, body: str, shown: tuple[str, ...]) -> Note | None:
    """The note of what stood there when we last read it, if the page was not written since and somebody went on."""
    from memory_keeper.tell.memory import body_of

    for note in desk.keeper.store.notes(desk.project, level, kind, open=True):
        if note.who == USER and note.text and note.id not in shown and f"{body}\n".startswith(body_of(note) + "\n"):
            return note
    return None


def _kept(desk: Desk, note: Note) -> Iterator[Note]:
    with Lock(desk.keeper.home, PATIENCE):
        desk.keeper.forget_old_store()
        desk.keeper.writer.add(note)
    yield note


def _kind(name: str) -> str:
    """The kind of the notes that somebody writes on a page."""
    stem = name.removesuffix(".md")
    return stem if stem in STANDING else "note"


def _text(body: str, level: int) -> tuple[str, str]:
    from memory_keeper.tell.memory import text_of

    return text_of(body) if level else (body, "")


def _redacted(desk: Desk, body: str) -> str:
    from memory_keeper.capture.redact import redact

    return redact(body, desk.keeper.salt, desk.secrets)


def _measure(text: str) -> int:
    from memory_keeper.reduce.levels import measure

    return measure(text)
