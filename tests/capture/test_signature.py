"""The same error is the same whatever its numbers and paths; another error is another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.signature import (
    HARDLY,
    LONGEST,
    find_wrong,
    holds,
    is_wrong,
    likeness,
    line_of,
    says,
    signature,
    signatures,
    words,
    wrong_line,
)
from tests.rows import lists, rows

SAME = lists(__file__)["test_the_same_error_has_the_same_signature"]
CHAINED = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 5, in <module>
ValueError: no price for x
"""
HOSTILE = (
    "a" * 2_000_000,
    "Error: " + "(" * 100_000,
    "E " * 100_000,
    ": " * 200_000,
    "'" * 100_001,
    "/" * 300_000,
    "a." * 200_000 + "Error: x",
    "\n" * 500_000 + "Error: no config",
    "1:" * 100_000,
    "error[" * 50_000,
    "\x1b[" * 100_000,
    "<" * 100_000,
    "File x.py:1:2: " * 10_000,
    "-0x" * 100_000,
)


@rows("one", "other", "said")
def test_the_same_error_has_the_same_signature(one: str, other: str, said: str) -> None:
    assert signature(one) == signature(other)
    assert said in signature(one)


@rows("one", "other")
def test_another_error_has_another(one: str, other: str) -> None:
    assert signature(one) and signature(one) != signature(other)


@rows("text")
def test_what_says_nothing_has_none(text: str) -> None:
    assert signature(text) == ""


@rows("output", "line", "said")
def test_the_line_that_says_it_and_its_signature(output: str, line: str, said: str) -> None:
    assert wrong_line(output) == line
    assert signature(output) == (said or line)
    assert says(output, said or line)


def test_what_only_says_that_something_went_wrong_is_told_where_nothing_says_what() -> None:
    hollow = "make: *** [Makefile:3: all] Error 2"
    assert [one.rank for one in find_wrong(hollow)] == [HARDLY]
    assert signatures(f"{hollow}\nmain.c:3:5: error: no member named 'x'") == ["error: no member named 'x'"]
    assert not is_wrong(hollow)


def test_of_a_chain_the_last_exception_counts() -> None:
    assert signature(CHAINED) == "ValueError: no price for x"


def test_a_failing_test_tells_more_than_what_programs_log_beside_it() -> None:
    output = "Error: context deadline exceeded\nfatal: no remote\n--- FAIL: TestResume (0.3s)\nFAIL"
    assert signatures(output)[0] == "FAIL: TestResume"
    assert "fatal: no remote" in signatures(output)


def test_the_line_is_found_in_the_middle_of_a_long_output() -> None:
    noise = "\n".join(f"compiling unit {number} of 900" for number in range(400))
    assert signature(f"{noise}\nsrc/a.c:3:5: error: no member named 'x'\n{noise}") == "error: no member named 'x'"


def test_a_secret_is_no_part_of_it() -> None:
    one, other = (f"Error: token <REDACTED:api-key:{tag}> was refused by the server" for tag in ("ab12", "cd34"))
    assert signature(one) == signature(other)
    assert "REDACTED" not in signature(one)


def test_what_says_an_error_is_recognised_without_reading_all_of_it() -> None:
    for one, other, _ in SAME:
        assert says(other, signature(one))
        assert not says("all is well", signature(one))


def test_words_to_search_for_are_the_telling_ones() -> None:
    assert words("error TS2322: Type 'press' is not assignable to type <str>") == ["TS2322", "press", "assignable"]


def test_likeness_is_of_words() -> None:
    assert likeness("no such table: orders", "no such table: orders") == 1.0
    assert likeness("no such table: orders", "KeyError: 'x'") == 0.0


def test_an_output_is_wrong_only_where_a_line_surely_is() -> None:
    assert is_wrong("src/a.ts(1,2): error TS2322: no")
    assert not is_wrong("checking what failed yesterday\nall good")


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_nothing_takes_long(text: str) -> None:
    """Each rule looks at one line of bounded length: what is quadratic there would never end here."""
    assert len(signature(text)) <= LONGEST
    is_wrong(text)


LINES = st.sampled_from([text for row in SAME for text in row[:2]] + ["", "ok", "FAIL", "\0", "\ud800", "at x"])


@given(st.lists(st.one_of(LINES, st.text(max_size=80)), max_size=12).map("\n".join))
def test_any_text_has_a_bounded_signature_that_it_says(text: str) -> None:
    for said in signatures(text):
        assert 0 < len(said) <= LONGEST
        assert "\n" not in said and "\x1b" not in said


def test_a_bare_assertion_is_known_by_its_test() -> None:
    output = (
        ">       assert total() == 3\nE       assert 4 == 3\n\nFAILED tests/test_cart.py::test_total - assert 4 == 3"
    )
    assert signature(output) == "FAILED test_cart.py::test_total"


def test_a_part_of_an_error_is_known_by_its_names() -> None:
    whole = "missing cases in switch of type shop.Kind: shop.KindA (exhaustive)"
    assert holds(whole, "missing cases in switch of type Kind")
    assert holds(whole, "switch of type shop.Kind")
    assert not holds(whole, "missing cases in switch of type Sort")
    assert not holds(whole, "missing Kind")


def test_the_line_that_says_an_error_is_told_as_it_is() -> None:
    text = "$ make\nE   ValueError: id must be 12 letters\nsrc/a.go:3:1: undefined: rebate7\n"
    assert line_of(text, "ValueError: id must be # letters") == "ValueError: id must be 12 letters"
    assert line_of(text, "undefined: rebate7") == "undefined: rebate7"
    assert line_of(text, "something else") == "something else"
    assert line_of("", "") == ""
