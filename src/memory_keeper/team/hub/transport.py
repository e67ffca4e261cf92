"""Shared items on a hub: what it lacks is sent, and what came since the cursor is fetched.

An item of a writer is one row, of which the later version holds; so everything may be sent and fetched twice. A cursor
is the last row that was read of a transaction before which nothing is open any more, with the hub's own token for that:
a hub that was restored from a backup does not know the token, and is read from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memory_keeper import wire
from memory_keeper.errors import KeeperError
from memory_keeper.model import Item, Json
from memory_keeper.store.index import words_of
from memory_keeper.team.git import newer
from memory_keeper.team.hub.connection import Address, Database, Refused
from memory_keeper.team.hub.schema import WRITTEN
from memory_keeper.team.item import checked, digest, version
from memory_keeper.team.transport import Batch

AT_ONCE = 500  # items of one transaction, and of one batch
MOST = 50_000  # that one sync fetches; the next one goes on from there
# an item is shown as its member's, whatever it says itself
ITEM = (
    "i.id, i.kind, i.text, coalesce(nullif(m.author, ''), i.member), i.writer, i.at, i.written, i.rev, i.\"to\","
    " i.session, i.gone"
)
FROM = "from memory_keeper.item i left join memory_keeper.member m on m.name = i.member"
SETTLED = "i.xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
COLUMNS = {name.strip('"'): name for name in WRITTEN.split(", ")}
TYPES = {"at": "float8", "written": "float8", "rev": "bigint", "gone": "boolean"}  # the others are text
GIVEN = ", ".join(f"{name} {TYPES.get(key, 'text')}" for key, name in COLUMNS.items())
PUT = (
    f"insert into memory_keeper.item as known ({WRITTEN}) select {WRITTEN} from jsonb_to_recordset(%s::jsonb)"
    f" as given ({GIVEN})"
    " on conflict (project, writer, id) do update set "
    + ", ".join(f"{name} = excluded.{name}" for name in [*COLUMNS.values()][3:])
    + " where (excluded.rev, excluded.at, excluded.digest) > (known.rev, known.at, known.digest)"
)


class Cursor(NamedTuple):
    """How far a hub was read: its last row, and the hub's token for the transaction of that."""

    xact: int = -1
    seq: int = 0
    token: str = ""


class Hit(NamedTuple):
    """Something that the search of a hub found."""

    project: str
    author: str
    writer: str
    id: str
    kind: str
    at: float
    text: str
    rank: float


