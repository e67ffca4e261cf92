"""The words of the product: events are the leaves, notes are the branches, a brief is a cut that fits a budget.

They are named tuples. Importing `typing` costs more than everything else a hook does, so at run time a named tuple of
our own, twenty lines, stands in for `typing.NamedTuple`; to the type checker they are the same thing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    class _Fields(type):
        """Makes a class body of annotated names into a tuple with those names."""

        def __new__(mcs, name, bases, space):
            if not bases:
                return super().__new__(mcs, name, (tuple,), space)
            fields = tuple(space.get("__annotations__", ()))
            defaults = {field: space.pop(field) for field in fields if field in space}
            space.update({field: _tuplegetter(place, "") for place, field in enumerate(fields)})
            space.update(__slots__=(), _fields=fields, _defaults=defaults)
            return super().__new__(mcs, name, bases, space)

    class NamedTuple(metaclass=_Fields):
        __slots__ = ()
        _fields = ()
        _defaults = {}  # noqa: RUF012  (never changed)

        def __new__(cls, *values, **named):
            if len(values) == len(cls._fields) and not named:
                return tuple.__new__(cls, values)
            rest = cls._fields[len(values) :]
            if len(values) > len(cls._fields) or not named.keys() <= set(rest):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            defaults = cls._defaults
            try:
                return tuple.__new__(cls, (*values, *[named[f] if f in named else defaults[f] for f in rest]))
            except KeyError as missing:
                raise TypeError(f"{cls.__name__} needs {missing}") from None

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{f}={v!r}' for f, v in zip(self._fields, self, strict=True))})"

        def _replace(self, **named):
            return type(self)(**{**dict(zip(self._fields, self, strict=True)), **named})

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            return made


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
    ref: str = ""  # ties a result to its call
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
    "memory": "what the host itself remembers of a project",
    "other": "any other line of a transcript, kept raw",
}


NOTES = {
    "session": "what happened in a stretch of a session",
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
}
WRITES = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})  # the tools that change a file
HIGHEST = 9  # levels: the ninth outlines more than anybody will ever do
DAY = 86_400.0  # seconds
LATEST = 4102444800.0  # the year 2100: what claims to be of later is of no time
EVER = 1e12  # after all that happens
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


class Gauge(NamedTuple):
    """How full a context is, as the host itself counts."""

    tokens: int
    model: str
    stamp: str = ""  # when its response came, as the host writes it
    version: str = ""  # of the host
    compacted: bool = False  # what a compaction left: no response since


class Limits(NamedTuple):
    """Where a context ends; 0 is unknown, or never."""

    window: int = 0  # all the tokens the model takes
    compacts_at: int = 0  # the host compacts by itself
    refuses_at: int = 0  # the host takes no more prompts: where it does not compact


class Context(NamedTuple):
    """What has happened to a context since it began, as far as hooks noticed."""

    begun: float = 0.0
    source: str = ""  # startup, resume, clear, compact, fork
    folder: str = ""  # the project's
    transcript: str = ""
    pid: int = 0  # the host's process, and when the system started it: a number is given again to others
    born: str = ""
    model: str = ""  # as the host names it, window and all
    window: int = 0  # as the host says; 0: it has not
    compacts_at: int = 0  # the tokens at which the host was seen to compact by itself
    module: bool = False  # the plugin's hooks module works, which can clear by itself
    run: bool = False  # the host runs in a terminal of ours
    warned: tuple[tuple[str, float], ...] = ()  # the levels that were told, and when first
    asked: float = 0.0  # when a clear was last asked for
    blocked: float = 0.0  # when a compaction was refused
    compacting: float = 0.0  # when a compaction was last asked for
    replaced: float = 0.0  # when one was last answered in the host's place
    prompted: float = 0.0  # when a turn last began or went on
    stopped: float = 0.0  # when a turn last ended
    busy: int = 0  # what still ran in the background then
    terminal: tuple[str, str, str, str] = ("", "", "", "")  # TMUX, TMUX_PANE, STY, WINDOW of the host
    ended: str = ""  # why it ended; empty while it goes on
    place: tuple[str, str] = ("", "")  # the branch and the commit that it ended on
    after: str = ""  # the session that this one took over from when that was cleared
    ours: bool = False  # and it was us who cleared that
    summarizing: float = 0.0  # since when the host compacts it
    trigger: str = ""  # what set that off, or the last time: auto, manual
    compacted: float = 0.0  # when the compaction began that it comes of
    untold: bool = False  # nobody has told it what that lost
    handed: float = 0.0  # when somebody first did
    scored: float = 0.0  # when it was first measured what the summary kept
    told: str = ""  # the briefs that it was given
    prompts: int = 0  # since it began, or was compacted
    ruled: str = ""  # which rules it was told in full, and when
    ruled_at: float = 0.0
    recalled: tuple[tuple[str, float], ...] = ()  # the lines it was told unasked, by their keys, and when first


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


class Placed(NamedTuple):
    """An event and the offset of its line in the transcript as kept."""

    event: Event
    offset: int


class Brief(NamedTuple):
    """Text composed for one reader under one token budget."""

    name: str
    text: str
    tokens: int
    cites: tuple[str, ...] = ()
    lines: tuple[list[Any], ...] = ()  # of a handoff: section, text, cites, …; see tell.lines
    handed: str = ""  # the note of the handoff that it tells
    why: tuple[list[Any], ...] = ()  # the reason for what it tells, and what that was worth


class Action(NamedTuple):
    """What a trigger asks for."""

    do: str  # see policy.MEANINGS
    what: str = ""  # which brief is told; what else is done after a look


class Status(NamedTuple):
    """What a trigger may know of the moment it decides about."""

    resident: bool  # a server answers, so looking costs the caller nothing
    grown: bool  # the session's spool passed another page since the last record
    source: str = ""  # of a start; of a compaction, what set it off
    passed: tuple[str, ...] = ()  # levels the context has passed and nobody was told of
    mode: str = "supplement"
    blocked: bool = False  # a compaction of this context was refused before
    untold: bool = False  # it was compacted, and nobody has told it what that lost


class Call(NamedTuple):
    """One hook call of the host, read and checked."""

    event: str
    session: str
    transcript: str
    folder: str  # in which the session runs
    agent: str
    source: str  # of a start: startup, resume, clear, compact, fork; of an end: its reason
    text: str  # provisional: the prompt, or the last answer
    ref: str  # prompt or tool id
    model: str = ""  # of a start
    busy: int = 0  # of a stop: what still runs in the background
    agent_type: str = ""  # of a subagent; those that the host starts for itself have none
    quiet: int = -1  # of a start that goes on: seconds since the last response in it; -1: not said
    tokens: int = 0  # and what that response left in the context


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


EVERYWHERE = Scope()
# whose words an event has
ROLES = {
    "user": ("prompt", "queued", "command"),
    "assistant": ("reply", "thinking", "call", "todo", "task"),
    "tool": ("result",),
}


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
    who: str


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
    by: str = ""  # user or model, of what one of them wrote down


def version_of(model: str) -> list[int]:
    """The version in a model's name: 4 and 5 of `claude-sonnet-4-5-20250929`; empty for names we do not know."""
    words = "".join(c if c.isalnum() else " " for c in model.lower()).split()
    version: list[int] = []
    for word in words[words.index("claude") + 1 :] if "claude" in words else ():
        if word.isdecimal() and len(word) > 2:  # the date of a release: what follows it is no version
            break
        if word.isdecimal():
            version.append(int(word))
    return version


if TYPE_CHECKING:
    Json = dict[str, Any]
