"""Every setting there is: its default, what it means, what it may be, and who may set it."""

from __future__ import annotations

from memory_keeper.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_keeper.model import Json

LARGEST_NUMBER = 100_000_000
FEWEST = 20_000  # tokens: no context begins with less
INSTRUCTIONS = (
    "Keep as they are written: file paths with what was done to them, commands as typed with their results,"
    " identifiers, numbers, error messages, decisions with their reasons, dead ends, open questions, and the user's own"
    " words. Do not generalise."
)
SUMMARIZERS = ("extractive", "claude-cli", "anthropic", "openai")


class Setting(NamedTuple):
    """A setting."""

    default: Any  # its type is the setting's
    meaning: str  # one sentence, as the reference prints it
    least: int = 0  # of a number
    most: int = LARGEST_NUMBER
    choices: tuple[str, ...] = ()  # of a word that is one of several


# By its dotted name: in a file `{"tell": {"startBudget": 800}}`, in the environment MEMORY_KEEPER_TELL_STARTBUDGET=800
SETTINGS = {
    "tell.startBudget": Setting(1500, "Tokens of the brief at a session's start; 0: nothing."),
    "tell.handoffBudget": Setting(2000, "Tokens of a handoff; 0: no context is told one."),
    "tell.afterClear": Setting(
        True, "Tell a context that begins with your /clear what the one before it left; false: it begins with nothing."
    ),
    "tell.resumeBudget": Setting(300, "Tokens of where a session stood that is resumed or forked; 0: nothing."),
    "tell.compactBudget": Setting(1000, "Tokens of what a context is told again that a compaction's summary lost."),
    "tell.replayBudget": Setting(0, "Tokens of original messages that a context is told after a handoff; 0: none."),
    "tell.recallBudget": Setting(300, "Tokens of what was kept about the things that a prompt names; 0: nothing."),
    "tell.files": Setting(True, "Render handoffs and the memory for people, in `.claude/memory` of the project."),
    "tell.notesBudget": Setting(500, "Tokens of the brief at a session's start that standing notes may take."),
    "capture.outputs": Setting(
        1000,
        "Kilobytes that are kept of an output that Claude Code puts into a file of its own because it is large; 0: only"
        " the preview that the transcript has.",
        most=16_000,
    ),
    "backup.keep": Setting(3, "Backups that are kept, one for each day with sessions; 0: none are taken.", most=1000),
    "reduce.saveInterval": Setting(25, "Tool calls of a session after which it gets a note.", 1, 1000),
    "reduce.saveTokens": Setting(8000, "Tokens of talk after which a session gets a note.", 500, 100_000),
    "reduce.noteTokens": Setting(700, "Tokens of the longest note of a session.", 100, 4000),
    "reduce.memoryTokens": Setting(
        23_750, "Tokens of a project's open notes; when they pass this, the oldest get an outline.", 2000, 200_000
    ),
    "reduce.carryOverTokens": Setting(
        2375, "Tokens of the newest notes that stay open then; half of `reduce.memoryTokens` at most."
    ),
    "reduce.outlineTokens": Setting(1500, "Tokens of the longest outline.", 200, 8000),
    "summarize.level1": Setting("extractive", "Who words the notes of sessions.", choices=SUMMARIZERS),
    "summarize.level2": Setting("extractive", "Who words the outlines above them.", choices=SUMMARIZERS),
    "summarize.model": Setting("", "The model that is asked; empty: the summarizer's own."),
    "summarize.url": Setting("", "Where it is asked; empty: the usual address."),
    "summarize.keyVariable": Setting(
        "", "The variable that holds the key for that address; empty: the usual one, or a keyring."
    ),
    "summarize.timeout": Setting(120, "Seconds that an answer may take.", 5, 3600),
    "summarize.dailyTokens": Setting(
        200_000, "Tokens, read and written, that may be spent in the background in a day."
    ),
    "context.warnings": Setting(True, "Say when the context fills up."),
    "context.warnPercent": Setting(
        70, "Per cent of the window at which to warn; never later than 90 % of the way to the compaction.", 10, 100
    ),
    "context.criticalPercent": Setting(
        80, "Per cent of the window that is critical; never later than 95 % of the way to the compaction.", 20, 100
    ),
    "context.warnTokens": Setting(0, "Tokens at which to warn, whatever the window; 0: none, else at least 20,000."),
    "context.criticalTokens": Setting(
        0, "Tokens that are critical, whatever the window; 0: none, else at least 20,000."
    ),
    "rules.enabled": Setting(True, "Tell every context the rules in force."),
    "rules.shipped": Setting(True, "Among them those that come with Memory Keeper."),
    "rules.every": Setting(
        0,
        "Prompts after which a short line repeats the rules; 0: it does when the context has grown by 30,000 tokens.",
        most=1000,
    ),
    "rules.budget": Setting(1000, "Tokens of the rules in full, once per context.", 100, 2000),
    "rules.subagents": Setting(False, "Tell subagents the rules too, in 300 tokens."),
    "rules.claudeMd": Setting(False, "Keep the block in CLAUDE.md up to date that `rule sync` writes."),
    "observations.promote": Setting(
        "ask",
        "`ask`: you promote an observation to a rule; `said`: what you said often enough becomes one by itself.",
        choices=("ask", "said"),
    ),
    "compaction.enabled": Setting(True, "False: contexts, observations and tasks are all left as they are."),
    "compaction.mode": Setting(
        "supplement",
        "`supplement`: Claude Code compacts, and what its summary lost is told again; `replace`: Memory Keeper compacts"
        " in its place; `clear`: the context is cleared and restored before that; `block`: a compaction is refused"
        " once, and the context cleared and restored when the turn is over.",
        choices=("supplement", "replace", "clear", "block"),
    ),
    "compaction.keepTokens": Setting(
        1500,
        "Tokens of the last messages that stay in mode `replace`; with the handoff never more than 4,000.",
        most=3000,
    ),
    "compaction.instructions": Setting(
        INSTRUCTIONS,
        "What Claude Code's own summarizer is told besides; the default not after a `/compact` that was typed, where"
        " Claude Code would show it; empty: nothing.",
    ),
    "compaction.triggers.sessionTokens.enabled": Setting(True, "Whether the threshold counts."),
    "compaction.triggers.sessionTokens.threshold": Setting(
        100_000,
        "Tokens at which the handoff is written; in modes `replace` and `clear` the context is also compacted or"
        " cleared, between two turns.",
        FEWEST,
    ),
    "compaction.triggers.observationAge.enabled": Setting(True, "Archive and propose observations by themselves."),
    "compaction.triggers.observationAge.archiveAfterDays": Setting(
        28, "Days without a confirmation after which an observation is archived.", 1, 36_500
    ),
    "compaction.triggers.observationAge.escalateAfterConfirmations": Setting(
        5, "Sessions that have to confirm an observation before it is proposed as a rule.", 1
    ),
    "compaction.triggers.taskArchive.enabled": Setting(True, "Move tasks that were done long ago to the archive."),
    "compaction.triggers.taskArchive.keepRecentCount": Setting(10, "Tasks that stay in `DONE.md`.", most=1000),
    "compaction.triggers.taskArchive.archiveAfterSessions": Setting(
        20, "Sessions after which a task leaves `DONE.md` in any case.", 1
    ),
    "compaction.archiveFormat": Setting(
        "markdown-table", "How `TASK_ARCHIVE.md` is written.", choices=("markdown-table", "list", "json")
    ),
    "compaction.preserveTokenMetrics": Setting(True, "Keep the tokens of each task in the archive."),
    "compaction.monthlyReview": Setting(True, "Write the report of a month that is over."),
}
DEFAULTS: Json = {key: setting.default for key, setting in SETTINGS.items()}
# What the user alone decides: a cloned repository must not have contexts cleared, keep a warning or a rule from
# anybody, or say where texts and keys are sent.
USERS_ONLY = frozenset(
    key
    for key in SETTINGS
    if key.startswith(("capture.", "compaction.", "summarize.", "rules.", "observations.")) or "critical" in key
) - {"rules.every"} | {"context.warnings", "tell.afterClear", "tell.files"}
OFTEN, PART = 20, 4  # prompts, and the share of a default, that a project may go to where the user has set nothing
# What the predecessor called the same, and by how much its number is taken
ALIASES = {
    "rulesInjectionFrequency": ("rules.every", 1.0),
    "saveInterval": ("reduce.saveInterval", 1.0),
    "memoryRotation.thresholdTokens": ("reduce.memoryTokens", 0.95),
    "memoryRotation.carryoverTokens": ("reduce.carryOverTokens", 0.95),
    "compaction.summaryPrompt": ("compaction.instructions", 1.0),
    "compaction.summaryModel": ("summarize.model", 1.0),
    "autoCompact.customInstructions": ("compaction.instructions", 1.0),
}
# What the predecessor had a setting for and needs none here, and why
MEANINGLESS = {
    "quietStop": "a session that stops says nothing in any case",
    "keepRaw": "the transcript's own lines are always kept: `memory-keeper show ID --raw`",
}


