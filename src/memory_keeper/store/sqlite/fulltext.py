"""The part of the embedded engine that searches, by words and by meaning: which rows match, and what is known of them.

A key is the number of an event, or that of a note below zero. Nothing here ranks; every answer is capped, so that a
store of a million rows answers as soon as one of a thousand.
"""

from __future__ import annotations

from memory_keeper import provenance
from memory_keeper.model import EVER, Note, Row
from memory_keeper.store.sqlite.connection import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from sqlite3 import Connection as Database
    from typing import Any

    from memory_keeper.model import Phrase, Scope

TABLES = {"event_words": "event", "note_words": "note"}
GATHERED = 4 << 20  # bytes of an index that are gathered before they are written
MERGED = 8  # pieces of an index that are merged at once: a search is no slower than with SQLite's own 4
OLD = ("event_text", "note_text")  # the names they had: who still writes to these writes nothing at all
SHADOWS = ("data", "idx", "docsize", "config", "content")  # what FTS5 keeps an index in
BATCH = 2000  # rows that are put into the index at once
BACK = 300  # rows before a result among which its call is looked for
NEW = "insert into {} (rowid, text, parts, tags) values (?, ?, ?, ?)"
# the wording in force of `first`: what a person wrote wins over what a model wrote
IN_FORCE = (
    # said twice, as the index leaves out what replaces nothing
    "select coalesce((select id from note better where better.replaces = first.id and better.replaces != ''"
    " and (better.who = 'user' or first.who != 'user')"
    " order by better.who = 'user' desc, better.seq desc limit 1), first.id)"
)

VECTORS = (
    "create table if not exists vector (key integer primary key, model text not null, data blob not null)",
    # a vector tells of its text: it goes with it
    "create trigger if not exists event_gone after delete on event begin delete from vector where key = old.seq; end",
    "create trigger if not exists note_gone after delete on note begin delete from vector where key = -old.seq; end",
)
KINDS = ("prompt", "reply")  # of events that have a vector; what tools print is found by its words
SHORTEST, LONGEST = 12, 6000  # characters: less says nothing that a vector could hold, more is not read
NEWEST = 20_000  # vectors of a scope and a kind that are given at once
# in the order in which they were kept, so the last one that has a vector says where to go on
LACKING = {
    "seq": "from event where seq > (select coalesce(max(key), 0) from vector where key > 0)"
    f" and kind in {KINDS} and length(text) >= {SHORTEST}",
    "-seq": "from note where seq > (select -coalesce(min(key), 0) from vector where key < 0)"
    f" and kind != 'handoff' and length(text) >= {SHORTEST}",
}


