"""What contexts were told, as the store knows it: by time, by session, by brief."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_keeper import wire
from memory_keeper.model import Event, Placed, Source
from memory_keeper.store.injected import equipped, tally, told
from memory_keeper.store.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Two sessions of a project, one of another, and a record that says nothing."""
    store = SqliteStore(str(tmp_path / "store.db"))
    source = store.begin(Source("/s.spool", "a", "p"))
    events = [
        _event(10, "a", "p", brief="start", tokens=500),
        _event(20, "a", "p", brief="reminder", tokens=30),
        _event(30, "a", "p", brief="reminder", tokens=30),
        _event(40, "b", "p", brief="handoff", tokens=700, each=[["handoff", 400], ["replay", 300]]),
        _event(50, "c", "other", brief="start", tokens=900),
        _event(60, "b", "p"),
    ]
    store.record(source, [Placed(event, 0) for event in events], now=1.0)
    yield store
    store.close()


def _event(at: float, session: str, project: str, **said: Any) -> Event:
    brief = str(said.get("brief", ""))
    return Event(f"told-{session}-{at}:0", at, "told", session, project, "", tool=brief, extra=wire.dumps(said))


def test_what_was_told_comes_in_order_and_without_reminders(store: SqliteStore) -> None:
    assert [one.at for one in told(store, "p")] == [10, 40, 60]
    assert [one.at for one in told(store, "p", "a", reminders=True)] == [10, 20, 30]
    assert [one.said["brief"] for one in told(store, "p", since=11, until=60)] == ["handoff"]


@pytest.fixture
def racing(tmp_path: Path) -> Iterator[SqliteStore]:
    """A session in which two hooks find the same at the same time, again and again."""
    store = SqliteStore(str(tmp_path / "racing"))
    source = store.begin(Source("/s.spool", "a", "p"))
    events = [
        _event(10, "a", "p", brief="rules", tokens=1, hash="x"),
        _event(11, "a", "p", brief="rules", tokens=1, hash="x"),  # the slower one
        _event(12, "b", "p", brief="rules", tokens=1, hash="x"),  # another session
        _event(20, "a", "p", brief="recall", tokens=10, lines=["k", "l"]),
        _event(21, "a", "p", brief="recall", tokens=10, lines=["l", "m"]),
        _event(22, "a", "p", brief="fix", tokens=10, lines=["n"]),
        _event(30, "a", "p", brief="rules", tokens=1, hash="y"),  # they were changed, and back
        _event(31, "a", "p", brief="rules", tokens=1, hash="x"),
        _event(40, "a", "p", brief="subagent", tokens=5),
        _event(41, "a", "p", brief="subagent", tokens=5),  # two of them
        _event(51, "a", "p", brief="handoff", tokens=100),
        _event(52, "a", "p", brief="handoff", tokens=100),
        _event(53, "a", "p", brief="rules", tokens=1, hash="x"),
        _event(54, "a", "p", brief="recall", tokens=10, lines=["k"]),
        Event("compact-a:0", 50, "compact", "a", "p", ""),
        Event("start-a:0", 60, "start", "a", "p", ""),
        _event(60, "a", "p", brief="handoff", tokens=100),
        _event(61, "a", "p", brief="rules", tokens=1, hash="x"),
        _event(62, "a", "p", brief="rules", tokens=1, hash="x"),
    ]
    store.record(source, [Placed(event, 0) for event in events], now=1.0)
    yield store
    store.close()


def test_who_comes_second_is_not_heard_and_not_charged(racing: SqliteStore) -> None:
    moments = [one.at for one in told(racing, "p")]
    assert moments == [10, 12, 20, 22, 30, 31, 40, 41, 51, 53, 54, 60, 61]
    costs = tally(told(racing, "p", "a", reminders=True))
    assert costs == {"rules": (5, 5), "recall": (2, 20), "fix": (1, 10), "subagent": (2, 10), "handoff": (2, 200)}


def test_it_costs_what_its_records_say(store: SqliteStore) -> None:
    costs = tally(told(store, "p", reminders=True))
    assert costs == {"start": (1, 500), "reminder": (2, 60), "handoff": (1, 400), "replay": (1, 300)}
    assert tally(told(store, "p", "a", reminders=True)) == {"start": (1, 500), "reminder": (2, 60)}
    assert tally(told(store, "p", since=20, until=30, reminders=True)) == {"reminder": (1, 30)}
    assert tally(told(store, "q", reminders=True)) == {}


def test_a_context_has_our_tools_where_a_hook_saw_it_begin(store: SqliteStore) -> None:
    source = store.begin(Source("/t.spool", "b", "p"))
    starts = [("b", 42, "startup"), ("b", 43, "resume"), ("b", 44, "compact"), ("d", 45, "resume"), ("d", 46, "resume")]
    events = [Event(f"start-{of}-{at}:0", at, "start", of, "p", "", tool=how) for of, at, how in starts]
    store.record(source, [Placed(event, 0) for event in events], now=1.0)
    assert equipped(store, "p") == [(42, "b"), (44, "b"), (45, "d")]
    assert equipped(store, "p", "b") == [(42, "b"), (44, "b")]
    assert equipped(store, "p", "a") == equipped(store, "q") == []
