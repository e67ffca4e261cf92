"""What a trigger asks for: tell a brief, save the handoff, warn, refuse a compaction. Verb: perform.

Each action loads its own module, and none but the one for a start fails: the host goes on, and `doctor` knows. What a
look is followed by stands beside them.

A context begins: `beginning`, by what went before it `previous`, `fork` or `lost`, and `welcome` for people. It goes
on: `rules`, `recall`, and as it fills (`fullness`) `warning`. It ends: `handoff`, `turn_end` at a good moment
(`boundary`), and `compaction` of our own. `telling` keeps what was told.
"""

from __future__ import annotations

from memory_keeper import config
from memory_keeper.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.app.actions.fullness import Fullness
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json
    from memory_keeper.moment import Action, Call

INSTRUCTIONS = 4_000  # characters


class Moment(NamedTuple):
    """A hook call, and what is known of the moment it came at."""

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


def perform(action: Action, moment: Moment) -> Json | str:
    """Do what a trigger asks for; what the host is to hear, as an answer or, where it takes that, as plain text."""
    try:
        return ACTIONS[action.do, action.what](moment)
    except Exception as error:
        if action.what == "start":
            raise  # the user hears that this session is not kept
        from memory_keeper.app.problems import complain

        complain(moment.home, action.what or action.do, error)
        return {}


def _tell_start(moment: Moment) -> Json:
    from memory_keeper.app.actions.beginning import begin

    return begin(moment)


def _tell_lost(moment: Moment) -> Json:
    """Tell a context that was compacted what that lost, if nobody has: its beginning should have."""
    from memory_keeper.app.actions.lost import lost_text
    from memory_keeper.app.actions.telling import heard
    from memory_keeper.keeper import Keeper

    call = moment.call
    with Keeper(moment.home, moment.environ) as keeper:
        text = lost_text(keeper, call.session, call.folder, moment.settings, moment.at, call.event)
    return heard(call.event, text)


def _tell_recall(moment: Moment) -> Json:
    """Tell a context what was kept about what its prompt names."""
    from memory_keeper.app.actions.recall import recall_text
    from memory_keeper.app.actions.telling import heard

    return heard(moment.call.event, recall_text(moment))


def _tell_fix(moment: Moment) -> Json:
    """Tell a context what helped before against what has just gone wrong."""
    from memory_keeper.app.actions.recall import fix_text
    from memory_keeper.app.actions.telling import heard

    return heard(moment.call.event, fix_text(moment))


def _tell_rules(moment: Moment) -> Json:
    """The rules, in full or in short; when something is wrong, those that come with us: a prompt never goes without."""
    from memory_keeper.app.actions.rules import fail_safe, tell_rules

    try:
        return tell_rules(moment)
    except Exception as error:
        from memory_keeper.app.problems import complain

        complain(moment.home, "rules", error)
        return fail_safe(moment.call.event, moment.home) if not moment.call.agent else {}


def _warn(moment: Moment) -> Json:
    from memory_keeper.app.actions.warning import warn

    return warn(moment, moment.fullness) if moment.fullness else {}


def _save(moment: Moment) -> Json:
    from memory_keeper.app.actions.handoff import try_to_save

    try_to_save(moment.home, moment.call.session, moment.call.folder, moment.environ)
    return {}


def _instruct(moment: Moment) -> str:
    """What the host's summarizer is told besides. The host takes plain text, and shows the user and the model the same
    when it was they who compacted."""
    said: str = moment.settings["compaction.instructions"]
    return said.strip()[:INSTRUCTIONS]


def _refuse(moment: Moment) -> Json:
    """Refuse a compaction: the context is cleared instead, as soon as its turn is over."""
    from memory_keeper.keep import spool

    call = moment.call
    spool.append(moment.home, call.session, {"event": "Blocked", "at": moment.at, "dir": call.folder})
    return {
        "decision": "block",
        "reason": "Memory Keeper wrote the handoff; this context is cleared and restored when the turn is over"
        " (setting compaction.mode). If nothing happens, type /clear.",
    }


def _score(moment: Moment) -> Json:
    """Measure a compaction's summary, where that was not done before its context began."""
    call = moment.call
    if not call.text:
        return {}  # it was not the host that summarized
    from memory_keeper.keep.context import read_context

    context = read_context(moment.home, call.session)
    if not context.handed or context.scored or context.replaced:
        return {}
    from memory_keeper.app.actions.lost import keep_score
    from memory_keeper.keeper import Keeper

    with Keeper(moment.home, moment.environ) as keeper:
        keep_score(keeper, call.session, call.folder, moment.settings, context, moment.at)
    return {}


ACTIONS: dict[tuple[str, str], Callable[[Moment], Json | str]] = {
    ("tell", "start"): _tell_start,
    ("tell", "lost"): _tell_lost,
    ("tell", "rules"): _tell_rules,
    ("tell", "recall"): _tell_recall,
    ("tell", "fix"): _tell_fix,
    ("warn", ""): _warn,
    ("save", ""): _save,
    ("instruct", ""): _instruct,
    ("refuse", ""): _refuse,
    ("score", ""): _score,
}


def follow(keeper: Keeper, what: str, session: str) -> None:
    """Do what a hook wants done once everything is read."""
    if what in AFTER_LOOK:
        AFTER_LOOK[what](keeper, session)


def _save_after(keeper: Keeper, session: str) -> None:
    """The handoff of a session that ended."""
    from memory_keeper.app.actions.handoff import keep_handoff
    from memory_keeper.keep.context import read_context

    keep_handoff(keeper, session, read_context(keeper.home, session).folder)


def _settle_after(keeper: Keeper, session: str) -> None:
    """What is due at the end of a turn."""
    from memory_keeper.app.actions.turn_end import settle

    settle(keeper.home, keeper.environ, session)


AFTER_LOOK: dict[str, Callable[[Keeper, str], None]] = {"save": _save_after, "settle": _settle_after}
