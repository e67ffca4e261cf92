"""When to act: one table of TRIGGERS, and nothing that acts. Verb: decide."""

from __future__ import annotations

from memory_keeper.model import Action, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def always(status: Status) -> bool:
    """Whatever the moment."""
    return True


def begins(status: Status) -> bool:
    """A context that lacks what happened: a fork has all that its origin had."""
    return status.source != "fork"


def worthwhile(status: Status) -> bool:
    """A resident keeper looks for nothing; a command hook starts a process for it, so only now and then."""
    return status.resident or status.grown


# on which event, when, do what
TRIGGERS: tuple[tuple[str, Callable[[Status], bool], Action], ...] = (
    ("SessionStart", begins, Action("tell", "start")),
    ("UserPromptSubmit", worthwhile, Action("look")),
    ("PostToolUse", worthwhile, Action("look")),
    ("Stop", worthwhile, Action("look")),
    ("SubagentStop", worthwhile, Action("look")),
    ("PreCompact", always, Action("look")),
    ("PostCompact", always, Action("look")),
    ("SessionEnd", always, Action("look")),
)


def decide(event: str, status: Status) -> list[Action]:
    """What is to be done now; pure, so all it may know comes in."""
    return [action for kind, when, action in TRIGGERS if kind == event and when(status)]
