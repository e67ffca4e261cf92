"""A model's answer is taken only as a note that says what its texts say."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.notes.summarizers.verdict import judge
from memory_keeper.text import tokens
from tests.rows import rows

SOURCE = """Fixed the loop in src/net/retry.py (see https://example.org/a/b?c=1). 1234567 bytes, 12.5 s, v 2.1.325.
commit 3f2a9bc04d1e5f6a7b8c9d0e1f2a3b4c5d6e7f80 by Dana. `RetryPolicy.max_delay` is 30 s; run pytest -q --maxfail=1.
ValueError: bad token at line 7. We use PostgreSQL and Redis. The TypeScript check is in app/lib/ai.server.ts."""
GOOD = "The loop in src/net/retry.py was fixed. It took 12.5 s because of a bad token."


@rows("answer", "note")
def test_a_good_answer_is_taken_and_cleaned(answer: str, note: str) -> None:
    assert judge(answer, [SOURCE], 200) == (note, "")


@rows("answer")
def test_anything_else_leaves_the_note_that_is_there(answer: str) -> None:
    assert judge(answer, [SOURCE], 200)[1].startswith(("it ", "there is "))


def test_over_budget_is_not_taken_not_cut() -> None:
    assert judge(GOOD, [SOURCE], tokens(GOOD)) == (GOOD, "")
    assert "longer" in judge(GOOD, [SOURCE], tokens(GOOD) - 1)[1]


@given(st.text(max_size=400), st.integers(1, 60))
def test_what_is_taken_fits_and_is_clean(answer: str, budget: int) -> None:
    note, why = judge(answer, [answer], budget)
    if not why:
        assert 0 < tokens(note) <= budget
        again, why = judge(note, [answer], budget)
        assert why or again == note


@rows("said", "fault")
def test_orders_and_counts_that_nobody_gave_are_refused(said: str, fault: str) -> None:
    texts = ["41 tests pass and 2 fail in tests/test_upload.py", "curl and requests hang; the first session was long"]
    why = judge(said, texts, 200)[1]
    assert re.search(fault, why), why
    assert judge("41 tests pass and 2 fail in tests/test_upload.py.", texts, 200)[1] == ""
    rule = "Always run make check before you tell me something is done."
    assert judge("The user wants make check always run before something is done.", [rule], 200)[1] == ""


@given(st.text(max_size=300), st.text(max_size=300))
def test_anything_can_be_judged(answer: str, source: str) -> None:
    judge(answer, [source], 50)
