"""Which form of a command failed, and which worked."""

from __future__ import annotations

import pytest

from memory_keeper.capture.runs import runs
from memory_keeper.search.how import slips, word_of
from tests.notes.story import Story
from tests.rows import rows

MISSING = "Exit code 127\nbash: pytest: command not found"


def found(*ran: tuple[str, str, bool]) -> list[tuple[str, str]]:
    story = Story()
    for command, answer, failed in ran:
        story.run(command, answer, failed)
    return [(slip.failed, slip.worked) for slip in slips(runs(story.events))]


@rows("failed", "worked", "expected")
def test_how_a_program_is_called(failed: str, worked: str, expected: list[str]) -> None:
    assert found((failed, MISSING, True), (worked, "4 passed", False)) == [tuple(expected)]


def test_the_option_that_the_error_names() -> None:
    error = "Exit code 2\nerror: unexpected argument '--colour' found"
    assert found(("ruff check --colour never src", error, True), ("ruff check src", "ok", False)) == [
        ("ruff check --colour", "ruff check")
    ]


@pytest.mark.parametrize(
    "ran",
    [
        [("pytest -q", MISSING, True)],
        [("pytest -q", MISSING, True), ("pytest -q", "4 passed", False)],
        [("pytest -q", MISSING, True), ("uv run pytest -q", MISSING, True)],
        [("pytest -q", MISSING, True), ("ls", "a", False), ("npm test", "ok", False)],
        [("pytest -q", "FAILED a.py::a - assert 1 == 2", True), ("uv run pytest -q", "4 passed", False)],
        [("make build && pytest -q", MISSING, True), ("uv run pytest -q", "4 passed", False)],
        [("", "", True), ("=", "x", True)],
    ],
)
def test_what_is_none(ran: list[tuple[str, str, bool]]) -> None:
    assert found(*ran) == []


def test_threads_do_not_mix() -> None:
    main, other = Story(), Story("a1")
    main.run("pytest -q", MISSING, True)
    other.run("uv run pytest -q", "4 passed")
    assert not slips([*runs(main.events), *runs(other.events)])


def test_a_word_that_both_forms_have() -> None:
    story = Story()
    story.run("python3 run.py", "Exit code 127\nbash: python3: command not found", True)
    story.run("python run.py", "ok")
    (slip,) = slips(runs(story.events))
    assert word_of(slip) == "python"
