"""Each sentence of a model's rests on something that it is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.notes.checks.citations import Record, link
from memory_keeper.notes.checks.grounding import ungrounded
from tests.rows import rows

EVENTS = [
    Record("e1", ("Make the retry in src/net/retry.py wait 30 s.", "", "")),
    Record("e2", ("command: pytest -q --maxfail=1", "", "Bash")),
    Record("e3", ("ValueError: bad token at line 7 in src/net/retry.py", "/p/src/net/retry.py", "Bash")),
    Record("e4", ("The loop was fixed: PostgreSQL answers slowly, so it waits 30 s now.", "", "")),
    Record("e5", ("재시도 루프를 고쳤습니다. 서버가 느립니다.", "", "")),
]


@rows("said", "cites")
def test_each_sentence_rests_on_the_fewest_that_name_what_it_names(said: str, cites: list[list[str]]) -> None:
    assert [[*one.cites] for one in link(said, EVENTS)] == cites


@given(st.lists(st.text(max_size=120), min_size=1, max_size=5), st.text(max_size=200))
def test_whatever_is_linked_is_grounded_in_what_it_cites(texts: list[str], said: str) -> None:
    sources = [Record(str(number), (text,)) for number, text in enumerate(texts)]
    for one in link(said, sources):
        assert one.cites
        assert not ungrounded(one.sentence, [texts[int(cite)] for cite in one.cites])
