"""What Claude Code asks, answered; and the cold path: what it starts as a process of its own. Verb: answer.

`start` picks an entry point: `hook` for a session's start and end (and for whoever calls `memory-keeper hook`), `turn`
after each turn, `statusline`. While a session runs its server is asked instead. Either way `answer` keeps a record of
the call and has done, by `actions`, what the triggers of `policy` ask for. `during` knows of a call what only matters
while a session runs. The rest is what they share: `options` (without a parser), `problems` (what went wrong, for
`doctor`), `detached` (what outlives a process).

A process that somebody waits for costs what it loads: over an interpreter (7 ms) `collections` 2 ms, `enum` 4, `re` 5,
`json` 7, `typing` 9, `pathlib` 10, `subprocess` 11, `dataclasses` 15. So the modules at the top of this folder, and
those that a session's start needs further down, are written for milliseconds. These are the tricks, and here they end:

* `plugin/launch` runs `python -I -S start.py`: no `site`, no variables, one folder on the path.
* An import stands inside the function when most calls do not need it. What a table names (`ENTRY_POINTS`, the actions)
  is loaded by name, so that nothing of it is loaded for the sake of the rest.
* `TYPE_CHECKING = False` is a constant, not a name out of `typing`; `named.NamedTuple` and `wire` stand for
  `typing.NamedTuple` and `json`, over the same C code.
* `posix` in place of `os`; strings in place of `pathlib`; no `contextlib`, no generators that need `collections.abc`.
* `hook` switches the garbage collector off, and leaves by `posix._exit`: nothing is torn down.
* The plugin's manifest starts the server with one arena for all of its threads, which seldom allocate at once.
* `config.hurried` has the store opened without migrating it, with a small cache.

`pyproject.toml` lists the modules that may do so (the rule PLC0415), and `tests/test_hot_path.py` holds each process
to what it may load. Everywhere else imports stand at the top, and the standard library is used as it comes.
"""

ENTRY_POINTS = {  # the commands that have no time for a parser: a module, and what is called of it with the words
    "hook": ("memory_keeper.hooks.hook", "main"),
    "mcp": ("memory_keeper.server.front", "main"),
    "catch-up": ("memory_keeper.jobs.run", "main"),
    "turn": ("memory_keeper.hooks.turn", "main"),
    "statusline": ("memory_keeper.hooks.statusline", "main"),
}
PARSER = ("memory_keeper.cli.main", "parse_and_run")
COMMAND_LINE = ("memory_keeper.cli.main", "main")


def enter(point: tuple[str, str], words: list[str]) -> int | None:
    """Load an entry point and call it; by name, so that whoever may need another loads none of it."""
    module, function = point
    code: int | None = getattr(__import__(module, fromlist=[function]), function)(words)
    return code
