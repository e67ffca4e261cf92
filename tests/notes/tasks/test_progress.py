"""What happened while a task was in hand: nothing belongs to two, and a word for its kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.notes.tasks import progress
from memory_keeper.notes.tasks.progress import LAST, End, Issue, Order, fixed, outcome, pattern, shares, stem
from memory_keeper.store.worklog import Step
from tests.rows import rows


def ran(line: str, wrong: str = "") -> Step:
    return Step(1.0, 1, "s", "", "Bash", f"command: {line}\ndescription: Do it", wrong)


def wrote(path: str, wrong: str = "") -> Step:
    return Step(1.0, 1, "s", path, "Edit", "", wrong)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6), st.lists(st.integers(0, 20), max_size=20)
)
def test_nothing_belongs_to_two_tasks(spans: list[tuple[int, int]], places: list[int]) -> None:
    ends = sorted((End("", "t", "s", min(span), max(span), 0.0) for span in spans), key=lambda end: end.end)
    found = shares(ends, places, lambda place: place)
    held = [place for place in places if any(end.begin < place <= end.end for end in ends)]
    assert sorted(place for part in found for place in part) == sorted(held)
    assert all(end.begin < place <= end.end for end, part in zip(ends, found, strict=True) for place in part)


def test_a_time_has_its_place_in_a_file_whose_times_are_out_of_order() -> None:
    order = Order([(10, 1.0), (20, 5.0), (30, 4.0), (40, 9.0)])
    assert [order.place(at) for at in (0.5, 1.0, 3.0, 4.5, 5.0, 6.0, 10.0)] == [9, 9, 19, 19, 19, 39, LAST]
    assert Order().place(1.0) == LAST


def test_an_error_that_went_away_and_where() -> None:
    wrong = "Exit code 1\nTypeError: x is not a function"
    steps = [ran("npm test", wrong), wrote("/p/a.ts", "no such text"), wrote("/p/b.ts"), ran("cd /p && npm test -- -q")]
    issue = fixed(steps)
    assert str(issue) == "TypeError: x is not a function (`npm test`), fixed in b.ts"
    assert issue and issue.kind == ("npm test", "TypeError")
    assert fixed(steps[:3]) is fixed(steps[3:]) is None, "it did not go away; nothing was wrong"
    assert fixed([ran("grep x", "no"), ran("grep x")]) is None, "of looking around"
    said_nothing = [ran("make lint", "Exit code 1\n1 2 3"), wrote("/p/c.ts"), ran("make lint")]
    assert fixed(said_nothing) is None, "what went wrong is not known"
    assert fixed([*steps, *said_nothing]) == issue


@pytest.mark.parametrize("issue", [Issue("TypeError: x", "a; rm -rf", ()), Issue("it is wrong", "make", ())])
def test_only_what_is_plainly_named_is_a_kind(issue: Issue) -> None:
    assert issue.kind == ("", "")


def test_the_tests_that_were_run_last() -> None:
    assert progress.tested([ran("make test"), ran("npm run build && npm test"), ran("ls tests")]) == "npm test"
    assert progress.tested([ran("make test"), ran("npm test", "1 failed")]) == "make test"
    assert progress.tested([ran("make"), wrote("/p/tests/a.py")]) == ""


@rows("files", "text", "said")
def test_what_kind_of_task_it_was(files: list[str], text: str, said: str) -> None:
    assert pattern(files, text) == said


def test_an_outcome_says_what_came_of_it() -> None:
    assert (
        outcome(["Now I run the tests.", "Added the retry to `upload.py`.\nMore."]) == "Added the retry to `upload.py`."
    )
    assert outcome(["✅ All 12 tests pass.", "Fixed the lexer."]) == "All 12 tests pass."
    assert outcome(["Let me look:", "Good question!", "## Results", ""]) == ""
    assert outcome([]) == ""


@rows("said")
def test_what_says_that_something_fails_is_no_outcome(said: str) -> None:
    assert outcome([said, "Added the lexer."]) == "Added the lexer."


def test_what_was_mended_is_an_outcome() -> None:
    for said in ("Fixed the failing test.", "All 12 tests pass, 0 failed.", "Added error handling for failed uploads."):
        assert outcome([said]) == said


def test_a_file_by_its_name() -> None:
    assert [stem(path) for path in ("src/handler.ts", "a.test.ts", ".env", "Makefile")] == [
        "handler",
        "a.test",
        ".env",
        "Makefile",
    ]
