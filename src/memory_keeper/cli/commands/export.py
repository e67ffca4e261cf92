"""`export`: everything that is kept of a project, as files that others can read."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from time import time
from typing import Any

from memory_keeper import __version__
from memory_keeper.briefs.files import FOLDER, Folder, is_hosts
from memory_keeper.briefs.memory import body_of
from memory_keeper.briefs.pages import archives, iso
from memory_keeper.briefs.parts import STANDING
from memory_keeper.briefs.refined import line, name_of, refine
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import catch_up
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.model import NamedTuple, Note, Session
from memory_keeper.pages.adopt import PATIENCE
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import bring, foreign, page_texts
from memory_keeper.store.events import as_of, session_events
from memory_keeper.store.home import Lock
from memory_keeper.terminal import Bar, size
from memory_keeper.text import many

FORMATS = ("seeds", "jsonl", "md")
SESSIONS = "sessions"
EVERY = 1 << 30
ROWS = 5000  # lines of a file that are joined before they are written


class Target(NamedTuple):
    """Where an export goes."""

    root: str  # a folder of the user's choice; below it no link is followed
    path: tuple[str, ...]
    rendered: bool  # it is where the pages for people are
    pages: Pages  # of the project


ARGUMENTS = (
    argument(
        "--format", choices=FORMATS, default="seeds",
        help="seeds: the pages and a file per session (default); jsonl: everything, row by row; md: one document",
    ),
    argument("--to", default="", metavar="DIR", help="default: .claude/memory of the project"),
    argument("--force", action="store_true", help="also in the place of files that are not ours"),
)  # fmt: skip


def run(args: Namespace) -> int:
    """Write the files, and say what was written."""
    root = find_root(folder_of(args))
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        catch_up(keeper, [project])
        target = _target(Pages(keeper, project, root), args.to)
        write = {"seeds": _write_seeds, "jsonl": _write_jsonl, "md": _write_md}[args.format]
        try:
            written = write(keeper, project, target, args.force)
        except OSError as error:
            raise KeeperError(f"{_folder_of(target)} cannot be written: {error.strerror}") from None
    about = {"format": args.format, "folder": _folder_of(target), "project": project}
    about |= {"files": len(written), "bytes": sum(written.values()), "names": sorted(written)}
    words = f"{many(len(written), 'file')} in {about['folder']} ({size(sum(written.values()))})"
    return respond(args, about, words)


def _target(pages: Pages, to: str) -> Target:
    """The folder to write in. In the project no link is followed: a repository may hold one that leads elsewhere."""
    root = pages.root
    if not to:
        if is_hosts(root, pages.keeper.environ):
            raise KeeperError(f"{root}/.claude is Claude Code's own folder", hint="give another one with --to DIR")
        return Target(root, FOLDER, True, pages)
    whole = os.path.abspath(os.path.expanduser(to))
    above, below = whole, list[str]()
    while above != "/":
        if os.path.exists(above) and os.path.samefile(above, root):
            rendered = tuple(below) == FOLDER and not is_hosts(root, pages.keeper.environ)
            return Target(root, tuple(below), rendered, pages)
        above, name = os.path.split(above)
        below.insert(0, name)
    try:
        os.makedirs(whole, 0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise KeeperError(f"{to} is not a directory", hint="--to takes a directory") from None
    return Target(whole, (), False, pages)


def _folder_of(target: Target) -> str:
    return "/".join((target.root, *target.path))


def _open(target: Target, *below: str) -> Folder:
    return Folder(target.root, (*target.path, *below), make=True)


# --- the predecessor's files -----------------------------------------------------------------------------------------


def _write_seeds(keeper: Keeper, project: str, target: Target, force: bool) -> dict[str, int]:
    """The pages, the outlines and the index, and a file for each session."""
    known = keeper.store.sessions(project, EVERY)
    with Bar("exporting", len(known) + 1, bytes=False) as bar:
        written = _write_pages(target, force)
        bar.advance(1)
        with _open(target, SESSIONS) as folder:
            _refuse(folder, [] if force else list(_foreign_sessions(keeper, folder, known)))
            # the files that are there by the session they are of, whenever that is said to have begun
            found: dict[str, list[str]] = {}
            for name in folder.names():
                found.setdefault(_session_in(name), []).append(name)
            before = found
            for session in known:
                written |= _write_session(keeper, folder, session, before, target.rendered)
                bar.advance(1)
    return written


def _write_pages(target: Target, force: bool) -> dict[str, int]:
    """Where people edit them, their edits are adopted first, or the page waits; elsewhere they are copies."""
    pages = target.pages
    if target.rendered:
        with Lock(pages.keeper.home, PATIENCE, "render"):
            if not force:
                _refuse(None, foreign(pages))
            bring(pages, force)
            left = pages.waiting()
            wanted = {name: text for name, text in page_texts(pages).items() if name not in left}
    else:
        wanted = page_texts(pages)
        with _open(target) as folder:
            _refuse(folder, [] if force else [name for name in wanted if not _may_write(folder, name, wanted[name])])
            for name, text in wanted.items():
                folder.pour(name, [text])
    return {name: len(text.encode()) for name, text in wanted.items()}


def _foreign_sessions(keeper: Keeper, folder: Folder, known: Sequence[Session]) -> Iterator[str]:
    """The files in the place of ours that are not; the one that we wrote before is the beginning of the new one."""
    for session in known:
        name = name_of(session.id, session.first)
        if folder.is_there(name) and not folder.is_ours(name):
            text = "".join(refine(session_events(keeper.store, session.id)))
            if not _continues(folder, name, text):
                yield name


def _continues(folder: Folder, name: str, text: str) -> bool:
    """Whether all that a file says is in the text, or nobody but us wrote it."""
    if not folder.is_there(name) or folder.is_ours(name):
        return True
    found = folder.read(name)
    return found is not None and text.encode().startswith(found.data)


def _session_in(name: str) -> str:
    return name.partition("_")[2].partition("_")[2]


def _write_session(
    keeper: Keeper, folder: Folder, session: Session, before: dict[str, list[str]], kept: bool
) -> dict[str, int]:
    """`kept`: what is not ours and makes room stays beside, as it does for the pages of the project."""
    name = name_of(session.id, session.first)
    for old in before.get(_session_in(name), ()):  # of before an earlier event was found
        if old != name and folder.is_ours(old):
            found = folder.read(old)
            if found:
                folder.remove(old, found)
    text = "".join(refine(session_events(keeper.store, session.id)))
    if not _has(folder, name, text):
        if kept and not _continues(folder, name, text):
            folder.set_aside(name)
        folder.pour(name, [text])
    return {f"{SESSIONS}/{name}": len(text.encode())}


def _may_write(folder: Folder, name: str, text: str) -> bool:
    return not folder.is_there(name) or folder.is_ours(name) or _has(folder, name, text)


def _has(folder: Folder, name: str, text: str) -> bool:
    found = folder.read(name)
    return found is not None and found.data == text.encode()


def _refuse(folder: Folder | None, names: list[str]) -> None:
    if names:
        path = f"{folder.path}/{names[0]}" if folder else names[0]
        more = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
        raise KeeperError(f"{path}{more} not ours", hint="--force writes there all the same, --to DIR elsewhere")


# --- one file --------------------------------------------------------------------------------------------------------


def _write_jsonl(keeper: Keeper, project: str, target: Target, force: bool) -> dict[str, int]:
    """A line for every row; the first says what follows."""
    counts = keeper.store.sizes(project)
    header = {"format": "memory-keeper", "version": 1, "schema": keeper.store.schema, "by": __version__}
    header |= {"project": project, "at": iso(time()), "rows": counts}
    with Bar("exporting", sum(counts.values()), bytes=False) as bar:
        return _pour(target, "memory-keeper.jsonl", _rows(keeper, project, header, bar), force)


def _rows(keeper: Keeper, project: str, header: dict[str, Any], bar: Bar) -> Iterator[str]:
    lines = [line(header)]
    for table, row in keeper.store.dump(project):
        lines.append(line({table: row}))
        if len(lines) == ROWS:
            yield "".join(lines)
            bar.advance(len(lines))
            lines = []
    yield "".join(lines)


def _write_md(keeper: Keeper, project: str, target: Target, force: bool) -> dict[str, int]:
    """One document to read."""
    return _pour(target, "memory-keeper.md", _document(keeper, project), force)


def _document(keeper: Keeper, project: str) -> Iterator[str]:
    store = keeper.store
    yield f"# What Memory Keeper knows of {project}\n\nWritten {iso(time())}; times are UTC, newest last.\n"
    for kind in STANDING:
        for note in store.notes(project, 0, kind):
            yield _part(f"{kind.capitalize()}", body_of(note))
    above = [note for note in store.notes(project, kind="outline") if note.level > 2]
    for note in sorted(above, key=lambda note: (-note.level, note.at)):
        yield _part(f"Outline of level {note.level}: until {iso(note.at)[:16]}", body_of(note))
    for archive in archives(store, project):
        yield _part(f"{archive.name}: until {iso(archive.outline.at)[:16]}", body_of(archive.outline))
        yield from (_part(_title(note), body_of(note), 3) for note in archive.notes)
    yield "\n## Memory\n"
    yield from (_part(_title(note), body_of(note), 3) for note in store.notes(project, 1, open=True))
    newest = {note.session: note for note in store.notes(project, 0, "handoff")}
    for note in newest.values():
        yield _part(f"Handoff of session {note.session[:8]}, {iso(as_of(store, note))[:16]}", body_of(note))


def _title(note: Note) -> str:
    return iso(note.at)[:16] + (f", session {note.session[:8]}" if note.session else ", by hand")


def _part(heading: str, body: str, degree: int = 2) -> str:
    """A section; the headings in it are of a lesser degree."""
    lines = ["##" + line if line.startswith("#") else line for line in body.split("\n")]
    return f"\n{'#' * degree} {heading}\n\n" + "\n".join(lines) + "\n" if body else ""


def _pour(target: Target, name: str, parts: Iterator[str], force: bool) -> dict[str, int]:
    with _open(target) as folder:
        if folder.is_there(name) and not folder.is_ours(name):
            _refuse(folder, [] if force else [name])
            if target.rendered:
                folder.set_aside(name)
        return {name: folder.pour(name, parts)}
