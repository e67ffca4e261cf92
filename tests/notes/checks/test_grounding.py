"""What a text names must be in its sources."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.extract.spoken import spoken
from memory_keeper.model import Event
from memory_keeper.notes.checks.grounding import ungrounded
from tests.rows import rows

SOURCE = """Fixed the loop in src/net/retry.py (see https://example.org/a/b?c=1). 1234567 bytes, 12.5 s, v 2.1.325.
commit 3f2a9bc04d1e5f6a7b8c9d0e1f2a3b4c5d6e7f80 by Dana. `RetryPolicy.max_delay` is 30 s; run pytest -q --maxfail=1.
ValueError: bad token at line 7. We use PostgreSQL and Redis. The TypeScript check is in app/lib/ai.server.ts."""


@rows("sentence")
def test_grounded(sentence: str) -> None:
    assert ungrounded(sentence, [SOURCE]) == []


@rows("sentence", "missing")
def test_ungrounded(sentence: str, missing: list[str]) -> None:
    assert ungrounded(sentence, [SOURCE]) == missing


def test_our_own_words_and_counts_are_allowed() -> None:
    assert ungrounded("Ran pytest 3x, Read Files.", [SOURCE], {"3x", "Read", "Files"}) == []
    assert ungrounded("Ran pytest 4x.", [SOURCE], {"3x"}) == ["4x"]


def test_any_of_the_sources_will_do() -> None:
    assert ungrounded("a.py and b.py", ["changed a.py", "changed b.py"]) == []
    assert ungrounded("a.py", []) == ["a.py"]


@given(st.text(max_size=300))
@example("ß0A")
@example(".0")
@example("².0")
@example("x1,234")
@example("$1,234")
@example("the ﬁle.py of Straße7b")
def test_what_is_taken_from_a_text_is_grounded_in_it(text: str) -> None:
    for one in spoken([Event("e1", 1.0, "reply", "s", "p", text)])[0]:
        assert ungrounded(one.fact.text, [text]) == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_anything_can_be_asked(sentence: str, source: str) -> None:
    ungrounded(sentence, [source])


@pytest.mark.parametrize("piece", ["/", ".", "a/", "`", "'a ", "-", "1,", "$", "_", "A", "<a ", '"', "x.y", "Ab-"])
def test_hostile_sentences_are_read_in_time(piece: str) -> None:
    ungrounded(piece * (30_000 // len(piece)), [piece * (30_000 // len(piece))])
