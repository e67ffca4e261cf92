"""Other names of commands, older ones and those of the earlier plugin: the words that stand for each now."""

from __future__ import annotations

import os
from typing import NamedTuple

from memory_keeper.cli.output import respond
from memory_keeper.cli.parser import Parser, add_common
from memory_keeper.terminal import called


class Alias(NamedTuple):
    """What a name stands for."""

    now: str = ""  # words; empty: there is nothing to do
    memory: str = ""  # the words with `--memory`
    takes_words: bool = True  # else only options are passed on
    why: str = ""  # there is nothing to do


BY_HOOKS = "Claude Code's hooks do that by themselves, and `memory-keeper save` does it now"
ALIASES = {
    "load": Alias("brief handoff", "brief memory"),
    "clear": Alias("archive"),
    "compact": Alias("upkeep"),
    "fix": Alias("fixes"),
    "observe": Alias("observation"),
    "sessions": Alias("session"),
    # of the earlier plugin
    "save-memory": Alias("save"),
    "load-memory": Alias("brief handoff", "brief memory"),
    "clear-memory": Alias("archive"),
    "search-memory": Alias("search"),
    "compress-context": Alias("upkeep"),
    "soft-restart": Alias("restart"),
    "context-check": Alias("context"),
    "memory-set": Alias("note set"),
    "memory-get": Alias("note show"),
    "memory-list": Alias("note list"),
    "generate-l3": Alias("summarize", takes_words=False),
    "migrate-legacy": Alias("import memory-keeper"),
    "compress": Alias(
        why="transcripts are compressed as they are archived, and old notes get an outline by themselves;"
        " `memory-keeper archive` begins the memory anew"
    ),
    "refine-all": Alias(
        why="transcripts are read while they are written; `memory-keeper import transcripts` reads older ones, and"
        " `memory-keeper import memory-keeper` the session logs of the earlier plugin"
    ),
    "dedupe-l1": Alias(why="each event is kept once, however often it is read"),
    "check": Alias(why=BY_HOOKS),
    "final": Alias(why=BY_HOOKS),
    "reset": Alias(why="nothing is counted: a session gets a note when enough has happened since its last one"),
}


def resolve(argv: list[str]) -> list[str]:
    """The words that are meant now; a name that has nothing to do says so and leaves."""
    name, *rest = argv
    if (alias := ALIASES.get(name)) is None:
        return argv
    if alias.why:
        _say_why(name, rest, alias.why)
    if alias.memory and "--memory" in rest:
        rest.remove("--memory")
        return [*alias.memory.split(), *rest]
    if not alias.takes_words:
        if rest and not rest[0].startswith("-") and not os.path.basename(rest[0]).startswith(("memory_", "logbook_")):
            Parser(prog=f"{called()} {name}").error(f"{rest[0]} is no archive of the memory")
        rest = rest[next((at for at, word in enumerate(rest) if word.startswith("-")), len(rest)) :]
    return [*alias.now.split(), *rest]


def describe(name: str) -> str:
    """What the help says of a name."""
    alias = ALIASES[name]
    return f"`{name}` is an alias of `{alias.now}`" + (
        f", `{name} --memory` of `{alias.memory}`." if alias.memory else "."
    )


def names_of(command: str) -> list[str]:
    """The other names of a command."""
    return [name for name, alias in ALIASES.items() if alias.now.partition(" ")[0] == command]


def _say_why(name: str, rest: list[str], why: str) -> None:
    parser = Parser(prog=f"{called()} {name}", description=f"A command of the earlier plugin. Nothing to do: {why}.")
    add_common(parser)
    args, _ = parser.parse_known_args(rest)
    respond(args, {"command": name, "did": "nothing", "why": why}, f"Nothing to do: {why}.")
    parser.exit()
