"""The pages for people, kept in step with the notes: first a person's edits become notes, then the pages are written.

What somebody wrote is in the store before anything is written over it, and a page that was saved between our reading
and our writing is read again. A page that is only read (`SEALED`) is left alone once somebody has changed it.
"""

from __future__ import annotations

import posix
from collections.abc import Collection, Iterable

from memory_keeper.briefs.context_archive import page
from memory_keeper.briefs.files import (
    CONTEXT_ARCHIVE,
    EDITED,
    FOLDER,
    LISTED,
    SEALED,
    Folder,
    Found,
    Unwritable,
    is_page,
    is_there,
)
from memory_keeper.briefs.memory import seal
from memory_keeper.briefs.pages import sealed, texts
from memory_keeper.capture.payload import safe_name
from memory_keeper.pages.adopt import PATIENCE, adopt_all
from memory_keeper.pages.reading import Pages, Read
from memory_keeper.store.home import Lock

TRIES = 5  # times that somebody may save while we write
EVERY = 1 << 30
OF_SESSIONS = ("handoffs", "sessions")  # folders with a file for each session
WAITS = "was changed and waits: `memory-keeper rule adopt` shows what it says otherwise, and takes that over"
STRANGE = "is not ours: `memory-keeper save --adopt` takes over what it says as yours, and keeps the file beside"
BLOCKED = "is {}, which is neither read nor replaced: move it away for a page of ours to stand there"
CHANGED = "was changed or is not ours: `memory-keeper save --adopt` puts it aside and makes it anew"


def render(pages: Pages, foreign: bool = False, imported: Collection[str] = ()) -> list[str]:
    """Adopt what people changed in a project's pages, then bring them up to date; the paths that were written.

    A file that is not ours is left alone; `foreign`: it is taken over, and what it was is kept beside it. So are those
    that were `imported`, by their names, of which no note is made once more. An edited page of rules or observations
    waits for `adopt_rules`. Unwritable says that the pages are not as they should be: the notes are kept all the same.
    """
    if not pages.are_wanted:
        return []
    keeper = pages.keeper
    with Lock(keeper.home, PATIENCE, "render"):
        if not posix.access(keeper.store_path, posix.F_OK):  # pages may come before anything was kept: a predecessor's
            with keeper.writing(PATIENCE):
                _ = keeper.writer
        try:
            return bring(pages, foreign, imported)
        except OSError as error:
            raise Unwritable(f"The pages in {pages.root}/.claude/memory cannot be written: {error.strerror}") from error


def bring(pages: Pages, foreign: bool = False, imported: Collection[str] = ()) -> list[str]:
    """What `render` does, whatever the settings say; under its lock."""
    written: dict[str, None] = {}
    for _ in range(TRIES):
        wanted = page_texts(pages)
        if not wanted and not is_there(pages.root):
            break
        with Folder(pages.root, make=bool(wanted)) as folder:
            folder.sweep(pages.now)
            reads = _read_all(pages, folder, wanted, foreign)
            if adopt_all(pages, reads, foreign):
                wanted = page_texts(pages)
            known = {reading.name: reading for reading in reads}
            done = {
                name: _write(folder, name, text, known.get(name), foreign or name in imported)
                for name, text in wanted.items()
            }
            done |= {
                name: _remove(folder, name, known.get(name), foreign) for name in _names(folder) if name not in wanted
            }
            written |= {f"{folder.path}/{name}": None for name, text in done.items() if text == "written"}
            if "again" not in done.values():
                break
    return list(written)


def page_texts(pages: Pages) -> dict[str, str]:
    """Every page of a project and what is to stand on it, those that are only read last."""
    keeper, project = pages.keeper, pages.project
    made = texts(keeper.store, project, keeper.salt, pages.settings, pages.observed)
    for name, body in sealed(keeper.store, project, pages.settings, pages.observed).items():
        made[name] = seal(body.rstrip("\n") + "\n\n", name, project, keeper.salt)
    # what stands there already need not be made again
    if archive := page(keeper.store, keeper.home, project, keeper.salt, _data(pages.root, CONTEXT_ARCHIVE)):
        made[CONTEXT_ARCHIVE] = archive
    return made


def outdated(pages: Pages) -> list[str]:
    """The pages that are not as they should be."""
    path = "/".join((pages.root, *FOLDER))
    wanted = page_texts(pages)
    return [f"{path}/{name}" for name, text in wanted.items() if _data(pages.root, name) != text.encode()]


