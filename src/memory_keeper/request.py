"""A hook request: the host's call, the context it comes from, how full that is, what is to be done and told.

These are the words of hooks, apart from those of the `model`: a class takes a hundredth of a millisecond to make, and a
hook is done in a few.
"""

from __future__ import annotations

from memory_keeper.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
    id: str = ""  # its own: who asks again because the answer was lost gives the same
    pid: int = 0  # the process that it comes from, and of a start the session whose place it takes, where a bot
    after: str = ""  # calls us that knows them


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
    warned: tuple[tuple[str, float, str], ...] = ()  # the levels that were told, when first, and by which call
    asked: float = 0.0  # when a clear was last asked for, and why
    why: str = ""
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
    handed: str = ""  # the call that first did
    scored: float = 0.0  # when it was first measured what the summary kept
    told: str = ""  # the briefs that it was given
    prompts: int = 0  # since it began, or was compacted
    ruled: str = ""  # which rules it was told in full, and by which call
    ruled_by: str = ""
    ruled_tokens: int = 0  # how large it was when it last heard of them, in full or in short; 0: nobody knew
    recalled: tuple[tuple[str, str], ...] = ()  # the lines it was told unasked, by their keys, and the first call


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


class Status(NamedTuple):
    """What a trigger may know of the request it decides about."""

    resident: bool  # a server answers, so catching up costs the caller nothing
    grown: bool  # the session's spool passed another page since the last record
    source: str = ""  # of a start; of a compaction, what set it off
    passed: tuple[str, ...] = ()  # levels the context has passed and nobody was told of
    mode: str = "supplement"
    blocked: bool = False  # a compaction of this context was refused before
    untold: bool = False  # it was compacted, and nobody has told it what that lost


class Action(NamedTuple):
    """What a trigger asks for."""

    do: str  # see policy.MEANINGS
    what: str = ""  # which brief is told; what else is done after catching up


class Brief(NamedTuple):
    """Text composed for one reader under one token budget."""

    name: str
    text: str
    tokens: int
    cites: tuple[str, ...] = ()
    facts: tuple[list[Any], ...] = ()  # of a handoff, as they are kept; see extract.facts
    handed: str = ""  # the note of the handoff that it tells
    why: tuple[list[Any], ...] = ()  # the reason for what it tells, and what that was worth


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
