"""What happened while a task was in hand: nothing belongs to two, and a word for its kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.keep.doing import Step
from memory_keeper.reduce import in_hand
from memory_keeper.reduce.in_hand import End, kind_of, mended, outcome, pattern, shares, stem


def ran(line: str, wrong: str = "") -> Step:
    return Step(1.0, 1, "s", "", "Bash", f"command: {line}\ndescription: Do it", wrong)


def wrote(path: str, wrong: str = "") -> Step:
    return Step(1.0, 1, "s", path, "Edit", "", wrong)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6), st.lists(st.integers(0, 20), max_size=20)
)
def test_nothing_belongs_to_two_tasks(spans: list[tuple[int, int]], moments: list[int]) -> None:
    ends = sorted((End("", "t", "s", (0.0, min(span)), (0.0, max(span))) for span in spans), key=lambda end: end.end)
    found = shares(ends, moments, lambda number: (0.0, number))
    held = [number for number in moments if any(end.begin[1] < number <= end.end[1] for end in ends)]
    assert sorted(number for part in found for number in part) == sorted(held)
    assert all(end.begin[1] < number <= end.end[1] for end, part in zip(ends, found, strict=True) for number in part)


def test_an_error_that_went_away_and_where() -> None:
    wrong = "Exit code 1\nTypeError: x is not a function"
    steps = [ran("npm test", wrong), wrote("/p/a.ts", "no such text"), wrote("/p/b.ts"), ran("cd /p && npm test -- -q")]
    assert mended(steps) == "TypeError: x is not a function (`npm test`), fixed in b"
    assert kind_of(mended(steps)) == ("npm test", "TypeError")
    assert mended(steps[:3]) == mended(steps[3:]) == "", "it did not go away; nothing was wrong"
    assert mended([ran("grep x", "no"), ran("grep x")]) == "", "of looking around"


@pytest.mark.parametrize(
    "issue", ["", "One test flaky", "TypeError: x (`a; rm -rf`), fixed", "it is wrong (`make`), fixed"]
)
def test_only_what_is_plainly_named_is_a_kind(issue: str) -> None:
    assert kind_of(issue) == ("", "")


def test_the_tests_that_were_run_last() -> None:
    assert in_hand.tested([ran("make test"), ran("npm run build && npm test"), ran("ls tests")]) == "npm test"
    assert in_hand.tested([ran("make test"), ran("npm test", "1 failed")]) == "make test"
    assert in_hand.tested([ran("make"), wrote("/p/tests/a.py")]) == ""


@pytest.mark.parametrize(
    ("files", "text", "said"),
    [
        (("src/auth/a.py", "src/auth/b.py", "tests/test_a.py"), "", "auth"),
        (("tests/test_a.py", "src/a.test.ts"), "", "testing"),
        (("README.md", "docs/index.md"), "", "docs"),
        (("src/A.tsx", "b.css"), "", "frontend"),
        (("a/x.py", "b/y.py"), "", ""),
        ((), "E2E tests", "testing"),
        ((), "Call the bank", ""),
    ],
)
def test_what_kind_of_task_it_was(files: tuple[str, ...], text: str, said: str) -> None:
    assert pattern(files, text) == said


def test_an_outcome_says_what_came_of_it() -> None:
    assert (
        outcome(["Now I run the tests.", "Added the retry to `upload.py`.\nMore."]) == "Added the retry to `upload.py`."
    )
    assert outcome(["✅ All 12 tests pass.", "Fixed the lexer."]) == "All 12 tests pass."
    assert outcome(["Let me look:", "Good question!", "## Results", ""]) == ""
    assert outcome([]) == ""


def test_a_file_by_its_name() -> None:
    assert [stem(path) for path in ("src/handler.ts", "a.test.ts", ".env", "Makefile")] == [
        "handler",
        "a.test",
        ".env",
        "Makefile",
    ]
