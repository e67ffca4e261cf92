"""Beside the handoff a context may be told what was said, word for word: where the user wants that, and only there."""

from __future__ import annotations

import json

from tests.machine import Machine, Session
from tests.stories.test_clear import after_clear, started

SAID = "Build a login with one-time codes, and keep them for five minutes."
ANSWERED = "I keep the codes in SQLite because one file is enough for one server."
OPENING = '<memory-keeper brief="replay" fence="'


def worked(machine: Machine, budget: int) -> Session:
    machine.home.mkdir(parents=True, exist_ok=True)
    (machine.home / "config.json").write_text(json.dumps({"tell": {"replayBudget": budget}}))
    session = started(machine)
    session.turn(SAID, ANSWERED)
    return session


def test_after_a_clear_and_a_compaction_the_messages_themselves_are_told(machine: Machine) -> None:
    session = worked(machine, 500)
    session.happen("PreCompact", trigger="auto")
    compacted = session.start("compact").text
    _, cleared = after_clear(session)
    for text in (compacted, cleared):
        handoff, _, replay = text.partition(OPENING)
        assert 'brief="handoff"' in handoff
        assert f"user: {SAID}" in replay and f"model: {ANSWERED}" in replay


def test_by_default_they_are_not(machine: Machine) -> None:
    _, text = after_clear(worked(machine, 0))
    assert 'brief="handoff"' in text and OPENING not in text
