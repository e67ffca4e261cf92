"""The handoffs that the pages show: as anybody would have recorded them, every line once and with its source."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from docs.sessions import EXAMPLES, MOMENT, SHORT, Steady
from docs.stories import STORIES, TOLD
from memory_keeper.text import tokens

PAGES = sorted(path for path in EXAMPLES.iterdir() if path.is_file())
HANDOFFS = [EXAMPLES / f"{name}.md" for name in STORIES]


def lines(handoff: str) -> list[str]:
    """Its items; what came of a request stands below it, and the source of it all behind that."""
    items = handoff.replace("\n  ", " ").splitlines()
    return [line for line in items if line.startswith(("- ", "| "))]


def test_the_pages_have_their_handoffs() -> None:
    assert sorted([*HANDOFFS, EXAMPLES / f"{TOLD}-{SHORT}.txt"]) == PAGES
    page = (EXAMPLES.parent / "explanation/handoffs.md").read_text(encoding="utf-8")
    assert all(f"../examples/{path.name}" in page for path in HANDOFFS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_handoff_shows_nothing_of_this_machine_and_no_line_twice(path: Path) -> None:
    handoff = path.read_text(encoding="utf-8")
    assert not re.search(r"/tmp|/home|/root|mk-\w{8}", handoff)
    bare = re.compile(r"[-|] (?:Folder: |\S+/ )")  # the host's own words, and a second line of files
    cited = [line for line in lines(handoff) if not bare.match(line)]
    small = path.suffix == ".txt"  # it has no room for ids
    assert cited and all(small or re.search(r" \[[\w:-]+\]$", line) for line in cited)
    said = Counter(re.sub(r" \[[\w:-]+\]$", "", line) for line in lines(handoff))
    assert not [line for line, times in said.items() if times > 1]


def test_a_small_budget_is_kept_to() -> None:
    assert tokens((EXAMPLES / f"{TOLD}-{SHORT}.txt").read_text(encoding="utf-8")) <= SHORT


def test_what_differs_between_recordings_is_made_the_same() -> None:
    said = "at: 2031-01-01T00:00:01Z\nRan 2 tests in 0.123s in /tmp/mk-abc/home/shop [{0}] [{0}:1] [{1}] handoff-{2}\n"
    first, second = (
        Steady(Path("/tmp/mk-abc/home"), "x")(said.format(*ids))
        for ids in (("0" * 8, "1" * 8, "2" * 12), ("a" * 8, "b" * 8, "c" * 12))
    )
    assert first == second
    assert MOMENT in first and "~/shop" in first and "2031" not in first and "0.123" not in first
    one, again, other = re.findall(r"\[(\w{8})", first)
    assert one == again != other
