"""The embedded engine: one SQLite file per user, in WAL mode; one writer at a time, and readers that only read.

`connection` opens and asks the file, `fulltext` answers about words and meaning by an `expression`, `events` about
events and usage, `notes` about notes; this records, and says how the store is. `migrations` has the schema, `dump`
writes everything out, `salvage` reads what a damaged file still has, `forgetting` takes out for good, `copies`
writes a copy. `mirror` is a file of its own, of whole transcripts.
"""

from __future__ import annotations

from memory_keeper.errors import Busy, KeeperError, Outdated
from memory_keeper.model import Event, Member, Note, Placed, Source, Usage
from memory_keeper.store.sqlite import migrations
from memory_keeper.store.sqlite.connection import (
    DatabaseError,
    OperationalError,
    checksum,
    connect,
    explain,
    is_frozen,
    is_whole,
    make_private,
    nothing_in,
    open_file,
    version_of,
)
from memory_keeper.store.sqlite.events import EVENT
from memory_keeper.store.sqlite.fulltext import TABLES, blanks, tear_out
from memory_keeper.store.sqlite.notes import Notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from memory_keeper.model import Moved


class SqliteStore(Notes):
    """Satisfies `Store`. Opened for writing it makes or migrates its file; for reading it never changes a byte.

    `cache` are the kilobytes of the file that it keeps at hand; 0: as many as SQLite does, which is 2,000.
    """

    schema = migrations.VERSION

    def __init__(self, path: str, *, write: bool = True, migrate: bool = True, cache: int = 0) -> None:
        self.path = path
        try:
            if write:
                make_private(path)
                _check_version(path, migrate)
            self.db, version = open_file(path, write, migrations.migrate if write else version_of)
            if cache:
                self.db.execute(f"pragma cache_size = -{cache}")
        except DatabaseError as error:
            if not write and "readonly" in str(error) and not is_frozen(path):
                raise nothing_in(path) from error  # its maker was killed: only a writer can take that back
            raise explain(error, path) from error
        self.newer = version > migrations.VERSION
        self.levelled, self.indexed = write or version > 1, write or version > 2
        if not version and not write:
            self.db.close()
            raise nothing_in(path)

    def close(self) -> None:
        self.db.close()

    # --- recording -------------------------------------------------------------------------------------------------

    def begin(self, source: Source) -> Source:
        fresh = source._replace(offset=0, inode=0, head="", tail="", at=0.0)
        with self._change():
            self.db.execute(
                "insert into source (path, session, project, agent, offset, inode, head, tail, at, looked)"
                " values (?, ?, ?, ?, 0, 0, '', '', 0, 0)",
                (fresh.path, fresh.session, fresh.project, fresh.agent),
            )
            (seq,) = self._first("select last_insert_rowid()")
        return fresh._replace(seq=seq)

    def record(
        self,
        source: Source,
        placed: Sequence[Placed],
        usages: Sequence[Usage] = (),
        member: Member | None = None,
        now: float = 0.0,
    ) -> int:
        with self._change():
            (before,) = self._first("select coalesce(max(seq), 0) from event")
            self.db.executemany(
                f"insert into event ({EVENT}, crc) values ({blanks(Event._fields)}, ?) on conflict do nothing",
                [(*event, checksum(event)) for event, _ in placed],
            )
            (after,) = self._first("select coalesce(max(seq), 0) from event")
            if after - before == len(placed):  # nothing was known: no row has to be read again
                self._index_rows(
                    [
                        (seq, event.text, event.project, event.session, event.kind, event.at, event.tool, event.ref)
                        for seq, (event, _) in enumerate(placed, before + 1)
                    ]
                )
            else:
                self._index_events(before)
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
        with self._change():
            self.db.executemany(
                "insert into alias values (?, ?) on conflict do update set project = excluded.project",
                [(key, project) for key in keys],
            )

    # --- health ----------------------------------------------------------------------------------------------------

    def counts(self, project: str | None = None) -> dict[str, Any]:
        only, given = (" where project = ?", (project,)) if project is not None else ("", ())
        one = self._first(
            "select count(*), count(distinct nullif(session, '')), coalesce(max(at), 0),"
            f" coalesce(sum(covered_by is null), 0) from event{only}",
            given,
        )
        first = (
            f"{only or ' where true'} and replaces = '' and text != ''"  # one without words covers what said nothing
        )
        notes = self._all(f"select level, count(*) from note{first} group by level", given)
        looked = self._first(f"select coalesce(max(looked), 0) from source{only}", given)
        kinds = self._all(f"select kind, count(*) from event{only} group by kind order by 2 desc", given)
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
        """Damage that can be seen from inside: the file, the index, and every row against its checksum."""
        found: list[str] = []
        try:
            for (problem,) in self.db.execute("pragma integrity_check(10)"):
                found += [str(problem)] if problem != "ok" else []
            for table, fields in (("event", Event._fields), ("note", Note._fields)):
                place, bad = fields.index("text"), 0
                for *row, known in self.db.execute(f"select {', '.join(fields)}, crc from {table}"):
                    bad += not is_whole(row, row[place], known)
                if bad:
                    found.append(f"{bad} of the {table}s are not what was written")
                covered = f"from {table} where covered_by is not null"
                loose = self._value(f"select count(*) {covered} and covered_by not in (select id from note)")
                if loose:
                    found.append(f"{loose} of the {table}s are covered by no note that is there")
        except (DatabaseError, MemoryError, OverflowError) as error:  # what cannot be checked is damaged
            explained = explain(error, self.path)
            if isinstance(explained, Busy):
                raise explained from error
            found.append(str(error) or type(error).__name__)
        return found

    def index_problem(self) -> str:
        """What is wrong with the search index; empty when nothing is. Needs a store opened for writing."""
        try:
            for index, table in TABLES.items():
                self.db.execute(f"insert into {index} ({index}) values ('integrity-check')")
                missing = self.db.execute(
                    f"select count(*) from {table} where seq not in (select id from {index}_docsize)"
                ).fetchone()[0]
                if missing:
                    return f"{missing} rows of {table} are not in it"
            self.db.execute("select 1 from vector limit 1")
        except DatabaseError as error:
            return str(error)
        return ""

    def rebuild_index(self) -> None:
        try:
            with self._change():
                self._renew_index()
        except KeeperError:
            tear_out(self.db)
            with self._change():
                self._renew_index()

    def forget(self, events: Collection[int], notes: Collection[str], moved: Mapping[int, Moved | None]) -> None:
        from memory_keeper.store.sqlite import forgetting

        forgetting.forget(self, events, notes, moved)

    def copy(self, path: str) -> None:
        from memory_keeper.store.sqlite import copies

        copies.copy(self, path)

    def mask(self, change: Callable[[str], str], dry: bool = False) -> int:
        from memory_keeper.store.sqlite import forgetting

        return forgetting.mask(self, change, dry)

    def compact(self, patience: float = 30.0) -> None:
        from memory_keeper.store.sqlite import forgetting

        forgetting.compact(self, patience)

    def dump(self, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
        from memory_keeper.store.sqlite.dump import TABLES

        for table, columns, rows in TABLES:
            names = [column.rpartition(" ")[2].rpartition(".")[2] for column in columns.split(", ")]
            for row in self._each(f"select {columns} from {rows}", {"project": project}):
                yield table, dict(zip(names, row, strict=True))

    def sizes(self, project: str) -> dict[str, int]:
        from memory_keeper.store.sqlite.dump import TABLES

        given = {"project": project}
        return {
            table: self._value(f"select count(*) from {rows.rpartition(' order by ')[0]}", given)
            for table, _, rows in TABLES
        }


def _check_version(path: str, migrate: bool) -> None:
    """Refuse a newer store, and an older one where there is no time to migrate it. Asked as a reader: that a writer
    opens and closes it may already change a file that is not ours to change."""
    db = connect(path, write=False)
    try:
        version = version_of(db)
    except OperationalError:
        return  # somebody was killed while making the store: only a writer can take that back
    finally:
        db.close()
    if version > migrations.VERSION:
        raise KeeperError(f"{path} was written by a newer Memory Keeper", hint="update Memory Keeper")
    if 0 < version < migrations.VERSION and not migrate:
        raise Outdated(f"{path} is being brought up to date", hint="try again in a moment")
