"""The store's file: private, whole or untouched whatever happens, and never another version's victim."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.model import EVERYWHERE, Event, Filter, Member, Note, Phrase, Placed, Source, Usage
from memory_keeper.store.events import model_calls, open_events, session_events
from memory_keeper.store.sqlite import SqliteStore, migrations
from tests.raw import change

SRC = Path(migrations.__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def fill(path: Path, count: int = 20) -> list[Event]:
    """A store with some events in it, closed."""
    events = [Event(f"e{n}:0", float(n), "reply", "s1", "dir:/p", f"text number {n} " * 40) for n in range(count)]
    store = SqliteStore(str(path))
    source = store.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
    store.record(source._replace(offset=1), [Placed(event, n) for n, event in enumerate(events)])
    store.close()
    return events


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_nothing_there_yet(path: Path) -> None:
    with pytest.raises(NotSetUp):
        SqliteStore(str(path), write=False)
    assert not path.exists()


def test_an_empty_file_is_nothing_yet(path: Path) -> None:
    path.touch()
    with pytest.raises(NotSetUp):
        SqliteStore(str(path), write=False)
    assert path.read_bytes() == b""


def test_a_reader_sees_what_a_writer_keeps(path: Path) -> None:
    events = fill(path)
    writer, reader = SqliteStore(str(path)), SqliteStore(str(path), write=False)
    source = writer.begin(Source("/t/s2.jsonl", "s2", "dir:/p"))
    writer.record(source, [Placed(Event("new:0", 1.0, "prompt", "s2", "dir:/p", "hello"), 0)])
    assert [event.id for event in session_events(reader, "s2")] == ["new:0"]
    assert session_events(reader, "s1") == events
    with pytest.raises(KeeperError):
        reader.begin(Source("/t/s3.jsonl", "s3", "dir:/p"))
    reader.close()
    writer.close()


@pytest.mark.parametrize("odd", ["with space", "käse 한국어", "100%25?mode=memory#x", "a" * 200])
def test_any_folder_name_will_do(tmp_path: Path, odd: str) -> None:
    events = fill(tmp_path / odd / "store.db")
    store = SqliteStore(str(tmp_path / odd / "store.db"), write=False)
    assert session_events(store, "s1") == events
    store.close()
    assert [folder.name for folder in tmp_path.iterdir() if folder.name != "home"] == [odd]


# --- other versions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_newer_store_is_refused_and_not_a_byte_changed(path: Path, journal: str) -> None:
    fill(path)
    change(path, f"pragma user_version = {migrations.VERSION + 1}", f"pragma journal_mode = {journal}")
    before = contents(path.parent)
    with pytest.raises(KeeperError, match="newer") as refused:
        SqliteStore(str(path))
    assert "\n" not in str(refused.value)
    assert refused.value.hint
    after = contents(path.parent)
    assert {name: after.pop(name) for name in before} == before
    assert not after.pop("store.db-wal", b""), "a reader may leave an empty log, and its index"
    assert after.keys() <= {"store.db-shm"}


def test_a_newer_store_whose_writer_died_is_not_changed_either(path: Path) -> None:
    fill(path)
    change(path, f"pragma user_version = {migrations.VERSION + 1}")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma wal_autocheckpoint = 0")
    db.execute("update event set tool = 'x'")
    files = contents(path.parent)  # as if the writer had been killed: its last change is in the log only
    db.close()
    copy = path.parent / "copy"
    copy.mkdir()
    for name in ("store.db", "store.db-wal"):
        (copy / name).write_bytes(files[name])
    before = contents(copy)
    with pytest.raises(KeeperError, match="newer"):
        SqliteStore(str(copy / "store.db"))
    assert {name: contents(copy)[name] for name in before} == before


def test_a_newer_store_can_be_read(path: Path) -> None:
    events = fill(path)
    change(path, f"pragma user_version = {migrations.VERSION + 1}", "alter table event add column mood text")
    store = SqliteStore(str(path), write=False)
    assert store.newer
    assert session_events(store, "s1") == events
    store.close()


def test_an_older_store_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = fill(path)
    add = "alter table event add column mood text not null default 'calm'"
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, lambda db: db.execute(add)))
    monkeypatch.setattr(migrations, "VERSION", len(migrations.STEPS))
    store = SqliteStore(str(path))
    assert session_events(store, "s1") == events
    assert store.db.execute("select distinct mood from event").fetchall() == [("calm",)]
    store.close()
    SqliteStore(str(path)).close()  # and once only: the column is there already


def test_a_migration_that_fails_leaves_the_old_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = fill(path)

    def half(db: sqlite3.Connection) -> None:
        db.execute("alter table event rename to gone")
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS, half))
        patch.setattr(migrations, "VERSION", len(migrations.STEPS))
        with pytest.raises(RuntimeError):
            SqliteStore(str(path))
    store = SqliteStore(str(path))
    assert session_events(store, "s1") == events
    store.close()


# Kills itself right before the statement of that number, each time in a child of its own.
KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.store.sqlite import SqliteStore, connection, migrations
path, shipped = sys.argv[2], migrations.STEPS
def second(db):
    db.execute("alter table event rename to event_before")
    db.execute("create table event as select * from event_before")
    db.execute("drop table event_before")
def attempt(folder, number, steps):
    migrations.STEPS, migrations.VERSION = steps, len(steps)
    connect = connection.connect
    count = 0
    def watched(path, write):
        db = connect(path, write)
        def before(statement):
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), 9)
        db.set_trace_callback(before)
        return db
    connection.connect = watched
    SqliteStore(folder + "/store.db").close()
    os._exit(0)
import shutil
for name, steps in (("made", shipped), ("moved", (*shipped, second))):
    status = 9
    for number in range(1, 200):
        if status != 9:  # it came to its end
            break
        folder = f"{path}/{name}-{number}"
        os.mkdir(folder)
        if name == "moved":
            shutil.copy(path + "/old.db", folder + "/store.db")
        pid = os.fork()
        if not pid:
            attempt(folder, number, steps)
        status = os.waitpid(pid, 0)[1]
    assert status == 0
"""


