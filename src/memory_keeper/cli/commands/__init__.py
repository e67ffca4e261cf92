"""The commands, one file each: `configure(parser)` and `run(args) -> exit code`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable
from contextlib import suppress
from errno import EACCES, EROFS
from time import time

from memory_keeper.briefs.files import Unwritable
from memory_keeper.capture.host import born
from memory_keeper.capture.payload import safe_name
from memory_keeper.config import find_root
from memory_keeper.dates import ALLOWED, read_when
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.hooks.problems import describe
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.by_id import session_of
from memory_keeper.model import Note
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.request import Context
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.home import Lock
from memory_keeper.terminal import Bar, say_problem, wrapped

PATIENCE = 60.0  # seconds for another process that writes notes


def positive(said: str) -> int:
    """A number of things, for a parser."""
    if not said.isdecimal() or int(said) < 1:
        raise ArgumentTypeError(f"{said!r} is not a number above 0")
    return int(said)


def since(given: str) -> float:
    """When a time begins, for a parser."""
    return _time(given, end=False)


def until(given: str) -> float:
    """When a time is over, for a parser."""
    return _time(given, end=True)


def _time(given: str, end: bool) -> float:
    try:
        return read_when(given, time(), end)
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is not {ALLOWED}") from None


def folder_of(args: Namespace) -> str:
    """The directory a command is about."""
    directory = args.project or os.getcwd()
    if not os.path.isdir(directory):
        raise KeeperError(f"{directory} is not a directory", hint="--project takes a directory")
    return os.path.abspath(directory)


def project_of(keeper: Keeper, args: Namespace) -> str:
    """The project a command is about; a directory that is gone, or another machine's, may be known all the same."""
    gone = args.project and not os.path.isdir(args.project)
    known = keeper.store.project("dir:" + os.path.abspath(args.project)) if gone else ""
    return known or keeper.project(folder_of(args))


def known_project(keeper: Keeper, args: Namespace) -> str:
    """The project a command is about; empty where nothing was ever kept."""
    try:
        return project_of(keeper, args)
    except NotSetUp:
        return ""


def running_session(keeper: Keeper, args: Namespace) -> tuple[str, Context]:
    """The session a command is about, and its context: the one named, the one that runs it, else the newest here."""
    given = args.session or os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if given:
        live = [name for name in spool.names(keeper.home) if name.startswith(safe_name(given))]
        session = live[0] if len(live) == 1 else session_of(keeper, given)
    else:
        session = _newest(keeper, args)
    return session, _placed(keeper, session, read_context(keeper.home, session), args)


def live_sessions(keeper: Keeper, args: Namespace) -> list[str]:
    """The sessions of this project whose process still runs; the one that hooks told of last comes first."""
    return [name for alive, _, name in _sessions_here(keeper, args) if alive]


def _sessions_here(keeper: Keeper, args: Namespace) -> list[tuple[bool, float, str]]:
    """The sessions of this project that have a spool: whether they run, when something last happened, their id."""
    root = find_root(folder_of(args))
    found = []
    for name in spool.names(keeper.home):
        context = read_context(keeper.home, name)
        if context.folder and find_root(context.folder) == root:
            runs = not context.ended and bool(context.born) and born(context.pid) == context.born
            found.append((runs, os.lstat(spool.path_of(keeper.home, name)).st_mtime, name))
    return sorted(found, reverse=True)


def _newest(keeper: Keeper, args: Namespace) -> str:
    """The session of this project that runs, else that hooks told of last."""
    here = _sessions_here(keeper, args)
    if here:
        return here[0][2]
    try:
        known = keeper.store.sessions(project_of(keeper, args), 1)
    except NotSetUp:
        known = []
    if not known:
        raise NotSetUp("No session of this project is known", hint="run it inside a session, or give --session ID")
    return known[0].id


def _placed(keeper: Keeper, session: str, context: Context, args: Namespace) -> Context:
    """A context with its transcript and folder, for a session whose hooks left nothing."""
    if not context.transcript:
        try:
            context = context._replace(transcript=keeper.store.transcript(session))
        except NotSetUp:
            pass
    return context if context.folder else context._replace(folder=folder_of(args))


def catch_up(keeper: Keeper, projects: Iterable[str]) -> None:
    """Read what is new of some projects; while another process does it, or nothing can be written, what there is will
    do."""
    behind = [grown for project in projects if (grown := keeper.behind(project)) is not None]
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


def render_memory(keeper: Keeper, project: str, folder: str, foreign: bool = False) -> list[str]:
    """Bring a project's pages for people up to date; those that were written. Whoever is at it already does it."""
    with suppress(Busy):
        try:
            return render(Pages(keeper, project, find_root(folder)), foreign)
        except Unwritable as error:  # the notes are kept all the same
            say_problem(error, "setting tell.files false goes without such files")
    return []


def confirm(args: Namespace, question: str, hint: str) -> None:
    """Go on only with `--yes`, or when the person at the terminal is sure."""
    if not args.yes and not is_sure(question):
        raise KeeperError("Nothing was changed", hint=hint)


def is_sure(question: str) -> bool:
    """Whether the person at the terminal says yes; nobody there says no, and so does who ends the input (Ctrl-D)."""
    if not sys.stdin or not sys.stdin.isatty():
        return False
    try:
        said = input(wrapped(question + " " * (not question.endswith("\n")) + "Type yes:") + " ")
    except EOFError:
        print()  # what is said next begins a line
        return False
    return said.strip().lower() in ("y", "yes")
