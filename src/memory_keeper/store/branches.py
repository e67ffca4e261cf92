"""The part of the embedded engine that knows notes: what covers what, what is open, and which wording is in force.

A note keeps the id of its first wording for good. A better wording, by a model or by hand, is a note that replaces it
and covers nothing; what was covered stays covered by the first.
"""

from __future__ import annotations

import zlib

from memory_keeper.model import Event, Note, Open
from memory_keeper.store.leaves import BARE, EVENT, Leaves, blanks, read_events
from memory_keeper.store.matches import IN_FORCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    class Transaction(Protocol):
        def __enter__(self) -> None: ...
        def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...


NOTE = ", ".join(Note._fields)
SAID = "'prompt', 'reply', 'queued', 'task'"


class Branches(Leaves):
    """What a store can say of its notes."""

    levelled = True  # the indexes are there: not yet in a store that only a reader has opened since an update

    def _by(self, index: str) -> str:
        return f" indexed by {index}" if self.levelled else ""

    def _change(self, durable: bool = False) -> Transaction:
        raise NotImplementedError

    def add(self, note: Note, covers: Sequence[str] = ()) -> int:
        """Keep a note and cover what is beneath it; how many that are. All of that is still open, or the note is not
        kept: it would speak of what another one speaks of. Nor is one that replaces what is not there."""
        beneath = "event" if note.level == 1 else "note"
        with self._change(durable=True):
            if self._is_known(note.id) or (note.replaces and not self._is_first(note)):
                return 0
            covered = sum(
                self.db.execute(
                    f"update {beneath} set covered_by = ? where id = ? and covered_by is null and project = ?",
                    (note.id, child, note.project),
                ).rowcount
                for child in covers
            )
            if covered < len(covers):
                self.db.execute(f"update {beneath} set covered_by = null where covered_by = ?", (note.id,))
                return 0
            self._keep(note)
        return covered

    def mark(self, event: Event, note: Note | None = None) -> bool:
        """Keep what became of a note, which covers that from the start (`ref`), and the wording that came of it: both
        or neither. False when that note is gone, or this is kept already."""
        with self._change(durable=True):
            first = self.db.execute("select 1 from note where id = ? and replaces = ''", (event.ref,)).fetchone()
            if not first or (note and (self._is_known(note.id) or not self._is_first(note))):
                return False
            kept = self.db.execute(
                f"insert into event ({EVENT}, crc, covered_by) values ({blanks(event)}, ?, ?) on conflict do nothing",
                (*event, zlib.crc32(event.text.encode()), event.ref),
            ).rowcount
            if not kept:
                return False
            self._index_events(self._last() - 1)
            if note:
                self._keep(note)
        return True

    def spent(self, since: float = 0.0, limit: int = -1) -> list[Event]:
        """What models were asked for notes, in all projects, the newest first."""
        rows = self.db.execute(
            f"select {EVENT} from event where kind = 'spent' and at >= ? order by at desc, seq desc limit ?",
            (since, limit),
        )
        return read_events(rows)

    def marks_on(self, project: str, kind: str) -> list[Event]:
        """What became of a project's notes, of one kind, the oldest first."""
        rows = self.db.execute(
            f"select {EVENT} from event where project = ? and kind = ? order by at, seq", (project, kind)
        )
        return read_events(rows)

    def _is_known(self, id: str) -> bool:
        return bool(self.db.execute("select 1 from note where id = ?", (id,)).fetchone())

    def _is_first(self, note: Note) -> bool:
        """Whether what a note replaces is a first wording, at its level and in its project."""
        first = self.db.execute("select project, level, replaces from note where id = ?", (note.replaces,)).fetchone()
        return bool(first == (note.project, note.level, ""))

    def _keep(self, note: Note) -> None:
        self.db.execute(
            f"insert into note ({NOTE}, crc) values ({blanks(note)}, ?)",
            (*note, zlib.crc32(note.text.encode())),
        )
        self._index_notes(self._last() - 1)

    def _last(self) -> int:
        (seq,) = self.db.execute("select last_insert_rowid()").fetchone()
        return int(seq)

    def note(self, id: str) -> Note | None:
        """One note, by its id."""
        row = self.db.execute(f"select {NOTE} from note where id = ?", (id,)).fetchone()
        return Note._make(row) if row else None

    def wording(self, id: str) -> Note | None:
        """The wording in force of a note, by the id of any of its wordings."""
        row = self.db.execute(
            f"select {NOTE} from note where id = ({IN_FORCE} from note first"
            " where first.id = (select case replaces when '' then id else replaces end from note where id = ?))",
            (id,),
        ).fetchone()
        return Note._make(row) if row else None

    def wordings(self, id: str) -> list[Note]:
        """Every wording of a note, the first one first, by the id of any."""
        rows = self.db.execute(
            f"with first (id) as (select case replaces when '' then id else replaces end from note where id = ?)"
            f" select {NOTE} from note where id in (select id from first) or replaces in (select id from first)"
            " order by seq",
            (id,),
        )
        return [Note._make(row) for row in rows]

    def notes(
        self,
        project: str,
        level: int | None = None,
        kind: str = "",
        open: bool | None = None,
        above: str = "",
        limit: int = 0,
    ) -> list[Note]:
        """Notes in the order of what they tell of, each as its wording in force; `open`: not covered, or covered;
        `above`: those that this one covers; with a limit, the newest."""
        given: list[Any] = [project]
        only = "first.project = ? and first.replaces = ''"
        for column, value in (("level", level), ("kind", kind or None), ("covered_by", above or None)):
            if value is not None:
                only += f" and first.{column} = ?"
                given.append(value)
        if open is not None:
            only += f" and first.covered_by is {'null' if open else 'not null'}"
        first = f"note first{self._by('note_covered') if above else ''}"  # else every note of the project is read
        rows = self.db.execute(
            f"select {', '.join('said.' + field for field in Note._fields)} from {first}"
            f" join note said on said.id = ({IN_FORCE}) where {only}"
            " order by first.at desc, first.seq desc limit ?",
            (*given, limit or -1),
        ).fetchall()
        return [Note._make(row) for row in reversed(rows)]

    def handoff(self, session: str = "", project: str = "") -> Note | None:
        """The newest handoff of a session, or of a project."""
        only, given = ("session", session) if session else ("project", project)
        row = self.db.execute(
            f"select {NOTE} from note where {only} = ? and kind = 'handoff' order by seq desc limit 1", (given,)
        ).fetchone()
        return Note._make(row) if row else None

    def handoffs(self, project: str, limit: int) -> list[Note]:
        """The newest handoff of each session of a project, the newest first."""
        those = "project = :project and kind = 'handoff' and replaces = ''"
        rows = self.db.execute(
            f"select {NOTE} from note where {those} and seq in (select max(seq) from note where {those}"
            " group by session) order by at desc, seq desc limit :limit",
            {"project": project, "limit": limit},
        )
        return [Note._make(row) for row in rows]

    def pending(self, project: str, level: int = 0) -> list[str]:
        """What no note covers yet: events at level 0, notes above; oldest first."""
        table, extra = ("event", "") if level == 0 else ("note", f" and level = {int(level)} and replaces = ''")
        rows = self.db.execute(
            f"select id from {table} where project = ? and covered_by is null{extra} order by seq", (project,)
        )
        return [id for (id,) in rows]

    def children(self, id: str) -> list[str]:
        """What a note covers, by the id of any of its wordings."""
        rows = self.db.execute(
            "with first (id) as (select case replaces when '' then id else replaces end from note where id = ?)"
            " select id from event where covered_by in (select id from first)"
            " union all select id from note where covered_by in (select id from first)",
            (id,),
        )
        return [child for (child,) in rows]

    def covered(self, id: str) -> list[Event]:
        """The events that a note of level 1 covers, in order."""
        rows = self.db.execute(
            f"select {EVENT} from event where covered_by = (select case replaces when '' then id else replaces end"
            " from note where id = ?) order by seq",
            (id,),
        )
        return read_events(rows)

    def open_tokens(self, project: str | None = None) -> list[tuple[str, int]]:
        """The projects, or the one, that have open notes, and how long these are at the level that has most."""
        only, given = (" and first.project = ?", (project,)) if project is not None else ("", ())
        rows = self.db.execute(
            "select project, max(size) from (select first.project, sum(said.tokens) as size from note first"
            f" join note said on said.id = ({IN_FORCE}) where first.covered_by is null and first.level > 0"
            f" and first.replaces = ''{only} group by first.project, first.level) group by project order by project",
            given,
        )
        return rows.fetchall()

    def open_sessions(self, project: str | None = None, session: str = "") -> list[Open]:
        """The sessions of a project, or of all, or the one, that have events which no note covers."""
        only, given = (" and session = ?", (session,)) if session else ("", ())
        if project is not None:
            only, given = only + " and project = ?", (*given, project)
        rows = self.db.execute(
            "select session, project, sum(kind in ('call', 'todo')),"
            f" sum(case when kind in ({SAID}) then length(text) else 0 end), min(at), max(at),"
            " coalesce(max(case kind when 'end' then seq end), 0)"
            " > coalesce(max(case kind when 'start' then seq end), 0), max(kind = 'compact')"
            f" from event{self._by('event_open')} where covered_by is null and session != ''{only}"
            " group by session, project order by 6",
            given,
        )
        return [Open._make((*row[:6], bool(row[6]), bool(row[7]))) for row in rows]

    def open_among(self, ids: Sequence[str]) -> set[str]:
        """Those of some events that no note covers."""
        rows = self.db.execute(f"select id from event where covered_by is null and id in ({blanks(ids)})", tuple(ids))
        return {id for (id,) in rows}

    def open_events(self, session: str, project: str, text: bool = True) -> list[Event]:
        """The events of a session that no note covers, in order; with their texts, which may be long, or without."""
        rows = self.db.execute(
            f"select {EVENT if text else BARE} from event{self._by('event_open')}"
            " where session = ? and project = ? and covered_by is null order by seq",
            (session, project),
        )
        return read_events(rows)
