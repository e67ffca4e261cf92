"""The words of the product: events are the leaves, notes are the branches, a brief is a cut that fits a budget.

Those that hooks need are in `request`.
"""

from __future__ import annotations

from memory_keeper.named import NamedTuple as NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


class Event(NamedTuple):
    """Something that happened in a session; a leaf of the memory tree."""

    id: str  # the host's own id and the block's number: recording it twice keeps it once
    at: float
    kind: str  # see KINDS
    session: str
    project: str
    text: str
    tool: str = ""  # of a call and of its result; of `other`, what the host calls the line
    path: str = ""  # the file a call is about
    ref: str = ""  # ties a result to its call, and a title to a line of the session that it names
    agent: str = ""  # the subagent it happened in; empty in the main thread
    failed: bool = False
    extra: str = ""  # JSON: what has no column of its own
    who: str = ""  # empty: the owner of this store


KINDS = {
    "prompt": "what the user typed",
    "reply": "what the model said",
    "thinking": "what the model thought",
    "call": "a tool call",
    "result": "what a tool answered",
    "todo": "a call that writes the model's list of tasks",
    "task": "what a subagent was asked to do",
    "image": "a picture, as a placeholder",
    "command": "a slash or shell command of the user's and its output",
    "queued": "typed while the model was busy",
    "notice": "the host in the user's place: a background task ended, the user interrupted",
    "meta": "text the host added to the conversation",
    "compact": "the context was compacted here",
    "summary": "the summary a compaction left",
    "title": "what the host calls a session",
    "start": "a session began, or went on",
    "end": "a session ended",
    "told": "a brief was given to a context",
    "warned": "the user and the model were told how full the context is",
    "window": "the host said how large the window is",
    "thread": "a bot's thread goes on in this session",
    "ask": "a clear was asked for",
    "blocked": "a compaction was refused",
    "scored": "what a compaction's summary kept and lost, and what of it was brought back",
    "ask-compact": "a compaction was asked for",
    "replaced": "a compaction was answered in the host's place",
    "archived": "a session was put into the context archive by hand",
    "spent": "a model was asked to write a note",
    "confirmed": "an observation was seen to be right once more",
    "contradicted": "an observation was seen to be wrong",
    "done": "a task was done",
    "shared": "the user gave a note to the team",
    "unshared": "the user took it back",
    "memory": "what the host itself remembers of a project",
    "imported": "what another memory tool had kept",
    "other": "any other line of a transcript, kept raw",
}


NOTES = {
    "session": "what happened in a segment of a session",
    "outline": "what notes of the level beneath say",
    "handoff": "what the next context needs of a session",
    "note": "what somebody wrote into the memory by hand",
    "project": "what the project is, as the user wants every session to know",
    "architecture": "how it is built",
    "conventions": "how one works in it",
    "decision": "what the user has decided",
    "issue": "what the user wants done or mended",
    "fact": "what the user wants remembered",
    "rule": "what every context is to go by, as the user decided",
    "observation": "what may be worth a rule: said, seen or proposed, and not decided",
    "task": "what somebody wants done, written down by hand",
    "file": "what a model keeps for itself with the memory tool of Anthropic's API",
    "shared": "what somebody else of the team shared",
    "team": "where the notes of a project are shared",
}
WRITES = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})  # the tools that change a file
HIGHEST = 9  # levels: the ninth outlines more than anybody will ever do
DAY = 86_400.0  # seconds
LATEST = 4102444800.0  # the year 2100: what claims to be of later is of no time
EVER = 1e12  # after all that happens
IMPORTED = "import-"  # how the ids begin of what another tool had kept: nobody's word here
APART, ELSEWHERE = "imported:", "-imported"  # before a project and behind the ids of what may be anybody's transcript
USER = "user:"  # in place of a project: what holds in all of a user's projects


class Note(NamedTuple):
    """A statement that covers events or other notes; a branch of the memory tree."""

    id: str
    at: float
    kind: str  # see NOTES
    level: int  # 0 covers nothing, 1 covers events of a session, 2 covers level-1 notes of a project, and up
    project: str
    text: str
    session: str = ""
    tokens: int = 0
    extra: str = ""
    replaces: str = ""  # the first wording of the same note
    who: str = ""  # `user` wrote it by hand; empty: made by rule or by a model, which `extra` says


class Item(NamedTuple):
    """A note as it is shared. Of the same writer and id, the later version holds: the greater `rev`, then `at`."""

    id: str  # of the note's first wording
    kind: str
    text: str
    author: str  # as git knows its user: Name <mail>
    writer: str  # the home it comes from
    at: float  # when it was last changed
    written: float  # and first written
    rev: int  # grows with every change
    to: str = ""  # whom a handoff is for
    session: str = ""
    gone: bool = False  # it was taken back, and has no text any more


def origin(note: Note) -> str:
    """The id of a note's first wording: what it covers, and what covers it, goes by that."""
    return note.replaces or note.id


class Open(NamedTuple):
    """What no note covers yet of a session."""

    session: str
    project: str
    tools: int  # calls
    characters: int  # of what was said
    first: float
    last: float
    ended: bool
    compacted: bool


