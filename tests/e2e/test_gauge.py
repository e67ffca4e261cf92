"""The gauge is what the model reported, to the token: over prompts, tools, agents, a compaction, a resume, a /clear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.model import Model, call, text

pytestmark = pytest.mark.e2e


def context(sandbox: Sandbox, checkout: Path, session: str) -> dict[str, Any]:
    """What `memory-keeper context` says of a session."""
    command = [str(checkout / "memory-keeper"), "context", "--json", "--session", session]
    done = sandbox.net.run(command, env=sandbox.env, cwd=sandbox.project)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert isinstance(said, dict)
    return said


def check(sandbox: Sandbox, checkout: Path, session: str, tokens: int | None) -> dict[str, Any]:
    """The gauge, once the last response is on the disk."""
    wait_for(lambda: context(sandbox, checkout, session)["tokens"] == tokens, f"a gauge of {tokens}", patience=20)
    return context(sandbox, checkout, session)


def after_compaction(sandbox: Sandbox, session: str) -> int:
    """What the host says a compaction left."""
    (path,) = [path for path in sandbox.transcripts() if path.stem == session]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    (boundary,) = [row for row in rows if row.get("subtype") == "compact_boundary"]
    return int(boundary["compactMetadata"]["postTokens"])


def answered(told: list[dict[str, Any]]) -> str:
    """The session of an answer."""
    return str(told[-1]["session_id"])


def test_the_gauge_is_what_the_model_reported(sandbox: Sandbox, checkout: Path, api: Model) -> None:
    args = ("--model", "claude-sonnet-4-5", "--allowedTools", "Bash", "Agent")
    with Session(sandbox, *args) as session:
        api.play(text("Hello.", 12_345))
        one = answered(session.ask("Say hello."))
        seen = check(sandbox, checkout, one, 12_345)
        assert (seen["window"], seen["percent"], seen["level"]) == (200_000, 6, "ok")

        api.play(call("Bash", command="echo hi")._replace(tokens=20_000), text("It said hi.", 21_111))
        session.ask("Run echo.")
        seen = check(sandbox, checkout, one, 21_111)
        assert seen["breakdown"]["base"] + sum(row["tokens"] for row in seen["breakdown"]["tools"]) == 21_111

        job = {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}
        started = call("Agent", **job, run_in_background=False)._replace(tokens=22_000)
        api.play(started, text("It found nothing.", 23_333), agents=[text("Nothing here.", 77_777)])
        session.ask("Ask an agent.")
        check(sandbox, checkout, one, 23_333)

        session.ask("/compact")
        check(sandbox, checkout, one, after_compaction(sandbox, one))
        api.play(text("Going on.", 5_005))
        session.ask("Go on.")
        check(sandbox, checkout, one, 5_005)

    with Session(sandbox, "--model", "claude-opus-5-5") as session:
        api.play(text("Hello.", 50_000))
        large = check(sandbox, checkout, answered(session.ask("Say hello.")), 50_000)
    assert (large["window"], large["percent"]) == (1_000_000, 5)

    with Session(sandbox, *args, "--resume", one) as session:
        check(sandbox, checkout, one, 5_005)
        api.play(text("Resumed.", 6_006))
        assert answered(session.ask("Still there?")) == one
        check(sandbox, checkout, one, 6_006)
        session.ask("/clear")
        api.play(text("Afresh.", 7_007))
        two = answered(session.ask("Start afresh."))
        assert two != one
        check(sandbox, checkout, two, 7_007)
        check(sandbox, checkout, one, 6_006)
