"""When a context is compacted by us between two turns, and what may take its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.config import DEFAULTS, LEAST, LEAST_TOKENS, MOST
from memory_keeper.model import Limits
from memory_keeper.policy import COMPACTED, LINE, compaction_is_due, compaction_is_near, compacts_from, shares

LARGE, SMALL = Limits(1_000_000, 967_000), Limits(200_000, 167_000)


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
    assert not compaction_is_near(900_000, LARGE, having(mode))


@pytest.mark.parametrize(("enabled", "threshold", "begins"), [(False, 100_000, 0), (True, 50_000, 50_000)])
def test_the_profiles(enabled: bool, threshold: int, begins: int) -> None:
    settings = having(enabled=enabled, threshold=threshold)
    assert compacts_from(settings) == begins
    assert compaction_is_due(900_000, 0, settings, True) == bool(begins)


@pytest.mark.parametrize(
    ("tokens", "limits", "enabled", "near"),
    [
        (59_999, LARGE, True, False),
        (60_000, LARGE, True, True),
        (100_000, SMALL, False, False),
        (100_200, SMALL, False, True),
        (900_000, Limits(), False, False),
    ],
)
def test_when_the_handoff_is_made_ready(tokens: int, limits: Limits, enabled: bool, near: bool) -> None:
    assert compaction_is_near(tokens, limits, having(enabled=enabled)) == near


@given(st.integers(0, 100_000_000), st.integers(0, MOST["compaction.keepTokens"]))
def test_whatever_the_settings_both_have_room_and_no_more(handoff: int, keep: int) -> None:
    settings = {**having(), "tell.handoffBudget": handoff, "compaction.keepTokens": keep}
    handed, kept = shares(settings)
    assert handed >= 500 and kept >= 300
    assert handed + kept + LINE <= COMPACTED


def test_the_usual_shares() -> None:
    assert shares(having()) == (DEFAULTS["tell.handoffBudget"], DEFAULTS["compaction.keepTokens"])
    assert LEAST[LEAST_TOKENS] == 20_000
