"""What a trigger asks for: tell a brief, save the handoff, warn, refuse a compaction. Verb: perform.

Each action is a function of a module of this package, named in a table and loaded when it is asked for: a hook needs
one or two of them. None but the one for a start fails: the host goes on, and `doctor` knows. What follows catching up
stands beside them.

A context begins: `beginning`, by what went before it `previous`, `fork` or `lost`, and `welcome` for people. It goes
on: `rules`, `recall`, and as it fills (`fullness`) `warning`. It ends: `handoff`, `turn_end` at a good moment
(`boundary`), and `compaction` of our own. `telling` keeps what was told.
"""

from __future__ import annotations

from memory_keeper import config
from memory_keeper.hooks.problems import complain
from memory_keeper.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memory_keeper.hooks.actions.fullness import Fullness
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json
    from memory_keeper.request import Action, Call

ACTIONS = {  # action -> the function that takes a Request; what the host is to hear, as an answer or as plain text
    ("tell", "start"): "beginning.begin",
    ("tell", "lost"): "lost.tell_lost",
    ("tell", "rules"): "rules.tell_or_fail_safe",
    ("tell", "recall"): "recall.tell_recall",
    ("tell", "fix"): "recall.tell_fix",
    ("warn", ""): "warning.warn",
    ("save", ""): "handoff.save_now",
    ("instruct", ""): "compaction.instruct",
    ("refuse", ""): "compaction.refuse",
    ("score", ""): "lost.score",
}
AFTER_CATCH_UP = {  # what a hook wants done once everything is read -> a function of keeper and session
    "save": "handoff.save_after",
    "settle": "turn_end.settle_after",
}

FRESH = "fresh"  # why a clear is asked for whose next context is to be told nothing


class Request(NamedTuple):
    """A hook call, and what is known when it came."""

    call: Call
    home: str
    environ: dict[str, str]
    at: float
    fullness: Fullness | None  # of the context; None where nobody measured it
    after: str  # of a start: the session that the same process has just cleared
    room: int  # characters that the model can still hear

    @property
    def settings(self) -> Json:
        """Those in force where the call came from."""
        if self.fullness:
            return self.fullness.settings
        root = config.find_root(self.call.folder) if self.call.folder else ""
        return config.load(self.home, root, self.environ)[0]


def load(name: str) -> Callable[..., Any]:
    """A function of the tables."""
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(__import__(f"{__name__}.{module}", fromlist=[function]), function)
    return found


def perform(action: Action, request: Request) -> Json | str:
    """Do what a trigger asks for; what the host is to hear, as an answer or, where it takes that, as plain text."""
    try:
        reply: Json | str = load(ACTIONS[action.do, action.what])(request)
        return reply
    except Exception as error:
        if action.what == "start":
            raise  # the user hears that this session is not kept
        complain(request.home, action.what or action.do, error)
        return {}


def follow(keeper: Keeper, what: str, session: str) -> None:
    """Do what a hook wants done once everything is read."""
    if what in AFTER_CATCH_UP:
        load(AFTER_CATCH_UP[what])(keeper, session)
