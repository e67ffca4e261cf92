"""When to act: one table of TRIGGERS, and nothing that acts. Verb: decide.

The host announces an event; each trigger of that event whose condition holds asks for its action, in the order of the
table. Beside it stand the questions that have numbers for an answer: how full is full, and what is due.
"""

from __future__ import annotations

from memory_keeper.request import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.model import Json, Open
    from memory_keeper.request import Limits, Status

LEVELS = ("handoff", "warn", "critical")  # that a filling context passes, in this order
# the latest moment, on the way to where the host compacts or refuses
LATEST = {"warn": 0.90, "critical": 0.95}
QUIET = 3600.0  # seconds after which a session is taken to be over, whoever forgot to say so
CHARACTERS = 4  # of a token of talk, about
COMPACTED = 4_000  # tokens that may stand in the place of a context that was compacted: handoff and last messages
LEAST_KEPT, LEAST_HANDED = 300, 500  # of each of the two
LINE = 100  # of the line that says what happened
BETWEEN = 1.5  # thresholds: up to there a compaction waits for the end of a task
FADES = 30_000  # tokens of context after which the rules are repeated
BEGINS = 50_000  # tokens of a context that was told the rules before anybody counted: nine of ten begin with fewer
UNCOUNTED = 10  # prompts after which the rules are repeated where nobody counts
WORTHWHILE = 2  # times what the last compaction left: a context that is large when it begins is not made smaller


# --- the table -------------------------------------------------------------------------------------------------------


def always(status: Status) -> bool:
    """Whatever happened."""
    return True


def resident(status: Status) -> bool:
    """A server answers: a command hook starts a process, which must not look anything up."""
    return status.resident


def worthwhile(status: Status) -> bool:
    """A resident keeper looks for nothing; a command hook starts a process for it, so only now and then."""
    return status.resident or status.grown


def fuller(status: Status) -> bool:
    """The context has passed a level of which nobody was told."""
    return bool(status.passed)


def clears(status: Status) -> bool:
    """Contexts are cleared by themselves, when a turn is over."""
    return status.mode in ("clear", "block")


def only_catches_up(status: Status) -> bool:
    """Worth catching up, with nothing after it: where contexts are cleared, that is done once for both."""
    return worthwhile(status) and not clears(status)


def untold(status: Status) -> bool:
    """The context was compacted, and nobody has told it what that lost."""
    return status.untold


def compacted(status: Status) -> bool:
    """The context begins with a summary: the turn goes on, and no prompt may come for long."""
    return status.source == "compact"


def refuses(status: Status) -> bool:
    """The host wants to compact and is to clear instead. Only once in a context: if nobody can clear, it may."""
    return status.mode == "block" and status.source == "auto" and not status.blocked


def allows(status: Status) -> bool:
    """The host sums the context up itself, whatever is wanted otherwise: where we do that, it does not ask."""
    return not refuses(status)


MEANINGS = {  # of the actions
    Action("catch_up"): "read what is new into the store, and write the notes that are due",
    Action("catch_up", "save"): "the same, and then the session's handoff",
    Action("catch_up", "settle"): "the same, and then clear the context if that is due",
    Action("tell", "start"): "tell a context that begins what it needs of the ones before it",
    Action("tell", "lost"): "tell a context what the summary of its compaction lost",
    Action("tell", "rules"): "tell the rules: in full once per context, in a short line when that is due",
    Action("tell", "recall"): "tell what was settled about the things that the prompt names",
    Action("tell", "fix"): "tell what fixed this error before",
    Action("warn"): "say how full the context is",
    Action("save"): "write the session's handoff before the host goes on",
    Action("instruct"): "tell the host's summarizer what to keep",
    Action("refuse"): "refuse the compaction: the context is cleared instead",
    Action("score"): "keep the summary, and measure what it lost",
}
# on which event, when, do what
TRIGGERS: tuple[tuple[str, Callable[[Status], bool], Action], ...] = (
    ("SessionStart", always, Action("tell", "start")),
    ("SessionStart", compacted, Action("tell", "rules")),
    ("SubagentStart", resident, Action("tell", "rules")),
    ("UserPromptSubmit", worthwhile, Action("catch_up")),
    ("UserPromptSubmit", untold, Action("tell", "lost")),
    ("UserPromptSubmit", always, Action("tell", "rules")),
    ("UserPromptSubmit", fuller, Action("warn")),
    ("UserPromptSubmit", resident, Action("tell", "recall")),
    ("PostToolUse", worthwhile, Action("catch_up")),
    ("PostToolUse", untold, Action("tell", "lost")),
    ("PostToolUse", fuller, Action("warn")),
    ("PostToolUseFailure", worthwhile, Action("catch_up")),
    ("PostToolUseFailure", resident, Action("tell", "fix")),
    ("Stop", only_catches_up, Action("catch_up")),
    ("Stop", clears, Action("catch_up", "settle")),
    ("SubagentStop", worthwhile, Action("catch_up")),
    ("PreCompact", always, Action("save")),
    ("PreCompact", allows, Action("instruct")),
    ("PreCompact", refuses, Action("refuse")),
    ("PostCompact", always, Action("score")),
    ("PostCompact", always, Action("catch_up")),
    ("SessionEnd", always, Action("catch_up", "save")),
)


