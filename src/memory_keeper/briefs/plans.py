"""PLANS: every brief that a view tells, with what composes it, under which budget, of which parts."""

from __future__ import annotations

from memory_keeper.briefs import COMPACTED, EARLIER, Section, cut, handoff, parts
from memory_keeper.model import NamedTuple
from memory_keeper.request import Brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memory_keeper.briefs import Said, View

    Part = Callable[[View], tuple[str, Iterable[Said]]]
    Compose = Callable[[str, View, str, int], Brief]


class Plan(NamedTuple):
    """How a brief is made."""

    compose: Compose
    budget: str  # the setting that says how many tokens it may cost
    parts: tuple[tuple[Part, float], ...] = ()  # in order of worth, each with its share of what is left of the budget


def _cut(name: str, view: View, nonce: str, room: int) -> Brief:
    """The parts of its plan; what one leaves over of its share goes to the next."""
    said = [(part(view), share) for part, share in PLANS[name].parts]
    sections = [Section(heading, lines, share) for (heading, lines), share in said]
    return cut(name, sections, view.budget, nonce, _where(view), room)


def _handoff(name: str, view: View, nonce: str, room: int) -> Brief:
    """The handoff of the sessions that are told of, behind what the user wrote down to stay."""
    return handoff.compose(view, view.budget, nonce, _where(view), parts.standing(view), room)


def _replay(name: str, view: View, nonce: str, room: int) -> Brief:
    """What was said, word for word; only who asks for it pays for finding it."""
    from memory_keeper.briefs.replay import compose

    return compose(view, view.budget, nonce, _where(view), room)


def _report(name: str, view: View, nonce: str, room: int) -> Brief:
    """The month in figures."""
    from memory_keeper.briefs.report.markdown import compose

    return compose(name, view, nonce, room)


def _where(view: View) -> str:
    """What a brief is of."""
    if view.before and view.of:
        return view.before.title
    if view.source == "compact":
        return COMPACTED
    return f"session {view.of[0][:8]}" if view.of else EARLIER


PLANS = {
    "handoff": Plan(_handoff, "tell.handoffBudget"),
    "memory": Plan(
        _cut,
        "reduce.memoryTokens",
        (
            (parts.standing, 0.3),
            (parts.edited, 0.3),
            (parts.remembered, 0.2),
            (parts.unnoted, 0.4),
            (parts.todos, 0.2),
            (parts.detailed, 0.75),
            (parts.outlined, 1.0),
        ),
    ),
    "observations": Plan(_cut, "tell.startBudget", ((parts.observations, 1.0),)),
    "replay": Plan(_replay, "tell.replayBudget"),
    "report": Plan(_report, "tell.startBudget"),
    "sessions": Plan(_cut, "tell.startBudget", ((parts.compacted, 1.0),)),
    "start": Plan(
        _cut,
        "tell.startBudget",
        (
            (parts.standing, 0.5),
            (parts.edited, 0.3),
            (parts.handed, 0.9),
            (parts.carried_over, 0.9),
            (parts.remembered, 0.2),
            (parts.team, 0.2),
            (parts.unnoted, 0.5),
            (parts.todos, 0.35),
            (parts.noted, 0.6),
            (parts.outlined, 1.0),
        ),
    ),
    "tasks": Plan(_cut, "tell.startBudget", ((parts.open_tasks, 0.4), (parts.done_tasks, 1.0))),
}
