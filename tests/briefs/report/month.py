"""A month that is always the same, for tests of what is told of it: two projects, and both ways to compact."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_keeper.hooks.actions.telling import record_told
from memory_keeper.model import Event, Note
from memory_keeper.request import Brief
from memory_keeper.store.home import Lock
from tests.workplace import Worked, Workplace

OPUS, SONNET, OTHER = "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "someone's-model"
MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=UTC).timestamp() for month in (3, 4, 5))


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine in Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def respond(session: Worked, model: str, fresh: int, cached: int, written: int, output: int, say: str = "On.") -> None:
    """A response with just these counts."""
    sizes = {"input_tokens": fresh, "cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
    session.transcript.at += 60
    (row,) = session.transcript.reply(say, model=model, usage=sizes)
    row["message"]["usage"]["output_tokens"] = output


def told(session: Worked, name: str, tokens: int) -> None:
    """A brief reaches the context."""
    session.transcript.at += 60
    place = session.place
    brief = Brief(name, "words", tokens)
    folder, at = str(place.folder(session.project)), session.transcript.at
    record_told(str(place.home), session.id, folder, f"c{at}", at, (brief,))
    session.transcript.at += 60


def compacted(session: Worked, size: int, left: int, summary: str = "") -> None:
    """The host compacts a context; without a summary it took our answer."""
    made = session.transcript
    if not summary:
        session.place.now = made.at
        session.mark("Replaced", source="auto", tokens=size)
    made.compact(summary, pre=size, post=left)
    if not summary:
        made.lines.pop()
    made.at += 60


def begin(place: Workplace, at: float, project: str = "app") -> Worked:
    """A session that begins then."""
    place.now = at
    made = place.session(project)
    made.transcript.at = at + 1
    made.transcript.prompt("Go on.")
    return made


def fill(place: Workplace) -> list[Worked]:
    """The sessions of March and April 2026."""
    day = 86_400.0
    first = begin(place, APRIL - 0.5 * day)
    respond(first, OPUS, 10, 1_000, 200, 30)  # on the last of March
    first.transcript.at = APRIL + 3600
    respond(first, OPUS, 20, 2_000, 300, 40)
    second = begin(place, APRIL + 3 * day)
    told(second, "start", 500)
    for _ in range(2):
        respond(second, OPUS, 100, 80_000, 9_900, 700)
    second.transcript.call("Read", {"file_path": "/p/a.py"}, "x = 1\n" * 200)
    compacted(second, 90_000, 12_000)
    for _ in range(3):
        respond(second, OPUS, 50, 9_000, 2_950, 100)
    third = begin(place, APRIL + 9 * day)
    respond(third, SONNET, 5, 150_000, 5_000, 900)
    third.transcript.call("Bash", {"command": "make test"}, "all passed")
    compacted(third, 155_000, 30_000, "What was said before.")
    respond(third, OTHER, 7, 0, 31_000, 60)
    fourth = begin(place, APRIL + 20 * day, "other | <b>project</b>")
    respond(fourth, SONNET, 1, 2, 3, 4)
    for session in (first, second, third, fourth):
        session.write()
    place.catch_up()
    _ask(place, APRIL + 10 * day)
    return [first, second, third, fourth]


def _ask(place: Workplace, at: float) -> None:
    """A model was asked to word a note, and did."""
    project = place.project()
    note = Note("note-000000000001", at, "session", 0, project, "Words.")
    extra = '{"ok": true, "answered": true, "tokens_in": 1200, "tokens_out": 300, "cost": 0.01}'
    with Lock(str(place.home), 5.0), place.keeper() as keeper:
        keeper.writer.add(note, ())
        for end in (0, 1):
            keeper.writer.mark(Event(f"spent-1:{end}", at + end, "spent", "", project, "", ref=note.id, extra=extra))


@pytest.fixture
def office(tmp_path: Path, utc: None) -> Workplace:
    """The place where all of that happened."""
    made = Workplace(tmp_path)
    fill(made)
    return made
