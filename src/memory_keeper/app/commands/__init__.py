"""The commands, one file each: `configure(parser)` and `run(args) -> exit code`."""

from __future__ import annotations

import os
from argparse import Namespace

from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper


def project_of(keeper: Keeper, args: Namespace) -> str:
    """The project a command is about."""
    directory = args.project or os.getcwd()
    if not os.path.isdir(directory):
        raise KeeperError(f"{directory} is not a directory", hint="--project takes a directory")
    return keeper.project(directory)


def session_of(keeper: Keeper, given: str) -> str:
    """The session a user named, by all of its id or by the beginning that every screen shows."""
    session = keeper.store.session(given) if given else ""
    if given and not session:
        raise KeeperError(f"No session, or more than one, is called {given}", hint="`memory-keeper status` lists them")
    return session