class Hub:
    """One project of a hub; close it."""

    def __init__(self, address: Address, db: Database | None = None) -> None:
        self.project, self.problems = address.project, list[str]()
        self.db = db or Database(address)
        self._at = Cursor()  # read in this session, so far
        self._passed = False  # something that was not settled yet
        self._read = 0  # rows
        try:
            ((mine,),) = self.db.rows("select memory_keeper.enter(%s)", self.project)
            if not mine:
                hint = "ask who invited you; `memory-keeper team members` names them"
                raise KeeperError(f"{self.db.shown} has no project {self.project!r} for you", hint=hint)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.db.close()

    # --- fetching ----------------------------------------------------------------------------------------------------

    def pull(self, cursor: str) -> Batch:
        """The next items. What is not settled yet is among them, and again the next time: a transaction that began
        before it may still commit."""
        known = self._known(cursor)
        begin = max(known, self._at)
        rows = self._rows(begin)
        items: list[Item] = []
        for row in rows:
            *fields, xact, seq, settled, token = row
            self._at = Cursor(xact, seq, token or "")
            self._passed |= not settled
            if not self._passed:
                known = self._at
            items += self._item(fields)
        self._read += len(rows)
        more = len(rows) == AT_ONCE
        if more and self._read >= MOST:
            self.problems.append(f"{self.db.shown} has more than {MOST:,} new items: the next sync fetches the others")
        return Batch(items, wire.dumps(known._asdict()), more and self._read < MOST)

    def _known(self, cursor: str) -> Cursor:
        """The cursor, if it is one of this hub as it is now."""
        found = wire.read_object(cursor)
        known = Cursor(wire.count(found.get("xact"), -1), wire.count(found.get("seq")), str(found.get("token")))
        here = self.db.rows("select token::text from memory_keeper.push where xact = %s", known.xact)
        return known if here == [(known.token,)] else Cursor()

    def _rows(self, begin: Cursor) -> list[tuple[Any, ...]]:
        what = f"{ITEM}, i.xact, i.seq, {SETTLED}, p.token::text"
        those = "where i.project = %s and (i.xact, i.seq) > (%s, %s) order by i.xact, i.seq limit %s"
        pushed = "left join memory_keeper.push p on p.xact = i.xact"
        given = self.project, begin.xact, begin.seq, AT_ONCE
        try:
            return self.db.rows(f"select {what} {FROM} {pushed} {those}", *given)
        except Refused as error:
            self.problems.append(str(error))
        keys = self.db.rows(f"select i.writer, i.id from memory_keeper.item i {those}", *given)
        return [
            *self._each(f"select {what} {FROM} {pushed} where i.project = %s and i.writer = %s and i.id = %s", keys)
        ]

    def _each(self, query: str, keys: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
        """Row by row, without those that the hub cannot read any more."""
        for writer, id in keys:
            try:
                yield from self.db.rows(query, self.project, writer, id)
            except Refused:
                self.problems.append(f"{id} of {writer} is damaged on the hub, and was left out")

    def _item(self, fields: Sequence[Any]) -> Iterator[Item]:
        item = Item._make(fields)
        try:
            yield checked(item)
        except ValueError as error:
            self.problems.append(f"{item.id} of {item.writer} {error}, and was left out")

    # --- sending -----------------------------------------------------------------------------------------------------

    def push(self, items: Sequence[Item]) -> dict[str, str]:
        """Have the hub know the later version of each item; each that it refuses is refused by itself."""
        refused: dict[str, str] = {}
        writers = sorted({item.writer for item in items})
        those = "where i.project = %s and i.writer = any(%s)"
        rows = self.db.rows(
            f"select i.writer, i.id, i.rev, i.at, i.digest from memory_keeper.item i {those}", self.project, writers
        )
        there = {(writer, id): (rev, at, digest) for writer, id, rev, at, digest in rows}
        lacking: list[Item] = []
        for item in items:
            known = there.get((item.writer, item.id), (-1, 0.0, ""))
            if known > version(item):  # this home was restored from a backup
                item = self._above(item)
            if known < version(item):
                lacking.append(item)
        for start in range(0, len(lacking), AT_ONCE):
            self._put(lacking[start : start + AT_ONCE], refused)
        return refused

    def _above(self, item: Item) -> Item:
        """What this home says now, as a later version than the hub has."""
        query = f"select {ITEM} {FROM} where i.project = %s and i.writer = %s and i.id = %s"
        for row in self.db.rows(query, self.project, item.writer, item.id):
            return newer(item, Item._make(row)._replace(author=item.author))
        return item

    def _put(self, items: Sequence[Item], refused: dict[str, str]) -> None:
        """All of them at once; where one is refused, by halves."""
        try:
            with self.db.change():
                self.db.run(PUT, wire.dumps([self._row(item) for item in items]))
        except Refused as error:
            if len(items) == 1:
                refused[items[0].id] = str(error)
                return
            half = len(items) // 2
            self._put(items[:half], refused)
            self._put(items[half:], refused)

    def _row(self, item: Item) -> Json:
        more = {"project": self.project, "digest": digest(item), "parts": words_of(item.text)[1]}
        return item._asdict() | more

    # --- searching ---------------------------------------------------------------------------------------------------

    def search(self, query: str, limit: int = 20, everywhere: bool = False) -> list[Hit]:
        """The best of this project, or of all that are this member's."""
        rows = self.db.rows(
            "select project, coalesce(nullif(m.author, ''), member), writer, id, kind, at, text, rank"
            " from memory_keeper.search(%s, %s, %s) left join memory_keeper.member m on m.name = member"
            " order by rank desc",
            query.replace("\0", " "), None if everywhere else self.project, limit,
        )  # fmt: skip
        return [Hit._make(row) for row in rows]
