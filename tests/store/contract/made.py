"""What the checks are made of: events, notes and transcripts that never were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.model import EVERYWHERE, Event, Note, Phrase, Placed, Scope, Source, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_keeper.store.store import Store

    Open = Callable[[], Store]

HERE, ELSEWHERE = "dir:/here", "dir:/elsewhere"
SIZE = 100  # bytes that each line of the made-up transcripts has


def an_event(
    number: int | str,
    *,
    session: str = "s1",
    project: str = HERE,
    at: float = 0.0,
    kind: str = "reply",
    text: str = "",
    tool: str = "",
    path: str = "",
    ref: str = "",
    agent: str = "",
    failed: bool = False,
    extra: str = "",
) -> Event:
    text = text if text or tool or extra else f"common word{number}"
    return Event(f"e{number}:0", at, kind, session, project, text, tool, path, ref, agent, failed, extra)


def some_events(count: int) -> list[Event]:
    return [an_event(number) for number in range(count)]


def a_usage(message: str, output: int, at: float = 10.0, agent: str = "") -> Usage:
    return Usage(message, at, "s1", HERE, agent, "model", 1000, 200, 30, output)


def a_note(id: str, level: int = 1) -> Note:
    return Note(id, 5.0, "session", level, HERE, f"note {id}", session="s1", tokens=2)


def begin(store: Store, path: str = "/t/s1.jsonl", session: str = "s1", project: str = HERE) -> Source:
    return store.begin(Source(path, session, project))


def record_lines(store: Store, source: Source, events: Sequence[Event]) -> int:
    """Keep some events, as if each were a line behind what the store has read of the source."""
    known = store.source(source.path)
    begin = known.offset if known else 0
    placed = [Placed(event, begin + number * SIZE) for number, event in enumerate(events)]
    return store.record(source._replace(offset=begin + len(events) * SIZE), placed)


def find_keys(store: Store, *words: str, scope: Scope = EVERYWHERE, limit: int = 100, notes: bool = False) -> list[int]:
    """The keys of what has all of these words."""
    return store.matching([[Phrase(word)] for word in words], scope, limit, notes, deep=True)


def find_ids(store: Store, *words: str, scope: Scope = EVERYWHERE) -> set[str]:
    return {row.id for row in store.rows(find_keys(store, *words, scope=scope))}
