"""Paths as the people of a project say them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# a worktree below the project that is gone: its files are the project's
WORKTREE = re.compile(r"^(?:\.claude/worktrees|\.worktrees)/[^/]+/(?=.)")


def from_root(path: str, roots: Sequence[str]) -> str:
    """A path as seen from the project; empty when it lies elsewhere. The roots are the deepest first."""
    if path.startswith("/"):
        path = next((path[len(root) + 1 :] for root in roots if root and path.startswith(root + "/")), "")
    inside = WORKTREE.sub("", path.removeprefix("./")).lstrip("/")
    return "" if ".." in inside.split("/") or "\0" in inside else inside


def short_path(path: str, roots: Sequence[str]) -> str:
    """A path as seen from the project; one that lies elsewhere as it is."""
    return from_root(path, roots) or path