def test_a_migration_killed_anywhere_leaves_old_or_new(tmp_path: Path) -> None:
    events = fill(tmp_path / "old.db")
    subprocess.run([sys.executable, "-c", KILLED, str(SRC), str(tmp_path)], check=True, timeout=60)
    made, moved = sorted(tmp_path.glob("made-*")), sorted(tmp_path.glob("moved-*"))
    assert len(made) > 20, "it was killed at every statement"
    assert len(moved) > 4
    for folder in made:
        db = sqlite3.connect(folder / "store.db")
        ((version,), tables) = db.execute("pragma user_version").fetchone(), db.execute("select 1 from sqlite_master")
        assert (version, bool(tables.fetchall())) in ((0, False), (migrations.VERSION, True))
        db.close()
        SqliteStore(str(folder / "store.db")).close()
    for folder in moved:
        db = sqlite3.connect(folder / "store.db")
        (version,) = db.execute("pragma user_version").fetchone()
        names = {name for (name,) in db.execute("select name from sqlite_master where name like 'event_before%'")}
        assert version in (migrations.VERSION, migrations.VERSION + 1)
        assert not names
        assert db.execute("select count(*) from event").fetchone() == (len(events),)
        db.close()


def test_two_that_open_a_new_store_at_once_agree(path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(SRC)!r})
from memory_keeper.store.sqlite import SqliteStore
SqliteStore({str(path)!r}).close()
"""
    running = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(6)]
    for one in running:
        assert one.communicate()[1] == b""
        assert one.returncode == 0
    assert fill(path)


def test_who_reads_while_it_is_made_finds_nothing_or_all(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(40)]
    code = f"""
import sys
sys.path.insert(0, {str(SRC)!r})
from memory_keeper.store.sqlite import SqliteStore
for path in sys.argv[1:]:
    SqliteStore(path).close()
