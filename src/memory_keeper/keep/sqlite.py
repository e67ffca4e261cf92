"""The embedded engine: one SQLite file per user, in WAL mode; one writer at a time, and readers that only read."""

from __future__ import annotations

import posix
import sys
import zlib

from memory_keeper import wire
from memory_keeper.errors import Busy, Damaged, KeeperError, NotSetUp, Outdated
from memory_keeper.keep import migrations
from memory_keeper.keep.branches import OUTLINE, Branches
from memory_keeper.keep.lookup import TABLES, tear_out
from memory_keeper.model import Event, Hit, Member, Note, Placed, Session, Source, Usage

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

EVENT = ", ".join(Event._fields)
SOURCE = ", ".join(Source._fields)
MARKS = "?, " * 32
# the kinds that hooks leave of a context, and what two of them were called once
MARKED = (
    "'start', 'end', 'window', 'warned', 'ask', 'blocked', 'ask-compact', 'replaced', 'scored',"
    " 'compacting', 'compacted'"
)
OURS = "'told', 'spent', 'archived', 'confirmed', 'contradicted', 'done'"  # and those that nothing in it said
WAIT = 5.0  # seconds for a lock
# in what SQLite says of a file that it can open and not make sense of
DAMAGE = ("malformed", "not a database", "corrupt", "unsupported file format", "not decode to UTF-8", "no such table")


