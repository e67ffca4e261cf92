"""Whether it is a person who runs a command, and no model: what a model runs in the host's shell has no say here.

The host says in the environment of what it starts that it did so. Who takes that out has not taken it out of the shell
above us, so the processes between us and a host that our hooks know are asked as well.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from memory_keeper.capture.host import born
from memory_keeper.config import INSIDE_HOST
from memory_keeper.errors import KeeperError
from memory_keeper.host.process import read_ancestors
from memory_keeper.store import spool
from memory_keeper.store.context import read_context


def in_a_session(home: str) -> bool:
    """Whether Claude Code has started this process, or one above it."""
    if any(name in os.environ for name in INSIDE_HOST):
        return True
    above = read_ancestors(os.getpid())
    contexts = (read_context(home, session) for session in spool.names(home))
    hosts = {
        context.pid
        for context in contexts
        if context.pid in above and context.born and born(context.pid) == context.born
    }
    beneath = above[: min(above.index(pid) for pid in hosts)] if hosts else []
    return any(_was_told(pid) for pid in beneath)


def _was_told(pid: int) -> bool:
    """Whether a process was started with the host's word in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = {variable.partition(b"=")[0].decode("utf-8", "replace") for variable in file.read().split(b"\0")}
    except OSError:
        return False
    return bool(names & {*INSIDE_HOST})


def outside_a_session(home: str, what: str) -> None:
    """KeeperError where Claude Code, and so its model, may have started this."""
    if in_a_session(home):
        raise KeeperError(
            f"Only you can {what}, and this runs in a session of Claude Code, where its model could run it as well",
            hint="run it in a terminal of your own",
        )


def by_a_person(args: Namespace, what: str) -> None:
    """KeeperError unless a person can be asked at a terminal, or has said --yes outside of any session."""
    outside_a_session(args.home, what)
    if not getattr(args, "yes", False) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KeeperError(f"Only you can {what}, and there is no terminal to ask you at", hint="add --yes")
