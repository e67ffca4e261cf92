"""The pages for people, kept in step with the notes: first a person's edits become notes, then the pages are written.

What somebody wrote is in the store before anything is written over it, and a page that was saved between our reading
and our writing is read again.
"""

from __future__ import annotations

import posix
from collections.abc import Sequence
from time import time
from typing import Any

from memory_keeper import config
from memory_keeper.briefs.context_archive import page
from memory_keeper.briefs.files import (
    CONTEXT_ARCHIVE,
    FOLDER,
    LISTED,
    SEALED,
    Folder,
    Found,
    Unwritable,
    is_page,
    is_there,
)
from memory_keeper.briefs.memory import is_sealed, seal
from memory_keeper.briefs.pages import sealed, texts
from memory_keeper.keeper import Keeper
from memory_keeper.pages.adopt import PATIENCE, Read, adopt_all, is_edited, is_wanted, observed_by, read, waiting
from memory_keeper.rules.observations import Observed
from memory_keeper.store.events import boundaries
from memory_keeper.store.home import Lock

Json = dict[str, Any]

TRIES = 5  # times that somebody may save while we write
WAITS = "was changed and waits: `memory-keeper rule adopt` shows what it says otherwise, and takes that over"
STRANGE = "is not ours: `memory-keeper save --adopt` takes over what it says as yours, and keeps the file beside"
CHANGED = "was changed or is not ours: `memory-keeper save --adopt` puts it aside and makes it anew"


def render(keeper: Keeper, project: str, root: str, now: float, foreign: bool = False) -> list[str]:
    """Adopt what people changed in a project's pages, then bring them up to date; the paths that were written.

    A file that is not ours is left alone; `foreign`: it is taken over, and what it was is kept beside it. An edited
    page of rules or observations waits for `adopt_rules`. Unwritable says that the pages are not as they should be: the
    notes are kept all the same.
    """
    if not is_wanted(keeper, root):
        return []
    with Lock(keeper.home, PATIENCE, "render"):
        _make_store(keeper)
        try:
            observed = observed_by(keeper, project, root, now)
            return [
                *bring(keeper, project, root, now, observed, foreign),
                *render_sealed(keeper, project, root, observed, foreign),
            ]
        except OSError as error:
            raise Unwritable(f"The pages in {root}/.claude/memory cannot be written: {error.strerror}") from error


def foreign(keeper: Keeper, project: str, root: str) -> list[str]:
    """The files in the place of our pages that are not ours: a predecessor's, or a repository's."""
    try:
        with Folder(root) as folder:
            observed = observed_by(keeper, project, root, time())
            reads = _read_all(keeper, project, folder, _wanted(keeper, project, root, observed), 0.0, observed)
            odd = [name for name in _pages_of(folder) if folder.read(name) is None]
            odd += [name for name in SEALED if _is_left(keeper, project, folder, name)]
            return [f"{folder.path}/{name}" for name in (*odd, *(one.name for one in reads if not one.trusted))]
    except Unwritable:
        return []


def left_alone(keeper: Keeper, project: str, root: str) -> dict[str, str]:
    """The files in the place of our pages that are not written, and what is to be said of each."""
    told = {path: CHANGED if path.endswith((*SEALED, *LISTED)) else STRANGE for path in foreign(keeper, project, root)}
    return told | {"/".join((root, *FOLDER, name)): WAITS for name in waiting(keeper, project, root)}


def bring(
    keeper: Keeper, project: str, root: str, now: float, observed: Sequence[Observed], foreign: bool = False
) -> list[str]:
    """What `render` does, whatever the settings say; under its lock."""
    written: list[str] = []
    for _ in range(TRIES):
        wanted = _wanted(keeper, project, root, observed)
        if not wanted and not is_there(root):
            break
        with Folder(root, make=bool(wanted)) as folder:
            folder.sweep(now)
            reads = _read_all(keeper, project, folder, wanted, now, observed, foreign)
            if adopt_all(keeper, project, root, reads, foreign):
                wanted = _wanted(keeper, project, root, observed)
            known = {one.name: one for one in reads}
            done = {name: _write(folder, name, text, known.get(name), foreign) for name, text in wanted.items()}
            done |= {name: _remove(folder, name, known.get(name)) for name in _pages_of(folder) if name not in wanted}
            written += [f"{folder.path}/{name}" for name, said in done.items() if said == "written"]
            if "again" not in done.values():
                break
    return list(dict.fromkeys(written))


