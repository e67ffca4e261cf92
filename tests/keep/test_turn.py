"""A turn goes from one prompt of the main thread to the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.keep.turn import FAR, Turn, replies_in, turn_of, written_in
from memory_keeper.model import Event, Placed, Source

STEPS = (
    ("reply", "", ""),
    ("prompt", "", ""),
    ("call", "/p/a.py", ""),
    ("prompt", "", "agent"),
    ("reply", "", "agent"),
    ("reply", "", ""),
    ("call", "/p/b.py", ""),
    ("reply", "", ""),
    ("prompt", "", ""),
    ("reply", "", ""),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "store.db"))
    source = made.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
    events = [
        Event(f"e{number}:0", 1.0, kind, "s1", "dir:/p", "x", "Edit" if path else "", path, agent=agent)
        for number, (kind, path, agent) in enumerate(STEPS, 1)
    ]
    made.record(source, [Placed(event, number) for number, event in enumerate(events)])
    yield made
    made.close()


@pytest.mark.parametrize("key", [2, 3, 5, 8])
def test_all_of_a_turn_belongs_to_it(store: SqliteStore, key: int) -> None:
    turn = turn_of(store.db, "s1", key)
    assert turn == Turn("s1", 2, 9)
    assert replies_in(store.db, turn, 9) == [8, 6]
    assert replies_in(store.db, turn, 1) == [8]
    assert written_in(store.db, turn, ["Edit"]) == {"/p/a.py", "/p/b.py"}
    assert written_in(store.db, turn, ["Write"]) == set()


def test_the_first_and_the_last_are_open(store: SqliteStore) -> None:
    assert turn_of(store.db, "s1", 1) == Turn("s1", 0, 2)
    assert turn_of(store.db, "s1", 10) == Turn("s1", 9, 10 + FAR)
    assert replies_in(store.db, turn_of(store.db, "s2", 1), 9) == []
