"""The entry points, and what they set in motion. Verb: answer.

The entry points: `hook`, `mcp` and `turn` for Claude Code, `look` for what no hook waits for, `statusline`, `search`
and `cli` for people; `start` picks one. `answer` is what all hooks come to. They share `options` (without a parser),
`problems` (what went wrong, for `doctor`), `detached` (what outlives a process), `terminal` and `cells` (what people
see), and `project_settings`.

Beneath them `commands` has a file for each command, `actions` what hooks do, `server` the resident process, `chores`
the upkeep, `pages` the files for people, `watch` the terminals, `schedule` the clock, `lookup` what is asked by id, and
`host` what we touch outside our home.
"""

ENTRY_POINTS = {  # the commands that have no time for a parser: a module, and what is called of it with the words
    "hook": ("memory_keeper.app.hook", "main"),
    "mcp": ("memory_keeper.app.mcp", "main"),
    "search": ("memory_keeper.app.search", "hurry"),
    "look": ("memory_keeper.app.look", "main"),
    "turn": ("memory_keeper.app.turn", "main"),
    "statusline": ("memory_keeper.app.statusline", "main"),
}
PARSER = ("memory_keeper.app.cli", "parse_and_run")
COMMAND_LINE = ("memory_keeper.app.cli", "main")


def enter(point: tuple[str, str], words: list[str]) -> int | None:
    """Load an entry point and call it; by name, so that whoever may need another loads none of it."""
    module, function = point
    code: int | None = getattr(__import__(module, fromlist=[function]), function)(words)
    return code
