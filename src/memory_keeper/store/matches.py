"""The part of the embedded engine that searches: which rows match an expression of FTS5, and what is known of them.

A key is the number of an event, or that of a note below zero. Nothing here ranks; every answer is capped, so that a
store of a million rows answers as soon as one of a thousand.
"""

from __future__ import annotations

from memory_keeper.model import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from sqlite3 import Connection
    from typing import Any

TABLES = {"event_words": "event", "note_words": "note"}
GATHERED = 4 << 20  # bytes of an index that are gathered before they are written
OLD = ("event_text", "note_text")  # the names they had: who still writes to these writes nothing at all
SHADOWS = ("data", "idx", "docsize", "config", "content")  # what FTS5 keeps an index in
FOREVER = 1e18  # seconds
STRETCH = 2000  # rows that are put into the index at once
BACK = 300  # rows before a result among which its call is looked for
NEW = "insert into {} (rowid, text, parts, tags) values (?, ?, ?, ?)"
# the wording in force of `first`: what a person wrote wins over what a model wrote
IN_FORCE = (
    # said twice, as the index leaves out what replaces nothing
    "select coalesce((select id from note better where better.replaces = first.id and better.replaces != ''"
    " and (better.who = 'user' or first.who != 'user')"
    " order by better.who = 'user' desc, better.seq desc limit 1), first.id)"
)


class Matches:
    """What a store can say of the rows that match."""

    db: Connection
    indexed = True  # as we write it now: not yet in a store that only a reader has opened since an update

    def matching(
        self, match: str, limit: int, notes: bool = False, since: float = 0.0, until: float = 0.0
    ) -> list[int]:
        """The keys of the newest rows that match, and lie between two moments where any is given."""
        index, table = ("note_words", "note") if notes else ("event_words", "event")
        given: tuple[str | float, ...] = (match, limit)
        among = f"select rowid from {index} where {index} match ?"
        if since or until:
            among = f"select {index}.rowid from {index} join {table} on seq = {index}.rowid where {index} match ?"
            among, given = f"{among} and at >= ? and at < ?", (match, since, until or FOREVER, limit)
        rows = self.db.execute(f"{among} order by {index}.rowid desc limit ?", given)
        return [-key for (key,) in rows] if notes else [key for (key,) in rows]

    def rows(self, keys: Sequence[int]) -> list[Row]:
        """What is known of rows but their text; of a note only if its wording is in force, or says anything."""
        events = _numbers(key for key in keys if key > 0)
        notes = _numbers(-key for key in keys if key < 0)
        found: list[tuple[Any, ...]] = []
        if events:
            found += self.db.execute(
                "select seq, event.id, 0, kind, at, session, project, sz, path, tool, ref, failed, who from event"
                f" join event_words_docsize on event_words_docsize.id = seq where seq in ({events})"
            )
        if notes:
            found += self.db.execute(
                "select -n.seq, n.id, level, kind, at, session, project, sz, '', '', '', 0, who from note n"
                f" join note_words_docsize size on size.id = n.seq where n.seq in ({notes}) and text != ''"
                f" and n.id = ({IN_FORCE} from note first where first.id = iif(n.replaces = '', n.id, n.replaces))"
            )
        return [Row._make((*row[:7], _first_number(row[7]), *row[8:])) for row in found]

    def texts(self, keys: Sequence[int], most: int = -1) -> dict[int, str]:
        """The texts of rows, or their first characters."""
        found: dict[int, str] = {}
        for table, sign in (("event", 1), ("note", -1)):
            numbers = _numbers(key * sign for key in keys if key * sign > 0)
            what = "text" if most < 0 else f"substr(text, 1, {int(most)})"
            if numbers:
                rows = self.db.execute(f"select seq, {what} from {table} where seq in ({numbers})")
                found.update((sign * seq, text) for seq, text in rows)
        return found

    def size(self, project: str | None, most: int) -> int:
        """How many events there are, up to so many."""
        only, given = (" where project = ?", (project,)) if project is not None else ("", ())
        (count,) = self.db.execute(
            f"select count(*) from (select 1 from event{only} limit {int(most)})", given
        ).fetchone()
        return int(count)

    def has_vectors(self) -> bool:
        """Whether any text has a vector; nobody made one in most stores."""
        if not self.indexed:
            return False
        return bool(self.db.execute("select 1 from vector limit 1").fetchone())

    def newest_key(self) -> int:
        """The number of the newest event."""
        (key,) = self.db.execute("select coalesce(max(seq), 0) from event").fetchone()
        return int(key)

    def scan(self, clause: str, given: Sequence[object], notes: bool = False) -> Iterator[tuple[int, str]]:
        """The keys and texts of the rows that a clause selects, the newest first, one by one."""
        table, sign = ("note", -1) if notes else ("event", 1)
        rows = self.db.execute(f"select seq, text from {table} where {clause} order by seq desc", given)
        return ((sign * seq, text) for seq, text in rows)

    # --- keeping the index; inside a change of the caller's ---

    def _index_events(self, after: int) -> None:
        while True:
            rows = self.db.execute(
                "select seq, text, project, session, kind, at, tool, ref from event where seq > ? order by seq limit ?",
                (after, STRETCH),
            ).fetchall()
            if not rows:
                return
            tools = self._tools(rows)
            self.db.executemany(
                NEW.format("event_words"),
                _indexed((*row[:6], 0, row[6] or tools.get(row[7], "")) for row in rows),
            )
            after = rows[-1][0]

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


def renew(db: Connection) -> None:
    """An empty index in the place of any other."""
    from memory_keeper.store.index import TABLE
    from memory_keeper.store.vectors import SCHEMA

    for table in (*TABLES, *OLD):
        db.execute(f"drop table if exists {table}")
    for statement in (*(TABLE.format(table) for table in TABLES), *SCHEMA):
        db.execute(statement)
    for table in TABLES:  # its own default writes four times as many pieces of an index, which are then merged
        db.execute(f"insert into {table} ({table}, rank) values ('hashsize', {GATHERED})")


def tear_out(db: Connection) -> None:
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


def _numbers(keys: Iterable[int]) -> str:
    return ", ".join(map(str, keys))


def _first_number(sizes: bytes) -> int:
    """How many words the first column has; FTS5 packs seven bits to a byte, the highest first."""
    number = 0
    for byte in sizes or b"":
        number = number << 7 | byte & 127
        if byte < 128:
            break
    return number
