"""What a project is called, for people: its folder, or the name of its remote; programs get its key."""

from __future__ import annotations

from memory_keeper.model import APART, USER
from memory_keeper.store.store import Store


def project_name(store: Store, key: str) -> str:
    """The folder of a project, of several the outermost; of one that has a remote elsewhere, what that is called."""
    if key == USER:
        return "all projects"
    if key.startswith(APART):
        return f"{project_name(store, key.removeprefix(APART))} (imported)"
    kind, _, name = key.partition(":")
    folders = store.roots(key) if kind == "root" or name.startswith("/") else []
    return folders[-1] if folders else name
