"""`save`: bring everything in, write notes, handoff and pages, so that `/clear` or a new session loses nothing."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress

from memory_keeper.cli.arguments import SESSION, argument
from memory_keeper.cli.commands import handoff
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import make_notes, render_memory
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.model import NamedTuple, Note
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import left_alone
from memory_keeper.terminal import from_here
from memory_keeper.text import many

ARGUMENTS = (
    SESSION,
    argument(
        "--adopt", action="store_true",
        help="take over files in .claude/memory that are not ours, such as a memory.md you wrote; they are kept beside",
    ),
)  # fmt: skip


class Saved(NamedTuple):
    """What was written beside a handoff."""

    notes: list[str]
    told: int  # those of them that say something
    files: list[str]
    left: dict[str, str]  # files that were not written, and what is to be said of each


def run(args: Namespace) -> int:
    """Write the handoff, the notes that can be made, and the files for people; say what was done."""
    note, where = _handed_over(args)
    with Keeper(args.home) as keeper:
        project = note.project or project_of(keeper, args)
        saved = save_project(keeper, project, find_root(folder_of(args)), args.adopt)
    if note.id:
        lines = [f"Saved session {note.session[:8]}, in {note.tokens} tokens: {from_here(where) or note.id}"]
    else:
        lines = ["The newest session has said nothing yet, so there is no handoff of it."]
    if saved.told:
        lines.append(f"{many(saved.told, 'note')} written: `memory-keeper brief memory` prints the memory.")
    lines += [f"  {from_here(path)}" for path in saved.files]
    lines += [f"  {from_here(path)} {problem}" for path, problem in saved.left.items()]
    if note.id:
        lines.append("/clear goes on from the handoff in an empty context; `memory-keeper brief handoff` prints it.")
    about = {"id": note.id, "session": note.session, "path": where, "tokens": note.tokens}
    about |= {"notes": saved.notes, "files": saved.files, "left": [*saved.left]}
    return respond(args, about, "\n".join(lines))


def save_project(keeper: Keeper, project: str, root: str, adopt: bool) -> Saved:
    """Write the notes of a project that can be made, and its pages; without a root no pages."""
    made: list[Note] = []
    with suppress(Busy):  # somebody else is at it
        made = make_notes(keeper, project)
    files = render_memory(keeper, project, root, foreign=adopt) if root else []
    left = left_alone(Pages(keeper, project, root)) if root else {}
    return Saved([note.id for note in made], sum(bool(note.text) for note in made), files, left)


def root_of(keeper: Keeper, args: Namespace, session: str, folder: str) -> str:
    """The folder that a session's pages belong into: its own, or one that its project was seen in; empty when all of
    them are gone. Never another project's."""
    try:
        project = keeper.store.project_of(session)
    except NotSetUp:
        return ""  # nothing was ever read
    roots = keeper.store.roots(project)
    if args.project and project_of(keeper, args) != project:
        known = next(iter(roots), "another folder")
        raise KeeperError(f"Session {session[:8]} is not of {folder_of(args)}", hint=f"it is of {known}")
    there = (path for path in (folder, *roots) if path and os.path.isdir(path) and keeper.project(path) == project)
    return next(map(find_root, there), "")


def _handed_over(args: Namespace) -> tuple[Note, str]:
    """The session's handoff and where it can be read; a note without an id when it has said nothing yet, which must
    not keep the others from being saved."""
    try:
        return handoff.write(args)
    except NotSetUp:
        with Keeper(args.home) as keeper:
            if args.session or not keeper.store.counts(project_of(keeper, args))["events"]:
                raise
        return Note("", 0.0, "handoff", 0, "", ""), ""
