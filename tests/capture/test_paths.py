"""A path is told as the people of a project say it, and never leads out of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.project import from_root, short_path
from tests.rows import rows

ROOTS = ("/p/.worktrees/alex/feature", "/p/sub", "/p")


@rows("path", "seen")
def test_a_path_as_seen_from_the_project(path: str, seen: str) -> None:
    assert from_root(path, ROOTS) == seen
    assert short_path(path, ROOTS) == (seen or path)


@given(st.text("/.p\0a", max_size=12), st.sampled_from(["", "/p/", "./", "/p/.worktrees/x/"]))
def test_no_path_leads_out(path: str, begin: str) -> None:
    inside = from_root(begin + path, ("/p",))
    assert not inside or (".." not in inside.split("/") and not inside.startswith("/") and "\0" not in inside)
