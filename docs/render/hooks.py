"""The hooks: how each is registered, and what is done when it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from docs.render import table
from memory_keeper.briefs.recall import HINT
from memory_keeper.hooks.actions.rules import SUBAGENT
from memory_keeper.policy import MEANINGS
from memory_keeper.request import Action
from memory_keeper.settings import DEFAULTS

ANSWERED_BY = {"mcp_tool": "the session's server", "command": "a process of its own"}
MATCHERS = {
    "^(?!(clear|compact)$)": "`startup`, `resume`, `fork`",
    "clear|compact": "`clear`, `compact`",
    "^(Bash|mcp__.*)$": "`Bash`, tools of MCP servers",
    "clear": "`clear`",
    "^(?!clear$)": "every other reason",
}


WHEN = {
    "always": "",
    "worthwhile": "",
    "resident": "the server answers",
    "fuller": "the context has passed a level that nobody was told of",
    "clears": "mode `clear` or `block`",
    "only_catches_up": "mode `supplement` or `replace`",
    "untold": "the context was compacted, and its beginning could not be told",
    "compacted": "the context was compacted",
    "allows": "Claude Code is to sum up",
    "refuses": "mode `block`, the first time in a context, if nobody typed `/compact`",
}


LONGEST = {  # what an action tells: a setting says how long, or so many tokens
    Action("tell", "rules"): "rules.budget",
    Action("tell", "lost"): "tell.compactBudget",
    Action("tell", "recall"): "tell.recallBudget",
    Action("tell", "fix"): HINT,
}


def registered(hooks: dict[str, list[dict[str, Any]]]) -> str:
    """One row for each entry of hooks.json."""
    rows = [
        (
            f"`{event}`",
            MATCHERS[group["matcher"]] if "matcher" in group else "",
            ANSWERED_BY[hook["type"]],
            seconds(hook),
        )
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
    ]
    return "\n".join(table(("event", "only for", "answered by", "waited for at most"), rows))


def seconds(hook: dict[str, Any]) -> str:
    return f"{hook['timeout']} s"


def triggered(triggers: Sequence[tuple[str, Callable[..., bool], Action]]) -> str:
    """One row for each trigger, in the order in which they are asked."""
    rows = [(f"`{event}`", condition(event, when), deed(do), longest(event, do)) for event, when, do in triggers]
    return "\n".join(table(("event", "when", "what is done", "in at most"), rows))


def condition(event: str, when: Callable[..., bool]) -> str:
    return "`rules.subagents` is true" if event == "SubagentStart" else WHEN[when.__name__]


def deed(action: Action) -> str:
    return MEANINGS[action].replace("the same", MEANINGS[Action("catch_up")])


def longest(event: str, action: Action) -> str:
    most = SUBAGENT if event == "SubagentStart" else LONGEST.get(action, 0)
    if action == Action("tell", "start"):
        return "[by how it began](#at-a-start)"
    if isinstance(most, str):
        return f"{DEFAULTS[most]:,} tokens (`{most}`)"
    return f"{most} tokens" if most else ""