class FullText(Connection):
    """What a store can say of the rows that match."""

    indexed = True  # as we write it now: not yet in a store that only a reader has opened since an update

    def matching(
        self,
        wanted: Sequence[Sequence[Phrase]],
        scope: Scope,
        limit: int,
        notes: bool = False,
        kinds: Sequence[str] = (),
        deep: bool = False,
    ) -> list[int]:
        """The keys of the newest rows of a scope that have one phrase of each group, and are of one of these kinds."""
        from memory_keeper.store.sqlite.expression import expression  # not for who only reads a brief

        index, table = ("note_words", "note") if notes else ("event_words", "event")
        match = expression(wanted, scope, kinds or scope.kinds, notes, deep)
        if not match:
            return []
        given: tuple[str | float, ...] = (match, limit)
        among = f"select rowid from {index} where {index} match ?"
        if scope.since or scope.until:
            among = f"select {index}.rowid from {index} join {table} on seq = {index}.rowid where {index} match ?"
            among, given = f"{among} and at >= ? and at < ?", (match, scope.since, scope.until or EVER, limit)
        rows = self._all(f"{among} order by {index}.rowid desc limit ?", given)
        return [-key for (key,) in rows] if notes else [key for (key,) in rows]

    def rows(self, keys: Sequence[int]) -> list[Row]:
        """What is known of rows but their text; of a note only if its wording is in force, or says anything."""
        events = numbers(key for key in keys if key > 0)
        notes = numbers(-key for key in keys if key < 0)
        found: list[tuple[Any, ...]] = []
        if events:
            found += self._all(
                "select seq, event.id, 0, kind, at, session, project, sz, path, tool, ref, failed,"
                " iif(kind in ('prompt', 'queued'), extra, '') from event"
                f" join event_words_docsize on event_words_docsize.id = seq where seq in ({events})"
            )
        if notes:
            found += self._all(
                "select -n.seq, n.id, level, kind, at, session, project, sz, '', '', '', 0,"
                # of the others it is long, and they are put together here
                " iif(level = 0 or who != '', extra, ''), who from note n"
                f" join note_words_docsize size on size.id = n.seq where n.seq in ({notes}) and text != ''"
                f" and n.id = ({IN_FORCE} from note first where first.id = iif(n.replaces = '', n.id, n.replaces))"
            )
        return [Row._make((*row[:7], _first_number(row[7]), *row[8:12], _by(row))) for row in found]

    def texts(self, keys: Sequence[int], most: int = -1) -> dict[int, str]:
        found: dict[int, str] = {}
        for table, sign in (("event", 1), ("note", -1)):
            wanted = numbers(key * sign for key in keys if key * sign > 0)
            text = "text" if most < 0 else f"substr(text, 1, {int(most)})"
            if wanted:
                rows = self._all(f"select seq, {text} from {table} where seq in ({wanted})")
                found.update((sign * seq, text) for seq, text in rows)
        return found

    def newest_key(self) -> int:
        return int(self._value("select coalesce(max(seq), 0) from event"))

    def scan(self, scope: Scope, notes: bool = False) -> Iterator[tuple[int, str]]:
        table, sign = ("note", -1) if notes else ("event", 1)
        clauses, given = _limits(scope)
        if scope.kinds:
            clauses, given = f"{clauses} and kind in ({blanks(scope.kinds)})", [*given, *scope.kinds]
        if notes and scope.level is not None:
            clauses, given = f"{clauses} and level = ?", [*given, scope.level]
        rows = self._each(f"select seq, text from {table} where text != ''{clauses} order by seq desc", given)
        return ((sign * seq, text) for seq, text in rows)

    # --- vectors ---

    def has_vectors(self, model: str = "") -> bool:
        return any(model in ("", found) for found in self._models())

    def _models(self) -> list[str]:
        """The first and the last vector say which models there are: those of another go before the first is made. A
        store that nobody has opened to write since an update has no table."""
        if not self._first("select 1 from sqlite_master where name = 'vector'"):
            return []
        ends = "select model from vector where key in ((select min(key) from vector), (select max(key) from vector))"
        return [model for (model,) in self._all(ends)]

    def count_lacking(self) -> int:
        return sum(int(self._value(f"select count(*) {those}")) for those in LACKING.values())

    def lacking(self, limit: int) -> list[tuple[int, str]]:
        """The oldest texts that have no vector yet, or what is read of them, by their keys."""
        for key, those in LACKING.items():
            rows = self._all(f"select {key}, substr(text, 1, {LONGEST}) {those} order by seq limit ?", (limit,))
            if rows:
                return rows
        return []

    def keep_vectors(self, model: str, rows: Iterable[tuple[int, bytes]]) -> None:
        """Keep the vectors of some texts, and none of another model; twice is once."""
        with self._change():
            if any(known != model for known in self._models()):
                self.db.execute("delete from vector where model != ?", (model,))
            self.db.executemany(
                "insert into vector (key, model, data) values (?, ?, ?) on conflict do nothing",
                [(key, model, data) for key, data in rows],
            )

    def vectors(self, model: str, keys: Iterable[int] = (), scope: Scope | None = None) -> list[tuple[int, bytes]]:
        if scope:
            return self._vectors_within(model, scope)
        return self._all(f"select key, data from vector where key in ({numbers(keys)}) and model = ?", (model,))

    def _vectors_within(self, model: str, scope: Scope) -> list[tuple[int, bytes]]:
        if scope.tool or scope.file:
            return []  # what tools did, and which files they touched, has none
        clauses, given = _limits(scope)
        # without a project no index has the times in order: then the order counts in which they were kept
        events, notes = ("at desc", "at desc") if scope.project is not None else ("key desc", "key")
        found: list[tuple[int, bytes]] = []
        for kind in scope.kinds or KINDS:
            if not scope.level:  # one kind at a time: so the index of times is of use
                found += self._all(
                    f"select key, data from {_joined('event', 'seq', scope)} where kind = ? and model = ?{clauses}"
                    f" and key > 0 order by {events} limit {NEWEST}",
                    (kind, model, *given),
                )
        if not scope.role:
            only = " and kind = ?" if scope.kind else ""
            found += self._all(
                f"select key, data from {_joined('note', '-seq', scope)} where model = ?{clauses}{only}"
                f" and key < 0 order by {notes} limit {NEWEST}",
                (model, *given, *([scope.kind] if scope.kind else [])),
            )
        return found

    # --- keeping the index; inside a change of the caller's ---

    def _index_events(self, after: int) -> None:
        while True:
            rows = self.db.execute(
                "select seq, text, project, session, kind, at, tool, ref from event where seq > ? order by seq limit ?",
                (after, BATCH),
            ).fetchall()
            if not rows:
                return
            self._index_rows(rows)
            after = rows[-1][0]

    def _index_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Put events into the index: of each its number, text, project, session, kind, time, tool and ref."""
        tools = self._tools(rows)
        self.db.executemany(
            NEW.format("event_words"),
            _indexed((*row[:6], 0, row[6] or tools.get(row[7], "")) for row in rows),
        )

    def _tools(self, rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
        """The tools that results are of, by what ties them to their calls."""
        found = {row[7]: row[6] for row in rows if row[6] and row[7]}
        missing = {row[3] for row in rows if row[4] == "result" and row[7] not in found}
        for session in missing:
            calls = self.db.execute(
                "select ref, tool from event where session = ? and seq < ? order by seq desc limit ?",
                (session, rows[0][0], BACK),
            )
            found.update((ref, tool) for ref, tool in calls if ref and tool)
        return found

    def _index_notes(self, after: int) -> None:
        rows = self.db.execute(
            "select seq, text, project, session, kind, at, level from note where seq > ? order by seq", (after,)
        )
        self.db.executemany(NEW.format("note_words"), _indexed(rows))

    def _renew_index(self) -> None:
        renew(self.db)
        self._index_events(0)
        self._index_notes(0)


def renew(db: Database) -> None:
    """An empty index in the place of any other."""
    from memory_keeper.store.index import TABLE

    for table in (*TABLES, *OLD):
        db.execute(f"drop table if exists {table}")
    for statement in (*(TABLE.format(table) for table in TABLES), *VECTORS):
        db.execute(statement)
    for table in TABLES:  # its own defaults write four times as many pieces of an index, and merge them twice as often
        db.execute(f"insert into {table} ({table}, rank) values ('hashsize', {GATHERED}), ('automerge', {MERGED})")


def tear_out(db: Database) -> None:
    """Take an index away that is too broken to be dropped: its own tables, and then its name."""
    db.execute("pragma writable_schema = on")
    try:
        for table in TABLES:
            for part in SHADOWS:
                db.execute(f"drop table if exists {table}_{part}")
            db.execute("delete from sqlite_master where name = ?", (table,))
    finally:
        db.execute("pragma writable_schema = reset")


def _indexed(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    from memory_keeper.store.index import tags, words_of  # not for who only reads

    for seq, text, *where in rows:
        yield (seq, *words_of(text), tags(*where))


def blanks(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(values))


def numbers(keys: Iterable[int]) -> str:
    """Some keys, as a list."""
    return ", ".join(map(str, keys))


def _by(row: tuple[Any, ...]) -> str:
    """Whose words a row has."""
    key, id, level, kind, at, session, project = row[:7]
    if key > 0:
        return provenance.of(kind, project, session, row[12])
    return provenance.of_note(Note(id, at, kind, level, project, "", extra=row[12], who=row[13]))


def _first_number(sizes: bytes) -> int:
    """How many words the first column has; FTS5 packs seven bits to a byte, the highest first."""
    number = 0
    for byte in sizes or b"":
        number = number << 7 | byte & 127
        if byte < 128:
            break
    return number


def _joined(table: str, key: str, scope: Scope) -> str:
    """Which is read first: the rows, where an index has those of the scope; else the vectors, which are fewer."""
    if scope.project is not None or scope.session:
        return f"{table} cross join vector on key = {key}"
    return f"vector cross join {table} on seq = {key.replace('seq', 'key')}"


def _limits(scope: Scope) -> tuple[str, list[object]]:
    """What a scope says of rows of either table."""
    filters: list[tuple[str, object]] = []
    if scope.project is not None:
        filters.append(("project = ?", scope.project))
    if scope.session:
        filters.append(("session = ?", scope.session))
    if scope.since:
        filters.append(("at >= ?", scope.since))
    if scope.until:
        filters.append(("at < ?", scope.until))
    return "".join(f" and {clause}" for clause, _ in filters), [value for _, value in filters]