def foreign(pages: Pages) -> list[str]:
    """The files in the place of our pages that are not ours: a predecessor's, or a repository's."""
    return [*obstacles(pages)]


def obstacles(pages: Pages) -> dict[str, str]:
    """The same with why a person has to move it away; empty where it can be taken over, or put aside."""
    try:
        with Folder(pages.root) as folder:
            trusted = {reading.name: reading.trusted for reading in _read_all(pages, folder, page_texts(pages))}
            odd = [name for name in _names(folder) if not trusted.get(name, folder.read(name) is not None)]
            return {f"{folder.path}/{name}": folder.obstacle(name) for name in odd}
    except Unwritable:
        return {}


def left_alone(pages: Pages) -> dict[str, str]:
    """The files in the place of our pages that are not written, and what is to be said of each."""
    reasons = {
        path: BLOCKED.format(why) if why else CHANGED if path.endswith((*SEALED, *LISTED)) else STRANGE
        for path, why in obstacles(pages).items()
    }
    return reasons | {"/".join((pages.root, *FOLDER, name)): WAITS for name in pages.waiting()}


def not_ours_alone(pages: Pages, paths: Iterable[str]) -> list[str]:
    """Of our files in a project, those that a purge of one home must not take away: with a person's own words, or of
    another home."""
    sessions = {safe_name(session.id) for session in pages.keeper.store.sessions(pages.project, EVERY)}
    return [path for path in paths if _stays(pages, path, sessions)]


def _stays(pages: Pages, path: str, sessions: set[str]) -> bool:
    *_, above, name = path.split("/")
    if above in OF_SESSIONS:  # of a session that this home does not know
        stem = name.removeprefix("HANDOFF-").removesuffix(".md").removesuffix(".l1.jsonl")
        return not any(stem == session or stem.endswith("_" + session) for session in sessions)
    if above != FOLDER[-1] or not _is_ours(name):
        return False
    with Folder(pages.root) as folder:
        read = pages.read(folder, name)
    if not read:
        return False
    return not read.trusted or (name in EDITED and any(part.yours for part in read.page.sections))


def _data(root: str, name: str) -> bytes:
    try:
        with Folder(root) as folder:
            found = folder.read(name)
            return found.data if found else b""
    except Unwritable:
        return b""


def _names(folder: Folder) -> list[str]:
    return [name for name in folder.names() if _is_ours(name)]


def _is_ours(name: str) -> bool:
    return is_page(name) or name in SEALED


def _read_all(pages: Pages, folder: Folder, wanted: dict[str, str], foreign: bool = False) -> list[Read]:
    """The files with our names that are not as they should be; `foreign`: those that are not ours with all they say."""
    reads: list[Read] = []
    for name in _names(folder):
        reading = pages.read(folder, name, foreign)
        if reading and name in wanted and reading.found.data == wanted[name].encode():
            if not reading.found.ours:
                folder.keep(name, reading.found)
        elif reading:
            reads.append(reading._replace(waits=True) if pages.is_edited(reading) else reading)
    trusted = {reading.name: reading.trusted for reading in reads}
    return [
        _with_page(reading, trusted, wanted) if reading.name.endswith(".summary.json") else reading for reading in reads
    ]


def _with_page(read: Read, trusted: dict[str, bool], wanted: dict[str, str]) -> Read:
    """An outline cannot say itself whose it is: it is ours when the archive beside it is."""
    page = read.name.removesuffix(".summary.json") + ".md"
    return read._replace(trusted=trusted.get(page, read.trusted or page in wanted))


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
    elif read and found and (not read.trusted or read.waits):
        return "left"
    elif found and _may_be_theirs(name, found):
        folder.set_aside(name)
    return "written" if folder.put(name, text, found) else "again"


def _remove(folder: Folder, name: str, read: Read | None, foreign: bool) -> str:
    """Take away a page of ours that tells of nothing any more; `foreign`: put aside what is not ours."""
    found = read.found if read else folder.read(name)
    theirs = read is not None and not read.trusted
    if not found or not ((foreign or not theirs) and not read.waits if read else found.ours):
        return "left"
    if theirs or _may_be_theirs(name, found):
        folder.set_aside(name)
    return "removed" if folder.remove(name, found) else "again"


def _may_be_theirs(name: str, found: Found) -> bool:
    """Whether a file that stands for nothing but itself says what we did not write: no edit of JSON becomes a note."""
    return name.endswith(".json") and not found.ours and bool(found.data.strip())
