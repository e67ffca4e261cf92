"""`/memory-keeper:compress-context` in the real CLI: the session, the observations and the tasks, in one go."""

from __future__ import annotations

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.model import Model, call, flat, text

pytestmark = pytest.mark.e2e

SAID = "From now on always use pnpm instead of npm in this project."


def test_all_three_layers_at_once(sandbox: Sandbox, api: Model) -> None:
    todos = [{"content": "TASK-1: Invoice store", "status": "completed", "activeForm": "Building it"}]
    api.play(call("TodoWrite", todos=todos), text("I will use pnpm."), text("All is compacted."))
    with Session(sandbox) as session:
        session.ask(SAID)
        session.ask("/memory-keeper:compress-context")
    users = [message for message in api.of("main")[-1].body["messages"] if message["role"] == "user"]
    told = flat(users[-1]["content"])
    assert "is in the context archive" in told
    assert "observations  1 open" in told
    assert "tasks         1 done, 1 kept in full" in told
    pages = sandbox.project / ".claude/memory"
    assert "use pnpm instead of npm" in (pages / "OBSERVATIONS.md").read_text()
    assert "TASK-1" in (pages / "DONE.md").read_text()
