"""What recurs in the tasks that were done is observed, once, and is no rule before the user says so."""

from __future__ import annotations

import json

from tests.machine import Machine
from tests.stories.test_tasks import shell

HABIT = "Tests are run before a task is done: `npm test`."


def test_what_recurs_in_tasks_is_observed(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.transcript.prompt("All of them.")
    for number in range(5):
        session.transcript.todo([(f"Build part {number}", "in_progress")])
        given = {"file_path": str(machine.project / f"{number}.ts"), "old_string": "a", "new_string": "b"}
        session.transcript.call("Edit", given, "ok")
        session.transcript.call("Bash", {"command": "npm test"}, "Tests: 3 passed")
        session.transcript.todo([(f"Build part {number}", "completed")])
    session.write()
    session.end()
    machine.settle()
    for _ in range(2):
        shell(machine, "compact", "--tasks")
        (one,) = json.loads(shell(machine, "observe", "list", "--json"))
        assert (one["text"], one["by"], one["state"]) == (HABIT, "rule", "open")
    assert HABIT not in shell(machine, "rule", "list")
