"""The settings, a table for each stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from docs.render import table
from memory_keeper.settings import ALIASES, LARGEST_NUMBER, SETTINGS, USERS_ONLY, Setting

LINKS = {  # where a setting is explained
    "tell.startBudget": "../explanation/what-is-told-when.md",
    "tell.handoffBudget": "../how-to/hand-over.md",
    "tell.resumeBudget": "../how-to/hand-over.md#go-on-with-an-old-session",
    "tell.compactBudget": "../how-to/after-a-compaction.md",
    "tell.replayBudget": "../how-to/compact-a-session.md#read-what-was-said-word-for-word",
    "tell.recallBudget": "../how-to/recall.md",
    "tell.files": "../how-to/read-and-edit-the-memory.md",
    "tell.notesBudget": "../how-to/keep-standing-notes.md",
    "reduce.saveInterval": "../explanation/memory-tree.md#the-levels",
    "summarize.level1": "../how-to/let-a-model-write-the-notes.md",
    "context.warnPercent": "../how-to/keep-an-eye-on-the-context.md",
    "rules.enabled": "../how-to/rules.md",
    "rules.claudeMd": "../how-to/rules-in-claude-md.md",
    "observations.promote": "../how-to/observations.md",
    "compaction.mode": "../how-to/replace-auto-compaction.md",
    "compaction.instructions": "../how-to/after-a-compaction.md#what-the-summarizer-is-told",
    "compaction.triggers.observationAge.enabled": "../how-to/observations.md",
    "compaction.triggers.taskArchive.enabled": "../how-to/tasks.md",
    "compaction.monthlyReview": "../how-to/upkeep.md",
    "backup.keep": "../how-to/back-up-and-restore.md",
}
STAGES = {
    "capture": "What is kept of what happened.",
    "backup": "Copies of it.",
    "tell": "What is told, and written for people.",
    "reduce": "When notes and outlines are made, and how long they are.",
    "summarize": "Who words them.",
    "context": "When to warn of a context that fills up.",
    "rules": "What every context goes by.",
    "observations": "What may become a rule.",
    "compaction": "What happens to a full context, and to old observations and tasks.",
}
LONG = 30  # characters of a default: one that is longer is told below its table


def settings() -> str:
    """One section for each stage."""
    return "\n".join(
        line for stage, keys in groupby(SETTINGS, stage_of) for line in section(stage, list(keys))
    ).rstrip()


def stage_of(key: str) -> str:
    return key.partition(".")[0]


def section(stage: str, keys: list[str]) -> Iterator[str]:
    yield from (f"## {stage}", "", STAGES[stage], "")
    yield from table(("setting", "default", "what it does"), (row(key, SETTINGS[key]) for key in keys))
    yield ""
    for key in keys:
        if len(shown(SETTINGS[key])) > LONG:
            yield from (f"The default of `{key}`:", "", f"> {SETTINGS[key].default}", "")


def row(key: str, setting: Setting) -> tuple[str, str, str]:
    mark, default = " †" if key in USERS_ONLY else "", shown(setting)
    return (
        f"`{key}`{mark}",
        default if len(default) <= LONG else "see below",
        meaning(key, setting),
    )


def shown(setting: Setting) -> str:
    if isinstance(setting.default, bool):
        return str(setting.default).lower()
    return f"`{setting.default}`" if isinstance(setting.default, str) and setting.default else str(setting.default)


def meaning(key: str, setting: Setting) -> str:
    parts = [setting.meaning, *bounds(setting), *also(key)]
    if key in LINKS:
        parts.append(f"[More]({LINKS[key]})")
    return " ".join(parts)


def bounds(setting: Setting) -> list[str]:
    """What a value may be, where its meaning does not say so."""
    if setting.choices and not all(f"`{one}`" in setting.meaning for one in setting.choices):
        return [f"One of {', '.join(f'`{one}`' for one in setting.choices)}."]
    if setting.most < LARGEST_NUMBER:
        return [f"From {setting.least:,} to {setting.most:,}."]
    return [f"At least {setting.least:,}."] if setting.least > 1 else []


def also(key: str) -> list[str]:
    """The predecessor's names for it."""
    names = [
        f"`{name}`{'' if share == 1 else f' (times {share})'}" for name, (ours, share) in ALIASES.items() if ours == key
    ]
    return [f"Also {' and '.join(names)}."] if names else []
