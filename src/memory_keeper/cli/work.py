"""What several commands have done: new transcripts read, notes made, pages rendered."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from errno import EACCES, EROFS
from time import time
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs.files import Unwritable
from memory_keeper.cli.output import confirm, respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.config import find_root
from memory_keeper.errors import Busy
from memory_keeper.hooks.problems import describe
from memory_keeper.host.consent import by_a_person, in_a_session
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.pages.claude_md import sync_where_wanted
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.store.home import Lock
from memory_keeper.terminal import Bar, say_problem
from memory_keeper.text import clean, digest_of, one_line

PATIENCE = 60.0  # seconds for another process that writes notes


def catch_up(keeper: Keeper, projects: Iterable[str] | None = None) -> None:
    """Read what is new, of some projects or of all; while another process does it, or nothing can be written, what
    there is will do."""
    known = [()] if projects is None else map(keeper.behind, projects)
    behind = [grown for grown in known if grown is not None]
    if not behind:
        return
    with suppress(Busy):
        try:
            keeper.catch_up(source for grown in behind for source in grown)
        except OSError as error:
            if error.errno not in (EACCES, EROFS):
                raise


def make_notes(keeper: Keeper, project: str | None, force: bool = True) -> list[Note]:
    """Every note that can be made of a project, or of all, now; `force`: due or not."""
    total = keeper.store.counts(project)["pending"]
    with Lock(keeper.home, PATIENCE, "distil"), Bar("writing notes", total, bytes=False) as bar:
        return distil(keeper, time(), project, force, bar.advance, _complain)


def _complain(error: Exception) -> None:
    say_problem(f"a session could not be put into a note ({describe(error)})")


def render_memory(
    keeper: Keeper, project: str, folder: str, foreign: bool = False, imported: Collection[str] = ()
) -> list[str]:
    """Bring a project's pages for people up to date; those that were written. Whoever is at it already does it."""
    with suppress(Busy):
        try:
            return render(Pages(keeper, project, find_root(folder)), foreign, imported)
        except Unwritable as error:  # the notes are kept all the same
            say_problem(error, "setting tell.files false goes without such files")
    return []


def write_down(keeper: Keeper, kind: str, project: str, text: str, **about: str) -> Note:
    """Keep a new note, under the lock: the user's, or where a session's model may have written it, a model's."""
    now, model = time(), in_a_session(keeper.home)
    extra = wire.dumps({"by": "model" if model else "user", "written": now, **about})
    id, session = "note-" + digest_of(project, kind, text, repr(now)), session_here() if model else ""
    note = Note(id, now, kind, 0, project, text, session, measure(text), extra, who="" if model else "user")
    keeper.writer.add(note)
    return note


def session_here() -> str:
    """The session of Claude Code that this runs in."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def changed(args: Namespace, keeper: Keeper, words: str, **about: Any) -> int:
    """Bring the project's pages up to date and the block in CLAUDE.md where the user wants that; say what was done."""
    if not args.project or os.path.isdir(args.project):  # of a project that was imported there need not be one
        refresh(keeper, project_of(keeper, args), folder_of(args))
    return respond(args, about, words)


def refresh(keeper: Keeper, project: str, folder: str) -> None:
    """Bring a project's pages up to date, and the block in CLAUDE.md where the user wants that."""
    render_memory(keeper, project, folder)
    for problem in sync_where_wanted(keeper, folder):
        say_problem(problem)


def remove(args: Namespace, keeper: Keeper, id: str, text: str, noun: str, act: Callable[[], Any], **about: Any) -> int:
    """Take one away once a person has said so. What it said stays in the store."""
    shown = one_line(clean(text), 120)
    if args.dry_run:
        return respond(args, {"would_remove": {"id": id, "text": text, **about}}, f"would take away {id}: {shown}")
    by_a_person(args, f"take {noun} away")
    confirm(args, f"Take away: {shown}\n", "--yes takes it away without a question")
    act()
    words = f"Taken away: {id}. `memory-keeper show {about.get('note', id)}` gives what it said."
    return changed(args, keeper, words, id=id, **about, removed=True)