def flatten(given: Json, above: str = "") -> Json:
    """Nested settings by their dotted names; what is written dotted already is taken as it is."""
    flat: Json = {}
    for key, value in given.items():
        if isinstance(value, dict) and above.count(".") < 5:
            flat.update(flatten(value, f"{above}{key}."))
        else:
            flat[above + key] = value
    return flat


def valid(given: Json) -> Json:
    """The known settings of the right type and size, by our names; a cloned repository can say nothing else."""
    named: Json = {}
    for key, value in given.items():
        name, share = ALIASES.get(key, (key, 1.0))
        if name != key and name in given:
            continue
        named[name] = round(value * share) if share != 1.0 and type(value) is int else value
    return {key: value for key, value in named.items() if not problem(key, value)}


def bounded(given: Json, users: Json) -> Json:
    """What a project may set: it can have more told than the user has set, and sooner, never less or later."""
    held: Json = {}
    for key, value in given.items():
        usual = users[key] if key in users else DEFAULTS[key]
        if key.startswith("tell.") and key.endswith("Budget"):
            value = max(value, usual if key in users else usual // PART)
        elif key == "context.warnPercent":
            value = min(value, usual)
        elif key in ("rules.every", "context.warnTokens"):
            most = usual or (OFTEN if key == "rules.every" else value)
            value = min(value, most) if value else usual
        held[key] = value
    return held


def problem(key: str, value: object) -> str:
    """Why a setting cannot have this value; empty when it can."""
    setting = SETTINGS.get(key)
    if setting is None:
        return f"there is no setting {key}"
    if type(value) is not type(setting.default):
        return (
            f"{key} takes {'true or false' if isinstance(setting.default, bool) else f'a value like {setting.default}'}"
        )
    if setting.choices and value not in setting.choices:
        return f"{key} is one of {', '.join(setting.choices)}"
    return _wrong_size(key, value) if type(value) is int else ""


def _wrong_size(key: str, value: int) -> str:
    setting = SETTINGS[key]
    if value < setting.least:
        return f"{key} is at least {setting.least}"
    if value > setting.most:
        return f"{key} is at most {setting.most}"
    if key.startswith("context.") and key.endswith("Tokens") and 0 < value < FEWEST:
        return f"{key} is 0 or at least {FEWEST}"
    return ""


def read_value(text: str, usual: object) -> object:
    """What somebody typed, as the type that the setting has; itself when it is none."""
    if isinstance(usual, bool):
        return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}.get(text.lower(), text)
    if isinstance(usual, int) and text.isdecimal() and len(text) < 12:
        return int(text)
    return text


def variable(key: str) -> str:
    """The variable that overrides a setting."""
    return "MEMORY_KEEPER_" + key.upper().replace(".", "_")
