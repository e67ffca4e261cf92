"""What the sessions of a project did, as far as its tasks ask: one query for each kind of it, and no long texts."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from memory_keeper.model import Event, NamedTuple
from memory_keeper.store.index import tag
from memory_keeper.store.leaves import blanks, read_event, read_events
from memory_keeper.store.passage import FAILED, RESULT, results_of
from memory_keeper.store.sqlite import SqliteStore

LIST = ", ".join({"text": "''"}.get(field, field) for field in Event._fields)  # what a list says is in `extra`
COMMAND, SAID = 400, 4_000  # characters of a command line; of what went wrong, or the model said
LISTED = f"kind = 'todo' and agent = '' and not {FAILED}"
REPLIES, BACK = 5, 400  # answers before an event, and rows among which they are looked for
COMMITS = 20_000  # the newest of a project
AT_ONCE = 1_000  # calls whose results are asked for


class Step(NamedTuple):
    """A call that wrote a file or ran a command."""

    at: float
    seq: int
    session: str
    path: str
    tool: str
    text: str  # the beginning of the command
    wrong: str  # and of what was printed when it failed
    agent: str = ""  # the subagent that did it; empty: the main thread


def lists(db: Connection, project: str) -> dict[int, Event]:
    """The calls that wrote the lists of tasks of a project's main threads, by their numbers, in order; none that
    failed."""
    rows = db.execute(f"select seq, {LIST} from event c where project = ? and {LISTED} order by seq", (project,))
    return {row[0]: read_event(row[1:]) for row in rows}


def taken_over(db: Connection, session: str) -> list[Event]:
    """The same of one session, with those that it took over from the session it was forked from."""
    rows = db.execute(
        f"select {LIST} from event c where {LISTED} and seq in"
        " (select p.event from place p join source s on s.seq = p.source where s.session = ?) order by seq",
        (session,),
    )
    return read_events(rows)


def answers(db: Connection, calls: Sequence[int]) -> dict[int, Event]:
    """What came of some calls, by their numbers, however many they are."""
    parts = (calls[at : at + AT_ONCE] for at in range(0, len(calls), AT_ONCE))
    return {seq: result for part in parts for seq, result in results_of(db, part).items()}


def writes(db: Connection, project: str, tools: Sequence[str]) -> dict[str, list[Step]]:
    """The calls of a project that changed a file, by these tools, by session, in order."""
    rows = db.execute(
        "select at, seq, session, path, tool, '', '', agent from event c where project = ? and kind = 'call'"
        f" and path != '' and tool in ({blanks(tools)}) and not {FAILED} order by seq",
        (project, *tools),
    )
    found: dict[str, list[Step]] = {}
    for row in rows:
        found.setdefault(row[2], []).append(Step._make(row))
    return found


def steps(db: Connection, session: str, tools: Sequence[str]) -> list[Step]:
    """What a session ran, and the calls of these tools, in order, with what went wrong."""
    wrong = f"(select substr(text, 1, {SAID}) from event where seq = ({RESULT}) and failed)"
    rows = db.execute(
        f"select at, seq, session, path, tool, iif(tool = 'Bash', substr(text, 1, {COMMAND}), ''),"
        f" coalesce({wrong}, ''), agent from event c where session = ? and kind = 'call'"
        f" and tool in ('Bash', {blanks(tools)}) order by seq",
        (session, *tools),
    )
    return [Step._make(row) for row in rows]


def commits(store: SqliteStore, project: str) -> list[tuple[int, Event]]:
    """What the commands of a project printed that may have made commits and did not fail, with the numbers of their
    calls, in order."""
    if not store.indexed:
        return []
    where = f"{tag('p', project)} AND {tag('k', 'call')} AND {tag('t', 'bash')}"
    calls = sorted(store.matching(f"text : (git AND commit) AND tags : ({where})", COMMITS))
    found = answers(store.db, calls)
    return [(seq, found[seq]) for seq in calls if seq in found and not found[seq].failed]


def calls(db: Connection, numbers: Sequence[int]) -> dict[int, Event]:
    """Some calls by their numbers, with the beginnings of their texts."""
    short = ", ".join({"text": f"substr(text, 1, {SAID})"}.get(field, field) for field in Event._fields)
    found: dict[int, Event] = {}
    for at in range(0, len(numbers), AT_ONCE):
        part = numbers[at : at + AT_ONCE]
        rows = db.execute(f"select seq, {short} from event where seq in ({blanks(part)})", part)
        found.update((row[0], read_event(row[1:])) for row in rows)
    return found


class Asked(NamedTuple):
    """A prompt of the user's."""

    seq: int
    at: float
    commits: bool  # it speaks of committing


def prompts(db: Connection, project: str) -> dict[str, list[Asked]]:
    """The user's prompts, by session, in order."""
    found: dict[str, list[Asked]] = {}
    for session, *asked in db.execute(
        "select session, seq, at, instr(lower(substr(text, 1, ?)), 'commit') from event"
        " where project = ? and kind = 'prompt' and agent = '' order by seq",
        (SAID, project),
    ):
        found.setdefault(session, []).append(Asked._make(asked))
    return found


def said_between(db: Connection, session: str, after: int, before: int, first: bool = False) -> list[str]:
    """What the main thread of a session said between two of its events: last, the newest first; or first."""
    near = (after, min(before, after + BACK)) if first else (max(after, before - BACK), before)
    rows = db.execute(
        "select substr(text, 1, ?) from event where session = ? and seq > ? and seq < ? and kind = 'reply'"
        f" and agent = '' order by seq{'' if first else ' desc'} limit ?",
        (SAID, session, *near, REPLIES),
    )
    return [text for (text,) in rows]


def new_tokens(db: Connection, session: str) -> list[tuple[float, int]]:
    """When each response of a session came, its subagents' too, and its tokens that were new: all but those that the
    host had in its cache."""
    return db.execute(
        "select at, input + cache_write + output from usage where session = ? order by at", (session,)
    ).fetchall()


def last_moments(db: Connection, project: str) -> dict[str, float]:
    """When something last happened in each session of a project."""
    rows = db.execute(
        "select session, max(at) from source where project = ? group by session having max(at) > 0", (project,)
    )
    return dict(rows.fetchall())
