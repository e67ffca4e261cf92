"""The embedded engine: one SQLite file per user, in WAL mode; one writer at a time, and readers that only read."""

from __future__ import annotations

import posix
import sys
import zlib

from memory_keeper.errors import Busy, Damaged, KeeperError, NotSetUp, Outdated
from memory_keeper.model import Event, Member, Placed, Source, Usage
from memory_keeper.store import migrations
from memory_keeper.store.branches import Branches
from memory_keeper.store.leaves import EVENT, blanks
from memory_keeper.store.matches import TABLES, tear_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as engine
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection
    from typing import Any
else:

    class _Functools:
        lru_cache = staticmethod(lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple))

    # `_sqlite3` is what the sqlite3 package wraps. It wants one thing of functools, which takes three times as long to
    # load as itself; so it gets just that, and whoever comes later gets the real one.
    lent = sys.modules.setdefault("functools", _Functools) is _Functools
    try:
        import _sqlite3 as engine
        from _functools import _lru_cache_wrapper
    except ImportError:  # another Python: these names are private
        engine = None
    if lent:
        del sys.modules["functools"]
    if not engine:
        import sqlite3 as engine

WAIT = 5.0  # seconds for a lock
TRIES, PAUSE = 2, 0.01  # more, to open a file that is there, and seconds between two
# in what SQLite says of a file that it can open and not make sense of
DAMAGE = ("malformed", "not a database", "corrupt", "unsupported file format", "not decode to UTF-8", "no such table")


