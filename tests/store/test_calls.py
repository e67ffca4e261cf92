"""What was called and what came of it, as the store tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_keeper.model import Event, Placed, Source
from memory_keeper.store import calls
from memory_keeper.store.sqlite import SqliteStore
from tests.notes.story import Story


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
    found = calls.find_after(store, "s", "", events[1].id, 100)
    assert [event.id for event in found] == [event.id for event in events[1:]]
    assert found[1].text == "error: no rule"
    assert found[-1].text == ""
    assert len(calls.find_after(store, "s", "", events[1].id, 2)) == 2
    assert calls.find_after(store, "s", "an agent", events[1].id, 9) == []
    assert calls.find_after(store, "s", "", "unknown", 9) == []


def test_a_result_has_its_call(store: SqliteStore) -> None:
    events = keep(store, work())
    keep(store, work(), "other")
    assert calls.call_of(store, events[2]) == events[1]
    assert calls.call_of(store, events[2]._replace(ref="")) is None


def test_events_come_in_the_order_asked_for(store: SqliteStore) -> None:
    events = keep(store, work())
    ids = [events[3].id, "unknown", events[0].id]
    assert calls.events_of(store, ids) == [events[3], events[0]]
    assert calls.events_of(store, []) == []
    assert calls.failed_calls(store, range(1, 99)) == {2}
    assert calls.failed_calls(store, []) == set()


def test_calls_come_with_their_results_and_stay_in_their_project(store: SqliteStore) -> None:
    keep(store, work())
    keep(store, work(), "other", "q")
    found = calls.calls_with(store, "p", "Bash", "make", 10)
    assert {call.session for _, call in found} == {"s"}
    results = calls.results_of(store, [seq for seq, _ in found])
    assert [results[seq].failed for seq, _ in sorted(found)] == [True, False]
    assert len(calls.calls_with(store, None, "Bash", "", 10)) == 4
    assert len(calls.calls_with(store, None, "Bash", "", 3)) == 3
    assert calls.calls_with(store, "p", "Bash", "%", 10) == []
    assert store.projects() == ["p", "q"]


def test_a_call_that_nothing_came_of_has_no_result(store: SqliteStore) -> None:
    story = Story()
    story.run("make", "built")
    keep(store, story.events[:1])
    ((seq, _),) = calls.calls_with(store, "p", "Bash", "", 10)
    assert calls.results_of(store, [seq]) == {}
    assert calls.results_of(store, []) == {}


def test_a_result_is_looked_for_from_its_call_on(store: SqliteStore) -> None:
    """Every call asks a few rows behind it, not every result all calls: else a large store takes many seconds."""
    keep(store, work())
    asked: list[str] = []
    store.db.set_trace_callback(asked.append)
    calls.calls_with(store, None, "Bash", "make", 10)
    calls.results_of(store, [2, 6])
    calls.calls_about(store, "p", ["/p/Makefile"], 10)
    calls.paths_called(store, "p", "Makefile", 10)
    store.db.set_trace_callback(None)
    plans = [row[3] for query in asked for row in store.db.execute("explain query plan " + query)]
    assert plans and not [plan for plan in plans if plan.startswith("SCAN event") and "COVERING" not in plan]


def test_a_tool_is_known_however_it_is_written(store: SqliteStore) -> None:
    keep(store, work())
    assert calls.tool_called(store, "p", "eDIT", 10) == "Edit"
    assert calls.tool_called(store, None, "edit", 10) == "Edit"
    assert calls.tool_called(store, "q", "edit", 10) == ""
    assert calls.tool_called(store, "p", "make", 10) == ""


def test_the_files_of_calls(store: SqliteStore) -> None:
    keep(store, work())
    assert calls.paths_called(store, "p", "Makefile", 9) == [("/p/Makefile", "p")]
    assert calls.paths_called(store, "p", "akefile", 9) == []
    assert calls.paths_called(store, "q", "Makefile", 9) == []
    ((_, call, failed),) = calls.calls_about(store, "p", ["/p/Makefile"], 10)
    assert (call.tool, failed) == ("Edit", False)


def test_what_a_file_held_up_to_an_event(store: SqliteStore) -> None:
    story = Story()
    for _ in range(2):
        story.edit("/p/a", "x", "y")
        held = json.dumps({"file": "/p/a", "hash": f"{len(story.events):016x}"})
        story.events[-1] = story.events[-1]._replace(extra=held)
    events = keep(store, story.events)
    assert [event.id for event in calls.files_left(store, "s", events[0].id)] == [events[1].id]
    assert [event.id for event in calls.files_left(store, "s", events[3].id)] == [events[1].id, events[3].id]


def test_what_was_said_before(store: SqliteStore) -> None:
    events = keep(store, work())
    found = calls.last_before(store, "s", 5, "prompt")
    assert found and found[1] == events[0]
    assert calls.last_before(store, "s", 5, "prompt", since=1) is None


# --- turns: from one prompt of the main thread to the next ---

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
def turns(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "turns"))
    source = made.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
    events = [
        Event(f"e{number}:0", 1.0, kind, "s1", "dir:/p", "x", "Edit" if path else "", path, agent=agent)
        for number, (kind, path, agent) in enumerate(STEPS, 1)
    ]
    made.record(source, [Placed(event, number) for number, event in enumerate(events)])
    yield made
    made.close()


@pytest.mark.parametrize("key", [2, 3, 5, 8])
def test_all_of_a_turn_belongs_to_it(turns: SqliteStore, key: int) -> None:
    turn = calls.turn_of(turns, "s1", key)
    assert turn == calls.Turn("s1", 2, 9)
    assert calls.replies_in(turns, turn, 9) == [8, 6]
    assert calls.replies_in(turns, turn, 1) == [8]
    assert calls.written_in(turns, turn, ["Edit"]) == {"/p/a.py", "/p/b.py"}
    assert calls.written_in(turns, turn, ["Write"]) == set()


def test_the_first_and_the_last_are_open(turns: SqliteStore) -> None:
    assert calls.turn_of(turns, "s1", 1) == calls.Turn("s1", 0, 2)
    assert calls.turn_of(turns, "s1", 10) == calls.Turn("s1", 9, 10 + calls.SOON)
    assert calls.replies_in(turns, calls.turn_of(turns, "s2", 1), 9) == []