class Usage(NamedTuple):
    """The tokens of one response, which the host repeats on every line of it."""

    message: str
    at: float
    session: str
    project: str
    agent: str
    model: str
    input: int
    cache_read: int
    cache_write: int
    output: int

    @property
    def context(self) -> int:
        """How large the context was that was answered."""
        return self.input + self.cache_read + self.cache_write


class Source(NamedTuple):
    """A file that is read to its last newline, and how far we are."""

    path: str
    session: str
    project: str
    agent: str = ""
    offset: int = 0
    inode: int = 0
    head: str = ""  # fingerprints of its first bytes and of the bytes before the offset: a file may be replaced
    tail: str = ""
    at: float = 0.0  # of its newest event
    seq: int = 0  # 0: not in the store yet


class Member(NamedTuple):
    """A run of a transcript's lines in its archive: one gzip member."""

    offset: int  # in the transcript as kept, which redaction may have made shorter or longer
    size: int
    start: int  # in the archive's file
    length: int


class Moved(NamedTuple):
    """A transcript's archive after some lines were taken out, under another number."""

    seq: int
    members: Sequence[Member]
    offsets: Mapping[int, int]  # where the lines that are left stood, and stand


class Placed(NamedTuple):
    """An event and the offset of its line in the transcript as kept."""

    event: Event
    offset: int


class Session(NamedTuple):
    """One session as the store knows it."""

    id: str
    project: str
    first: float
    last: float
    events: int
    prompts: int


class Scope(NamedTuple):
    """Where a search looks; each filter only where it is given."""

    project: str | None = None  # None: all of them, only on request
    level: int | None = None  # 0: events, and what was written by hand
    kind: str = ""
    tool: str = ""
    file: str = ""
    role: str = ""  # see ROLES
    since: float = 0.0
    until: float = 0.0
    session: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that it names; none: all of them."""
        return (self.kind,) if self.kind else ROLES.get(self.role, ())

    def holds(self, row: Row | Event) -> bool:
        """Whether something is of its project, session and time."""
        return (
            self.project in (None, row.project)
            and self.session in ("", row.session)
            and row.at >= self.since
            and (not self.until or row.at < self.until)
        )


EVERYWHERE = Scope()
# whose words an event has
ROLES = {
    "user": ("prompt", "queued", "command"),
    "assistant": ("reply", "thinking", "call", "todo", "task"),
    "tool": ("result",),
}


class Phrase(NamedTuple):
    """Words in a row that a row of the search index has."""

    words: str  # letters and digits, with blanks between
    column: str = ""  # text, or parts: the pieces of its names, signs, pairs of characters; empty: either
    begins: bool = False  # the last word may go on


class Filter(NamedTuple):
    """Which events are asked for, in which order, and how much of each; what is None is not asked."""

    project: str | None = None
    sessions: Sequence[str] | None = None
    lines_of: str | None = None  # a session: its lines, and those that it took over from the one it was forked from
    kinds: Sequence[str] | None = None
    no_kinds: Sequence[str] | None = None
    agent: str | None = None  # empty: the main thread
    since: float | None = None  # from then on
    until: float | None = None  # before then
    after: int | None = None  # keys that are greater
    before: int | None = None  # and less
    newest_of: int | None = None  # only the newest so many of what the fields above say are looked at
    keys: Iterable[int] | None = None
    ids: Sequence[str] | None = None
    tools: Sequence[str] | None = None
    paths: Sequence[str] | None = None
    refs: Sequence[str] | None = None
    words: Sequence[str] = ()  # all of these stand in the text
    extra: str | None = None  # how what has no column begins
    failed: bool | None = None
    covered: bool | None = None
    covered_by: str | None = None  # a note of level 1, by its first wording
    by_time: bool = False  # else in the order in which they were kept
    newest: bool = False  # these first
    limit: int = -1
    text: int = -1  # characters that are read of each text
    bare: bool = False  # neither the texts nor what has no column
    printed: bool = True  # the texts too of results that did not fail


class Kept(NamedTuple):
    """An event and its key: keys ascend in the order in which events were kept."""

    key: int
    event: Event


class Spending(NamedTuple):
    """What one model was given and gave under one heading; `above` 0 is every size of context."""

    key: str  # the day, session, model or project
    model: str
    above: int  # of the sizes that were asked about, the largest that these contexts were above
    requests: int
    input: int
    cache_read: int
    cache_write: int
    output: int


class Used(NamedTuple):
    """What the responses of one session were in a time."""

    session: str
    project: str
    first: float
    last: float
    requests: int
    tokens: int  # all of them, subagents' too
    begun: int  # tokens of the main thread's context at its first response
    peak: int  # and at the largest


class Row(NamedTuple):
    """What the index tells of an event or a note without its text."""

    key: int  # the number of an event; of a note, that below zero
    id: str
    level: int
    kind: str
    at: float
    session: str
    project: str
    size: int  # in words
    path: str
    tool: str
    ref: str
    failed: bool
    by: str = ""  # whose words it has: see `provenance`


class Hit(NamedTuple):
    """Something a search found."""

    id: str
    level: int  # 0: an event
    kind: str
    at: float
    session: str
    project: str
    score: float
    snippet: str
    path: str
    by: str = ""  # whose words it has: see `provenance`


Json = dict[str, "Any"]
