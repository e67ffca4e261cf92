"""The files in a project that people read and edit.

`reading` says what stands in them and whose it is, `adopt` makes notes of what people changed, `render` writes them
from notes, and `claude_md` puts rules into a file of the user's own. All of them lie in a `Place`.
"""

from __future__ import annotations

from functools import cached_property
from time import time

from memory_keeper import config
from memory_keeper.briefs.files import is_hosts
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json


class Place:
    """Where the pages of a project lie: one of its folders, at a time."""

    def __init__(self, keeper: Keeper, project: str, root: str, now: float = 0.0) -> None:
        self.keeper, self.project, self.root, self.now = keeper, project, root, now or time()

    @cached_property
    def settings(self) -> Json:
        """Those of the folder."""
        return config.load(self.keeper.home, self.root, self.keeper.environ)[0]

    @property
    def are_wanted(self) -> bool:
        """Whether the project is to have pages."""
        return bool(self.root) and self.settings["tell.files"] and not is_hosts(self.root, self.keeper.environ)
