"""What is done as a program of its own, which can be killed: a change of a CLAUDE.md, a command."""

from __future__ import annotations

import sys

from memory_keeper.cli.main import main
from memory_keeper.errors import KeeperError
from memory_keeper.pages.claude_md import sync, unsync


def change(words: list[str]) -> None:
    """`sync|force|unsync FILE TEXT`."""
    what, path, text = words
    try:
        changed = unsync(path) if what == "unsync" else sync(path, text, force=what == "force")
        print(changed.changed)
    except KeeperError as error:
        sys.exit(f"memory-keeper: {error}")


def command(words: list[str]) -> None:
    """As it is typed."""
    main(words)
