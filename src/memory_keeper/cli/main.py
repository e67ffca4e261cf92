"""The table of commands: a row for each, its module is loaded only when it is asked for."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, Namespace
from importlib import import_module
from keyword import iskeyword
from os.path import lexists
from typing import TYPE_CHECKING, Any

from memory_keeper import __version__
from memory_keeper.cli.guard import guarded, open_streams
from memory_keeper.cli.parser import Parser, Verb, add_common
from memory_keeper.hooks import ENTRY_POINTS, enter
from memory_keeper.terminal import called, near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


GROUPS = {  # the commands, as the help lists them
    "begin": {
        "demo": "show what it does, in a temporary home",
        "install": "register the plugin with Claude Code",
        "doctor": "check that everything works, and say what to do",
        "import": "read in transcripts that are already there",
        "uninstall": "take the plugin away again",
    },
    "the context": {
        "context": "how full the context is, what ate it, and how long it lasts",
        "why": "every line that a context was told: its source, the reason, and what it cost",
        "brief": "print what a new context would be told",
        "save": "write notes, handoff and pages now, so that /clear or a new session loses nothing",
        "load": "print what was saved: `brief handoff` of the session before, or `brief memory`",
        "restart": "save the handoff and have the session cleared; it goes on from there",
        "watch": "answer requests to clear, through tmux or GNU screen",
        "run": "run Claude Code in tmux, and answer requests to clear there",
    },
    "find something again": {
        "search": "find something again",
        "show": "one event or note, whole, or as its raw transcript line",
        "timeline": "what happened when: around something, in a session, or in this project",
        "blame": "which sessions and prompts touched a file, and why",
        "fixes": "what fixed an error before, here",
        "how": "how a command or a tool was run here, and which form of it worked",
        "embed": "make what search by meaning needs of what is kept; needs the extra `semantic`",
    },
    "what is kept: list, show, add, edit, rm": {
        "note": "what every session is to know of a project, in your own words",
        "rule": "what every context is to go by; also in CLAUDE.md",
        "observation": "what may be worth a rule: confirm or contradict it, make it one",
        "task": "what is to be done and what was",
        "session": "the sessions of this project",
        "handoff": "what a session leaves to the next context: write it now, list, show",
        "config": "the settings in force and where they come from; change them",
    },
    "the memory": {
        "status": "this project at a glance",
        "summarize": "make the notes that can be made now, or have a model word them better",
        "archive": "put the memory into the archive and begin it anew; nothing is deleted",
        "export": "write what is kept of this project as files",
        "upkeep": "bring a session's notes, or a project's observations and tasks, up to date now",
        "schedule": "show the crontab line for a weekly upkeep without a session",
    },
    "cost": {
        "usage": "tokens, cache and cost by day, session, model, project or tool",
        "report": "a month in figures, or one session: what it took, what compactions did, what we cost and saved",
    },
    "called by others": {
        "statusline": "one line about the context for Claude Code's status line: its JSON on stdin",
        "hook": "the entry point for Claude Code's hooks: payload on stdin, answer on stdout",
        "mcp": "the server that Claude Code starts with a session",
    },
}
COMMANDS = {name: help for group in GROUPS.values() for name, help in group.items()}
ALIASES = {  # names that commands have besides
    "clear": "archive",
    "compact": "upkeep",
    "compress-context": "upkeep",
    "fix": "fixes",
    "observe": "observation",
    "sessions": "session",
    "save-memory": "save",
    "load-memory": "load",
    "search-memory": "search",
    "clear-memory": "archive",
}
OLDER = f"Other names: {', '.join(f'{alias} ({name})' for alias, name in ALIASES.items())}."


def main(argv: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 ok, 1 error, 2 usage, 3 not set up, 4 busy, 5 partly done."""
    open_streams()
    argv = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if argv[0] in ENTRY_POINTS and argv[0] in COMMANDS and not {"-h", "--help"} & {*argv}:
        enter((ENTRY_POINTS[argv[0]][0], "main"), argv)
        sys.exit(0)
    sys.exit(parse_and_run(argv))


def parse_and_run(argv: list[str]) -> int:
    """Run the command that some words name; its exit code."""
    open_streams()
    args = _parse([_as_text(word) for word in argv])

    def run(home: str) -> int:
        args.home = home
        code: int = args.run(args)
        return code

    return guarded(args.home, run)


