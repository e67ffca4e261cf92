"""The default summarizer: whole sentences of the texts, the telling ones, in order, and never more than fits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.reduce.summarizers.extractive import LINE, gist, pick
from memory_keeper.reduce.words.prose import statements
from memory_keeper.text import tokens

PLENTY = 10_000


def summarize(texts: Sequence[str], budget: int) -> str:
    return "\n".join(one.sentence for one in pick(texts, budget))


def folded(text: str) -> str:
    return " ".join(text.split())


WORK = """Sure, let me take a look at that for you.

I looked at the retry loop in `src/net/retry.py` and the test that goes with it. The loop sleeps before the first
attempt, so every call costs 200 ms more than it should. That is the root cause of the slow start-up.

Great! Now I will fix it.

We decided to keep the exponential back-off instead of a fixed delay, because the server rejects bursts.
`test_retry.py` passes: 14 tests, 0 failures.

Let me know if there is anything else.
"""


def test_what_was_found_decided_and_done_comes_before_chatter() -> None:
    told = summarize([WORK, "word " * 600 + "."], PLENTY)  # words enough for three sentences
    assert told.splitlines() == [
        "That is the root cause of the slow start-up.",
        "We decided to keep the exponential back-off instead of a fixed delay, because the server rejects bursts.",
        "`test_retry.py` passes: 14 tests, 0 failures.",
    ]


def test_one_sentence_for_about_two_hundred_words() -> None:
    text = " ".join(
        f"The parser of module{n} now reads field{n} of table{n} from file{n}.csv at once." for n in range(200)
    )
    words = len(text.split())
    assert len(pick([text], PLENTY)) == round(words / 200)
    assert len(pick(["Only the cache was changed."], PLENTY)) == 1


RAW = """```python
def leak(secret):
    return secret
```
| name | value |
|------|-------|
| leak | 42    |
diff --git a/leak.py b/leak.py
+++ b/leak.py
@@ -1,2 +1,3 @@
+leak = True
     12→    leak = compute(leak)
$ cat leak.txt
{"leak": true}
<leak attribute="1">
  File "leak.py", line 3, in leak
    at leak (leak.js:1:2)
import leak from "leak";
const leak = require("leak");
/home/leak/file.txt
drwxr-xr-x 2 leak leak 4096 leak
aGVsbG8gd29ybGQgdGhpcyBpcyBhIGxlYWtsZWFrbGVha2xlYWtsZWFrbGVha2xlYWtsZWFr
2026-01-01 12:00:00 INFO starting the leak
[12:00:01] DEBUG leak
"""


def test_code_tables_diffs_and_dumps_are_left_out() -> None:
    told = summarize(["The change works as it should.\n\n" + RAW + "\nNothing else was touched here."], PLENTY)
    assert "leak" not in told
    assert told
    assert all("leak" not in one for one in statements(RAW))


def test_of_a_log_only_what_came_of_it_and_without_its_clock() -> None:
    log = "\n".join(f"2026-01-01 12:00:{n:02} INFO request {n} served" for n in range(50))
    log += "\n2026-01-01 12:00:51 ERROR connection refused by db.example"
    assert summarize([log], PLENTY) == "ERROR connection refused by db.example"


def test_where_there_is_no_sentence_a_short_piece_stands_for_it() -> None:
    assert 0 < len(summarize(["x" * 100_000], PLENTY)) <= LINE
    assert summarize(["", "   \n\n", "1234 5678"], PLENTY) == ""
    assert summarize([], PLENTY) == ""


def test_near_duplicates_are_told_once() -> None:
    text = "The cache of the parser was fixed in cache.py today.\n" * 300
    text += "The cache of the parser was fixed in cache.py again.\n"
    assert len(pick([text], PLENTY)) == 1


def test_order_is_kept_and_texts_are_known() -> None:
    texts = [f"Module{n} was fixed because field{n} had failed. " + f"word{n} " * 300 + "." for n in range(8)]
    picked = pick(texts, PLENTY)
    assert [one.text for one in picked] == sorted(one.text for one in picked)
    assert all(one.sentence in folded(texts[one.text]) for one in picked)


def test_a_budget_that_no_sentence_fits_gets_the_beginning_of_one() -> None:
    said = "The migration of the database failed because the column was missing."
    told = summarize([said], 8)
    assert told and said.startswith(told) and tokens(told) <= 8
    assert summarize([said], 0) == ""


PIECES = st.sampled_from(
    [
        *WORK.splitlines(),
        *RAW.splitlines(),
        "수정했습니다. 완료!",
        "修复了。",
        "# Title",
        "**bold**",
        "```",
        "- item one",
        "",
        "e.g. x.",
        "> q",
    ]
)
TEXTS = st.lists(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=12).map("\n".join)), max_size=5)


@given(TEXTS, st.integers(0, 200))
@example(["` > a\n > b"], 50)
@example(["0. A\u2028b. C"], 50)
def test_for_any_texts(texts: list[str], budget: int) -> None:
    told = summarize(texts, budget)
    assert tokens(told) <= budget
    assert told == summarize(texts, budget)
    flat = [folded(text) for text in texts]
    for one in pick(texts, budget):
        assert one.sentence in flat[one.text]
        assert one.sentence == folded(one.sentence)


@pytest.mark.parametrize(
    "piece",
    ["a. ", "`", "- ", "(", "1. ", "| ", '"a', "a.b/", " ", "\n", "…", "**a", "한국어 문장입니다. ", "\\ ,", "> "],
)
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    assert tokens(summarize([piece * (200_000 // len(piece))], 500)) <= 500


def test_a_gist_shows_where_something_is_left_out() -> None:
    text = (
        "We fixed the `retry` loop. " + "It is a long story about many other things. " * 40 + "All 14 checks pass now."
    )
    said = gist(text, PLENTY)
    assert said.startswith("We fixed the `retry` loop.")
    for part in said.split(" … "):
        assert part in text
    assert gist("We fixed `a.py`. We added `b.py`.", PLENTY) in "We fixed `a.py`. We added `b.py`."
    assert gist("", PLENTY) == ""