class SqliteStore(Branches):
    """Satisfies `keep.Store`. Opened for writing it makes or migrates its file; for reading it never changes a byte."""

    def __init__(self, path: str, *, write: bool = True, migrate: bool = True) -> None:
        self.path = path
        try:
            if write:
                _make_private(path)
                _check_version(path, migrate)
            self.db = _connect(path, write)
            try:
                version = migrations.migrate(self.db) if write else _version(self.db)
            except BaseException:
                self.db.close()
                raise
        except engine.DatabaseError as error:
            if not write and "readonly" in str(error):  # its maker was killed: only a writer can take that back
                raise _nothing_in(path) from error
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
                f"insert into event ({EVENT}, crc) values ({MARKS[: 3 * len(Event._fields)]}?) on conflict do nothing",
                [(*event, zlib.crc32(event.text.encode())) for event, _ in placed],
            )
            self._index_events(before)
            (after,) = self.db.execute("select coalesce(max(seq), 0) from event").fetchone()
            self._place(source, placed, before, after)
            self.db.executemany(
                # the host repeats a response's usage on each of its lines, and its output grows on the way
                f"insert into usage values ({MARKS[: 3 * len(Usage._fields) - 2]})"
                " on conflict do update set output = max(output, excluded.output)",
                usages,
            )
            if member:
                self.db.execute("insert into member values (?, ?, ?, ?, ?)", (source.seq, *member))
            self.db.execute(
                "update source set offset = ?, inode = ?, head = ?, tail = ?, project = ?, at = max(at, ?), looked = ?"
                " where seq = ?",
                (source.offset, source.inode, source.head, source.tail, source.project, source.at, now, source.seq),
            )
        return int(after - before)

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

    # --- asking ----------------------------------------------------------------------------------------------------

    def project(self, key: str) -> str:
        """The project a key was given to; empty when it is unknown."""
        row = self.db.execute("select project from alias where key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def first_commits(self, project: str) -> list[str]:
        """The first commits by which a project is known."""
        rows = self.db.execute("select key from alias where project = ? and key like 'root:%'", (project,))
        return [key[5:] for (key,) in rows]

    def roots(self, project: str | None = None) -> list[str]:
        """The directories a project, or any, was seen in, the deepest first."""
        only, given = (" and project = ?", (project,)) if project is not None else ("", ())
        rows = self.db.execute(f"select key from alias where key like 'dir:%'{only}", given)
        return sorted((key[4:] for (key,) in rows), key=len, reverse=True)

    def source(self, path: str) -> Source | None:
        """How far a file has been read."""
        row = self.db.execute(
            f"select {SOURCE} from source where path = ? order by seq desc limit 1", (path,)
        ).fetchone()
        return Source._make(row) if row else None

    def last_of(self, source: Source, limit: int) -> list[Event]:
        """The last events that a file says, newest first, without their texts."""
        rows = self.db.execute(
            f"select {OUTLINE} from place p join event e on e.seq = p.event where p.source = ?"
            " order by p.event desc limit ?",
            (source.seq, limit),
        )
        return [_event(row) for row in rows]

    def recent_sources(self, project: str, limit: int, agents: bool = True) -> list[Source]:
        """The project's transcripts, the liveliest first, and the newest of those that nothing was read of yet; those
        of subagents too, or not."""
        those = (
            f"select {SOURCE} from source s where project = ? and path not like '%.spool'"
            " and not exists (select 1 from source newer where newer.path = s.path and newer.seq > s.seq)"
        ) + ("" if agents else " and agent = ''")
        lively = self.db.execute(those + " order by at desc limit ?", (project, limit)).fetchall()
        unread = self.db.execute(those + " and offset = 0 order by seq desc limit ?", (project, limit)).fetchall()
        return [Source._make(row) for row in dict.fromkeys(lively + unread)]

    def last_member(self, source: Source) -> Member | None:
        """The end of a transcript's archive, as far as it counts."""
        row = self.db.execute(
            "select offset, size, start, length from member where source = ? order by offset desc limit 1",
            (source.seq,),
        ).fetchone()
        return Member._make(row) if row else None

    def members(self) -> list[tuple[Source, Member]]:
        """Every member of every archive."""
        rows = self.db.execute(
            f"select {', '.join('s.' + f for f in Source._fields)}, m.offset, m.size, m.start, m.length"
            " from member m join source s on s.seq = m.source order by m.source, m.offset"
        )
        width = len(Source._fields)
        return [(Source._make(row[:width]), Member._make(row[width:])) for row in rows]

    def event(self, id: str) -> Event | None:
        """One event, by its id or by an unambiguous beginning of it: `4914e47a:1`, `4914e47a`, or all of it. Of a line
        with several, the first is meant where none is named."""
        rows = self.db.execute(f"select {EVENT} from event where id = ?", (id,)).fetchall()
        if not rows and id:
            base, colon, block = id.partition(":")
            found = self.db.execute(
                f"select {EVENT} from event where id >= ? and id < ? order by id limit 100", (base, base + "\U0010ffff")
            ).fetchall()
            rows = [row for row in found if row[0].endswith(colon + block)]
            if not colon and len({row[0].rpartition(":")[0] for row in rows}) == 1:
                rows = rows[:1]
        return _event(rows[0]) if len(rows) == 1 else None

    def events(self, session: str) -> list[Event]:
        """A session in order: what it took over from the session it was forked from comes first."""
        rows = self.db.execute(
            f"select {EVENT} from event where seq in"
            " (select p.event from place p join source s on s.seq = p.source where s.session = ?)"
            " order by seq",
            (session,),
        )
        return [_event(row) for row in rows]

    def stretch(self, sessions: Sequence[str], limit: int) -> list[Event]:
        """The newest events of some sessions, in order."""
        rows = self.db.execute(
            f"select {EVENT} from event where session in ({MARKS[: 3 * len(sessions) - 2]}) order by seq desc limit ?",
            (*sessions, limit),
        ).fetchall()
        return [_event(row) for row in reversed(rows)]

    def around(self, id: str, before: int, after: int) -> list[Event]:
        """An event's neighbours in its session, itself among them."""
        row = self.db.execute("select seq, session from event where id = ?", (id,)).fetchone()
        if not row:
            return []
        older = self.db.execute(
            f"select {EVENT} from event where session = ? and seq <= ? order by seq desc limit ?",
            (row[1], row[0], before + 1),
        ).fetchall()
        newer = self.db.execute(
            f"select {EVENT} from event where session = ? and seq > ? order by seq limit ?", (row[1], row[0], after)
        ).fetchall()
        return [_event(one) for one in (*reversed(older), *newer)]

    def line(self, id: str) -> tuple[Source, Member, int] | None:
        """Where an event's raw line lies: its transcript, the member, and the offset within that."""
        row = self.db.execute(
            f"select {', '.join('s.' + f for f in Source._fields)}, m.offset, m.size, m.start, m.length, p.offset"
            " from event e join source s on s.session = e.session join place p on p.source = s.seq and p.event = e.seq"
            " join member m on m.source = s.seq and m.offset <= p.offset and m.offset + m.size > p.offset"
            " where e.id = ? limit 1",
            (id,),
        ).fetchone()
        if not row:
            return None
        width = len(Source._fields)
        member = Member._make(row[width:-1])
        return Source._make(row[:width]), member, row[-1] - member.offset

    def lines(self, source: int) -> list[tuple[int, int, float]]:
        """The lines of a transcript as kept: the offset of each, and the key and moment of its first event."""
        rows = self.db.execute(
            "select p.offset, min(p.event), e.at from place p join event e on e.seq = p.event"
            " where p.source = ? and p.offset >= 0 group by p.offset",
            (source,),
        )
        return rows.fetchall()

    def sessions(self, project: str | None = None, limit: int = 10) -> list[Session]:
        """The sessions of a project, or of all; the newest first."""
        only, given = (" where project = ?", (project,)) if project is not None else (" where project != ''", ())
        rows = self.db.execute(
            "select s.session, s.project, min(e.at), max(e.at), count(*), sum(e.kind = 'prompt')"
            f" from (select session, project, max(at) as last from source{only}"
            "   group by session order by last desc limit ?) s"
            " join event e on e.session = s.session group by s.session order by s.last desc",
            (*given, limit),
        )
        return [Session._make(row) for row in rows]

    def latest(
        self,
        project: str,
        kind: str,
        limit: int,
        sessions: Sequence[str] = (),
        agents: bool = False,
        text: bool = True,
    ) -> list[Event]:
        """The newest events of a kind in a project or in some of its sessions, newest first; of the main thread, or
        those of subagents too; with their texts, which may be long, or without."""
        only = f" and session in ({MARKS[: 3 * len(sessions) - 2]})" if sessions else ""
        only += "" if agents else " and agent = ''"
        rows = self.db.execute(
            f"select {EVENT if text else OUTLINE} from event where project = ? and kind = ?{only}"
            " order by at desc, seq desc limit ?",
            (project, kind, *sessions, limit),
        )
        return [_event(row) for row in rows]

    def outcome(self, id: str) -> tuple[Event, bool] | None:
        """What the model said last about a prompt, and whether it was done then or in the middle of something."""
        asked = self.db.execute("select session, seq from event where id = ?", (id,)).fetchone()
        if not asked:
            return None
        begins = (  # a turn: what the user asks, or a command; what one printed is none
            "(kind = 'prompt' or (kind = 'command' and (text like '<command-%' or text like '<bash-input%')))"
        )
        turn = (
            "session = :session and agent = '' and seq > :seq and seq < coalesce((select min(seq) from event"
            f" where session = :session and agent = '' and seq > :seq and {begins}), 1 << 60)"
        )
        row = self.db.execute(
            f"select exists (select 1 from event where {turn} and seq > e.seq and kind in ('call', 'todo')), {EVENT}"
            f" from event e where {turn} and kind = 'reply' order by seq desc limit 1",
            {"session": asked[0], "seq": asked[1]},
        ).fetchone()
        return (_event(row[1:]), not row[0]) if row else None

    def newest(self, session: str) -> str:
        """The id of the last thing that a transcript of a session says; empty when there is none."""
        row = self.db.execute(
            f"select id from event where session = ? and kind not in ({MARKED}, {OURS}, 'other')"
            " order by seq desc limit 1",
            (session,),
        ).fetchone()
        return row[0] if row else ""

    def asked(self, session: str) -> bool:
        """Whether the user asked for anything in a session."""
        found = self.db.execute("select 1 from event where session = ? and kind = 'prompt' limit 1", (session,))
        return found.fetchone() is not None

    def title(self, session: str) -> str:
        """What the host calls a session; empty when it has not said."""
        row = self.db.execute(
            "select text from event where session = ? and kind = 'title' order by seq desc limit 1", (session,)
        ).fetchone()
        return row[0] if row else ""

    def project_of(self, session: str) -> str:
        """The project a session belongs to; empty when it is unknown."""
        row = self.db.execute(
            "select project from source where session = ? and project != '' order by seq desc limit 1", (session,)
        ).fetchone()
        return row[0] if row else ""

    def sessions_called(self, beginning: str) -> list[str]:
        """The sessions whose id begins so; two at most, since more say nothing else."""
        rows = self.db.execute(
            "select distinct session from source where session >= ? and session < ? limit 2",
            (beginning, beginning + "\U0010ffff"),
        ).fetchall()
        return [session for (session,) in rows]

    def marks(self, session: str) -> list[str]:
        """What hooks left of a session's contexts, oldest first: their records as they were."""
        rows = self.db.execute(
            f"select extra from event where session = ? and kind in ({MARKED}) order by seq",
            (session,),
        )
        return [extra for (extra,) in rows]

    def transcript(self, session: str) -> str:
        """Where the host wrote a session down; empty when that is not known."""
        row = self.db.execute(
            "select path from source where session = ? and agent = '' and path not like '%.spool'"
            " order by seq desc limit 1",
            (session,),
        ).fetchone()
        return row[0] if row else ""

    def began(self) -> float:
        """When something was first read into this store."""
        (at,) = self.db.execute("select coalesce(min(looked), 0) from source where looked > 0").fetchone()
        return float(at)

    def last_moment(self, session: str) -> float:
        """When a session's transcript was last added to, by its own clock."""
        (at,) = self.db.execute(
            "select coalesce(max(at), 0) from source where session = ? and path like '%.jsonl'", (session,)
        ).fetchone()
        return float(at)

    def said(self, session: str, text: str) -> bool:
        """Whether a session's transcript has this prompt or answer near its end."""
        rows = self.db.execute(
            "select text from event where session = ? and kind in ('prompt', 'reply') order by seq desc limit 20",
            (session,),
        )
        return any(text.strip()[:2000] == row[0].strip()[:2000] for row in rows)

    def last_usage(self, session: str) -> Usage | None:
        """The newest response of a session's main thread."""
        row = self.db.execute(
            f"select {', '.join(Usage._fields)} from usage where session = ? and agent = '' order by at desc limit 1",
            (session,),
        ).fetchone()
        return Usage._make(row) if row else None

    def usages(self, session: str) -> list[Usage]:
        """The responses of a session, its subagents' too, each once, oldest first."""
        rows = self.db.execute(
            f"select {', '.join(Usage._fields)} from usage where session = ? order by at, message", (session,)
        )
        return [Usage._make(row) for row in rows]

    def compacted(self, project: str) -> list[Event]:
        """Where contexts of a project were compacted or cleared, or put into its archive by hand; oldest first."""
        rows = self.db.execute(
            f"select {EVENT} from event where project = ? and kind in ('compact', 'end', 'archived') and agent = ''"
            " and (kind != 'compact' or tool = 'compact_boundary') and (kind != 'end' or tool = 'clear')"
            " order by at, seq",
            (project,),
        )
        return [_event(row) for row in rows]

    def todo_events(self, session: str) -> list[Event]:
        """The calls of a session's main thread that wrote the model's list of tasks, and their results, in order; none
        that failed."""
        rows = self.db.execute(
            f"select {EVENT} from event where session = :session and agent = '' and"
            " ((kind = 'todo' and ref not in (select ref from event where session = :session and failed)) or (kind ="
            " 'result' and not failed and ref in"
            " (select ref from event where session = :session and kind = 'todo' and ref != ''))) order by seq",
            {"session": session},
        )
        return [_event(row) for row in rows]

    def first_moment(self, session: str) -> float:
        """When the first thing happened that a session says of itself; 0 when nothing has."""
        (at,) = self.db.execute(
            "select coalesce(min(at), 0) from (select at from event where session = ? order by seq limit 50)",
            (session,),
        ).fetchone()
        return float(at)

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


def _connect(path: str, write: bool) -> Connection:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db: Connection = engine.connect(
        f"file:{quoted}?mode={'rw' if write else 'ro'}",
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

    from memory_keeper.keep.home import make_folder

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


def _nothing_in(path: str) -> NotSetUp:
    hint = "the next session of Claude Code begins it, or `memory-keeper import transcripts`"
    return NotSetUp(f"Nothing is kept in {path} yet", hint=hint)


def _explained(error: Exception, path: str) -> KeeperError:
    said = str(error)
    if "locked" in said or "busy" in said:
        return Busy(f"{path} is in use", hint="try again in a moment")
    if "unable to open" in said and not _is_there(path):
        return _nothing_in(path)
    if "unable to open" in said:
        return NotSetUp(f"{path} cannot be opened", hint="run `memory-keeper doctor`")
    if any(word in said for word in DAMAGE):
        return Damaged(f"{path} is damaged: {said}", hint="run `memory-keeper doctor --fix`")
    return KeeperError(f"{path}: {said}", hint="run `memory-keeper doctor`")


def _event(row: tuple[Any, ...]) -> Event:
    return Event._make((*row[:10], bool(row[10]), *row[11:]))


def as_json(value: Event | Note | Hit | Session) -> dict[str, Any]:
    """A value for `--json`."""
    plain: dict[str, Any] = value._asdict()
    if plain.get("extra"):
        plain["extra"] = wire.loads(plain["extra"])
    return plain
