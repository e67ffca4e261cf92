"""What is kept: events, and the notes that cover them. Verb: record.

`store.Store` is the contract, the only way to it; an engine satisfies it, of which there is one, `sqlite`, and nothing
else speaks SQL or knows which engine there is. Questions that are put together from the contract's work with any
engine: `events` (what sessions said), `calls` (and what came of them), `worklog` (what was done for tasks), `timeline`,
`usage` (tokens), `injected` (what contexts were told), `shared` (what others of a team share). `index` says what can be
searched for.

Beside the store a home holds `spool` (what hooks left, of which `context` is the sum), `archive` (raw lines),
`journal` (what was written by hand, once more) and `rules_cache` (the reminder of the rules); `home` has its lock.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.store.sqlite.mirror import Mirror
    from memory_keeper.store.sqlite.salvage import Remains
    from memory_keeper.store.store import Store


def open_store(path: str, *, write: bool = True, migrate: bool = True, cache: int = 0) -> Store:
    """A store in the engine that we have; what opens it to write makes or migrates it. `cache`: kilobytes at hand."""
    from memory_keeper.store.sqlite import SqliteStore  # every hook loads this package, and few of them a store

    return SqliteStore(path, write=write, migrate=migrate, cache=cache)


def load_engine() -> None:
    """Load what opens a store, for whoever is about to take its files away."""
    from memory_keeper.store import sqlite as sqlite


def open_mirror(path: str) -> Mirror:
    """Whole transcripts, to resume sessions from; apart from the store, which has no secrets."""
    from memory_keeper.store.sqlite.connection import DatabaseError, explain
    from memory_keeper.store.sqlite.mirror import Mirror

    try:
        return Mirror(path)
    except DatabaseError as error:
        raise explain(error, path) from error


def read_remains(path: str, kinds: Sequence[str], uncovered: Sequence[str]) -> Remains:
    """What can still be read in a damaged store: events of some kinds, and notes. Of the `uncovered` kinds are events
    that a note need not cover."""
    from memory_keeper.store.sqlite import salvage

    return salvage.read_remains(path, kinds, uncovered)
