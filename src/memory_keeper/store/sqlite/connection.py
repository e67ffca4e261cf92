"""A connection to one SQLite file: how it is opened, asked and changed, and what its errors mean to a user."""

from __future__ import annotations

import posix
import sys
import zlib
from time import monotonic, sleep

from memory_keeper.errors import Busy, Damaged, KeeperError, NothingKept
from memory_keeper.store.home import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as engine
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from sqlite3 import Connection as Database
    from typing import Any

    Given = Sequence[object] | Mapping[str, object]
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

DatabaseError, OperationalError = engine.DatabaseError, engine.OperationalError
WAIT = 5.0  # seconds for a lock
TRIES, PAUSE = 2, 0.01  # more, to open a file that is there, and seconds between two
ALL = 1 << 32  # in a checksum: it is of all columns; those of older versions are of the text alone
# in what SQLite says of a file that it can open and not make sense of
DAMAGE = ("malformed", "not a database", "corrupt", "unsupported file format", "not decode to UTF-8", "no such table")


class Connection:
    """What the parts of the engine ask and change the file through. Every failure is a KeeperError."""

    db: Database
    path = ""

    def _each(self, query: str, given: Given = ()) -> Iterator[Any]:
        """The rows of an answer, one at a time."""
        try:
            yield from self.db.execute(query, given)
        except DatabaseError as error:
            raise explain(error, self.path) from error

    def _all(self, query: str, given: Given = ()) -> list[Any]:
        try:
            return self.db.execute(query, given).fetchall()
        except DatabaseError as error:
            raise explain(error, self.path) from error

    def _first(self, query: str, given: Given = ()) -> Any:
        """The first row of an answer; None when there is none."""
        try:
            return self.db.execute(query, given).fetchone()
        except DatabaseError as error:
            raise explain(error, self.path) from error

    def _value(self, query: str, given: Given = (), default: Any = None) -> Any:
        """The first column of the first row."""
        row = self._first(query, given)
        return row[0] if row else default

    def _change(self, durable: bool = False) -> Transaction:
        return Transaction(self.db, self.path, durable)


class Transaction:
    """One change, whole or not at all. Durable ones survive a power cut; what a transcript can give back need not."""

    def __init__(self, db: Database, path: str, durable: bool) -> None:
        self.db, self.path, self.durable = db, path, durable

    def __enter__(self) -> None:
        self._sync("full" if self.durable else "normal")
        try:
            self.db.execute("begin immediate")
        except DatabaseError as error:
            raise explain(error, self.path) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            try:
                self.db.execute("commit")
                return
            except DatabaseError as failed:
                error = failed
        if self.db.in_transaction:
            self.db.execute("rollback")
        if isinstance(error, engine.DatabaseError):
            raise explain(error, self.path) from error

    def _sync(self, how: str) -> None:
        self.db.execute(f"pragma synchronous = {how}")


def open_file(path: str, write: bool, prepare: Callable[[Database], int], more: int = TRIES) -> tuple[Database, int]:
    """A store and its version; who finds it while it is made, or closed by the last who had it open, tries again."""
    try:
        db = connect(path, write)
        try:
            return db, prepare(db)
        except BaseException:
            db.close()
            raise
    except OperationalError as error:
        if write or not more or "unable to open" not in str(error):
            raise
        if not _is_there(path):
            raise nothing_in(path) from error
    sleep(PAUSE)
    return open_file(path, write, prepare, more - 1)


def connect(path: str, write: bool) -> Database:
    """An open file, with what every connection of ours has."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # a reader makes a file beside the journal, unless there is neither a journal nor anybody who could write one
    mode = "rw" if write else "ro&immutable=1" if is_frozen(path) and not _is_there(path + "-wal") else "ro"
    db: Database = engine.connect(
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
    except DatabaseError:
        db.close()
        raise
    return db


def _write_ahead(db: Database) -> None:
    """Turn WAL on. SQLite does not wait for others here, as it does everywhere else, so we do."""
    until = monotonic() + WAIT
    while True:
        try:
            db.execute("pragma journal_mode = wal")
            return
        except OperationalError as error:
            if "locked" not in str(error) or monotonic() > until:
                raise
            sleep(0.01)


def make_private(path: str) -> None:
    """The file exists before SQLite opens it, so that it and its journals are nobody else's to read.

    One that is there is not opened: closing it again would drop the locks that this process has on it.
    """
    make_folder(path.rpartition("/")[0])
    try:
        posix.close(posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600))
    except FileExistsError:
        if posix.lstat(path).st_mode & 0o170000 == 0o120000:
            raise OSError(40, "Too many levels of symbolic links", path) from None  # as O_NOFOLLOW says it


def version_of(db: Database) -> int:
    """The version of a store's schema; 0 when there is none yet."""
    (version,) = db.execute("pragma user_version").fetchone()
    return int(version)


def _is_there(path: str) -> bool:
    try:
        return bool(posix.lstat(path))
    except OSError:
        return False


def is_frozen(path: str) -> bool:
    """Whether a file lies on a file system that is read-only."""
    try:
        return bool(posix.statvfs(path).f_flag & posix.ST_RDONLY)
    except OSError:
        return False


def nothing_in(path: str) -> NothingKept:
    """What to say where nothing is kept."""
    hint = "run `memory-keeper install` and start Claude Code, or `memory-keeper import transcripts`"
    return NothingKept(f"Nothing is kept in {path} yet", hint=hint)


def explain(error: Exception, path: str) -> KeeperError:
    """What an error of the engine means to a user."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return Busy(f"{path} is in use", hint="try again in a moment")
    if "unable to open" in text and not _is_there(path):
        return nothing_in(path)
    if "unable to open" in text:
        why = ": Read-only file system" * is_frozen(path)
        return KeeperError(f"{path} cannot be opened{why}", hint="run `memory-keeper doctor`")
    if any(word in text for word in DAMAGE):
        return Damaged(f"{path} is damaged: {text}", hint="run `memory-keeper doctor --fix`")
    return KeeperError(f"{path}: {text}", hint="run `memory-keeper doctor`")


def checksum(row: Sequence[object]) -> int:
    """Of all that is said of an event or a note and never changes: of its fields, in their order."""
    said = "\0".join([value if isinstance(value, str) else _number(value) for value in row])
    return ALL | zlib.crc32(said.encode("utf-8", "surrogatepass"))


def is_whole(row: Sequence[object], text: object, known: object) -> bool:
    """Whether a row that was read is as it was written."""
    if isinstance(known, int) and known >= ALL:
        return checksum(row) == known
    return isinstance(text, str) and zlib.crc32(text.encode("utf-8", "surrogatepass")) == known


def _number(value: object) -> str:
    """As it is read, whatever it was written as: a moment may be given as a whole number."""
    return str(float(value)) if isinstance(value, (int, float)) else repr(value)
