"""When a context is compacted by us between two turns, and what may take its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.policy import COMPACTED, LINE, compaction_is_due, compacts_at, compacts_from, shares
from memory_keeper.request import Limits
from memory_keeper.settings import DEFAULTS, SETTINGS


def having(mode: str = "replace", threshold: int = 100_000, enabled: bool = True) -> dict[str, Any]:
    return {
        **DEFAULTS,
        "compaction.mode": mode,
        "compaction.triggers.sessionTokens.threshold": threshold,
        "compaction.triggers.sessionTokens.enabled": enabled,
    }


@pytest.mark.parametrize(
    ("tokens", "left", "boundary", "due"),
    [
        (99_999, 0, True, False),
        (100_000, 0, True, True),
        (100_000, 0, False, False),  # a task is in the middle
        (149_999, 0, False, False),
        (150_000, 0, False, True),  # for too long
        (120_000, 25_000, True, True),
        (120_000, 61_000, True, False),  # what always comes back: compacting would not help
        (122_000, 61_000, True, True),
        (150_000, 99_000, False, False),
    ],
)
def test_when_it_is_due(tokens: int, left: int, boundary: bool, due: bool) -> None:
    assert compaction_is_due(tokens, left, having(), boundary) == due


@pytest.mark.parametrize("mode", ["supplement", "clear", "block"])
def test_only_one_mode_compacts(mode: str) -> None:
    assert not compaction_is_due(900_000, 0, having(mode), True)


@pytest.mark.parametrize(("enabled", "threshold", "begins"), [(False, 100_000, 0), (True, 50_000, 50_000)])
def test_the_profiles(enabled: bool, threshold: int, begins: int) -> None:
    settings = having(enabled=enabled, threshold=threshold)
    assert compacts_from(settings) == begins
    assert compaction_is_due(900_000, 0, settings, True) == bool(begins)


@given(st.integers(0, 100_000_000), st.integers(0, SETTINGS["compaction.keepTokens"].most))
def test_whatever_the_settings_both_have_room_and_no_more(handoff: int, keep: int) -> None:
    settings = {**having(), "tell.handoffBudget": handoff, "compaction.keepTokens": keep}
    handed, kept = shares(settings)
    assert handed >= 500 and kept >= 300
    assert handed + kept + LINE <= COMPACTED


def test_the_usual_shares() -> None:
    assert shares(having()) == (DEFAULTS["tell.handoffBudget"], DEFAULTS["compaction.keepTokens"])
    assert SETTINGS["compaction.triggers.sessionTokens.threshold"].least == 20_000


@pytest.mark.parametrize(
    ("settings", "host", "tended", "at"),
    [
        (having(), 167_000, True, 100_000),
        (having(), 167_000, False, 167_000),
        (having(threshold=180_000), 167_000, True, 167_000),
        (having(), 0, True, 100_000),
        (having(enabled=False), 0, True, 0),
        (having("supplement"), 167_000, True, 167_000),
    ],
)
def test_where_it_is_compacted_first(settings: dict[str, Any], host: int, tended: bool, at: int) -> None:
    assert compacts_at(Limits(200_000, host, 0), settings, tended) == at