def decide(event: str, status: Status) -> list[Action]:
    """What is to be done now; pure, so all it may know comes in."""
    return [action for kind, when, action in TRIGGERS if kind == event and when(status)]


# --- how full is full ------------------------------------------------------------------------------------------------


def thresholds(limits: Limits, settings: Json) -> dict[str, int]:
    """From how many tokens on a context has passed each level; those that nothing is known for are left out."""
    found: dict[str, int] = {}
    if settings["compaction.enabled"] and settings["compaction.triggers.sessionTokens.enabled"]:
        found["handoff"] = settings["compaction.triggers.sessionTokens.threshold"]
    end = limits.compacts_at or limits.refuses_at
    for level in ("warn", "critical"):
        marks = [
            limits.window * settings[f"context.{level}Percent"] // 100,
            int(end * LATEST[level]),
            settings[f"context.{level}Tokens"],
        ]
        if known := [mark for mark in marks if mark > 0]:
            found[level] = min(known)
    return found


def passed(tokens: int, limits: Limits, settings: Json) -> list[str]:
    """The levels a context has passed, the lowest first."""
    marks = thresholds(limits, settings)
    return [level for level in LEVELS if level in marks and tokens >= marks[level]]


def level(tokens: int, limits: Limits, settings: Json) -> str:
    """How full a context is, in a word: ok, warn, critical, or unknown."""
    reached = [name for name in passed(tokens, limits, settings) if name != "handoff"]
    if reached:
        return reached[-1]
    return "ok" if "warn" in thresholds(limits, settings) else "unknown"


# --- what is due -----------------------------------------------------------------------------------------------------


def clears_at(limits: Limits, settings: Json) -> int:
    """From how many tokens on a context is cleared when its turn is over; 0: it is not."""
    marks = thresholds(limits, settings)
    found = [marks[level] for level in ("handoff", "critical") if level in marks]
    return min(found, default=0) if settings["compaction.mode"] == "clear" else 0


def clear_is_due(tokens: int, limits: Limits, settings: Json, blocked: bool) -> bool:
    """Whether a context is to be cleared now that nothing runs: it is full enough, or its compaction was refused."""
    at = clears_at(limits, settings)
    return 0 < at <= tokens or (settings["compaction.mode"] == "block" and blocked)


def compaction_is_due(tokens: int, left: int, settings: Json, boundary: bool) -> bool:
    """Whether a context is to be compacted by us now that nothing runs: it is large enough, can be made smaller, and a
    task is done (`boundary`), or it has waited for that too long. `left` is what the last compaction left; 0: none."""
    at = compacts_from(settings)
    if not 0 < at <= tokens or tokens < left * WORTHWHILE:
        return False
    return boundary or tokens >= at * BETWEEN


def compacts_from(settings: Json) -> int:
    """From how many tokens on a context may be compacted by us between two turns; 0: it is not."""
    wanted = settings["compaction.enabled"] and settings["compaction.triggers.sessionTokens.enabled"]
    if settings["compaction.mode"] != "replace" or not wanted:
        return 0
    threshold: int = settings["compaction.triggers.sessionTokens.threshold"]
    return threshold


def compacts_at(limits: Limits, settings: Json, tended: bool) -> int:
    """Where a context is compacted first, by us if it is `tended`, or by the host; 0: nowhere."""
    points = [compacts_from(settings) if tended else 0, limits.compacts_at]
    return min((point for point in points if point), default=0)


def shares(settings: Json) -> tuple[int, int]:
    """The tokens of the handoff and of the last messages that take the place of a context in mode replace."""
    handed = max(LEAST_HANDED, min(settings["tell.handoffBudget"], COMPACTED - LINE - LEAST_KEPT))
    return handed, max(LEAST_KEPT, min(settings["compaction.keepTokens"], COMPACTED - LINE - handed))


def reminder_is_due(tokens: int, ruled_tokens: int, prompts: int, every: int) -> bool:
    """Whether a context is to be reminded of the rules: with `every` so many prompts, or, for 0, when it has grown
    enough since it last heard of them, at `ruled_tokens`. Of both sizes 0 is unknown."""
    if every or not tokens:
        return prompts % (every or UNCOUNTED) == 0
    return tokens - (ruled_tokens or BEGINS) >= FADES


def is_over(open: Open, now: float) -> bool:
    """Whether nothing more is expected of a session for now."""
    return open.ended or now - open.last > QUIET


def note_is_due(open: Open, settings: Json, now: float) -> bool:
    """Whether a session is to get a note: it is over, was compacted, or enough has happened since the last one."""
    return (
        is_over(open, now)
        or open.compacted
        or open.tools >= settings["reduce.saveInterval"]
        or open.characters >= settings["reduce.saveTokens"] * CHARACTERS
    )
