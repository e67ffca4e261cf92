"""The sessions of the pages can be played, and are handed over when they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.sessions import play, stage
from docs.stories import STORIES

pytestmark = pytest.mark.e2e


def test_a_session_of_the_pages_can_be_recorded(cli: Path, checkout: Path) -> None:
    story = STORIES["operations"]
    with stage(checkout, story) as (sandbox, api):
        handoff = play(sandbox, api, story)
    assert f"session: {story.session}" in handoff
    assert "ops/backup.conf 는 반드시 나한테 먼저 물어보고 바꿔줘" in handoff  # the user's rule
    assert "data/last-backup: FAILED" in handoff  # the error that is open
