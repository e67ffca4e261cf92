"""The settings in force in projects, for whoever works on several."""

from __future__ import annotations

from memory_keeper import config
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json


class Settings:
    """The settings in force in each project, read once."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.known: dict[str, Json] = {}

    def of(self, project: str) -> Json:
        """Those of a project: of the folder it was last worked on in."""
        if project not in self.known:
            root = self.keeper.root_of(project) or next(iter(self.keeper.store.roots(project)), "")
            self.known[project] = config.load(self.keeper.home, root, self.keeper.environ)[0]
        return self.known[project]