class SqliteStore(Branches):
    """Satisfies `Store`. Opened for writing it makes or migrates its file; for reading it never changes a byte.

    `cache` are the kilobytes of the file that it keeps at hand; 0: as many as SQLite does, which is 2,000.
    """

    def __init__(self, path: str, *, write: bool = True, migrate: bool = True, cache: int = 0) -> None:
        self.path = path
        try:
            if write:
                _make_private(path)
                _check_version(path, migrate)
            self.db, version = _open(path, write)
            if cache:
                self.db.execute(f"pragma cache_size = -{cache}")
        except engine.DatabaseError as error:
            if not write and "readonly" in str(error) and not _is_frozen(path):
                raise _nothing_in(path) from error  # its maker was killed: only a writer can take that back
            raise _explained(error, path) from error
        self.newer = version > migrations.VERSION
        self.levelled, self.indexed = write or version > 1, write or version > 2
        if not version and not write:
            self.db.close()
            raise _nothing_in(path)

    def close(self) -> None:
        """Give the file back."""
        self.db.close()

    # --- recording -------------------------------------------------------------------------------------------------

    def begin(self, source: Source) -> Source:
        """A file is read from its start, for the first time or because it was replaced: its old rows stay."""
        fresh = source._replace(offset=0, inode=0, head="", tail="", at=0.0)
        with self._change():
            self.db.execute(
                "insert into source (path, session, project, agent, offset, inode, head, tail, at, looked)"
                " values (?, ?, ?, ?, 0, 0, '', '', 0, 0)",
                (fresh.path, fresh.session, fresh.project, fresh.agent),
            )
            (seq,) = self.db.execute("select last_insert_rowid()").fetchone()
        return fresh._replace(seq=seq)

    def record(
        self,
        source: Source,
        placed: Sequence[Placed],
        usages: Sequence[Usage] = (),
        member: Member | None = None,
        now: float = 0.0,
    ) -> int:
        """Keep the events of a stretch of a file together with how far it was read; how many were new."""
        with self._change():
            (before,) = self.db.execute("select coalesce(max(seq), 0) from event").fetchone()
            self.db.executemany(
                f"insert into event ({EVENT}, crc) values ({blanks(Event._fields)}, ?) on conflict do nothing",
                [(*event, zlib.crc32(event.text.encode())) for event, _ in placed],
            )
            self._index_events(before)
            (after,) = self.db.execute("select coalesce(max(seq), 0) from event").fetchone()
            self._place(source, placed, before, after)
            self.db.executemany(
                # the host repeats a response's usage on each of its lines, and its output grows on the way
                f"insert into usage values ({blanks(Usage._fields)})"
                " on conflict do update set output = max(output, excluded.output)",
                usages,
            )
            if member:
                self.db.execute("insert into member values (?, ?, ?, ?, ?)", (source.seq, *member))
            self._advance(source, now)
        return int(after - before)

    def _advance(self, source: Source, now: float) -> None:
        self.db.execute(
            "update source set offset = ?, inode = ?, head = ?, tail = ?, project = ?, at = max(at, ?), looked = ?"
            " where seq = ?",
            (source.offset, source.inode, source.head, source.tail, source.project, source.at, now, source.seq),
        )

    def _place(self, source: Source, placed: Sequence[Placed], before: int, after: int) -> None:
        """Note where each event stands: new ones have ascending numbers, known ones are looked up."""
        if after - before == len(placed):
            rows: Iterable[tuple[Any, ...]] = (
                (source.seq, seq, one.offset) for seq, one in enumerate(placed, before + 1)
            )
            self.db.executemany("insert into place values (?, ?, ?)", rows)
            return
        self.db.executemany(
            "insert into place select ?, seq, ? from event where id = ? on conflict do nothing",
            [(source.seq, one.offset, one.event.id) for one in placed],
        )

    def name_project(self, keys: Sequence[str], project: str) -> None:
        """From now on each of these keys means this project."""
        with self._change():
            self.db.executemany(
                "insert into alias values (?, ?) on conflict do update set project = excluded.project",
                [(key, project) for key in keys],
            )

    # --- health ----------------------------------------------------------------------------------------------------

    def counts(self, project: str | None = None) -> dict[str, Any]:
        """How much is kept, and when something was last added."""
        only, given = (" where project = ?", (project,)) if project is not None else ("", ())
        one = self.db.execute(
            "select count(*), count(distinct nullif(session, '')), coalesce(max(at), 0),"
            f" coalesce(sum(covered_by is null), 0) from event{only}",
            given,
        ).fetchone()
        first = (
            f"{only or ' where true'} and replaces = '' and text != ''"  # one without words covers what said nothing
        )
        notes = self.db.execute(f"select level, count(*) from note{first} group by level", given).fetchall()
        looked = self.db.execute(f"select coalesce(max(looked), 0) from source{only}", given).fetchone()
        kinds = self.db.execute(
            f"select kind, count(*) from event{only} group by kind order by 2 desc", given
        ).fetchall()
        return {
            "events": one[0],
            "sessions": one[1],
            "last_event": one[2],
            "pending": one[3],
            "notes": {str(level): number for level, number in notes},
            "last_look": looked[0],
            "kinds": dict(kinds),
        }

    def problems(self) -> list[str]:
        """Damage that can be seen from inside: the file, the index, and every text against its checksum."""
        found: list[str] = []
        try:
            for (said,) in self.db.execute("pragma integrity_check(10)"):
                found += [str(said)] if said != "ok" else []
            for table in ("event", "note"):
                bad = 0
                for text, crc in self.db.execute(f"select text, crc from {table}"):
                    good = isinstance(text, str) and zlib.crc32(text.encode("utf-8", "surrogatepass")) == crc
                    bad += not good
                if bad:
                    found.append(f"{bad} of the {table} texts are not what was written")
        except (engine.DatabaseError, MemoryError, OverflowError) as error:  # what cannot be checked is damaged
            explained = _explained(error, self.path)
            if isinstance(explained, Busy):
                raise explained from error
            found.append(str(error) or type(error).__name__)
        return found

    def index_problem(self) -> str:
        """What is wrong with the search index; empty when nothing is. Needs a store opened for writing."""
        try:
            for index, table in TABLES.items():
                self.db.execute(f"insert into {index} ({index}) values ('integrity-check')")
                (missing,) = self.db.execute(
                    f"select count(*) from {table} where seq not in (select id from {index}_docsize)"
                ).fetchone()
                if missing:
                    return f"{missing} rows of {table} are not in it"
            self.has_vectors()
        except engine.DatabaseError as error:
            return str(error)
        return ""

    def rebuild_index(self) -> None:
        """Make the search index again from the texts, however broken it is."""
        try:
            with self._change():
                self._renew_index()
        except KeeperError:
            tear_out(self.db)
            with self._change():
                self._renew_index()

    def _change(self, durable: bool = False) -> _Transaction:
        return _Transaction(self.db, self.path, durable)


class _Transaction:
    """One change, whole or not at all. Durable ones survive a power cut; what a transcript can give back need not."""

    def __init__(self, db: Connection, path: str, durable: bool) -> None:
        self.db, self.path, self.durable = db, path, durable

    def __enter__(self) -> None:
        self._sync("full" if self.durable else "normal")
        try:
            self.db.execute("begin immediate")
        except engine.DatabaseError as error:
            raise _explained(error, self.path) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            try:
                self.db.execute("commit")
                return
            except engine.DatabaseError as failed:
                error = failed
        if self.db.in_transaction:
            self.db.execute("rollback")
        if isinstance(error, engine.DatabaseError):
            raise _explained(error, self.path) from error

    def _sync(self, how: str) -> None:
        self.db.execute(f"pragma synchronous = {how}")


