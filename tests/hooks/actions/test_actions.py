"""The table of actions has what triggers ask for, and the page about hooks names modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import memory_keeper
from memory_keeper.hooks.actions import ACTIONS, AFTER_CATCH_UP, load
from memory_keeper.policy import TRIGGERS

SRC = Path(memory_keeper.__file__).parent
PAGE = Path(__file__).parents[3] / "docs/explanation/a-hook-from-payload-to-answer.md"


def test_every_action_of_a_trigger_can_be_performed_and_no_other() -> None:
    wanted = {(action.do, action.what) for _, _, action in TRIGGERS if action.do != "catch_up"}
    assert wanted == ACTIONS.keys()
    looks = {action.what for _, _, action in TRIGGERS if action.do == "catch_up"}
    assert looks - {""} == AFTER_CATCH_UP.keys()
    assert all(load(name) for name in (*ACTIONS.values(), *AFTER_CATCH_UP.values()))


def test_the_page_names_what_is_there() -> None:
    named = re.findall(r"`([a-z_/]+(?:\.py|/))`", PAGE.read_text(encoding="utf-8"))
    folders = [SRC, SRC / "hooks/actions", SRC / "jobs", PAGE.parents[2]]
    assert len(named) > 40
    assert not [name for name in named if not any((folder / name).exists() for folder in folders)]


def test_the_page_names_every_event_of_a_trigger() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert not {event for event, _, _ in TRIGGERS if f"| `{event}` |" not in page}
