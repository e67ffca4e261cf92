"""Which folder, project and session a command is about."""

from __future__ import annotations

import os
from argparse import Namespace

from memory_keeper import config
from memory_keeper.capture.host import born
from memory_keeper.capture.payload import safe_name
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import APART, Json, Scope
from memory_keeper.request import Context
from memory_keeper.store import spool
from memory_keeper.store.context import read_context


def folder_of(args: Namespace) -> str:
    """The directory a command is about."""
    directory = args.project or os.getcwd()
    if not os.path.isdir(directory):
        raise KeeperError(f"{directory} is not a directory", hint="--project takes a directory")
    return os.path.abspath(directory)


def project_of(keeper: Keeper, args: Namespace) -> str:
    """The project a command is about; a directory that is gone, or another machine's, may be known all the same."""
    gone = "dir:" + os.path.abspath(args.project) if args.project and not os.path.isdir(args.project) else ""
    known = keeper.store.project(gone) if gone else keeper.project(folder_of(args))
    store, beside = keeper.store, APART + (known or gone)
    if store.recent_sources(beside, 1) and not (known and (store.sessions(known, 1) or store.notes(known, limit=1))):
        return beside  # all that is known of it came in from elsewhere
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


def runs(context: Context) -> bool:
    """Whether the process of a session is still there."""
    return not context.ended and bool(context.born) and born(context.pid) == context.born


def _sessions_here(keeper: Keeper, args: Namespace) -> list[tuple[bool, float, str]]:
    """The sessions of this project that have a spool: whether they run, when something last happened, their id."""
    root = config.find_root(folder_of(args))
    found = []
    for name in spool.names(keeper.home):
        context = read_context(keeper.home, name)
        if context.folder and config.find_root(context.folder) == root:
            found.append((runs(context), os.lstat(spool.path_of(keeper.home, name)).st_mtime, name))
    return sorted(found, reverse=True)


def _newest(keeper: Keeper, args: Namespace) -> str:
    """The session of this project that runs, else that hooks told of last."""
    here = _sessions_here(keeper, args)
    if here:
        return here[0][2]
    known = keeper.store.sessions(project_of(keeper, args), 1)
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


def root_of(args: Namespace) -> str:
    """The root of the folder that a command is about; empty when that is gone."""
    return config.find_root(folder_of(args)) if os.path.isdir(args.project or os.getcwd()) else ""


def settings_of(args: Namespace) -> Json:
    """The settings that hold for the project that a command is about."""
    return config.load(args.home, config.find_root(args.project or os.getcwd()), config.environment())[0]


def scope_of(keeper: Keeper, args: Namespace) -> Scope:
    """This project, or all."""
    return Scope(project=None if args.all_projects else project_of(keeper, args))
