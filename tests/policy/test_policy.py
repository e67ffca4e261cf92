"""What is done at which moment."""

from __future__ import annotations

import pytest

from memory_keeper.model import Action, Status
from memory_keeper.policy import TRIGGERS, decide

LOOK, TELL = Action("look"), Action("tell", "start")
QUIET, GROWN = Status(resident=False, grown=False), Status(resident=False, grown=True)
RESIDENT = Status(resident=True, grown=False)
LATER = ("UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop")
ALWAYS = ("PreCompact", "PostCompact", "SessionEnd")


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "", "tomorrow"])
@pytest.mark.parametrize("status", [QUIET, GROWN, RESIDENT])
def test_a_beginning_context_is_told(status: Status, source: str) -> None:
    assert decide("SessionStart", status._replace(source=source)) == [TELL]


@pytest.mark.parametrize("status", [QUIET, GROWN, RESIDENT])
def test_a_fork_has_all_that_its_origin_had(status: Status) -> None:
    assert decide("SessionStart", status._replace(source="fork")) == []


@pytest.mark.parametrize("event", LATER)
def test_a_command_hook_starts_a_process_only_now_and_then(event: str) -> None:
    assert decide(event, QUIET) == []
    assert decide(event, GROWN) == [LOOK]


@pytest.mark.parametrize("event", LATER)
def test_a_resident_keeper_always_looks(event: str) -> None:
    assert decide(event, RESIDENT) == [LOOK]


@pytest.mark.parametrize("event", ALWAYS)
@pytest.mark.parametrize("status", [QUIET, GROWN, RESIDENT])
def test_before_anything_is_lost_everything_is_read(event: str, status: Status) -> None:
    assert decide(event, status) == [LOOK]


@pytest.mark.parametrize("event", ["PreToolUse", "Notification", "", "Tomorrow", "*"])
def test_nothing_happens_at_other_moments(event: str) -> None:
    assert decide(event, RESIDENT) == []


def test_every_hook_of_the_contract_has_a_row() -> None:
    assert {event for event, _, _ in TRIGGERS} == {*LATER, *ALWAYS, "SessionStart"}


def test_only_known_things_are_asked_for() -> None:
    assert {action.do for _, _, action in TRIGGERS} <= {"look", "tell"}
