"""`/memory-keeper:compress-context` in the real CLI: the session, the observations and the tasks, in one go."""

from __future__ import annotations

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.model import Model, call, flat, text

pytestmark = pytest.mark.e2e

SAID = "From now on always use pnpm instead of npm in this project."


def test_all_three_layers_at_once(old: Sandbox, api: Model) -> None:
    # the newer one has no list of tasks where nobody sits before it
    old.env["CLAUDE_CODE_ENTRYPOINT"] = "claude-vscode"  # in an editor people type what reaches the CLI by its SDK
    api.play(
        call("TaskCreate", subject="TASK-1: Invoice store", description="Build it."),
        call("TaskUpdate", taskId="1", status="completed"),
        text("I will use pnpm."),
        text("All is compacted."),
    )
    with Session(old) as session:
        session.ask(SAID)
        session.ask("/memory-keeper:compress-context")
    users = [message for message in api.of("main")[-1].body["messages"] if message["role"] == "user"]
    told = flat(users[-1]["content"])
    assert "is in the context archive" in told
    assert "observations  1 open" in told
    assert "tasks         1 done, 1 kept in full" in told
    pages = old.project / ".claude/memory"
    assert "use pnpm instead of npm" in (pages / "OBSERVATIONS.md").read_text()
    assert "TASK-1" in (pages / "DONE.md").read_text()