def _as_text(word: str) -> str:
    """What was typed, with a sign in the place of bytes that are no UTF-8: nothing is kept or found by those. The name
    of a file stays what it is."""
    if lexists(word):
        return word
    try:
        data = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no shell can say but whoever calls us from Python
        data = word.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def _parse(argv: list[str]) -> Namespace:
    """What was asked for; argparse alone does not take a list of words with options in between."""
    parser = build_parser(argv)
    if argv and argv[0] not in COMMANDS and argv[0] not in ALIASES and not argv[0].startswith("-"):
        hint = near(argv[0], [*COMMANDS, *ALIASES], "`memory-keeper --help` names them all")
        parser.error(f"there is no command {argv[0]}; {hint}")
    args, rest = parser.parse_known_args(_with_verb(argv))
    words: list[str] | None = getattr(args, getattr(args, "words", ""), None)
    dashes = getattr(args, "dashes", False)  # those that are no options of ours are words too
    if rest and (words is None or (not dashes and any(word.startswith("-") for word in rest))):
        typed = next((word.partition("=")[0] for word in rest if word.startswith("--")), "")
        hint = near(typed, args.parser.options(), "") if typed else ""
        hint = hint or ("after -- they are words" if words is not None else "")
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}{f' ({hint})' if hint else ''}")
    if words is not None:
        words.extend(rest)
    return args


def _with_verb(argv: list[str]) -> list[str]:
    """A resource's verb where the parser wants it, in front of options; its first one where none was typed."""
    verbs, rest = _verbs(argv[0]) if argv else {}, argv[1:]
    if not verbs or (rest and not rest[0].startswith("-")):
        return argv
    typed = next((word for word in rest if any(word in (name, *verb.aliases) for name, verb in verbs.items())), "")
    if typed:
        rest.remove(typed)
    elif {"-h", "--help"} & {*rest}:
        return argv
    return [argv[0], typed or next(iter(verbs)), *rest]


def _verbs(name: str) -> Mapping[str, Verb]:
    """The verbs of a command; none where it is no resource."""
    return getattr(load(name), "VERBS", {}) if ALIASES.get(name, name) in COMMANDS else {}


def load(name: str) -> Any:
    """The module of a command."""
    name = ALIASES.get(name, name)
    return import_module(f"memory_keeper.cli.commands.{name}{'_' * iskeyword(name)}")  # `import` cannot be a module's


def build_parser(argv: list[str] | None = None) -> Parser:
    """The whole parser, or the part that `argv` needs."""
    parser = Parser(
        groups=GROUPS,
        prog=called(),
        description="Keeps what happened in Claude Code, and gives the next context what it needs.",
        epilog=f"`memory-keeper COMMAND --help` tells more of one.\n{OLDER}\nexample: memory-keeper demo",
    )
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action="version", version=f"memory-keeper {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = (argv or [""])[0]
    for name, help in COMMANDS.items():
        others = [alias for alias, main in ALIASES.items() if main == name]
        also = f" `{wanted}` is an alias of `{name}`." if wanted in others else ""
        also = also or (f" Also: {', '.join(others)}." if others else "")
        sub = commands.add_parser(name, aliases=others, help=help, description=_sentence(help) + also)
        if argv is None or wanted in (name, *others):
            _configure(sub, load(name))
    return parser


def _configure(parser: Parser, command: Any) -> None:
    """Give a command's parser its arguments and examples."""
    verbs: Mapping[str, Verb] = getattr(command, "VERBS", {})
    if not verbs:
        _finish(parser, command.run, getattr(command, "EXAMPLES", None) or (command.EXAMPLE,))
        command.configure(parser)
        return
    parser.epilog = "\n".join(f"example: {verb.example}" for verb in verbs.values())
    add_common(parser)  # of every verb: they are typed behind it
    choices = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in verbs.items():
        sub = choices.add_parser(name, aliases=verb.aliases, help=verb.help, description=_sentence(verb.help))
        for names, given in verb.takes:
            sub.add_argument(*names, **given)
        if not any("--yes" in names for names, _ in verb.takes):
            sub.add_argument("--yes", action="store_true", help=SUPPRESS)  # scripts may say it to every verb
        _finish(sub, verb.run, (verb.example,))
        sub.set_defaults(words=verb.words)


def _finish(parser: Parser, run: Callable[[Namespace], int], examples: Iterable[str]) -> None:
    add_common(parser)
    parser.set_defaults(run=run, parser=parser, fail=parser.error)
    parser.epilog = "\n".join(f"example: {example}" for example in examples)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
