"""A store of the version before: read as it is, made new by the first who writes, and never anything in between."""

from __future__ import annotations

import os
import signal
import sqlite3
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from memory_keeper.model import Event, Filter, Note, Placed, Scope, Source
from memory_keeper.search import find
from memory_keeper.store.sqlite import SqliteStore, fulltext, migrations

HERE = "dir:/here"
# as version 2 made them: their texts lie in `event` and `note`, and each row had to be put in by who wrote it
OLD_INDEX = (
    "create virtual table event_text using fts5(text, content='event', content_rowid='seq')",
    "create virtual table note_text using fts5(text, content='note', content_rowid='seq')",
)
EVENTS = 300
KINDS = ("prompt", "reply", "call", "result")
NOTES = ("the parser reads to the end", "zebras run on port 7311", "한국어 배포 계획")


def old_record(db: sqlite3.Connection, event: Event) -> None:
    """Keep an event as version 2 did it."""
    fields = ", ".join(Event._fields)
    marks = ", ".join("?" * len(Event._fields))
    db.execute("begin immediate")
    try:
        (before,) = db.execute("select coalesce(max(seq), 0) from event").fetchone()
        db.execute(
            f"insert into event ({fields}, crc) values ({marks}, ?) on conflict do nothing",
            (*event, zlib.crc32(event.text.encode())),
        )
        db.execute(
            "insert into event_text (rowid, text) select seq, text from event where seq > ? order by seq", (before,)
        )
        db.execute("commit")
    except BaseException:
        db.execute("rollback")
        raise


def old_note(db: sqlite3.Connection, note: Note) -> None:
    """Keep a note as version 2 did it."""
    fields = ", ".join(Note._fields)
    db.execute("begin immediate")
    try:
        db.execute(
            f"insert into note ({fields}, crc) values ({', '.join('?' * len(Note._fields))}, ?)",
            (*note, zlib.crc32(note.text.encode())),
        )
        (seq,) = db.execute("select last_insert_rowid()").fetchone()
        db.execute("insert into note_text (rowid, text) values (?, ?)", (seq, note.text))
        db.execute("commit")
    except BaseException:
        db.execute("rollback")
        raise


