"""The commands of the earlier plugin of this name: what answers for each here, or why there is nothing to do."""

from __future__ import annotations

from typing import NamedTuple

from memory_keeper.cli.output import respond
from memory_keeper.cli.parser import Parser, add_common
from memory_keeper.terminal import called


class Former(NamedTuple):
    """A command as it was called, and the words that stand for it now."""

    now: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()  # where nothing but options follows
    words: bool = False  # it takes what follows; the others only options
    why: str = ""  # there is nothing to do


BY_HOOKS = "Claude Code's hooks do that by themselves"
FORMER = {
    "memory-set": Former(("note", "set"), words=True),
    "memory-get": Former(("note", "show"), ("note", "list"), words=True),
    "memory-list": Former(("note", "list")),
    "generate-l3": Former(("summarize",)),
    "migrate-legacy": Former(("import", "memory-keeper")),
    "context-check": Former(("context",)),
    "soft-restart": Former(("restart",)),
    "compress": Former(
        why="transcripts are compressed as they are archived, and old notes get an outline by themselves;"
        " `memory-keeper archive` begins the memory anew"
    ),
    "refine-all": Former(
        why="transcripts are read while they are written; `memory-keeper import transcripts` reads older ones, and"
        " `memory-keeper import memory-keeper` the session logs of the earlier plugin"
    ),
    "dedupe-l1": Former(why="each event is kept once, however often it is read"),
    "check": Former(why=f"{BY_HOOKS}, and `memory-keeper save` does it now"),
    "final": Former(why=f"{BY_HOOKS}, and `memory-keeper save` does it now"),
    "reset": Former(why="nothing is counted: a session gets a note when enough has happened since its last one"),
}


def answer(argv: list[str]) -> list[str]:
    """The words that are meant now; a command that has nothing to do says so and leaves."""
    former = FORMER[argv[0]]
    description = f"A command of the earlier plugin. Nothing to do: {former.why}." if former.why else ""
    parser = Parser(prog=f"{called()} {argv[0]}", description=description, add_help=bool(former.why))
    add_common(parser)
    args, rest = parser.parse_known_args(argv[1:])
    if former.why:
        respond(args, {"command": argv[0], "did": "nothing", "why": former.why}, f"Nothing to do: {former.why}.")
        parser.exit()
    words = [word for word in rest if not word.startswith("-")]
    common = ["--json"] * args.json
    common += [word for name in ("project", "home") if (given := getattr(args, name)) for word in (f"--{name}", given)]
    if former.words and words:
        return [*former.now, *rest, *common]
    return [*(former.alone or former.now), *(word for word in rest if word.startswith("-")), *common]
