"""A path is told as the people of a project say it, and never leads out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.project import from_root, short_path

ROOTS = ("/p/.worktrees/alex/feature", "/p/sub", "/p")


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/p/src/a.py", "src/a.py"),
        ("/p/sub/a.py", "a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("/p/.worktrees/4/src/a.py", "src/a.py"),
        ("/p/.claude/worktrees/quick-fox/src/a.py", "src/a.py"),
        ("/p/.worktrees/alex/feature/src/a.py", "src/a.py"),
        ("/p/.worktrees/notes.md", ".worktrees/notes.md"),
        ("/p/docs/.worktrees/4/a.py", "docs/.worktrees/4/a.py"),
        ("/pq/a.py", ""),
        ("/elsewhere/a.py", ""),
        ("/p/../a.py", ""),
        ("", ""),
    ],
)
def test_a_path_as_seen_from_the_project(path: str, seen: str) -> None:
    assert from_root(path, ROOTS) == seen
    assert short_path(path, ROOTS) == (seen or path)


@given(st.text("/.p\0a", max_size=12), st.sampled_from(["", "/p/", "./", "/p/.worktrees/x/"]))
def test_no_path_leads_out(path: str, begin: str) -> None:
    inside = from_root(begin + path, ("/p",))
    assert not inside or (".." not in inside.split("/") and not inside.startswith("/") and "\0" not in inside)
