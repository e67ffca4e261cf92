"""What is kept about a name: what says it, what answers who says it, what was said when the file was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.named import Name, names_in
from memory_keeper.model import Event, Note, Placed, Source
from memory_keeper.search.recall import OFTEN, About, about, pattern_of
from memory_keeper.store.sqlite import SqliteStore
from tests.rows import rows

HERE = "dir:/here"
PATH = "/here/src/queue.py"
Step = tuple[str, str] | tuple[str, str, str]  # kind, text, and of a call the file


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "store.db"))
    yield made
    made.close()


def live(store: SqliteStore, session: str, *steps: Step, project: str = HERE, agent: str = "") -> None:
    """A session in which these things were said and done."""
    source = store.begin(Source(f"/t/{session}.jsonl", session, project))
    placed = []
    for number, (kind, text, *path) in enumerate(steps):
        tool, file = ("Edit", path[0]) if path else ("", "")
        event = Event(f"{session}-{number}:0", 1000.0 + number, kind, session, project, text, tool, file, agent=agent)
        placed.append(Placed(event, number))
    store.record(source, placed)


def found(store: SqliteStore, prompt: str, project: str = HERE) -> list[tuple[str, str]]:
    return [(one.how, one.row.id) for one in about(store, names_in(prompt), project)]


def test_what_says_the_name(store: SqliteStore) -> None:
    live(store, "s1", ("prompt", "What is queue.py?"), ("reply", "It is a queue."), ("reply", "queue.py has one lock."))
    live(store, "s2", ("reply", "queue.pyc is made of it, and myqueue.py is another."))
    assert found(store, "Fix src/queue.py.") == [("says", "s1-2:0"), ("says", "s1-0:0"), ("asked", "s1-1:0")]


def test_what_was_said_when_the_file_was_written(store: SqliteStore) -> None:
    live(store, "s1", ("prompt", "Make it safe."), ("call", f"file_path: {PATH}", PATH), ("reply", "It has one lock."))
    live(store, "s2", ("prompt", "Read."), ("result", f"file_path: {PATH}"), ("reply", "It has two locks."))
    assert found(store, "Fix src/queue.py.") == [("wrote", "s1-2:0")]


def test_not_where_much_else_was_written(store: SqliteStore) -> None:
    many = [("call", f"file_path: /here/src/{name}.py", f"/here/src/{name}.py") for name in ("a", "b", "c")]
    live(store, "s1", ("prompt", "Rename."), ("call", f"file_path: {PATH}", PATH), *many, ("reply", "All renamed."))
    assert found(store, "Fix src/queue.py.") == []


def test_not_what_answers_a_prompt_with_many_names(store: SqliteStore) -> None:
    live(store, "s1", ("prompt", "See queue.py, one.py, two.py and three.py."), ("reply", "I see."))
    assert found(store, "Fix src/queue.py.") == [("says", "s1-0:0")]


def test_nobody_elses_words(store: SqliteStore) -> None:
    live(store, "s1", ("result", "queue.py is old"), ("thinking", "queue.py is old"), ("meta", "queue.py is old"))
    live(store, "s2", ("reply", "queue.py is old"), project="dir:/elsewhere")
    assert found(store, "Fix src/queue.py.") == []
    assert found(store, "Fix src/queue.py.", "dir:/elsewhere") == [("says", "s2-0:0")]


def test_another_file_of_that_name(store: SqliteStore) -> None:
    live(store, "s1", ("prompt", "What is lib/queue.py?"), ("reply", "queue.py has one lock."))
    live(store, "s2", ("prompt", "What is src/queue.py?"), ("reply", "queue.py has two locks."))
    live(store, "s3", ("reply", "queue.py has three locks."))
    assert {id for _, id in found(store, "Fix src/queue.py.")} == {"s2-0:0", "s2-1:0", "s3-0:0"}
    assert len(found(store, "Fix queue.py.")) == 5


def test_notes_by_hand_come_first(store: SqliteStore) -> None:
    live(store, "s1", ("reply", "queue.py has one lock."))
    store.add(Note("n1", 2000.0, "decision", 0, HERE, "queue.py stays.", who="user"))
    store.add(Note("n2", 2000.0, "handoff", 0, HERE, "queue.py was read.", "s1"))
    assert [one.row.id for one in about(store, names_in("Fix src/queue.py."), HERE)] == ["n1", "s1-0:0"]


def test_a_name_that_comes_up_all_the_time_is_common(store: SqliteStore) -> None:
    for number in range(OFTEN + 1):
        live(store, f"s{number}", ("prompt", "What is queue.py?"), ("reply", "A queue."))
    live(store, "t1", ("reply", "README.md is long."))
    every = about(store, names_in("Fix queue.py."), HERE)
    assert every and all(one.common and one.how == "says" for one in every)
    assert [one.common for one in about(store, names_in("Fix README.md."), HERE)] == [True]


def test_only_what_may_be_told(store: SqliteStore) -> None:
    live(store, "s1", ("reply", "queue.py has one lock."))
    live(store, "s2", ("reply", "queue.py has two locks."))
    kept: list[About] = about(store, names_in("Fix queue.py."), HERE, lambda row: row.session != "s2")
    assert [one.row.session for one in kept] == ["s1"]


@rows("name", "text", "has")
def test_a_name_is_found_whole(name: list[str], text: str, has: bool) -> None:
    assert bool(pattern_of(Name(*name)).search(text)) == has


@given(st.text(), st.sampled_from(["file", "name", "ref", "word"]), st.text(max_size=200))
def test_whatever_a_name_is_looking_for_it_is_no_error(text: str, kind: str, said: str) -> None:
    found = pattern_of(Name(text, kind)).search(said)
    assert not found or found[0] in said


@pytest.mark.parametrize("text", ["~" * 20_000, "a/" * 10_000, "@" * 20_000, "a.b/" * 5_000, "-" * 20_000])
def test_no_text_is_slow(text: str) -> None:
    assert not pattern_of(Name("src/a/b.py", "file")).search(text)
