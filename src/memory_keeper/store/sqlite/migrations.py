"""The schema, one numbered step at a time: each runs once, in the one transaction that also moves `user_version`."""

from __future__ import annotations

from memory_keeper.store.sqlite.fulltext import FullText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection


TABLES = """
create table event (
    seq integer primary key,
    id text not null unique, -- the host's own and the block's number: recording it twice keeps it once
    at real not null,
    kind text not null,
    session text not null,
    project text not null,
    tool text not null,
    path text not null,
    ref text not null, -- ties a result to its call, and what became of a note to the note
    agent text not null, -- the subagent it happened in; empty in the main thread
    failed integer not null,
    who text not null,
    covered_by text, -- the note that covers it: set once, from null
    crc integer not null, -- of all that never changes: a flipped bit is noticed
    extra text not null, -- what may be long comes last: nothing else is read past it
    text text not null
);
create index event_moment on event (project, kind, at);
create index event_session on event (session, seq);

create table note (
    seq integer primary key,
    id text not null unique,
    at real not null,
    kind text not null,
    level integer not null,
    project text not null,
    text text not null,
    session text not null,
    tokens integer not null,
    extra text not null,
    replaces text not null, -- the first wording of the same note; empty: it is that
    who text not null,
    crc integer not null,
    covered_by text
);
create index note_moment on note (project, level, at);

-- a fork repeats the lines it came from: where an event stands is a relation, not part of the event
create table place (
    source integer not null,
    event integer not null,
    offset integer not null,
    primary key (source, event)
) without rowid;

-- a file that is read to its last newline, and how far; one that was replaced gets another row
create table source (
    seq integer primary key,
    path text not null,
    session text not null,
    project text not null,
    agent text not null,
    offset integer not null,
    inode integer not null,
    head text not null, -- fingerprints of its first bytes and of the bytes before the offset
    tail text not null,
    at real not null, -- of its newest event
    looked real not null -- when something was last read from it
);
create index source_path on source (path);
create index source_project on source (project, at);
create index source_session on source (session);

-- a run of a transcript's lines in its archive: one gzip member
create table member (
    source integer not null,
    offset integer not null,
    size integer not null,
    start integer not null,
    length integer not null,
    primary key (source, offset)
) without rowid;

-- the tokens of one response, which the host repeats on every line of it
create table usage (
    message text primary key,
    at real not null,
    session text not null,
    project text not null,
    agent text not null,
    model text not null,
    input integer not null,
    cache_read integer not null,
    cache_write integer not null,
    output integer not null
) without rowid;
create index usage_session on usage (session, at);

-- the names that a project goes by: its folders, its first commits, its remote
create table alias (key text primary key, project text not null) without rowid;
"""
LEVELS = """
create index event_open on event (session, seq) where covered_by is null;
create index event_covered on event (covered_by) where covered_by is not null;
create index event_spent on event (at) where kind = 'spent';
create index note_covered on note (covered_by, project, level);
create index note_open on note (project, level, at) where covered_by is null and replaces = '';
create index note_kind on note (project, kind, at) where replaces = '';
create index note_replaces on note (replaces) where replaces != '';
"""


def _run(db: Connection, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction that all steps are in."""
    for statement in script.split(";\n"):
        db.execute(statement)


def _tables(db: Connection) -> None:
    _run(db, TABLES)


def _levels(db: Connection) -> None:
    _run(db, LEVELS)


def _index(db: Connection) -> None:
    """Words, pieces of names, and tags: made new from all the texts, which takes a while in a large store."""
    words = FullText()
    words.db = db
    words._renew_index()


STEPS = (_tables, _levels, _index)
VERSION = len(STEPS)


def migrate(db: Connection) -> int:
    """Bring the schema up to date; the version found before. A newer store than we know is left alone."""
    (found,) = db.execute("pragma user_version").fetchone()
    if found >= VERSION:
        return int(found)
    db.execute("begin immediate")
    try:
        (now,) = db.execute("pragma user_version").fetchone()  # somebody may have been faster
        for step in STEPS[now:]:
            step(db)
        db.execute(f"pragma user_version = {VERSION}")
        db.execute("commit")
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise
    return int(found)
