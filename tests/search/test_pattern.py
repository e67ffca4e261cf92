"""A search by regular expression: every text is read, filters hold, and what is no expression is said to be none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.errors import KeeperError
from memory_keeper.model import Event, Note, Placed, Scope, Source
from memory_keeper.search import find
from memory_keeper.search.pattern import Pattern, names_file, read_pattern, shown
from memory_keeper.search.snippet import OFF, ON, WIDTH
from memory_keeper.store.sqlite import SqliteStore
from tests.rows import rows

HERE = Scope("p")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "store.db"))
    source = made.begin(Source("/t/s.jsonl", "s", "p"))
    events = [
        Event("u:0", 100.0, "prompt", "s", "p", "Error 404 in\nsrc/a.py and elsewhere"),
        Event("c:0", 200.0, "call", "s", "p", "file_path: src/a.py error 500", tool="Edit", path="src/a.py", ref="t1"),
        Event("r:0", 300.0, "result", "s", "p", "ERROR 501", ref="t1"),
        Event("b:0", 400.0, "call", "s", "p", "grep 'error 7' src/b.py", tool="Bash", ref="t2"),
        Event("a:0", 500.0, "reply", "s", "p", "no error here, but data.py"),
        Event("q:0", 600.0, "queued", "s", "p", "error 9 typed early"),
        Event("t:0", 620.0, "told", "s", "p", "error 9 told"),
        Event("m:0", 650.0, "call", "s", "p", "error 10", tool="mcp__plugin_memory-keeper_keeper__search", ref="t3"),
    ]
    made.record(source, [Placed(event, n) for n, event in enumerate(events)])
    other = made.begin(Source("/t/o.jsonl", "o", "q"))
    made.record(other, [Placed(Event("o:0", 700.0, "prompt", "o", "q", "error 8 of another"), 0)])
    made.add(Note("n1", 800.0, "session", 1, "p", "Asked: about error 404", "s"))
    made.add(Note("n0", 900.0, "fact", 0, "p", "error 5 is harmless", who="user"))
    yield made
    made.close()


def ids(store: SqliteStore, pattern: str, scope: Scope = HERE, limit: int = 20, deep: bool = False) -> list[str]:
    return [hit.id for hit in find(store, pattern, scope, limit, regex=True, deep=deep)]


def test_the_newest_come_first_and_the_limit_holds(store: SqliteStore) -> None:
    assert ids(store, r"error \d") == ["n0", "n1", "q:0", "b:0", "r:0", "c:0", "u:0"]
    assert ids(store, r"error \d", limit=2) == ["n0", "n1"]
    assert ids(store, r"error \d", Scope("q")) == ["o:0"]
    assert "o:0" in ids(store, r"error \d", Scope())
    assert ids(store, "zebra") == []


def test_lines_begin_anew_and_case_does_not_matter(store: SqliteStore) -> None:
    assert ids(store, "^SRC/A") == ["u:0"]
    assert ids(store, "in$") == ["u:0"]


@rows("filters", "found")
def test_each_filter_holds(store: SqliteStore, filters: dict[str, object], found: list[str]) -> None:
    assert ids(store, "error", HERE._replace(**filters)) == found  # type: ignore[arg-type]


def test_deep_finds_what_is_left_out_otherwise(store: SqliteStore) -> None:
    assert "t:0" not in ids(store, "error")
    assert "t:0" in ids(store, "error", deep=True)
    assert "m:0" not in ids(store, "error", deep=True), "what we were asked ourselves"


def test_many_matches_are_looked_up_page_by_page(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    kinds = ["told"] * 250 + ["reply"] * 3 + ["told"] * 450
    events = [Event(f"e{n}:0", float(n), kind, "s", "p", f"x{n}") for n, kind in enumerate(kinds)]
    store.record(source, [Placed(event, n) for n, event in enumerate(events)])
    assert ids(store, r"x\d+") == ["e252:0", "e251:0", "e250:0"]
    assert len(ids(store, r"x\d+", deep=True, limit=500)) == 500
    store.close()


@pytest.mark.parametrize("pattern", ["(", "*", "[", "(?P<", "\\", "a{99999999999}", "(" * 5000])
def test_what_is_no_expression_is_said_to_be_none(store: SqliteStore, pattern: str) -> None:
    with pytest.raises(KeeperError, match="regular expression"):
        find(store, pattern, HERE, regex=True)


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_refused(pattern: str) -> None:
    try:
        read_pattern(pattern)
    except KeeperError as error:
        assert error.hint


@given(st.text(min_size=1, max_size=900), st.data())
def test_the_match_is_shown_and_not_more_than_fits(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    one = re.compile(re.escape(text[at:])).search(text)
    assert one
    said = shown(text, one)
    assert said.count(ON) == said.count(OFF) == 1
    assert len(said) <= 2 * WIDTH
    assert "\n" not in said


@rows("text", "file", "named")
def test_a_file_is_named_by_the_end_of_its_path(text: str, file: str, named: bool) -> None:
    assert names_file(text, file) == named


def test_an_expression_that_would_never_end_is_given_up() -> None:
    pattern = Pattern(re.compile("(a+)+$"), left=0.2)
    for _ in range(2):
        with pytest.raises(KeeperError, match="takes too long") as error:
            pattern.search("a" * 60 + "!")
        assert error.value.hint
    assert pattern.search("aaa"), "others are still searched"
