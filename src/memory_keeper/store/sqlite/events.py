"""The part of the embedded engine that knows events, and the files, sessions and projects that they stand in."""

from __future__ import annotations

from memory_keeper.model import ELSEWHERE, EVER, Event, Filter, Kept, Member, Session, Source, Spending, Usage, Used
from memory_keeper.store.sqlite.fulltext import FullText, blanks, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

EVENT = ", ".join(Event._fields)
SOURCE = ", ".join(Source._fields)
USAGE = ", ".join(Usage._fields)
PLACED = ", ".join("s." + field for field in Source._fields)
BARE = ", ".join("''" if field in ("text", "extra") else field for field in Event._fields)  # without what may be long
LAST = "\U0010ffff"  # comes after all that begins alike
SOON = 2_000  # events after a call within which its result comes
# the number of a call's result
RESULT = (
    "select seq from event r where r.session = c.session and r.seq > c.seq"
    f" and r.seq < c.seq + {SOON} and r.ref = c.ref and r.kind = 'result' order by r.seq limit 1"
)
SPENT = "spent"  # the kind that has an index of its own
AT_ONCE = 1_000  # calls whose results are asked for
LINES = "select p.event from place p join source s on s.seq = p.source where s.session = ?"
PROJECTS = (  # each found by the one before it, as the index has them in order
    "with recursive known (name) as (select min(project) from event"
    " union all select (select min(project) from event where project > name) from known where name is not null)"
    " select name from known where name is not null union select project from source order by 1"
)
CONTEXT = "input + cache_read + cache_write"  # what a request carried
# a response in a copy of a transcript from elsewhere, where the transcript itself has it too
COPIED = (
    f"message like '%{ELSEWHERE}'"
    f" and substr(message, 1, length(message) - {len(ELSEWHERE)}) in (select message from usage)"
)
BY = {
    "": "''",
    "day": "date(at, 'unixepoch', 'localtime')",
    "session": "session",
    "model": "model",
    "project": "project",
}


