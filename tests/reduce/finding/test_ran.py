"""The facts in what was run: the error that a note tells is the one that a fix is looked for."""

from __future__ import annotations

import pytest

from memory_keeper.capture.signature import HOST
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding.found import find_with
from memory_keeper.reduce.finding.weights import weigh
from tests.capture.outputs import FAILED, WELL, WRONG
from tests.reduce.story import Story


def found(story: Story, kind: str) -> list[Fact]:
    return [fact for fact in find_with(story.events, weigh(story.events)) if fact.kind == kind]


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_told_as_it_was_printed(name: str) -> None:
    output, line, _ = WRONG[name]
    story = Story()
    story.run("just shop", f"Exit code 1\n{output}", failed=True)
    assert [fact.text for fact in found(story, "error")] == [" ".join(line.split())]


def test_two_missing_modules_are_two_errors() -> None:
    story = Story()
    for module in ("yaml", "numpy", "yaml"):
        story.run(f"python {module}.py", f"ModuleNotFoundError: No module named '{module}'", failed=True)
    assert [fact.text.split()[-1] for fact in found(story, "error")] == ["'numpy'", "'yaml'"]


def test_a_failure_that_a_pipe_hides_mends_nothing() -> None:
    story = Story()
    story.run("pytest -q tests", "E   ValueError: no such key\n1 failed, 2 passed", failed=True)
    story.run("pytest -q tests | tail -3", "E   ValueError: no such key\n1 failed, 2 passed")
    assert [(fact.text, fact.status) for fact in found(story, "error")] == [("ValueError: no such key", "open")]
    story.run("pytest -q tests | tail -3", "3 passed")
    assert [fact.status for fact in found(story, "error")] == ["fixed"]


@pytest.mark.parametrize(
    "said",
    [f"{HOST}InputValidationError: Bash failed", "Claude requested permissions to use Bash, but you", "Exit code 1"],
)
def test_what_no_program_said_is_no_error(said: str) -> None:
    story = Story()
    story.run("make", said, failed=True)
    assert not found(story, "error")


@pytest.mark.parametrize(
    ("line", "output", "status"),
    [
        ("go build ./... 2>&1 | tail -3", "main.go:3:2: undefined: rebate", "failed"),
        ("go build ./... 2>&1 | tail -3", "", "ok"),
        ("npm test; git status", "2 failing", "failed"),
        ("pytest -q | tail -1", "3 passed", "ok"),
    ],
)
def test_a_pipe_makes_no_command_one_that_worked(line: str, output: str, status: str) -> None:
    story = Story()
    story.run(line, output)
    assert [fact.status for fact in found(story, "command")][:1] == [status]


@pytest.mark.parametrize(("line", "output"), FAILED)
def test_no_command_is_told_as_one_that_worked_beside_what_it_printed(line: str, output: str) -> None:
    story = Story()
    story.run(line, output)
    assert "ok" not in [fact.status for fact in found(story, "command")]
    assert "passed" not in [fact.status for fact in found(story, "test")]


@pytest.mark.parametrize(("line", "output"), WELL)
def test_no_command_is_told_as_one_that_failed_where_none_did(line: str, output: str) -> None:
    story = Story()
    story.run(line, output)
    assert not found(story, "error")
    assert {fact.status for kind in ("command", "test") for fact in found(story, kind)} <= {"ok", "passed", "unfailed"}


def test_of_one_output_there_is_one_verdict() -> None:
    story = Story()
    story.run("python run_tests.py", "2 failed, 3 passed")
    story.run("pytest -q", "a plugin printed: 1 failed\n30 passed in 1s")
    told = {fact.about: fact.status for fact in [*found(story, "command"), *found(story, "test")]}
    assert told == {"python run_tests.py": "failed", "pytest -q": "passed", "pytest": "ok"}


def test_an_error_behind_a_pipe_is_mended_like_any() -> None:
    story = Story()
    story.run("python3 -m shop 2>&1 | tail -5", "Traceback (most recent call last):\nAssertionError: 4 != 3")
    story.edit("/p/shop.py", "4", "3")
    story.run("python3 -m shop 2>&1 | tail -5", "3")
    (error,) = found(story, "error")
    assert (error.text, error.status, error.because) == ("AssertionError: 4 != 3", "fixed", "/p/shop.py")


def test_of_a_failure_behind_a_pipe_only_a_sure_line_is_an_error() -> None:
    story = Story()
    story.run("npm test | tail -3", "looked for what failed yesterday\n1 failing")
    assert not found(story, "error")
