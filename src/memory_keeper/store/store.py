"""The one contract of what is kept: callers depend on it, an engine satisfies it, `tests/store/contract` checks it.

An event or a note is never changed but for `covered_by`, once, from null. One method is one transaction; whatever goes
wrong is a KeeperError. A key is the number of an event, or that of a note below zero. An expression is one of FTS5,
over the columns and tags that `index` describes; an engine without FTS5 translates it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from memory_keeper.model import (
    Event,
    Filter,
    Kept,
    Member,
    Moved,
    Note,
    Open,
    Phrase,
    Placed,
    Row,
    Scope,
    Session,
    Source,
    Spending,
    Usage,
    Used,
)
from memory_keeper.store.journal import Journal


class Store(Protocol):
    """Where events and notes are kept."""

    path: str
    schema: int  # its number, which an export names
    newer: bool  # a newer Memory Keeper wrote it: only to read
    indexed: bool  # it can be searched: not so before a writer has brought it up to date

    # --- record ---

    def begin(self, source: Source) -> Source:
        """A file is read from its start, for the first time or because it was replaced: its old rows stay."""

    def record(
        self,
        source: Source,
        placed: Sequence[Placed],
        usages: Sequence[Usage] = (),
        member: Member | None = None,
        now: float = 0.0,
    ) -> int:
        """Keep the events of some lines of a file together with how far it was read; how many were new."""

    def name_project(self, keys: Sequence[str], project: str) -> None:
        """From now on each of these keys means this project."""

    def add(self, note: Note, covers: Sequence[str] = ()) -> int:
        """Keep a note and cover what is beneath it, all of it or nothing; how many it covered."""

    def mark(self, event: Event, note: Note | None = None) -> bool:
        """Keep what became of a note, and the wording that came of it: both or neither; False when it is known."""

    def keep_vectors(self, model: str, rows: Iterable[tuple[int, bytes]]) -> None:
        """Keep the vectors of some texts, and none of another model."""

    # --- events ---

    def event(self, id: str) -> Event | None:
        """One event, by its id or by an unambiguous beginning of it."""

    def find(self, which: Filter) -> Iterator[Kept]:
        """The events that are asked for, one at a time."""

    def count(self, which: Filter) -> int:
        """How many events are asked for."""

    def latest(
        self,
        project: str,
        kind: str,
        limit: int,
        sessions: Sequence[str] = (),
        agents: bool = False,
        text: bool = True,
    ) -> list[Event]:
        """The newest events of a kind in a project or in some of its sessions, newest first."""

    def results(self, calls: Sequence[int], text: int = -1) -> dict[int, Kept]:
        """What came of some calls, by their keys; not of those that nothing came of."""

    def newest_key(self) -> int:
        """The key of the newest event."""

    def ids(self, beginning: str, limit: int) -> list[str]:
        """The ids that begin so, of events and notes; an event's without its block unless one is named."""

    # --- files, sessions, projects ---

    def source(self, path: str) -> Source | None:
        """How far a file has been read."""

    def recent_sources(self, project: str, limit: int, agents: bool = True) -> list[Source]:
        """The project's transcripts, the liveliest first, and the newest of those that nothing was read of yet."""

    def last_of(self, source: Source, limit: int) -> list[Event]:
        """The last events that a file says, newest first, without their texts."""

    def last_member(self, source: Source) -> Member | None:
        """The end of a transcript's archive, as far as it counts."""

    def sources(self) -> list[Source]:
        """Every file that was read, in the order of their numbers."""

    def members(self) -> list[tuple[Source, Member]]:
        """Every member of every archive."""

    def line(self, id: str) -> tuple[Source, Member, int] | None:
        """Where an event's raw line lies: its transcript, the member, and the offset within that."""

    def lines(self, source: int) -> list[tuple[int, int, float]]:
        """The lines of a transcript as kept: the offset of each, and the key and time of its first event."""

    def began(self) -> float:
        """When something was first read into this store."""

    def sessions(self, project: str | None = None, limit: int = 10) -> list[Session]:
        """The sessions of a project, or of all; the newest first."""

    def sessions_called(self, beginning: str) -> list[str]:
        """The sessions whose id begins so; two at most."""

    def project_of(self, session: str) -> str:
        """The project a session belongs to; empty when it is unknown."""

    def title(self, session: str) -> str:
        """What the host calls a session; empty when it has not said."""

    def transcript(self, session: str) -> str:
        """Where the host wrote a session down; empty when that is not known."""

    def last_moment(self, session: str) -> float:
        """When a session's transcript was last added to, by its own clock."""

    def last_moments(self, project: str) -> dict[str, float]:
        """When something last happened in each session of a project."""

    def has_typed(self, folder: str, project: str = "") -> bool:
        """Whether somebody typed a prompt in a session with a file in this folder; of a project if one is named."""

    def project(self, key: str) -> str:
        """The project a key was given to; empty when it is unknown."""

    def projects(self) -> list[str]:
        """All that something was kept of."""

    def roots(self, project: str | None = None) -> list[str]:
        """The directories a project, or any, was seen in, the deepest first."""

    def first_commits(self, project: str) -> list[str]:
        """The first commits by which a project is known."""

    # --- usage ---

    def last_usage(self, session: str) -> Usage | None:
        """The newest response of a session's main thread."""

    def usages(self, session: str) -> list[Usage]:
        """The responses of a session, its subagents' too, each once, oldest first."""

    def spending(
        self,
        by: str = "",
        project: str | None = None,
        since: float = 0.0,
        until: float = 0.0,
        session: str = "",
        sizes: Sequence[int] = (),
    ) -> list[Spending]:
        """What models were given and gave in a time, by day, session, model or project; `until` 0 is now. A response
        that a copy from elsewhere has too counts where it was given, unless that `session` is asked about."""

    def used(self, project: str | None = None, since: float = 0.0, until: float = 0.0) -> list[Used]:
        """The sessions that had a response in a time, the largest context first; no copy of one that is kept."""

    # --- notes ---

    def note(self, id: str) -> Note | None:
        """One note, by its id."""

    def wording(self, id: str) -> Note | None:
        """The wording in force of a note, by the id of any: the newest by hand, else the newest."""

    def wordings(self, id: str) -> list[Note]:
        """Every wording of a note, the first one first, by the id of any."""

    def notes(
        self,
        project: str,
        level: int | None = None,
        kind: str = "",
        open: bool | None = None,
        above: str = "",
        limit: int = 0,
    ) -> list[Note]:
        """Notes in the order of what they tell of, each as its wording in force; with a limit, the newest."""

    def notes_of(self, session: str) -> list[Note]:
        """What was written of a session and its handoffs, as they were made."""

    def notes_between(self, project: str | None, session: str, since: float, until: float, limit: int) -> list[Note]:
        """The newest notes of a time that have words, in order; of the handoffs of a session only its last."""

    def written(self) -> list[Note]:
        """What was written by hand, every wording of it, in order, whether the journal has it or not."""

    def handoff(self, session: str = "", project: str = "") -> Note | None:
        """The newest handoff of a session, or of a project."""

    def handoffs(self, project: str, limit: int) -> list[Note]:
        """The newest handoff of each session of a project, the newest first."""

    def children(self, id: str) -> list[str]:
        """What a note covers, by the id of any of its wordings."""

    def cover(self, id: str) -> str:
        """The id of the note that covers an event or a note; empty when none does."""

    def open_tokens(self, project: str | None = None) -> list[tuple[str, int]]:
        """The projects that have open notes, and how long these are at the level that has most."""

    def open_sessions(self, project: str | None = None, session: str = "") -> list[Open]:
        """The sessions that have events which no note covers."""

    # --- search ---

    def matching(
        self,
        wanted: Sequence[Sequence[Phrase]],
        scope: Scope,
        limit: int,
        notes: bool = False,
        kinds: Sequence[str] = (),
        deep: bool = False,
    ) -> list[int]:
        """The keys of the newest rows of a scope that have one phrase of each group, and are of one of these kinds;
        `deep`: also those that only repeat others. Rows outside of the scope may be among them: few, and seldom."""

    def rows(self, keys: Sequence[int]) -> list[Row]:
        """What is known of rows but their text; of a note only if its wording is in force."""

    def texts(self, keys: Sequence[int], most: int = -1) -> dict[int, str]:
        """The texts of rows, or their first characters."""

    def scan(self, scope: Scope, notes: bool = False) -> Iterator[tuple[int, str]]:
        """The keys and texts of the rows of a scope, the newest first, one at a time."""

    def has_vectors(self, model: str = "") -> bool:
        """Whether there are vectors, or some of this model."""

    def lacking(self, limit: int) -> list[tuple[int, str]]:
        """The oldest texts that have no vector yet, by their keys."""

    def count_lacking(self) -> int:
        """How many texts have no vector yet."""

    def vectors(self, model: str, keys: Iterable[int] = (), scope: Scope | None = None) -> list[tuple[int, bytes]]:
        """The vectors of some rows, or the newest of a scope."""

    # --- the whole of it ---

    def counts(self, project: str | None = None) -> dict[str, Any]:
        """How much is kept, and when something was last added."""

    def problems(self) -> list[str]:
        """Damage that can be seen from inside."""

    def index_problem(self) -> str:
        """What is wrong with the search index; empty when nothing is."""

    def rebuild_index(self) -> None:
        """Make the search index again from the texts, however broken it is."""

    def dump(self, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows of a project as they are kept: the name of the table, and the columns by name."""

    def sizes(self, project: str) -> dict[str, int]:
        """How many rows of each table that are."""

    # --- forgetting ---

    def forget(self, events: Collection[int], notes: Collection[str], moved: Mapping[int, Moved | None]) -> None:
        """Delete events by their keys, notes, and files by their numbers; what the notes covered is open again. Of a
        file that goes on under another number only some lines are left."""

    def copy(self, path: str) -> None:
        """Write all of it as of this moment into another store, whose search index is to be made anew."""

    def mask(self, change: Callable[[str], str], dry: bool = False) -> int:
        """Have every text of events and notes as `change` gives it back; how many rows are not as they were."""

    def compact(self, patience: float = 30.0) -> None:
        """Leave no byte anywhere of what was deleted."""

    @property
    def journal(self) -> Journal:
        """What was written by hand, once more, beside the store."""

    def close(self) -> None:
        """Give the files back."""