"""
    with subprocess.Popen([sys.executable, "-c", code, *map(str, paths)]) as maker:
        for path in paths:
            found = False
            while not found:
                try:
                    SqliteStore(str(path), write=False).close()
                    found = True
                except NotSetUp:
                    assert maker.poll() in (None, 0)
    assert maker.returncode == 0


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["garbage", "header", "cut"])
def test_a_damaged_store_says_so_in_one_line(path: Path, how: str) -> None:
    fill(path, 200)
    data = bytearray(path.read_bytes())
    if how == "garbage":
        data[:] = os.urandom(len(data))
    elif how == "header":
        data[:16] = b"not a database!!"
    else:
        del data[4096:]
    path.write_bytes(data)
    with pytest.raises(KeeperError) as said:
        store = SqliteStore(str(path))
        try:
            store.begin(Source("/t/s2.jsonl", "s2", "dir:/p"))
        finally:
            store.close()
    assert "damaged" in str(said.value)
    assert "\n" not in str(said.value)
    assert said.value.hint
    assert path.read_bytes() == data, "what may still be saved is not made worse"


COLUMNS = [
    *(("event", name) for name in Event._fields if name != "id"),
    *(("note", name) for name in Note._fields if name != "id"),
]


@pytest.mark.parametrize(("table", "column"), [*COLUMNS, ("event", "covered_by"), ("note", "covered_by")])
def test_a_change_of_any_column_is_noticed(path: Path, table: str, column: str) -> None:
    fill(path)
    store = SqliteStore(str(path))
    store.add(Note("n1", 1, "fact", 1, "dir:/p", "a note", extra='{"by":"model"}'))
    assert store.problems() == []
    assert store.index_problem() == ""
    changed = f"{column} + 1" if column in ("at", "level", "tokens", "failed") else f"coalesce({column}, '') || 'x'"
    store.db.execute(f"update {table} set {column} = {changed} where id in ('e3:0', 'n1')")
    what = "are covered by no note that is there" if column == "covered_by" else "are not what was written"
    assert store.problems() == [f"1 of the {table}s {what}"]
    store.close()


def test_a_row_of_an_older_version_is_checked_by_its_text(path: Path) -> None:
    fill(path)
    store = SqliteStore(str(path))
    crc = zlib.crc32(store.db.execute("select text from event where id = 'e3:0'").fetchone()[0].encode())
    store.db.execute("update event set crc = ? where id = 'e3:0'", (crc,))
    assert store.problems() == []
    store.db.execute("update event set text = text || 'x' where id = 'e3:0'")
    assert store.problems() == ["1 of the events are not what was written"]
    store.close()


def test_what_is_not_in_the_index_is_noticed_and_mended(path: Path) -> None:
    fill(path)
    store = SqliteStore(str(path))
    store.add(Note("n1", 1.0, "fact", 1, "dir:/p", "a note"))
    for table in ("event_words", "note_words"):
        store.db.execute(f"delete from {table}_docsize where id = (select max(id) from {table}_docsize)")
        assert store.index_problem()
        store.rebuild_index()
        assert store.index_problem() == ""
    assert len(store.matching([[Phrase("text")]], EVERYWHERE, 100)) == store.count(Filter())
    assert len(store.matching([[Phrase("note")]], EVERYWHERE, 100, notes=True)) == 1
    store.close()


def test_a_flipped_bit_in_the_file_is_noticed(path: Path) -> None:
    fill(path, 50)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"text number 33")
    data[at] ^= 1
    path.write_bytes(data)
    store = SqliteStore(str(path), write=False)
    assert store.problems()
    store.close()


def test_a_store_in_use_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    monkeypatch.setattr("memory_keeper.store.sqlite.connection.WAIT", 0.05)
    first, second = SqliteStore(str(path)), SqliteStore(str(path))
    with first._change(), pytest.raises(Busy):
        second.begin(Source("/t/s2.jsonl", "s2", "dir:/p"))
    second.begin(Source("/t/s2.jsonl", "s2", "dir:/p"))
    first.close()
    second.close()


def test_a_writer_killed_in_a_transaction_leaves_nothing_of_it(path: Path) -> None:
    events = fill(path)
    code = f"""
import os, sys
sys.path.insert(0, {str(SRC)!r})
from memory_keeper.store.sqlite import SqliteStore
store = SqliteStore({str(path)!r})
with store._change():
    store.db.execute("update event set tool = 'half'")
    store.db.execute("update source set offset = 999")
    os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    store = SqliteStore(str(path))
    assert session_events(store, "s1") == events
    source = store.source("/t/s1.jsonl")
    assert source and source.offset == 1
    store.close()


