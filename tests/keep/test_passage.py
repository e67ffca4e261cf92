"""What was called and what came of it, as the store tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_keeper.keep import passage
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Event, Placed, Source
from tests.reduce.story import Story


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "store.db"))
    yield made
    made.close()


def keep(store: SqliteStore, events: list[Event], session: str = "s", project: str = "p") -> list[Event]:
    source = store.begin(Source(f"/t/{session}.jsonl", session, project))
    made = [event._replace(id=f"{session}-{event.id}", session=session, project=project) for event in events]
    store.record(source, [Placed(event, number) for number, event in enumerate(made)], now=1.0)
    return made


def work() -> list[Event]:
    story = Story()
    story.prompt("Build it.")
    story.run("make", "error: no rule", failed=True)
    story.reply("A rule is missing.")
    story.edit("/p/Makefile", "a", "b")
    story.run("make", "built " * 10)
    return story.events


def test_a_passage_leaves_out_what_was_printed_by_what_went_well(store: SqliteStore) -> None:
    events = keep(store, work())
    found = passage.passage(store.db, "s", "", events[1].id, 100)
    assert [event.id for event in found] == [event.id for event in events[1:]]
    assert found[1].text == "error: no rule"
    assert found[-1].text == ""
    assert len(passage.passage(store.db, "s", "", events[1].id, 2)) == 2
    assert passage.passage(store.db, "s", "an agent", events[1].id, 9) == []
    assert passage.passage(store.db, "s", "", "unknown", 9) == []


def test_a_result_has_its_call(store: SqliteStore) -> None:
    events = keep(store, work())
    keep(store, work(), "other")
    assert passage.call_of(store.db, events[2]) == events[1]
    assert passage.call_of(store.db, events[2]._replace(ref="")) is None


def test_events_come_in_the_order_asked_for(store: SqliteStore) -> None:
    events = keep(store, work())
    ids = [events[3].id, "unknown", events[0].id]
    assert passage.events_of(store.db, ids) == [events[3], events[0]]
    assert passage.events_of(store.db, []) == []
    assert passage.failed_among(store.db, range(1, 99)) == {3}
    assert passage.failed_among(store.db, []) == set()


def test_calls_come_with_their_results_and_stay_in_their_project(store: SqliteStore) -> None:
    keep(store, work())
    keep(store, work(), "other", "q")
    found = passage.calls_with(store.db, "p", "Bash", "make", 10)
    assert [(call.session, result.failed) for _, call, result in sorted(found)] == [("s", True), ("s", False)]
    assert len(passage.calls_with(store.db, None, "Bash", "", 10)) == 4
    assert passage.calls_with(store.db, "p", "Bash", "%", 10) == []


def test_the_files_of_calls(store: SqliteStore) -> None:
    keep(store, work())
    assert passage.paths_called(store.db, "p", "Makefile") == [("/p/Makefile", "p")]
    assert passage.paths_called(store.db, "p", "akefile") == []
    assert passage.paths_called(store.db, "q", "Makefile") == []
    ((_, call, failed),) = passage.calls_about(store.db, "p", ["/p/Makefile"], 10)
    assert (call.tool, failed) == ("Edit", False)


def test_what_a_file_held_up_to_an_event(store: SqliteStore) -> None:
    story = Story()
    for _ in range(2):
        story.edit("/p/a", "x", "y")
        held = json.dumps({"file": "/p/a", "hash": f"{len(story.events):016x}"})
        story.events[-1] = story.events[-1]._replace(extra=held)
    events = keep(store, story.events)
    assert [event.id for event in passage.left_by(store.db, "s", events[0].id)] == [events[1].id]
    assert [event.id for event in passage.left_by(store.db, "s", events[3].id)] == [events[1].id, events[3].id]


def test_what_was_said_before(store: SqliteStore) -> None:
    events = keep(store, work())
    found = passage.before(store.db, "s", 5, "prompt")
    assert found and found[1] == events[0]
    assert passage.before(store.db, "s", 5, "prompt", since=1) is None
