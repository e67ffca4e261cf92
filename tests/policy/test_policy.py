"""What is done at which moment, and how full is full."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.policy import (
    BEGINS,
    FADES,
    LEVELS,
    MEANINGS,
    TRIGGERS,
    UNCOUNTED,
    clear_is_due,
    decide,
    level,
    passed,
    reminder_is_due,
    thresholds,
)
from memory_keeper.request import Action, Limits, Status
from memory_keeper.settings import DEFAULTS
from tests.rows import rows

LOOK, TELL, WARN, SAVE, REFUSE = (
    Action("catch_up"),
    Action("tell", "start"),
    Action("warn"),
    Action("save"),
    Action("refuse"),
)
RULES = Action("tell", "rules")
SETTLE, LEAVE = Action("catch_up", "settle"), Action("catch_up", "save")
INSTRUCT, SCORE = Action("instruct"), Action("score")
QUIET, GROWN = Status(resident=False, grown=False), Status(resident=False, grown=True)
RESIDENT = Status(resident=True, grown=False)
EACH = pytest.mark.parametrize("status", [QUIET, GROWN, RESIDENT])
LATER = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop")
# what only a server looks up
RECALL = {"UserPromptSubmit": [Action("tell", "recall")], "PostToolUseFailure": [Action("tell", "fix")]}
# and what every prompt brings
ALWAYS = {"UserPromptSubmit": [RULES]}
SMALL, LARGE, REACTIVE, OFF = (
    Limits(200_000, 167_000),
    Limits(1_000_000, 967_000),
    Limits(200_000, 200_000),
    Limits(200_000, 0, 177_000),
)


def having(**settings: Any) -> dict[str, Any]:
    return {**DEFAULTS, **{name.replace("_", "."): value for name, value in settings.items()}}


def test_every_trigger_can_be_read_by_a_stranger() -> None:
    assert {action for _, _, action in TRIGGERS} == MEANINGS.keys()
    assert all(when.__doc__ for _, when, _ in TRIGGERS)


# --- moments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", "", "tomorrow"])
@EACH
def test_a_beginning_context_is_told(status: Status, source: str) -> None:
    rules = [RULES] if source == "compact" else []  # else the first prompt brings them
    assert decide("SessionStart", status._replace(source=source)) == [TELL, *rules]


@pytest.mark.parametrize("event", LATER)
def test_a_command_hook_starts_a_process_only_now_and_then(event: str) -> None:
    assert decide(event, QUIET) == ALWAYS.get(event, [])
    assert decide(event, GROWN) == [LOOK, *ALWAYS.get(event, [])]


@pytest.mark.parametrize("event", LATER)
def test_a_resident_keeper_always_looks(event: str) -> None:
    assert decide(event, RESIDENT) == [LOOK, *ALWAYS.get(event, []), *RECALL.get(event, [])]


@EACH
def test_before_anything_is_lost_it_is_saved(status: Status) -> None:
    assert decide("PreCompact", status) == [SAVE, INSTRUCT]
    assert decide("PostCompact", status) == [SCORE, LOOK]
    assert decide("SessionEnd", status) == [LEAVE]


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse"])
def test_a_level_that_nobody_was_told_of_is_told(event: str) -> None:
    rules = ALWAYS.get(event, [])
    assert decide(event, QUIET._replace(passed=("warn",))) == [*rules, WARN]
    assert decide(event, RESIDENT._replace(passed=("handoff",))) == [LOOK, *rules, WARN, *RECALL.get(event, [])]


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "SessionStart", "SessionEnd"])
def test_where_nobody_would_hear_it_nothing_is_said(event: str) -> None:
    assert WARN not in decide(event, RESIDENT._replace(passed=("critical",)))


@pytest.mark.parametrize(("mode", "clears"), [("supplement", False), ("clear", True), ("block", True)])
def test_the_end_of_a_turn_settles_what_clears_by_itself(mode: str, clears: bool) -> None:
    assert (SETTLE in decide("Stop", QUIET._replace(mode=mode))) == clears
    assert len(decide("Stop", QUIET._replace(mode=mode, resident=True))) == 1, "each look may be a process"
    assert SETTLE not in decide("SubagentStop", QUIET._replace(mode=mode))


@pytest.mark.parametrize("mode", ["supplement", "clear", "block"])
@pytest.mark.parametrize("trigger", ["auto", "manual", ""])
@pytest.mark.parametrize("blocked", [False, True])
def test_a_compaction_is_refused_once_and_never_the_user_s_own(mode: str, trigger: str, blocked: bool) -> None:
    status = QUIET._replace(mode=mode, source=trigger, blocked=blocked)
    refused = mode == "block" and trigger == "auto" and not blocked
    assert decide("PreCompact", status) == [SAVE, REFUSE if refused else INSTRUCT]


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse"])
def test_what_a_compaction_lost_is_told_when_its_beginning_told_nothing(event: str) -> None:
    assert decide(event, QUIET._replace(untold=True)) == [Action("tell", "lost"), *ALWAYS.get(event, [])]
    assert decide("Stop", QUIET._replace(untold=True)) == []


@pytest.mark.parametrize("event", ["PreToolUse", "Notification", "", "Tomorrow", "*"])
def test_nothing_happens_at_other_moments(event: str) -> None:
    assert decide(event, RESIDENT._replace(passed=LEVELS, mode="block", source="auto")) == []


def test_every_hook_of_the_contract_has_a_row() -> None:
    events = {*LATER, "SessionStart", "SubagentStart", "PreCompact", "PostCompact", "SessionEnd"}
    assert {event for event, _, _ in TRIGGERS} == events


def test_a_subagent_is_told_the_rules_by_a_server_alone() -> None:
    assert decide("SubagentStart", QUIET) == []
    assert decide("SubagentStart", RESIDENT) == [RULES]


def test_only_known_things_are_asked_for() -> None:
    assert {action.do for _, _, action in TRIGGERS} == {
        *("catch_up", "tell", "warn", "save", "refuse", "instruct", "score"),
    }


# --- levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "settings", "warn", "critical"),
    [
        (SMALL, {}, 140_000, 158_650),
        (REACTIVE, {}, 140_000, 160_000),
        (LARGE, {}, 700_000, 800_000),
        (OFF, {}, 140_000, 160_000),
        (Limits(1_000_000, 67_000), {}, 60_300, 63_650),
        (SMALL, {"context_warnPercent": 50, "context_criticalPercent": 60}, 100_000, 120_000),
        (SMALL, {"context_warnPercent": 95, "context_criticalPercent": 99}, 150_300, 158_650),
        (LARGE, {"context_warnTokens": 100_000, "context_criticalTokens": 150_000}, 100_000, 150_000),
        (SMALL, {"context_warnTokens": 190_000, "context_criticalTokens": -1}, 140_000, 158_650),
        (Limits(), {"context_warnTokens": 100_000, "context_criticalTokens": 150_000}, 100_000, 150_000),
    ],
)
def test_where_the_levels_are(limits: Limits, settings: dict[str, Any], warn: int, critical: int) -> None:
    assert thresholds(limits, having(**settings)) == {"handoff": 100_000, "warn": warn, "critical": critical}


def test_of_an_unknown_window_only_numbers_are_known() -> None:
    assert thresholds(Limits(), DEFAULTS) == {"handoff": 100_000}
    assert level(900_000, Limits(), DEFAULTS) == "unknown"
    assert level(900_000, Limits(), having(context_warnTokens=5)) == "warn"
    assert level(4, Limits(), having(context_warnTokens=5)) == "ok"


def test_the_threshold_can_be_moved_or_switched_off() -> None:
    settings = having(compaction_triggers_sessionTokens_threshold=30_000)
    assert passed(30_000, LARGE, settings) == ["handoff"]
    settings = having(compaction_triggers_sessionTokens_enabled=False)
    assert passed(699_999, LARGE, settings) == []


@rows("tokens", "reached", "word")
def test_how_full_is_full(tokens: int, reached: list[str], word: str) -> None:
    assert passed(tokens, SMALL, DEFAULTS) == reached
    assert level(tokens, SMALL, DEFAULTS) == word


PERCENT = st.integers(1, 200)


@given(st.integers(0, 1_100_000), st.sampled_from([200_000, 1_000_000]), st.integers(67_000, 967_000), PERCENT, PERCENT)
def test_nobody_is_warned_later_than_shortly_before_the_compaction(
    tokens: int, window: int, at: int, warn: int, critical: int
) -> None:
    limits = Limits(window, min(at, window))
    settings = having(context_warnPercent=warn, context_criticalPercent=critical)
    marks = thresholds(limits, settings)
    assert marks["warn"] <= 0.9 * limits.compacts_at
    assert marks["critical"] <= 0.95 * limits.compacts_at
    reached = passed(tokens, limits, settings)
    assert reached == [one for one in LEVELS if tokens >= marks[one]]


# --- clearing ---------------------------------------------------------------------------------------------------------


@rows("mode", "tokens", "blocked", "due")
def test_when_a_clear_is_due(mode: str, tokens: int, blocked: bool, due: bool) -> None:
    assert clear_is_due(tokens, SMALL, having(compaction_mode=mode), blocked) == due


def test_without_the_threshold_a_clear_is_due_when_it_is_critical() -> None:
    settings = having(compaction_mode="clear", compaction_triggers_sessionTokens_enabled=False)
    assert not clear_is_due(150_000, SMALL, settings, False)
    assert clear_is_due(158_650, SMALL, settings, False)
    assert not clear_is_due(900_000, Limits(), settings, False), "nobody knows how full that is"


@pytest.mark.parametrize(
    ("tokens", "ruled_tokens", "prompts", "every", "due"),
    [
        (90_000, 90_000 - FADES, 2, 0, True),
        (90_000, 90_000 - FADES + 1, 99, 0, False),  # however many prompts
        (BEGINS + FADES, 0, 2, 0, True),  # told before anybody counted
        (BEGINS + FADES - 1, 0, 2, 0, False),
        (60_000, 150_000, 50, 0, False),  # it was rewound
        (0, 0, UNCOUNTED, 0, True),  # nobody counts
        (0, 80_000, UNCOUNTED + 1, 0, False),
        (30_000, 30_000, 4, 1, True),  # as the user wants it, and nothing else
        (900_000, 30_000, 4, 3, False),
        (0, 0, 6, 3, True),
    ],
)
def test_when_a_reminder_is_due(tokens: int, ruled_tokens: int, prompts: int, every: int, due: bool) -> None:
    assert reminder_is_due(tokens, ruled_tokens, prompts, every) == due