def _wanted(keeper: Keeper, project: str, root: str, observed: Sequence[Observed]) -> dict[str, str]:
    """The pages that people may edit as they should be in a folder of a project."""
    return texts(keeper.store, project, keeper.salt, _settings(keeper, root), observed)


def render_sealed(
    keeper: Keeper, project: str, root: str, observed: Sequence[Observed], foreign: bool = False
) -> list[str]:
    """Bring a project's pages up to date that are only read, under the lock of `render`; the paths that were written.

    One that somebody has changed, or that is not ours, is left alone; `foreign`: it is kept beside the new one.
    """
    bodies = sealed(keeper.store, project, _settings(keeper, root), observed)
    wanted = bool(bodies) or bool(boundaries(keeper.store, project))
    if not wanted and not is_there(root):
        return []
    with Folder(root, make=wanted) as folder:
        done = [name for name in SEALED if _bring_sealed(keeper, project, folder, name, bodies, foreign)]
        return [f"{folder.path}/{name}" for name in done]


def sealed_text(keeper: Keeper, project: str, name: str, bodies: dict[str, str], found: Found | None) -> str:
    """What is to stand on such a page; empty when there is nothing to say. `found`: what stands there now."""
    if name == CONTEXT_ARCHIVE:
        return page(keeper.store, keeper.home, project, keeper.salt, found.data if found else b"")
    return seal(bodies[name].rstrip("\n") + "\n\n", name, project, keeper.salt) if name in bodies else ""


def _bring_sealed(
    keeper: Keeper, project: str, folder: Folder, name: str, bodies: dict[str, str], foreign: bool
) -> bool:
    """Make such a page say what it should; whether it was written."""
    for _ in range(TRIES):
        found = folder.read(name)
        left = _is_left(keeper, project, folder, name)
        if left and not (foreign and found):
            return False
        text = sealed_text(keeper, project, name, bodies, found)
        if (found.data if found else b"") == text.encode():
            return False
        if not text and found:
            if not left:
                folder.remove(name, found)
            return False
        if left:
            folder.set_aside(name)
        if folder.put(name, text, found):
            return True
    return False


def _is_left(keeper: Keeper, project: str, folder: Folder, name: str) -> bool:
    """Whether there is something in the place of such a page that is not as we wrote it for this project."""
    found = folder.read(name)
    if not found:
        return folder.is_there(name)  # a link, a folder, or far too large
    return bool(found.data.strip()) and not is_sealed(found.data, name, project, keeper.salt)


def _settings(keeper: Keeper, root: str) -> Json:
    return config.load(keeper.home, root, keeper.environ)[0]


def _make_store(keeper: Keeper) -> None:
    """Pages may come before anything was ever kept: a predecessor's."""
    if not posix.access(keeper.store_path, posix.F_OK):
        with keeper.writing(PATIENCE):
            _ = keeper.writer


def _read_all(
    keeper: Keeper,
    project: str,
    folder: Folder,
    wanted: dict[str, str],
    now: float,
    observed: Sequence[Observed],
    foreign: bool = False,
) -> list[Read]:
    """The files with our names that are not as they should be; `foreign`: those that are not ours with all they say."""
    reads: list[Read] = []
    for name in _pages_of(folder):
        found = folder.read(name)
        if found and name in wanted and found.data == wanted[name].encode():
            if not found.ours:
                folder.keep(name, found)
        elif found:
            one = read(keeper, project, f"{folder.path}/{name}", found, now, foreign)
            reads.append(one._replace(waits=True) if is_edited(keeper, project, one, observed) else one)
    pages = {one.name: one.trusted for one in reads}
    return [_with_page(one, pages, wanted) if one.name.endswith(".summary.json") else one for one in reads]


def _pages_of(folder: Folder) -> list[str]:
    return [name for name in folder.names() if is_page(name)]


def _with_page(read: Read, pages: dict[str, bool], wanted: dict[str, str]) -> Read:
    """An outline cannot say itself whose it is: it is ours when the archive beside it is."""
    page = read.name.removesuffix(".summary.json") + ".md"
    return read._replace(trusted=pages.get(page, read.trusted or page in wanted))


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
    return "written" if folder.put(name, text, found) else "again"


def _remove(folder: Folder, name: str, read: Read | None) -> str:
    """Take away a page of ours that tells of nothing any more."""
    found = read.found if read else folder.read(name)
    if not found or not (read.trusted and not read.waits if read else found.ours):
        return "left"
    return "removed" if folder.remove(name, found) else "again"
