"""What the real CLI wrote down of its tokens, subagents, a compaction and a fork among them, is summed once each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.kept import keeper
from tests.e2e.model import Model, text
from tests.e2e.test_real_session import session_of, work

pytestmark = pytest.mark.e2e

FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
COLUMNS = ("input", "cache_read", "cache_write", "output")


def responses(sandbox: Sandbox) -> tuple[int, list[int]]:
    """How many lines tell of a response, and the sums of the responses by their message ids."""
    found: dict[str, list[int]] = {}
    lines = 0
    for path in sandbox.transcripts():
        for entry in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            message = entry.get("message") or {}
            if entry.get("type") == "assistant" and message.get("usage") and message["model"] != "<synthetic>":
                counts = [message["usage"].get(field) or 0 for field in FIELDS]
                known = found.setdefault(message["id"], counts)
                found[message["id"]] = [*map(max, known, counts)]  # a fork may say 0 of its origin's last
                lines += 1
    return lines, [len(found), *(sum(one[place] for one in found.values()) for place in range(4))]


def test_every_response_counts_once(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    first = session_of(work(sandbox, api))
    api.play(text("On in a fork."))
    with Session(sandbox, "--resume", first, "--fork-session") as session:
        session.ask("Go on.")
    lines, wanted = responses(sandbox)
    assert lines > wanted[0], "no line repeats another: this shows nothing"

    def said() -> list[int]:
        total = keeper(sandbox, checkout, "usage")["total"]
        return [total["requests"], *(total[column] for column in COLUMNS)]

    wait_for(lambda: said() == wanted, "the last responses", patience=30)
    assert keeper(sandbox, checkout, "report")["total"]["requests"] == wanted[0]
