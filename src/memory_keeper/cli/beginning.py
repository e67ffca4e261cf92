"""What to do where nothing is kept yet."""

from __future__ import annotations

import os
from argparse import Namespace

from memory_keeper.cli.scope import root_of
from memory_keeper.errors import NotSetUp
from memory_keeper.host.registration import claude_folder, installed_at
from memory_keeper.imports import glance


def nothing_kept(args: Namespace) -> NotSetUp:
    """That nothing is kept, and what brings the first of it: only what is installed begins with a session."""
    there = installed_at(claude_folder())
    first = "it begins with the next session" if there else "run `memory-keeper install` and start Claude Code"
    older = glance(root_of(args), dict(os.environ))
    known = "".join(f", or `memory-keeper import {tool}`: {counted}" for tool, counted in older.items())
    return NotSetUp("Nothing is kept yet", hint=f"{first}, or `memory-keeper import transcripts`{known}")
