"""The tables of a store that was made a moment ago, each column with what it means."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from sqlite3 import Connection

from docs.render import table
from memory_keeper.store.sqlite import SqliteStore

SHARED = {
    "seq": "the order in which rows were kept",
    "at": "when, in seconds since 1970",
    "session": "the host's own id of the session",
    "project": "what the memory belongs to: a repository by its remote or first commit, else a folder",
    "agent": "the subagent it happened in; empty: the main thread",
    "who": "who said so; empty: the owner of the store, or a rule",
    "text": "what was said, done or printed, without its secrets",
    "extra": "JSON: what has no column of its own",
    "crc": "of the text: a flipped bit is noticed",
    "model": "which model",
}
MEANINGS = {
    "event": {
        "": "What happened in sessions; a row is never changed but for `covered_by`.",
        "id": "the host's own id and the number of the block: what is seen twice is kept once",
        "kind": "see below",
        "tool": "of a call and of its result",
        "path": "the file that a call is about",
        "ref": "ties a result to its call, and what became of a note to the note",
        "failed": "1: of a result, the tool said that it failed",
        "covered_by": "the note that covers it, set once; null: pending",
    },
    "note": {
        "": "What covers events or other notes, and what people wrote; a row is never changed but for `covered_by`.",
        "id": "such as `note-3f2a91c0b7de` and `handoff-543653413bb3`",
        "kind": "see below",
        "level": "0: covers nothing; 1: events of one session; 2 and up: notes of the level beneath",
        "text": "what it says",
        "tokens": "how long that is",
        "replaces": "the first wording of the same note; empty: it is that",
        "who": "`user`: written by hand; empty: by rule or by a model, which `extra` says",
        "covered_by": "the note of the next level that covers it; null: open",
    },
    "source": {
        "": "The files that are read, and how far each was: moved in the same transaction as the rows.",
        "path": "the transcript",
        "offset": "the byte after the last line that was read",
        "inode": "with the two below: whether it is still the same file",
        "head": "a fingerprint of its first bytes",
        "tail": "a fingerprint of the bytes before the offset",
        "at": "of its newest event",
        "looked": "when something was last read from it",
    },
    "place": {
        "": "Where an event stands: a fork repeats lines, so one event may stand in several transcripts.",
        "source": "`seq` of the source",
        "event": "`seq` of the event",
        "offset": "of its line",
    },
    "member": {
        "": "Where a run of lines is in the archive: each is one gzip member.",
        "source": "`seq` of the source",
        "offset": "of the first line, in the transcript as it was kept",
        "size": "of the lines, in bytes",
        "start": "of the member, in the archive's file",
        "length": "of the member, compressed",
    },
    "usage": {
        "": "The tokens of each response, once, however many lines repeat them.",
        "message": "the host's id of the response",
        "input": "tokens sent fresh",
        "cache_read": "tokens read from the cache",
        "cache_write": "tokens written to it",
        "output": "tokens that came back",
    },
    "alias": {
        "": "The names that a project goes by: its folders, its first commits, its remote.",
        "key": "such a name",
        "project": "the project that it means",
    },
    "vector": {
        "": "Vectors of texts, where you asked for [search by meaning](../how-to/search-by-meaning.md).",
        "key": "`seq` of an event; of a note, that below zero",
        "model": "which model made it",
        "data": "the vector",
    },
}
INDEX = (
    "The search index: the words of each text, the pieces of its names, and tags for project, session, kind and month."
)


def schema() -> str:
    """One section for each table of a new store, and one for its indexes."""
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(f"{home}/store.db")
        try:
            return "\n".join(sections(store.db)).rstrip()
        finally:
            store.close()


def sections(db: Connection) -> Iterator[str]:
    """Every table has a meaning and every meaning its table: whoever adds one is asked for the other."""
    named = [name for (name,) in db.execute("select name from sqlite_master where type = 'table' order by rowid")]
    shadows = tuple(f"{name}_" for name in named if name.endswith("_words"))
    tables = [name for name in named if not name.endswith("_words") and not name.startswith(shadows)]
    if strange := {*tables} ^ {*MEANINGS}:
        raise LookupError(f"docs/render/schema.py and the store do not have the same tables: {strange}")
    for name in tables:
        yield from section(db, name)
    yield from ("## event_words, note_words", "", INDEX, "")
    yield from ("## Indexes", "", "```sql", *indexes(db), "```")


def section(db: Connection, name: str) -> list[str]:
    meanings = {**SHARED, **MEANINGS[name]}
    columns = [(column, kind) for _, column, kind, *_ in db.execute(f"pragma table_info({name})")]
    if strange := MEANINGS[name].keys() - {column for column, _ in columns} - {""}:
        raise LookupError(f"docs/render/schema.py: {name} has no {strange}")
    rows = [(f"`{column}`", kind.lower(), meanings[column]) for column, kind in columns]
    return [f"## {name}", "", meanings[""], "", *table(("column", "type", "what it is"), rows), ""]


def indexes(db: Connection) -> list[str]:
    found = db.execute(
        "select sql from sqlite_master where type in ('index', 'trigger') and sql is not null order by name"
    )
    return [" ".join(sql.split()) + ";" for (sql,) in found]


def kinds(named: dict[str, str]) -> str:
    """What a column `kind` may say."""
    return "\n".join(table(("kind", "is"), ((f"`{kind}`", meaning) for kind, meaning in named.items())))