# --- privacy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [True, False])
def test_who_stays_keeps_little_of_the_file_at_hand(path: Path, write: bool) -> None:
    SqliteStore(str(path)).close()
    store = SqliteStore(str(path), write=write, cache=500)
    assert store.db.execute("pragma cache_size").fetchone() == (-500,)
    store.close()


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteStore(str(tmp_path / "a/b/store.db"))
        store.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
        modes = {
            file.relative_to(tmp_path).as_posix(): stat.S_IMODE(file.stat().st_mode)
            for file in (tmp_path / "a").rglob("*")
        }
        store.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert modes == {
        "a/b": 0o700,
        "a/b/store.db": 0o600,
        "a/b/store.db-shm": 0o600,
        "a/b/store.db-wal": 0o600,
    }


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere.db")
    before = (tmp_path / "elsewhere.db").read_bytes()
    (tmp_path / "store.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(OSError, match="symbolic"):
        SqliteStore(str(tmp_path / "store.db"))
    assert (tmp_path / "elsewhere.db").read_bytes() == before


# --- questions that only this engine answers --------------------------------------------------------------------------


def test_usage_is_one_row_per_response(path: Path) -> None:
    store = SqliteStore(str(path))
    source = store.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
    for output in (1, 9, 4):
        store.record(source, [], [Usage("m1", 1.0, "s1", "dir:/p", "", "model", 10, 20, 30, output)])
    assert store.db.execute("select count(*), sum(output), sum(input) from usage").fetchone() == (1, 9, 10)
    store.close()


def test_a_line_is_found_in_its_archive(path: Path) -> None:
    store = SqliteStore(str(path))
    source = store.begin(Source("/t/s1.jsonl", "s1", "dir:/p"))
    first, second = Member(0, 100, 0, 40), Member(100, 60, 40, 30)
    event = Event("e1:0", 1.0, "reply", "s1", "dir:/p", "x")
    store.record(source._replace(offset=100), [], (), first)
    store.record(source._replace(offset=160), [Placed(event, 130)], (), second)
    assert store.last_member(source) == second
    found = store.line("e1:0")
    assert found and found[0].seq == source.seq
    assert found[1:] == (second, 30)
    assert [member for _, member in store.members()] == [first, second]
    assert store.line("none") is None
    store.close()


def test_counts(path: Path) -> None:
    fill(path, 3)
    store = SqliteStore(str(path))
    assert store.add(Note("n1", 1.0, "summary", 1, "dir:/p", "x"), ["e0:0"]) == 1
    counts = store.counts("dir:/p")
    assert (counts["events"], counts["sessions"], counts["pending"], counts["notes"]) == (3, 1, 2, {"1": 1})
    assert counts["kinds"] == {"reply": 3}
    assert store.counts("dir:/q")["events"] == 0
    assert store.counts()["events"] == 3
    store.close()


def test_a_store_copied_while_nobody_writes_is_the_same(path: Path, tmp_path: Path) -> None:
    events = fill(path)
    shutil.copy(path, tmp_path / "copy.db")
    store = SqliteStore(str(tmp_path / "copy.db"), write=False)
    assert session_events(store, "s1") == events
    store.close()


def test_a_store_of_the_first_version_can_be_read_before_anybody_has_written_to_it(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    store = SqliteStore(path)
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    store.record(source, [Placed(Event("e:0", 1.0, "prompt", "s", "p", "hello"), 0)])
    for index in (
        "event_open",
        "event_covered",
        "event_spent",
        "note_covered",
        "note_open",
        "note_kind",
        "note_replaces",
    ):
        store.db.execute(f"drop index {index}")
    store.db.execute("pragma user_version = 1")
    store.close()
    reader = SqliteStore(path, write=False)
    assert [one.session for one in reader.open_sessions("p")] == ["s"]
    assert [event.id for event in open_events(reader, "s", "p")] == ["e:0"]
    assert reader.notes("p", above="n") == reader.notes("p", 1, open=True) == []
    assert reader.counts("p")["pending"] == 1 and model_calls(reader) == []
    reader.close()
    SqliteStore(path).close()
    reader = SqliteStore(path, write=False)
    assert [one.session for one in reader.open_sessions("p")] == ["s"]
    reader.close()