class Events(FullText):
    """What a store can say of its events."""

    levelled = True  # the indexes are there: not yet in a store that only a reader has opened since an update

    def find(self, which: Filter) -> Iterator[Kept]:
        where, given = _where(which)
        open = which.covered is False and which.sessions is not None
        query = (
            f"select seq, {_columns(which)} from event{self._by('event_open') if open else ''} where {where}"
            f" {_order(which.by_time, which.newest)} limit ?"
        )
        return (Kept(row[0], read_event(row[1:])) for row in self._each(query, [*given, which.limit]))

    def results(self, calls: Sequence[int], text: int = -1) -> dict[int, Kept]:
        found: dict[int, Kept] = {}
        for start in range(0, len(calls), AT_ONCE):
            # each is looked for from its call on: else all results would be asked for their call
            part = numbers(calls[start : start + AT_ONCE])
            rows = self._all(f"select seq, ({RESULT}) from event c where seq in ({part}) and ref != ''")
            answered = {seq: result for seq, result in rows if result}
            results = {kept.key: kept for kept in self.find(Filter(keys=answered.values(), text=text))}
            found |= {seq: results[result] for seq, result in answered.items()}
        return found

    def count(self, which: Filter) -> int:
        where, given = _where(which)
        return int(
            self._value(f"select count(*) from (select 1 from event where {where} limit ?)", [*given, which.limit])
        )

    def _by(self, index: str) -> str:
        return f" indexed by {index}" if self.levelled else ""

    def event(self, id: str) -> Event | None:
        """One event, by its id or by an unambiguous beginning of it: `4914e47a:1`, `4914e47a`, or all of it. Of a line
        with several, the first is meant where none is named."""
        rows = self._all(f"select {EVENT} from event where id = ?", (id,))
        if not rows and id:
            base, colon, block = id.partition(":")
            found = self._all(
                f"select {EVENT} from event where id >= ? and id < ? order by id limit 100", (base, base + LAST)
            )
            rows = [row for row in found if row[0].endswith(colon + block)]
            if not colon and len({row[0].rpartition(":")[0] for row in rows}) == 1:
                rows = rows[:1]
        return read_event(rows[0]) if len(rows) == 1 else None

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
        rows = self._all(
            f"select {EVENT if text else BARE} from event where project = ? and kind = ?{only}"
            " order by at desc, seq desc limit ?",
            (project, kind, *sessions, limit),
        )
        return read_events(rows)

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
            row = self._first(
                f"select text from event t where kind = 'title' and {where} order by seq desc limit 1", given
            )
            if row:
                return str(row[0])
        return ""

    def sessions(self, project: str | None = None, limit: int = 10) -> list[Session]:
        only, given = (" where project = ?", (project,)) if project is not None else (" where project != ''", ())
        newest = self._all(
            f"select session, project, max(at) from source{only} group by session order by 3 desc limit ?",
            (*given, limit),
        )
        counted = "select min(at), max(at), count(*), sum(kind = 'prompt') from event where session = ?"
        rows = [(session, of, *self._all(counted, (session,))[0]) for session, of, _ in newest]
        return [Session._make(row) for row in rows if row[4]]

    def sessions_called(self, beginning: str) -> list[str]:
        """The sessions whose id begins so; two at most, since more say nothing else."""
        rows = self._all(
            "select distinct session from source where session >= ? and session < ? limit 2",
            (beginning, beginning + LAST),
        )
        return [session for (session,) in rows]

    def project_of(self, session: str) -> str:
        row = self._first(
            "select project from source where session = ? and project != '' order by seq desc limit 1", (session,)
        )
        return row[0] if row else ""

    def source(self, path: str) -> Source | None:
        row = self._first(f"select {SOURCE} from source where path = ? order by seq desc limit 1", (path,))
        return Source._make(row) if row else None

    def recent_sources(self, project: str, limit: int, agents: bool = True) -> list[Source]:
        """The project's transcripts, the liveliest first, and the newest of those that nothing was read of yet; those
        of subagents too, or not."""
        those = (
            f"select {SOURCE} from source s where project = ? and path not like '%.spool'"
            " and not exists (select 1 from source newer where newer.path = s.path and newer.seq > s.seq)"
        ) + ("" if agents else " and agent = ''")
        lively = self._all(those + " order by at desc limit ?", (project, limit))
        unread = self._all(those + " and offset = 0 order by seq desc limit ?", (project, limit))
        return [Source._make(row) for row in dict.fromkeys(lively + unread)]

    def last_of(self, source: Source, limit: int) -> list[Event]:
        rows = self._all(
            f"select {BARE} from place p join event e on e.seq = p.event where p.source = ?"
            " order by p.event desc limit ?",
            (source.seq, limit),
        )
        return read_events(rows)

    def last_member(self, source: Source) -> Member | None:
        row = self._first(
            "select offset, size, start, length from member where source = ? order by offset desc limit 1",
            (source.seq,),
        )
        return Member._make(row) if row else None

    def sources(self) -> list[Source]:
        return [Source._make(row) for row in self._all(f"select {SOURCE} from source order by seq")]

    def members(self) -> list[tuple[Source, Member]]:
        rows = self._all(
            f"select {PLACED}, m.offset, m.size, m.start, m.length"
            " from member m join source s on s.seq = m.source order by m.source, m.offset"
        )
        width = len(Source._fields)
        return [(Source._make(row[:width]), Member._make(row[width:])) for row in rows]

    def line(self, id: str) -> tuple[Source, Member, int] | None:
        row = self._first(
            f"select {PLACED}, m.offset, m.size, m.start, m.length, p.offset"
            " from event e join source s on s.session = e.session join place p on p.source = s.seq and p.event = e.seq"
            " join member m on m.source = s.seq and m.offset <= p.offset and m.offset + m.size > p.offset"
            " where e.id = ? limit 1",
            (id,),
        )
        if not row:
            return None
        width = len(Source._fields)
        member = Member._make(row[width:-1])
        return Source._make(row[:width]), member, row[-1] - member.offset

    def lines(self, source: int) -> list[tuple[int, int, float]]:
        rows = self._all(
            "select p.offset, min(p.event), e.at from place p join event e on e.seq = p.event"
            " where p.source = ? and p.offset >= 0 group by p.offset",
            (source,),
        )
        return rows

    def transcript(self, session: str) -> str:
        row = self._first(
            "select path from source where session = ? and agent = '' and path not like '%.spool'"
            " order by seq desc limit 1",
            (session,),
        )
        return row[0] if row else ""

    def began(self) -> float:
        return float(self._value("select coalesce(min(looked), 0) from source where looked > 0"))

    def last_moment(self, session: str) -> float:
        only = "session = ? and path like '%.jsonl'"
        return float(self._value(f"select coalesce(max(at), 0) from source where {only}", (session,)))

    def project(self, key: str) -> str:
        row = self._first("select project from alias where key = ?", (key,))
        return row[0] if row else ""

    def first_commits(self, project: str) -> list[str]:
        rows = self._all("select key from alias where project = ? and key like 'root:%'", (project,))
        return [key[5:] for (key,) in rows]

    def roots(self, project: str | None = None) -> list[str]:
        only, given = (" and project = ?", (project,)) if project is not None else ("", ())
        rows = self._all(f"select key from alias where key like 'dir:%'{only}", given)
        return sorted((key[4:] for (key,) in rows), key=len, reverse=True)

    def last_moments(self, project: str) -> dict[str, float]:
        rows = self._all(
            "select session, max(at) from source where project = ? group by session having max(at) > 0", (project,)
        )
        return dict(rows)

    def last_usage(self, session: str) -> Usage | None:
        row = self._first(
            f"select {USAGE} from usage where session = ? and agent = '' order by at desc limit 1",
            (session,),
        )
        return Usage._make(row) if row else None

    def usages(self, session: str) -> list[Usage]:
        rows = self._all(f"select {USAGE} from usage where session = ? order by at, message", (session,))
        return [Usage._make(row) for row in rows]

    def spending(
        self,
        by: str = "",
        project: str | None = None,
        since: float = 0.0,
        until: float = 0.0,
        session: str = "",
        sizes: Sequence[int] = (),
    ) -> list[Spending]:
        """What models were given and gave in a time, by day, session, model or project; `until` 0 is now. A day is
        one of this machine's clock."""
        only, given = _time(project, since, until, session)
        steps = " ".join(f"when {CONTEXT} > {size} then {size}" for size in sorted(sizes, reverse=True))
        above = f"case {steps} else 0 end" if sizes else "0"
        rows = self._all(
            f"select {BY[by]}, model, {above}, count(*), sum(input), sum(cache_read), sum(cache_write), sum(output)"
            f" from usage where {only} group by 1, 2, 3 order by 1, 2, 3",
            given,
        )
        return [Spending._make(row) for row in rows]

    def used(self, project: str | None = None, since: float = 0.0, until: float = 0.0) -> list[Used]:
        only, given = _time(project, since, until)
        main = f"case when agent = '' then {CONTEXT} else 0 end"
        first = f"(select {CONTEXT} from usage where session = u.session and agent = '' and {only} order by at limit 1)"
        rows = self._all(
            f"select session, min(project), min(at), max(at), count(*), sum({CONTEXT} + output), coalesce({first}, 0),"
            f" max({main}) from usage u where {only} group by session order by 8 desc, 6 desc, 1",
            given,
        )
        return [Used._make(row) for row in rows]

    def has_typed(self, folder: str, project: str = "") -> bool:
        """Whether somebody typed a prompt in a session with a file in this folder. Only prompts are read, those of
        the projects that were worked in last first, each from its newest: a program may have asked very often since."""
        spooled, given = "path >= ? and path < ?", (f"{folder}/", f"{folder}0")  # `0` comes after `/`
        projects = (
            [(project,)]
            if project
            else self._all(f"select project from source where {spooled} group by project order by max(seq) desc", given)
        )
        return any(
            self._first(
                "select 1 from event e where project = ? and kind = 'prompt' and extra = '' and agent = ''"
                f" and exists (select 1 from source where session = e.session and {spooled}) order by at desc limit 1",
                (project, *given),
            )
            for (project,) in projects
        )

    def ids(self, beginning: str, limit: int) -> list[str]:
        base, colon, block = beginning.partition(":")
        if not base:
            return []
        given = base, base + LAST
        events = self._all("select id from event where id >= ? and id < ? order by id limit 100", given)
        notes = self._all("select id from note where id >= ? and id < ? order by id limit ?", (*given, limit))
        named = (id if colon else id.rpartition(":")[0] for (id,) in events if id.endswith(colon + block))
        return [*dict.fromkeys([*named, *(id for (id,) in notes if not colon)])][:limit]

    def projects(self) -> list[str]:
        return [project for (project,) in self._all(PROJECTS)]