def _open(path: str, write: bool, more: int = TRIES) -> tuple[Connection, int]:
    """A store and its version; who finds it while it is made, or closed by the last who had it open, tries again."""
    from time import sleep

    try:
        db = _connect(path, write)
        try:
            return db, migrations.migrate(db) if write else _version(db)
        except BaseException:
            db.close()
            raise
    except engine.OperationalError as error:
        if write or not more or "unable to open" not in str(error):
            raise
        if not _is_there(path):
            raise _nothing_in(path) from error
    sleep(PAUSE)
    return _open(path, write, more - 1)


def _connect(path: str, write: bool) -> Connection:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # a reader makes a file beside the journal, unless there is neither a journal nor anybody who could write one
    mode = "rw" if write else "ro&immutable=1" if _is_frozen(path) and not _is_there(path + "-wal") else "ro"
    db: Connection = engine.connect(
        f"file:{quoted}?mode={mode}",
        uri=True,
        timeout=WAIT,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
    try:
        db.execute("pragma trusted_schema = off")
        if write:
            _write_ahead(db)
            db.execute("pragma wal_autocheckpoint = 10000")
            db.execute("pragma cell_size_check = on")
    except engine.DatabaseError:
        db.close()
        raise
    return db


def _write_ahead(db: Connection) -> None:
    """Turn WAL on. SQLite does not wait for others here, as it does everywhere else, so we do."""
    from time import monotonic, sleep

    until = monotonic() + WAIT
    while True:
        try:
            db.execute("pragma journal_mode = wal")
            return
        except engine.OperationalError as error:
            if "locked" not in str(error) or monotonic() > until:
                raise
            sleep(0.01)


def _make_private(path: str) -> None:
    """The file exists before SQLite opens it, so that it and its journals are nobody else's to read.

    One that is there is not opened: closing it again would drop the locks that this process has on it.
    """
    import posix

    from memory_keeper.store.home import make_folder

    make_folder(path.rpartition("/")[0])
    try:
        posix.close(posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600))
    except FileExistsError:
        if posix.lstat(path).st_mode & 0o170000 == 0o120000:
            raise OSError(40, "Too many levels of symbolic links", path) from None  # as O_NOFOLLOW says it


def _check_version(path: str, migrate: bool) -> None:
    """Refuse a newer store, and an older one where there is no time to migrate it. Asked as a reader: that a writer
    opens and closes it may already change a file that is not ours to change."""
    db = _connect(path, write=False)
    try:
        version = _version(db)
    except engine.OperationalError:
        return  # somebody was killed while making the store: only a writer can take that back
    finally:
        db.close()
    if version > migrations.VERSION:
        raise KeeperError(f"{path} was written by a newer Memory Keeper", hint="update Memory Keeper")
    if 0 < version < migrations.VERSION and not migrate:
        raise Outdated(f"{path} is being brought up to date", hint="try again in a moment")


def _version(db: Connection) -> int:
    (version,) = db.execute("pragma user_version").fetchone()
    return int(version)


def _is_there(path: str) -> bool:
    try:
        return bool(posix.lstat(path))
    except OSError:
        return False


def _is_frozen(path: str) -> bool:
    """Whether a file lies on a file system that is read-only."""
    try:
        return bool(posix.statvfs(path).f_flag & posix.ST_RDONLY)
    except OSError:
        return False


def _nothing_in(path: str) -> NotSetUp:
    hint = "run `memory-keeper install` and start Claude Code, or `memory-keeper import transcripts`"
    return NotSetUp(f"Nothing is kept in {path} yet", hint=hint)


def _explained(error: Exception, path: str) -> KeeperError:
    said = str(error)
    if "locked" in said or "busy" in said:
        return Busy(f"{path} is in use", hint="try again in a moment")
    if "unable to open" in said and not _is_there(path):
        return _nothing_in(path)
    if "unable to open" in said:
        why = ": Read-only file system" * _is_frozen(path)
        return KeeperError(f"{path} cannot be opened{why}", hint="run `memory-keeper doctor`")
    if any(word in said for word in DAMAGE):
        return Damaged(f"{path} is damaged: {said}", hint="run `memory-keeper doctor --fix`")
    return KeeperError(f"{path}: {said}", hint="run `memory-keeper doctor`")
