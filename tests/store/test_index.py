"""What the index has of a row: the same always, whatever the text is, and enough to find the row by any part of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from time import gmtime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.model import EVERYWHERE, Event, Phrase, Placed, Scope, Source
from memory_keeper.store import index
from memory_keeper.store.sqlite import SqliteStore
from memory_keeper.text import storable

MOMENTS = st.floats(0, 4e9)
RUNS = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("retryPolicy", ["retry", "Policy"]),
        ("parseHTTPResponse2", ["parse", "HTTP", "Response2"]),
        ("HTTPResponseParser", ["HTTP", "Response", "Parser"]),
        ("iPhone", ["i", "Phone"]),
        ("getX", ["get", "X"]),
        ("word", ["word"]),
        ("WORD", ["WORD"]),
        ("Word", ["Word"]),
        ("", [""]),
        ("aBcDeFgHiJkLmNoP", ["aBcDeFgHiJkLmNoP"]),  # encoded bytes are no name
        ("x" * 30 + "Y" * 30, ["x" * 30 + "Y" * 30]),
    ],
)
def test_a_name_in_pieces(name: str, split: list[str]) -> None:
    assert index.pieces(name) == split


@given(st.text(max_size=80))
def test_pieces_are_the_whole_name_and_none_is_empty(name: str) -> None:
    split = index.pieces(name)
    assert "".join(split) == name
    assert not name or all(split)
    assert len(split) <= index.MOST


@given(RUNS, st.data())
def test_every_part_of_a_run_is_a_row_of_its_pairs(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    part = run[start : data.draw(st.integers(start + 1, len(run)))]
    have, want = index.pairs(run), index.pairs(part)[:-1]
    assert not want or any(have[at : at + len(want)] == want for at in range(len(have)))
    assert any(pair.startswith(part[0]) for pair in have)


def test_runs_are_what_has_no_blanks_between_words() -> None:
    assert index.runs("plain text, naïve café") == []
    assert index.runs("上传 failed 失败 and 한국어 배포") == ["上传", "失败", "한국어", "배포"]
    assert index.runs("カタカナとひらがな") == ["カタカナとひらがな"]


def test_parts_are_pieces_and_pairs() -> None:
    found = index.parts("the retryPolicy of 上传 and plain words")
    assert "retry Policy" in found and "上传" in found
    assert "plain" not in found
    assert index.parts("nothing to split here") == ""


def test_of_what_we_said_ourselves_there_is_nothing() -> None:
    for text in ('<memory-keeper brief="start">zebra', "/memory-keeper:search zebra"):
        assert index.words_of(text) == ("", "")
    assert index.words_of("about memory-keeper: zebra")[0]


def test_a_letter_and_its_accent_are_one() -> None:
    assert index.composed("cafe\u0301") == "café"
    assert index.composed("café") == "café"
    assert index.words_of("cafe\u0301") == index.words_of("café")


@given(st.text(st.characters(exclude_categories=()), max_size=200))
@example("e\u0301" * 400)
@example("\u0301" * 2000)
def test_any_text_can_be_indexed_and_twice_is_the_same(text: str) -> None:
    words = index.words_of(storable(text))
    assert words == index.words_of(storable(text))
    "".join(words).encode()


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_the_index_takes_any_text(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    store = SqliteStore(str(tmp_path_factory.mktemp("any") / "store.db"))
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    events = [Event(f"e{n}:0", float(n), "reply", "s", "p", storable(text)) for n, text in enumerate(texts)]
    store.record(source, [Placed(event, n) for n, event in enumerate(events)])
    assert store.index_problem() == ""
    assert sorted(store.matching((), Scope("p"), 99)) == list(range(1, len(texts) + 1))
    store.close()


# --- tags ------------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_tag_is_one_plain_word(name: str) -> None:
    found = index.tag("p", name)
    assert found == index.tag("p", name)
    assert found.isascii() and found.isalnum() and found.islower()
    assert found != index.tag("s", name)
    assert found != index.tag("p", name + "x")


def test_the_tags_of_a_row_tell_it_apart(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    made = [
        Event("a:0", 86_400.0 * 40, "prompt", "s", "p", "x"),
        Event("b:0", 86_400.0 * 80, "call", "s", "p", "x", tool="Bash", ref="t1"),
        Event("c:0", 86_400.0 * 80, "result", "s", "p", "x", ref="t1"),
        Event("d:0", 86_400.0 * 80, "call", "t", "q", "x", tool="Edit", ref="t2"),
    ]
    store.record(source, [Placed(event, n) for n, event in enumerate(made)])

    def keys(**scope: Any) -> list[int]:
        return sorted(store.matching((), Scope(**scope), 9, deep=True))

    assert keys(project="p") == [1, 2, 3]
    assert keys(session="t") == [4]
    assert keys(kind="call") == [2, 4]
    assert keys(tool="bash") == [2, 3], "what it answered too"
    assert keys(until=86_400.0 * 41) == [1]
    assert keys(project="q", since=86_400.0 * 80, until=86_400.0 * 81) == [4]
    assert keys(since=0.0, until=86_400.0 * 99) == [1, 2, 3, 4]
    assert store.matching([[Phrase("p")]], EVERYWHERE, 9) == [], "no name of a tag is a word"
    store.close()


def test_a_result_that_comes_later_than_its_call_has_its_tool(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    store.record(source, [Placed(Event("b:0", 1.0, "call", "s", "p", "x", tool="Bash", ref="t1"), 0)])
    store.record(source, [Placed(Event("c:0", 2.0, "result", "s", "p", "x", ref="t1"), 1)])
    store.record(source, [Placed(Event("d:0", 3.0, "result", "s", "p", "x", ref="nobody"), 2)])
    assert sorted(store.matching((), Scope(tool="Bash"), 9)) == [1, 2]
    store.close()


@pytest.mark.parametrize("at", [-1e18, 1e18, float("inf"), -5.0, 0.0])
def test_a_moment_that_no_calendar_has_is_a_row_like_any(at: float) -> None:
    assert index.month(at).isalnum()
    assert index.day(at).replace("-", "").isalnum()
    assert index.tags("p", "s", "reply", at)


def test_a_month_begins_when_the_calendar_says() -> None:
    for year in (1970, 1999, 2000, 2023, 2024, 2100):
        for number in range(1, 13):
            assert index.timegm(year, number) == datetime(year, number, 1, tzinfo=UTC).timestamp()
        assert index.timegm(year, 13) == index.timegm(year + 1, 1)


@given(MOMENTS, st.floats(0, 4e8), st.floats(0, 1))
def test_every_moment_of_a_span_is_in_one_of_its_days_months_or_years(since: float, long: float, share: float) -> None:
    until = since + long
    names = index.span(since, until)
    assert len(names) == len(set(names)) <= index.LONG
    inside = min(until, since + share * long)
    assert {index.day(inside), index.month(inside), index.year(inside)} & set(names)


@given(MOMENTS, st.floats(0, 4e8), st.floats(2 * 86_400, 4e8))
def test_no_moment_far_outside_is(since: float, long: float, away: float) -> None:
    names = set(index.span(since, since + long))
    for outside in (since - away, since + long + away):
        assert index.day(outside) not in names
        year, number = gmtime(outside)[:2] if outside > 0 else (0, 0)
        first, last = index.timegm(year, number), index.timegm(year, number + 1)
        if outside > 0 and not (since <= first and last <= since + long):
            assert index.month(outside) not in names