def read_event(row: Sequence[Any]) -> Event:
    """The event of a row that has its fields in order."""
    return Event._make((*row[:10], bool(row[10]), *row[11:]))


def read_events(rows: Iterable[Sequence[Any]]) -> list[Event]:
    """The events of such rows."""
    return [read_event(row) for row in rows]


def _where(which: Filter) -> tuple[str, list[Any]]:
    """The clauses that a filter comes to, and their values."""
    among = _clauses(
        ("project = ?", which.project),
        ("agent = ?", which.agent),
        ("at >= ?", which.since),
        ("at < ?", which.until),
        ("seq > ?", which.after),
        ("seq < ?", which.before),
        (f"seq in ({LINES})", which.lines_of),
    )
    among += _lists(("session {}", which.sessions), ("kind {}", which.kinds), ("kind not {}", which.no_kinds))
    if which.kinds == (SPENT,):  # a literal: else the index of these alone is of no use
        among.append((f"kind = '{SPENT}'", ()))
    found = _lists(("id {}", which.ids), ("tool {}", which.tools), ("path {}", which.paths), ("ref {}", which.refs))
    found += _clauses(
        ("extra like ?", which.extra and which.extra + "%"),
        ("failed = ?", which.failed),
        ("covered_by = ?", which.covered_by),
        *(("instr(text, ?) > 0", word) for word in which.words),
    )
    if which.covered is not None:
        found.append((f"covered_by is {'not ' * which.covered}null", ()))
    if which.keys is not None:
        found.append((f"seq in ({numbers(which.keys)})", ()))
    if which.newest_of is not None:
        newest = f"{_joined(among)} {_order(which.by_time, newest=True)} limit ?"
        given = [value for _, values in among for value in values]
        among = [(f"seq in (select seq from event where {newest})", [*given, which.newest_of])]
    every = [*among, *found]
    return _joined(every), [value for _, values in every for value in values]


