"""The hooks: how each is registered, and what is done when it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from docs.render import table
from memory_keeper.model import Action
from memory_keeper.tell.recall import HINT

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
    "untold": "the context was compacted, and its beginning could not be told",
    "compacted": "the context was compacted",
    "allows": "Claude Code is to sum up",
    "refuses": "mode `block`, the first time in a context, if nobody typed `/compact`",
}


class Deed(NamedTuple):
    """What an action does, for people, and how long what it says may be: a setting, or so many tokens."""

    says: str
    most: str | int = 0


DEEDS = {
    Action("look"): Deed("has what is new in the transcript read"),
    Action("look", "settle"): Deed("asks for a clear, if one is due"),
    Action("look", "save"): Deed("has what is new read, the handoff written, and the notes that are due"),
    Action("save"): Deed("reads what is new and writes the handoff, before Claude Code goes on"),
    Action("tell", "start"): Deed("tells what the context needs, [by how it began](#at-a-start)"),
    Action("tell", "rules"): Deed("tells the rules: in full once in a context, else in one line", "rules.budget"),
    Action("tell", "lost"): Deed("tells what the summary lost", "tell.compactBudget"),
    Action("tell", "recall"): Deed(
        "tells what was settled about the things that the prompt names", "tell.recallBudget"
    ),
    Action("tell", "fix"): Deed("tells what fixed this error before", HINT),
    Action("warn"): Deed("writes the handoff, and tells you and the model how full the context is"),
    Action("instruct"): Deed("tells Claude Code's summarizer what to keep, in the words of `compaction.instructions`"),
    Action("refuse"): Deed("refuses the compaction: the context is cleared when the turn is over"),
    Action("score"): Deed("compares the summary with the handoff, fact by fact, if that was not done before"),
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


def triggered(triggers: Sequence[tuple[str, Callable[..., bool], Action]], defaults: dict[str, Any]) -> str:
    """One row for each trigger, in the order in which they are asked."""
    rows = [
        (f"`{event}`", WHEN[when.__name__], DEEDS[do].says, longest(DEEDS[do], defaults))
        for event, when, do in triggers
    ]
    return "\n".join(table(("event", "when", "Memory Keeper", "in at most"), rows))


def longest(deed: Deed, defaults: dict[str, Any]) -> str:
    if isinstance(deed.most, str):
        return f"{defaults[deed.most]:,} tokens (`{deed.most}`)"
    return f"{deed.most} tokens" if deed.most else ""
