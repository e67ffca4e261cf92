"""The part of the embedded engine that knows notes: what covers what, what is open, and which wording is in force.

A note keeps the id of its first wording for good. A better wording, by a model or by hand, is a note that replaces it
and covers nothing; what was covered stays covered by the first.
"""

from __future__ import annotations

from memory_keeper.model import EVER, Event, Note, Open
from memory_keeper.store.home import about
from memory_keeper.store.journal import MARKS, Journal, is_by_hand, of_mark, of_note
from memory_keeper.store.sqlite.connection import checksum
from memory_keeper.store.sqlite.events import EVENT, Events
from memory_keeper.store.sqlite.fulltext import IN_FORCE, blanks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NOTE = ", ".join(Note._fields)
SPARE = 4  # times as many notes are looked at as are asked for: some have no words
SAID = "'prompt', 'reply', 'queued', 'task'"


class Notes(Events):
    """What a store can say of its notes."""

    _journal: Journal | None = None

    def add(self, note: Note, covers: Sequence[str] = ()) -> int:
        """Keep a note and cover what is beneath it; how many that are. All of that is still open, or the note is not
        kept: it would speak of what another one speaks of. Nor is one that replaces what is not there."""
        beneath = "event" if note.level == 1 else "note"
        with self._change(durable=True):
            if self._is_known(note.id) or (note.replaces and not self._is_first(note)):
                return 0
            covered = self.db.executemany(
                f"update {beneath} set covered_by = ? where id = ? and covered_by is null and project = ?",
                [(note.id, child, note.project) for child in covers],
            ).rowcount
            if covered < len(covers):
                self.db.execute(f"update {beneath} set covered_by = null where covered_by = ?", (note.id,))
                return 0
            self._keep(note)
            if note.who or not note.level:
                self._write_down(note)
        return covered

    def mark(self, event: Event, note: Note | None = None) -> bool:
        """Keep what became of a note, which covers that from the start (`ref`), and the wording that came of it: both
        or neither. False when that note is gone, or this is kept already."""
        with self._change(durable=True):
            first = self._first("select 1 from note where id = ? and replaces = ''", (event.ref,))
            if not first or (note and (self._is_known(note.id) or not self._is_first(note))):
                return False
            kept = self.db.execute(
                f"insert into event ({EVENT}, crc, covered_by) values ({blanks(event)}, ?, ?) on conflict do nothing",
                (*event, checksum(event), event.ref),
            ).rowcount
            if not kept:
                return False
            self._index_events(self._last() - 1)
            if note:
                self._keep(note)
            self._write_down(event)
        return True

    @property
    def journal(self) -> Journal:
        """What was written by hand, once more, beside the file."""
        if not self._journal:
            self._journal = Journal(self.path.rpartition("/")[0] or ".")
        return self._journal

    def _write_down(self, written: Note | Event) -> None:
        """Have what no transcript gives back in the journal before it is kept here."""
        if isinstance(written, Event):
            if written.kind in MARKS:
                self.journal.keep([of_mark(written)])
        elif is_by_hand(written):
            self.journal.keep([of_note(written)])

    def _proved(self, notes: list[Note]) -> list[Note]:
        """Notes without the rules that are nobody's, and no other as the user's that is not: by the journal."""
        claims = [note for note in notes if note.who or note.kind == "rule"]
        if not claims or not about(self.path.rpartition("/")[0] + "/journal").st_size:
            return notes
        false = {note.id for note in claims if not self.journal.proves(note)}
        told = [note for note in notes if note.id not in false or note.kind != "rule"]
        return [note._replace(who="", extra='{"by":"model"}') if note.id in false else note for note in told]

    def written(self) -> list[Note]:
        """What was written by hand, every wording of it, in order, whether the journal has it or not."""
        rows = self._all(f"select {NOTE} from note where who != '' or level = 0 order by seq")
        return [note for note in map(Note._make, rows) if is_by_hand(note)]

    def _is_known(self, id: str) -> bool:
        return bool(self._first("select 1 from note where id = ?", (id,)))

    def _is_first(self, note: Note) -> bool:
        """Whether what a note replaces is a first wording, at its level and in its project."""
        first = self._first("select project, level, replaces from note where id = ?", (note.replaces,))
        return bool(first == (note.project, note.level, ""))

    def _keep(self, note: Note) -> None:
        self.db.execute(
            f"insert into note ({NOTE}, crc) values ({blanks(note)}, ?)",
            (*note, checksum(note)),
        )
        self._index_notes(self._last() - 1)

    def _last(self) -> int:
        (seq,) = self._first("select last_insert_rowid()")
        return int(seq)

    def note(self, id: str) -> Note | None:
        row = self._first(f"select {NOTE} from note where id = ?", (id,))
        return Note._make(row) if row else None

    def wording(self, id: str) -> Note | None:
        row = self._first(
            f"select {NOTE} from note where id = ({IN_FORCE} from note first"
            " where first.id = (select case replaces when '' then id else replaces end from note where id = ?))",
            (id,),
        )
        return Note._make(row) if row else None

    def wordings(self, id: str) -> list[Note]:
        rows = self._all(
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
        rows = self._all(
            f"select {', '.join('said.' + field for field in Note._fields)} from {first}"
            f" join note said on said.id = ({IN_FORCE}) where {only}"
            " order by first.at desc, first.seq desc limit ?",
            (*given, limit or -1),
        )
        return self._proved([Note._make(row) for row in reversed(rows)])

    def handoff(self, session: str = "", project: str = "") -> Note | None:
        only, given = ("session", session) if session else ("project", project)
        row = self._first(
            f"select {NOTE} from note where {only} = ? and kind = 'handoff' order by seq desc limit 1", (given,)
        )
        return Note._make(row) if row else None

    def handoffs(self, project: str, limit: int) -> list[Note]:
        those = "project = :project and kind = 'handoff' and replaces = ''"
        rows = self._all(
            f"select {NOTE} from note where {those} and seq in (select max(seq) from note where {those}"
            " group by session) order by at desc, seq desc limit :limit",
            {"project": project, "limit": limit},
        )
        return [Note._make(row) for row in rows]

    def children(self, id: str) -> list[str]:
        rows = self._all(
            "with first (id) as (select case replaces when '' then id else replaces end from note where id = ?)"
            " select id from event where covered_by in (select id from first)"
            " union all select id from note where covered_by in (select id from first)",
            (id,),
        )
        return [child for (child,) in rows]

    def open_tokens(self, project: str | None = None) -> list[tuple[str, int]]:
        only, given = (" and first.project = ?", (project,)) if project is not None else ("", ())
        rows = self._all(
            "select project, max(size) from (select first.project, sum(said.tokens) as size from note first"
            f" join note said on said.id = ({IN_FORCE}) where first.covered_by is null and first.level > 0"
            f" and first.replaces = ''{only} group by first.project, first.level) group by project order by project",
            given,
        )
        return rows

    def open_sessions(self, project: str | None = None, session: str = "") -> list[Open]:
        only, given = (" and session = ?", (session,)) if session else ("", ())
        if project is not None:
            only, given = only + " and project = ?", (*given, project)
        rows = self._all(
            "select session, project, sum(kind in ('call', 'todo')),"
            f" sum(case when kind in ({SAID}) then length(text) else 0 end), min(at), max(at),"
            " coalesce(max(case kind when 'end' then seq end), 0)"
            " > coalesce(max(case kind when 'start' then seq end), 0), max(kind = 'compact')"
            f" from event{self._by('event_open')} where covered_by is null and session != ''{only}"
            " group by session, project order by 6",
            given,
        )
        return [Open._make((*row[:6], bool(row[6]), bool(row[7]))) for row in rows]

    def cover(self, id: str) -> str:
        for table in ("event", "note"):
            if row := self._first(f"select covered_by from {table} where id = ?", (id,)):
                return row[0] or ""
        return ""

    def notes_of(self, session: str) -> list[Note]:
        rows = self._all(
            f"select {NOTE} from note where session = ? and (level = 1 or kind = 'handoff') and replaces = ''"
            " order by seq",
            (session,),
        )
        return [Note._make(row) for row in rows]

    def notes_between(self, project: str | None, session: str, since: float, until: float, limit: int) -> list[Note]:
        """The newest notes of a project, of all, or of one session, that have words, each as its wording in force, in
        order; of the handoffs of a session only its last."""
        if project is None:
            every = self._all("select distinct project from note")
            found = [note for (one,) in every for note in self.notes_between(one, session, since, until, limit)]
            return sorted(found, key=lambda note: note.at)[-limit:]
        only, given = (" and session = ?", (session,)) if session else ("", ())
        of = "project = ? and replaces = ''"
        rows = self._all(
            f"select {', '.join('better.' + field for field in Note._fields)} from (select id, who, at, seq from note"
            f" where {of} and at >= ? and at < ?{only} and (kind != 'handoff' or seq in"
            f" (select max(seq) from note where {of} and kind = 'handoff' group by session))"
            # those without words, which are few, go afterwards: to find the wording of every note would be slow
            f" order by at desc, seq desc limit ?) first join note better on better.id = ({IN_FORCE})"
            " where better.text != '' order by first.at desc, first.seq desc limit ?",
            (project, since, until or EVER, *given, project, limit * SPARE, limit),
        )
        return [Note._make(row) for row in reversed(rows)]