def _clauses(*asked: tuple[str, Any]) -> list[tuple[str, Sequence[Any]]]:
    return [(clause, (value,)) for clause, value in asked if value is not None]


def _lists(*asked: tuple[str, Sequence[str] | None]) -> list[tuple[str, Sequence[Any]]]:
    return [(clause.format(f"in ({blanks(values)})"), values) for clause, values in asked if values is not None]


def _joined(clauses: Sequence[tuple[str, Sequence[Any]]]) -> str:
    return " and ".join(clause for clause, _ in clauses) or "true"


def _order(by_time: bool, newest: bool) -> str:
    down = " desc" if newest else ""
    return f"order by at{down}, seq{down}" if by_time else f"order by seq{down}"


def _columns(which: Filter) -> str:
    """The fields of an event, as far as they are wanted."""
    if which.bare:
        return BARE
    text = "text" if which.text < 0 else f"substr(text, 1, {which.text})" if which.text else "''"
    if not which.printed:
        text = f"iif(kind = 'result' and not failed, '', {text})"
    return EVENT.replace("text", text, 1)


def _time(project: str | None, since: float, until: float, session: str = "") -> tuple[str, dict[str, object]]:
    only = "at >= :since and at < :until"
    only += " and project = :project" if project is not None else ""
    only += " and session = :session" if session else f" and not ({COPIED})"
    return only, {"since": since, "until": until or EVER, "project": project, "session": session}
