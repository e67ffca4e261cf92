"""A day with everything in it: tools, subagents, a compaction, a clear, a resume, a fork, two sessions at once.

Whatever happens, each context is told the rules in full once, `why` lists exactly what models were sent of ours, and
usage is what the transcripts say.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_keeper.briefs.rules import OPENING
from tests.e2e.cli import Json, Sandbox, Session, wait_for
from tests.e2e.kept import keeper
from tests.e2e.model import Model, Request, Step, call, calls, text
from tests.e2e.test_real_session import problems
from tests.e2e.test_recall import DECIDED, last_week
from tests.e2e.test_rules import heard

pytestmark = pytest.mark.e2e

TOOLS = ("--allowedTools", "Bash", "Read", "Task", "Agent")
LOOK = ("Task", {"description": "Look", "prompt": "Look around.", "subagent_type": "general-purpose"})
FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
COLUMNS = ("input", "cache_read", "cache_write", "output")
OURS = re.compile(r"<memory-keeper (?:brief|context)=.*?</memory-keeper>", re.S)
REMINDER = re.compile(r"Memory Keeper: rules in force: [^\n<]*")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Day:
    """Sessions that are asked things, and all that the CLI told."""

    def __init__(self, box: Sandbox, api: Model) -> None:
        self.box, self.api = box, api
        self.told: list[Json] = []

    def session(self, *words: str) -> Session:
        return Session(self.box, *TOOLS, *words)

    def ask(self, session: Session, prompt: str, *steps: Step, agents: tuple[Step, ...] = ()) -> str:
        """The session in which a prompt was answered, as it is called."""
        self.api.play(*steps, agents=agents)
        said = session.ask(prompt)
        self.told += said
        return str(said[-1]["session_id"])

    def ask_at_once(self, prompt: str, *sessions: Session) -> None:
        self.api.play(*(text("Done.") for _ in sessions))
        with ThreadPoolExecutor() as pool:
            for said in pool.map(lambda session: session.ask(prompt), sessions):
                self.told += said


@pytest.fixture(params=["sandbox", "old"])
def day(request: pytest.FixtureRequest, api: Model) -> Day:
    """A day with each CLI, after something was settled last week; subagents hear the rules as well."""
    box: Sandbox = request.getfixturevalue(request.param)
    box.env["MEMORY_KEEPER_RULES_SUBAGENTS"] = "true"
    last_week(box)
    return Day(box, api)


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


def words(told: Json) -> str:
    return "\n".join(line["text"] for line in told["lines"])


def by_session(requests: list[Request]) -> dict[str, list[Request]]:
    """The requests of each session, as the CLI says in them whose they are."""
    found: dict[str, list[Request]] = {}
    for request in requests:
        found.setdefault(UUID.findall(json.dumps(request.body["metadata"]))[-1], []).append(request)
    return found


def sent(requests: list[Request]) -> Counter[str]:
    """What models were sent of ours, each when it was new."""
    said = [heard(request) for request in requests]
    return Counter(part for one in said for part in (*OURS.findall(one), *REMINDER.findall(one)))


def test_a_day(day: Day, api: Model, checkout: Path) -> None:
    box = day.box
    with day.session() as one, day.session() as two:
        for number in range(5):
            day.ask_at_once(f"Do step {number}.", one, two)
        first = day.ask(one, "Write it down.", call("Bash", command="echo 1 >one.txt"), text("Done."))
        read = calls(("Bash", {"command": "exit 3"}), ("Read", {"file_path": str(box.project / "one.txt")}))
        day.ask(two, "Please add a discount to src/billing/invoice.py.", read, text("Done."))
        looking = (call("Bash", command="ls"), call("Bash", command="pwd"), text("Found."), text("Found."))
        day.ask(one, "Have two look.", calls(LOOK, LOOK), text("Done."), agents=looking)
        day.ask(two, "Read all of it.", text("It is much.", 170_000))
        day.ask(one, "/compact")
        day.ask(two, "/clear")
        for number in range(5, 10):
            day.ask_at_once(f"Do step {number}.", one, two)
    for how in (("--resume", first), ("--resume", first, "--fork-session")):
        with day.session(*how) as session:
            day.ask(session, "Where were we?", text("Here."))
            day.ask(session, "Go on.", text("Done."))

    assert problems(day.told) == []
    assert not (box.home / ".local/share/memory-keeper/problems.log").exists()
    sessions = by_session(api.of("main", "agent"))
    assert len(sessions) == 4
    fulls = {id: sum(heard(one).count(OPENING) for one in asked) for id, asked in sessions.items()}
    assert sorted(fulls.values()) == [1, 1, 1, 4] and fulls[first] == 4, "its context, compacted once, and subagents"
    for id, asked in sessions.items():
        told = keeper(box, checkout, "why", "--session", id)
        assert Counter(map(words, told)) == sent(asked)
        assert all(sum(line["tokens"] for line in one["lines"]) == one["tokens"] for one in told)
    assert any(DECIDED in heard(one) for one in api.of("main"))
    lines, wanted = responses(box)
    assert lines > wanted[0], "no line repeats another: this shows nothing"

    def usage() -> list[int]:
        total = keeper(box, checkout, "usage", "--since", "1d")["total"]
        return [total["requests"], *(total[column] for column in COLUMNS)]

    wait_for(lambda: usage() == wanted, f"the usage {wanted}", patience=30)
