"""What was changed on the pages of rules and observations: nothing is missed, and what was taken over is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_keeper.briefs.edits import Change, Kept, changes
from memory_keeper.briefs.files import ACTIVE_RULES, OBSERVATIONS
from memory_keeper.briefs.memory import parse
from memory_keeper.briefs.pages import texts
from memory_keeper.briefs.rules import rules_of
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule
from memory_keeper.pages.adopt import adopt_rules
from memory_keeper.rules.observations import Observed
from tests.briefs.test_observations import seen
from tests.pages.desk import Desk

LINE = st.text(st.characters(codec="utf-8"), max_size=60)
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.keeper.close()


def wait(desk: Desk) -> list[str]:
    return desk.pages.waiting()


@SLOW
@given(LINE)
def test_whatever_a_rule_says_a_page_that_was_only_saved_again_says_nothing_new(desk: Desk, text: str) -> None:
    add_rule(desk.keeper, desk.project, text)
    desk.render()
    for path in desk.folder.glob("*.md"):
        path.write_bytes(path.read_bytes())  # its time is another one now
    assert wait(desk) == []


@SLOW
@given(st.lists(LINE, max_size=4), st.sampled_from(["", "- ", "## ", "## Rule #3\n\n", "> ", "    ", "```\n"]))
def test_whatever_is_written_there_is_taken_over_once(desk: Desk, lines: list[str], before: str) -> None:
    add_rule(desk.keeper, desk.project, "No tabs.")
    desk.render()
    page = desk.folder / ACTIVE_RULES
    page.write_text(page.read_text() + "".join(f"{before}{line}\n" for line in lines), errors="replace")
    edited = bool(wait(desk))
    assert bool(adopt_rules(desk.pages, False)) == edited
    assert wait(desk) == []
    desk.render()
    assert wait(desk) == []
    assert desk.render() == []


def found_in(keeper: Keeper, desk: Desk, name: str, old: str, new: str, *observed: Observed) -> list[Change]:
    """What is found on a page in which something was replaced."""
    made = texts(keeper.store, desk.project, keeper.salt, {"rules.shipped": True}, observed)
    kept = Kept(keeper.store, rules_of(keeper.store, desk.project), observed)
    assert old in made[name]
    return list(changes({name: parse(made[name].replace(old, new))}, (), kept))


def test_a_section_that_stands_there_twice_is_that_rule_and_another(desk: Desk) -> None:
    rule = add_rule(desk.keeper, desk.project, "No tabs.")
    copy = f"<!-- memory-keeper {rule.id}, yours -->\nNo blanks.\n\n<!-- memory-keeper end"
    found = found_in(desk.keeper, desk, ACTIVE_RULES, "<!-- memory-keeper end", copy)
    assert list(map(str, found)) == ["added: No blanks."]


def test_a_rule_among_the_observations_is_one(desk: Desk) -> None:
    rule = add_rule(desk.keeper, desk.project, "No tabs.")
    note = desk.add("It is slow", "observation", 0)
    one = seen(note.id, "It is slow", 1, "open", "2026-04-04", project=desk.project)
    moved = f"<!-- memory-keeper {rule.id}, yours -->\nNo tabs.\n\n<!-- memory-keeper end"
    found = found_in(desk.keeper, desk, OBSERVATIONS, "<!-- memory-keeper end", moved, one)
    assert list(map(str, found)) == ["added: No tabs. (observation)"]


def test_a_page_that_was_cut_off_takes_nothing_away(desk: Desk) -> None:
    add_rule(desk.keeper, desk.project, "No tabs.")
    desk.render()
    desk.edit(lambda text: text[: text.index("## Rule #1")], ACTIVE_RULES)
    assert wait(desk) == []
