"""The part of the embedded engine that knows events: where they stand, and what sessions, files and projects say."""

from __future__ import annotations

from memory_keeper.model import Event, Member, Note, Session, Source, Usage
from memory_keeper.store.matches import Matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

EVENT = ", ".join(Event._fields)
BARE = ", ".join("''" if field in ("text", "extra") else field for field in Event._fields)  # without what may be long
SOURCE = ", ".join(Source._fields)
USAGE = ", ".join(Usage._fields)
PLACED = ", ".join("s." + field for field in Source._fields)
# the kinds that hooks leave of a context
MARKED = "'start', 'end', 'window', 'warned', 'ask', 'blocked', 'ask-compact', 'replaced', 'scored'"
OURS = "'told', 'spent', 'archived', 'confirmed', 'contradicted', 'done'"  # and those that nothing in it said
LAST = "\U0010ffff"  # comes after all that begins alike


def read_event(row: Sequence[Any]) -> Event:
    """The event of a row that has its fields in order."""
    return Event._make((*row[:10], bool(row[10]), *row[11:]))


def read_events(rows: Iterable[Sequence[Any]]) -> list[Event]:
    """The events of such rows."""
    return [read_event(row) for row in rows]


def blanks(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(values))


class Leaves(Matches):
    """What a store can say of its events."""

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
            f"select {BARE} from place p join event e on e.seq = p.event where p.source = ?"
            " order by p.event desc limit ?",
            (source.seq, limit),
        )
        return read_events(rows)

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
            f"select {PLACED}, m.offset, m.size, m.start, m.length"
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
                f"select {EVENT} from event where id >= ? and id < ? order by id limit 100", (base, base + LAST)
            ).fetchall()
            rows = [row for row in found if row[0].endswith(colon + block)]
            if not colon and len({row[0].rpartition(":")[0] for row in rows}) == 1:
                rows = rows[:1]
        return read_event(rows[0]) if len(rows) == 1 else None

    def events(self, session: str) -> list[Event]:
        """A session in order: what it took over from the session it was forked from comes first."""
        rows = self.db.execute(
            f"select {EVENT} from event where seq in"
            " (select p.event from place p join source s on s.seq = p.source where s.session = ?)"
            " order by seq",
            (session,),
        )
        return read_events(rows)

    def stretch(self, sessions: Sequence[str], limit: int) -> list[Event]:
        """The newest events of some sessions, in order."""
        rows = self.db.execute(
            f"select {EVENT} from event where session in ({blanks(sessions)}) order by seq desc limit ?",
            (*sessions, limit),
        ).fetchall()
        return read_events(reversed(rows))

    def line(self, id: str) -> tuple[Source, Member, int] | None:
        """Where an event's raw line lies: its transcript, the member, and the offset within that."""
        row = self.db.execute(
            f"select {PLACED}, m.offset, m.size, m.start, m.length, p.offset"
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
        only = f" and session in ({blanks(sessions)})" if sessions else ""
        only += "" if agents else " and agent = ''"
        rows = self.db.execute(
            f"select {EVENT if text else BARE} from event where project = ? and kind = ?{only}"
            " order by at desc, seq desc limit ?",
            (project, kind, *sessions, limit),
        )
        return read_events(rows)

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
        return (read_event(row[1:]), not row[0]) if row else None

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
        """What the host calls a session; empty when it has not said. A title that names a line is of the sessions that
        have the line, wherever it stands, and of those alone."""
        named = (
            "exists (select 1 from event leaf join source s on s.session = :session join place p"
            " on p.source = s.seq and p.event = leaf.seq where leaf.id = t.ref || ':0')"
        )
        own = f"session = :session and (ref = '' or {named})"
        other = f"project = :project and session != :session and ref != '' and {named}"
        given = {"session": session, "project": self.project_of(session)}
        for where in (own, other):
            row = self.db.execute(
                f"select text from event t where kind = 'title' and {where} order by seq desc limit 1", given
            ).fetchone()
            if row:
                return str(row[0])
        return ""

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
            (beginning, beginning + LAST),
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

    def as_of(self, handoff: Note) -> float:
        """When the last thing was said that a handoff knows of: one may be made of a session that ended long ago."""
        return min(handoff.at, self.last_moment(handoff.session) or handoff.at)

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
            f"select {USAGE} from usage where session = ? and agent = '' order by at desc limit 1",
            (session,),
        ).fetchone()
        return Usage._make(row) if row else None

    def usages(self, session: str) -> list[Usage]:
        """The responses of a session, its subagents' too, each once, oldest first."""
        rows = self.db.execute(f"select {USAGE} from usage where session = ? order by at, message", (session,))
        return [Usage._make(row) for row in rows]

    def compacted(self, project: str) -> list[Event]:
        """Where contexts of a project were compacted or cleared, or put into its archive by hand; oldest first."""
        rows = self.db.execute(
            f"select {EVENT} from event where project = ? and kind in ('compact', 'end', 'archived') and agent = ''"
            " and (kind != 'compact' or tool = 'compact_boundary') and (kind != 'end' or tool = 'clear')"
            " order by at, seq",
            (project,),
        )
        return read_events(rows)

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
        return read_events(rows)

    def first_moment(self, session: str) -> float:
        """When the first thing happened that a session says of itself; 0 when nothing has."""
        (at,) = self.db.execute(
            "select coalesce(min(at), 0) from (select at from event where session = ? order by seq limit 50)",
            (session,),
        ).fetchone()
        return float(at)