def event(number: int) -> Event:
    kind = KINDS[number % len(KINDS)]
    text = f"common word{number} parseHeaders in src/shop/cart.py"
    tool, ref = ("Bash" if kind == "call" else "", f"t{number // 4}" if kind in ("call", "result") else "")
    return Event(f"e{number}:0", 1000.0 + number, kind, f"s{number % 3}", HERE, text, tool=tool, ref=ref)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of version 2 with events and notes in it."""
    path = tmp_path / "store.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("begin immediate")
    for step in migrations.STEPS[:2]:
        step(db)
    for statement in OLD_INDEX:
        db.execute(statement)
    db.execute("pragma user_version = 2")
    db.execute("commit")
    for number in range(EVENTS):
        old_record(db, event(number))
    for number, text in enumerate(NOTES):
        old_note(db, Note(f"n{number}", 2000.0 + number, "fact", 0, HERE, text, who="user"))
    db.close()
    return path


def version(path: Path) -> int:
    db = sqlite3.connect(path)
    try:
        return int(db.execute("pragma user_version").fetchone()[0])
    finally:
        db.close()


def tables(path: Path) -> set[str]:
    db = sqlite3.connect(path)
    try:
        return {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    finally:
        db.close()


def check_new(path: Path, events: int = EVENTS) -> None:
    """Everything is found in it, by words, names, runs and filters, and nothing is damaged."""
    store = SqliteStore(str(path))
    try:
        assert (version(path), store.indexed) == (migrations.VERSION, True)
        assert store.problems() == [] and store.index_problem() == ""
        assert store.count(Filter(HERE)) == events
        for number in (0, 7, events - 1):
            assert [hit.id for hit in find(store, f"word{number}", Scope(HERE))] == [f"e{number}:0"]
        assert len(find(store, "parse headers", Scope(HERE), 1000)) >= 100
        assert [hit.id for hit in find(store, "zebra port", Scope(HERE))] == ["n1"]
        assert [hit.id for hit in find(store, "배포", Scope(HERE))] == ["n2"]
        assert {hit.kind for hit in find(store, "common", Scope(HERE, tool="bash"), 50)} == {"call", "result"}
        assert {hit.session for hit in find(store, "common", Scope(HERE, session="s2"), 50)} == {"s2"}
        assert find(store, "common", Scope("dir:/elsewhere")) == []
        assert not store.has_vectors()
    finally:
        store.close()
    assert not {*fulltext.OLD} & tables(path)


def check_old(path: Path) -> None:
    """It is as it was: somebody who knows only version 2 can go on with it."""
    assert version(path) == 2
    db = sqlite3.connect(path, isolation_level=None)
    try:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
        for index in fulltext.OLD:
            db.execute(f"insert into {index} ({index}) values ('integrity-check')")
        assert not {*fulltext.TABLES, "vector"} & {name for (name,) in db.execute("select name from sqlite_master")}
        found = db.execute("select rowid from event_text where event_text match 'word7'").fetchall()
        assert found == [(8,)]
    finally:
        db.close()


# --- reading and writing it -------------------------------------------------------------------------------------------


def test_the_fixture_is_what_version_2_made(old: Path) -> None:
    check_old(old)
    assert {*fulltext.OLD} <= tables(old)


def test_a_reader_reads_it_and_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    store = SqliteStore(str(old), write=False)
    try:
        assert not store.indexed
        assert store.event("e7:0") == event(7)
        assert [one.id for one in store.latest(HERE, "prompt", 2)] == ["e296:0", "e292:0"]
        found = store.note("n1")
        assert found and found.text == NOTES[1]
        assert not store.has_vectors()
    finally:
        store.close()
    assert old.read_bytes() == before
    check_old(old)


def test_a_writer_makes_it_new(old: Path) -> None:
    SqliteStore(str(old)).close()
    check_new(old)


def test_what_is_kept_afterwards_is_found_too(old: Path) -> None:
    store = SqliteStore(str(old))
    source = store.begin(Source("/t/new.jsonl", "s9", HERE))
    store.record(source, [Placed(event(EVENTS)._replace(session="s9"), 0)])
    store.close()
    check_new(old, EVENTS + 1)


def test_a_reader_that_was_there_before_sees_the_new_one(old: Path) -> None:
    """A server of a session is a reader for hours; an update comes in between."""
    reader = SqliteStore(str(old), write=False)
    assert reader.event("e1:0")
    SqliteStore(str(old)).close()
    assert reader.event("e1:0") == event(1)
    assert [hit.id for hit in find(reader, "word8", Scope(HERE))] == ["e8:0"]
    reader.close()


def test_an_empty_one_of_version_2(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    for step in migrations.STEPS[:2]:
        step(db)
    for statement in OLD_INDEX:
        db.execute(statement)
    db.execute("pragma user_version = 2")
    db.close()
    store = SqliteStore(str(tmp_path / "store.db"))
    assert find(store, "anything") == [] and store.index_problem() == ""
    store.close()


# --- killed, and at once ----------------------------------------------------------------------------------------------


def killed_after(path: Path, statements: int) -> int:
    """Open the store for writing in a child that is killed after so many statements; 0 when it came to its end."""
    pid = os.fork()
    if not pid:
        code = 3
        try:
            _die_after(statements)
            SqliteStore(str(path)).close()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    ended = os.waitstatus_to_exitcode(status)
    assert ended in (0, -signal.SIGKILL)
    return ended


def _die_after(statements: int) -> None:
    """Every call of SQLite counts, also one that puts many rows into an index."""
    import sys

    left = statements

    def count(frame: Any, happened: str, called: Any) -> None:
        nonlocal left
        if happened == "c_call" and "sqlite3" in type(getattr(called, "__self__", None)).__module__:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def test_killed_anywhere_it_is_the_old_one_or_the_new(old: Path) -> None:
    """And the next one makes it new."""
    copy = old.with_name("copy.db")
    seen = set()
    for statements in range(200):
        for end in ("", "-wal", "-shm"):
            Path(str(copy) + end).unlink(missing_ok=True)
        copy.write_bytes(old.read_bytes())
        ended = killed_after(copy, statements)
        seen.add(version(copy))
        (check_old if version(copy) == 2 else check_new)(copy)
        if not ended:
            break
        if version(copy) == 2:
            check_new(copy)
    assert not ended and seen == {2, migrations.VERSION}, "some were killed before, and the last came through"


def test_killed_while_rows_go_into_the_index(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(rows: Any) -> Any:
        for number, row in enumerate(real(rows)):
            if number == EVENTS // 2:
                os.kill(os.getpid(), signal.SIGKILL)
            yield row

    real = fulltext._indexed
    monkeypatch.setattr(fulltext, "_indexed", die)
    assert killed_after(old, 10**9) == -signal.SIGKILL
    monkeypatch.undo()
    check_old(old)
    check_new(old)


def together(*works: Callable[[], None]) -> None:
    """Do some things at the same moment; the first mistake is raised."""
    ready = Barrier(len(works))

    def do(work: Callable[[], None]) -> None:
        ready.wait()
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(do, work) for work in works]:
            done.result()


def test_two_writers_at_once_make_it_new_once(old: Path) -> None:
    together(*[lambda: SqliteStore(str(old)).close()] * 4)
    check_new(old)


def test_readers_go_on_while_it_is_made_new(old: Path) -> None:
    def read() -> None:
        for _ in range(30):
            store = SqliteStore(str(old), write=False)
            assert store.event("e7:0") == event(7)
            if store.indexed:
                assert [hit.id for hit in find(store, "word8", Scope(HERE))] == ["e8:0"]
            store.close()

    together(lambda: SqliteStore(str(old)).close(), read, read)
    check_new(old)


# --- somebody who has not been updated yet ----------------------------------------------------------------------------


def test_an_old_writer_that_still_has_it_open_cannot_write_past_the_index(old: Path) -> None:
    """What it would keep it keeps for the next one: its change fails, whole, and nothing is kept that nobody finds."""
    db = sqlite3.connect(old, isolation_level=None)
    old_record(db, event(EVENTS))
    SqliteStore(str(old)).close()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        old_record(db, event(EVENTS + 1))
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        old_note(db, Note("late", 3000.0, "fact", 0, HERE, "too late"))
    assert db.execute("select count(*) from event").fetchone() == (EVENTS + 1,)
    assert db.execute("select count(*) from note").fetchone() == (len(NOTES),)
    db.close()
    check_new(old, EVENTS + 1)


def test_what_an_old_writer_keeps_at_the_same_moment_is_found_or_not_kept(old: Path) -> None:
    kept: list[int] = []

    def write() -> None:
        db = sqlite3.connect(old, isolation_level=None, timeout=30.0)
        for number in range(EVENTS, EVENTS + 50):
            try:
                old_record(db, event(number))
            except sqlite3.OperationalError:
                break
            kept.append(number)
        db.close()

    together(write, lambda: SqliteStore(str(old)).close())
    check_new(old, EVENTS + len(kept))
    store = SqliteStore(str(old), write=False)
    for number in kept:
        assert [hit.id for hit in find(store, f"word{number}", Scope(HERE))] == [f"e{number}:0"]
    store.close()
