"""One parser, one line per command; the command itself is loaded only when it is asked for."""

from __future__ import annotations

import argparse
import os
import posix
import sys
import traceback
from argparse import SUPPRESS
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from os.path import lexists
from sqlite3 import DatabaseError
from textwrap import fill
from typing import Any, NoReturn, Protocol, TextIO

from memory_keeper import __version__, config, terminal
from memory_keeper.errors import KeeperError
from memory_keeper.hooks import ENTRY_POINTS, enter
from memory_keeper.terminal import as_called, called, near, remark
from memory_keeper.text import clean, one_line


class Command(Protocol):
    """A module of `commands`."""

    EXAMPLE: str

    def configure(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


LONGEST = 600  # characters of a message
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
        "save": "write notes and the handoff, so that /clear or a new session loses nothing",
        "load": "print what was saved, as a context that goes on from it is told",
        "handoff": "write a session's handoff now and print it",
        "restart": "write the handoff and have the session cleared; it goes on from there",
        "watch": "answer requests to clear, through tmux or GNU screen",
        "run": "run Claude Code in tmux, and answer requests to clear there",
    },
    "find something again": {
        "search": "find something again",
        "show": "one event or note, whole, or as its raw transcript line",
        "timeline": "what happened when: around something, in a session, or in this project",
        "blame": "which sessions and prompts touched a file, and why",
        "fix": "what fixed an error before, here",
        "how": "how a command or a tool was run here, and which form of it worked",
        "embed": "make what search by meaning needs of what is kept; needs the extra `semantic`",
    },
    "the memory": {
        "status": "this project at a glance",
        "note": "what every session is to know of a project, in your own words",
        "summarize": "make the notes that can be made now, or have a model word them better",
        "export": "write what is kept of this project as files",
        "clear": "put the memory into the archive and begin it anew; nothing is deleted",
    },
    "rules and tasks": {
        "rule": "what every context is to go by: list, add, change, take away, write into CLAUDE.md",
        "observe": "what may be worth a rule: list, add, confirm, contradict, make it one, take it away",
        "task": "what is to be done and what was: list, add, say that one is done, take one away",
    },
    "cost": {
        "usage": "tokens, cache and cost by day, session, model, project or tool",
        "report": "a month in figures, or one session: what it took, what compactions did, what we cost and saved",
    },
    "settings and upkeep": {
        "config": "the settings in force and where they come from; change them",
        "statusline": "one line about the context for Claude Code's status line: its JSON on stdin",
        "compact": "sum up a session, or bring a project's observations and tasks up to date, now",
        "schedule": "show the crontab line for a weekly upkeep without a session",
    },
    "called by others": {
        "hook": "the entry point for Claude Code's hooks: payload on stdin, answer on stdout",
        "mcp": "the server that Claude Code starts with a session",
    },
}
COMMANDS = {name: help for group in GROUPS.values() for name, help in group.items()}


def main(argv: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 ok, 1 error, 2 usage, 3 not set up, 4 busy, 5 partly done."""
    _open_streams()
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        argv = ["--help"]
    if argv[0] in ENTRY_POINTS and argv[0] in COMMANDS and not {"-h", "--help"} & {*argv}:
        enter((ENTRY_POINTS[argv[0]][0], "main"), argv)
        sys.exit(0)
    sys.exit(parse_and_run(argv))


def parse_and_run(argv: list[str]) -> int:
    """Run the command that some words say; its exit code."""
    _open_streams()
    args = _parse([_as_text(word) for word in argv])

    def run(home: str) -> int:
        args.home = home
        return load(args.command).run(args)

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


def guarded(given: str, run: Callable[[str], int]) -> int:
    """Run something in a home, the one given or the usual one, and say what went wrong in one line."""
    _open_streams()
    code = _caught(given, run)
    refused = _flush(sys.stdout)  # at exit it would be too late to say why, or nothing of who has read enough
    if refused and not isinstance(refused, BrokenPipeError):
        code = _say(f"stdout: {refused.strerror}", "", code or 1)
    _flush(sys.stderr)
    return code


def _caught(given: str, run: Callable[[str], int]) -> int:
    home = ""
    try:
        posix.umask(0o077)
        # a terminal that cannot show a character still shows the rest
        getattr(sys.stdout, "reconfigure", lambda **_: None)(errors="replace")
        home = _expanded(given) if given else config.find_home(config.environment())
        return run(home)
    except KeeperError as error:
        return _say(error, error.hint, error.code)
    except BrokenPipeError:
        _silence(1)
        return 0
    except KeyboardInterrupt:
        return _say("interrupted", "", 130)
    except OSError as error:
        if not error.filename and (refused := _flush(sys.stdout)):
            return _say(f"stdout: {refused.strerror}", "", 1)
        if not error.filename and (lost := _lost_folder()):
            return _say(f"{lost} is not there any more", "change to another folder, or name one with --project", 1)
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}", "run `memory-keeper doctor`", 1)
    except Exception as error:
        if isinstance(error, DatabaseError):
            return _say(f"the store is damaged: {error}", "run `memory-keeper doctor --fix`", 1)
        return _say(f"{type(error).__name__}: {error}", _log(home), 1)


def _open_streams() -> None:
    """Give those that were closed a place (cron may start us so): in this order each gets its own number again."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", mode))  # noqa: SIM115 - it stays open


def _flush(stream: TextIO) -> OSError | None:
    """Write what was printed; why that cannot be done, and then nothing more is written."""
    try:
        stream.flush()
    except OSError as error:
        _silence(stream.fileno())
        return error
    return None


def _lost_folder() -> str:
    """The folder that we were started in, where it was deleted; empty where it was not."""

    try:
        posix.getcwd()
    except FileNotFoundError:
        return posix.environ.get(b"PWD", b"the folder you are in").decode("utf-8", "replace")
    return ""


def _silence(number: int) -> None:
    posix.dup2(posix.open("/dev/null", posix.O_WRONLY), number)


def _expanded(path: str) -> str:
    if path.startswith("/") and "/." not in path:
        return path

    return os.path.abspath(os.path.expanduser(path))


def _parse(argv: list[str]) -> argparse.Namespace:
    """What was asked for; argparse alone does not take a list of words with options in between."""
    parser = build_parser(argv)
    if argv and argv[0] not in COMMANDS and not argv[0].startswith("-"):
        hint = near(argv[0], COMMANDS, "`memory-keeper --help` names them all")
        parser.error(f"there is no command {argv[0]}; {hint}")
    args, rest = parser.parse_known_args(argv)
    words: list[str] | None = getattr(args, getattr(args, "words", ""), None)
    dashes = getattr(args, "dashes", False)  # those that are no options of ours are words too
    if rest and (words is None or (not dashes and any(word.startswith("-") for word in rest))):
        hint = " (after -- they are words)" if words is not None else ""
        parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if words is not None:
        words.extend(rest)
    return args


def _say(message: object, hint: str, code: int) -> int:
    terminal.say_problem(one_line(clean(str(message)), LONGEST), one_line(clean(hint), LONGEST))
    return code


def _log(home: str) -> str:
    """Something nobody expected: leave a trace that can be pasted into an issue."""

    try:
        path = os.path.join(home, "crash.log")
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"memory-keeper {__version__}, Python {sys.version}\n{traceback.format_exc()}")
    except OSError:
        return ""
    return f"this is a bug; please report it with {path}"


def load(name: str) -> Command:
    """The module of a command."""

    module = name + "_" * iskeyword(name)  # `import` cannot be a module's name
    command: Command = import_module(f"memory_keeper.cli.commands.{module}")
    return command


def build_parser(argv: list[str] | None = None) -> argparse.ArgumentParser:
    """The whole parser, or the part that `argv` needs."""

    parser = _parser_class()(
        prog=called(),
        description="Keeps what happened in Claude Code, and gives the next context what it needs.",
        epilog="`memory-keeper COMMAND --help` tells more of one.\nexample: memory-keeper demo",
    )
    parser.add_argument("--version", action="version", version=f"memory-keeper {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((word for word in argv or [] if word in COMMANDS), None)
    for name, help in COMMANDS.items():
        sub = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        _add_common(sub)
        if argv is None or wanted == name:
            command = load(name)
            command.configure(sub)
            sub.epilog = _explain(sub, command, argv or [])
    return parser


def _explain(parser: argparse.ArgumentParser, command: Command, argv: list[str]) -> str:
    """The examples of a command; of one of its verbs, if that is asked about, its own, and no options but its own."""

    examples: dict[str, str] = getattr(command, "EXAMPLES", {})
    verb = next((word for word in argv if word in examples), "")
    if not verb:
        return "\n".join(f"example: {example}" for example in examples.values() or (command.EXAMPLE,))
    for action in parser._actions:  # what is another verb's begins with that: `add, sync: …`
        verbs = {*(action.help or "").partition(": ")[0].split(", ")}
        if action.option_strings and verbs <= {*examples} and verb not in verbs:
            action.help = SUPPRESS
    return f"example: {examples[verb]}"


def _parser_class() -> type[argparse.ArgumentParser]:
    class Formatter(argparse.HelpFormatter):
        """Wraps what is said, line by line."""

        def _fill_text(self, text: str, width: int, indent: str) -> str:
            return "\n".join(
                fill(line, width, initial_indent=indent, subsequent_indent=indent + " " * 4 * line.startswith(" "))
                for line in as_called(text).splitlines()
            )

    class Parser(argparse.ArgumentParser):
        """Says what was typed wrongly without what a terminal would obey, and lists the commands in groups."""

        def __init__(self, **given: Any) -> None:
            super().__init__(formatter_class=Formatter, **given)

        def format_help(self) -> str:
            commands = self._subparsers._group_actions[0] if self._subparsers else None
            return as_called(_overview(self, commands) if commands else super().format_help())

        def _print_message(self, message: str, file: Any = None) -> None:
            try:
                super()._print_message(message, file)
            except OSError:
                pass  # nobody can be told; Python 3.11.2 lets it fly

        def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
            _open_streams()
            if message:
                remark(message.rstrip("\n"))
            sys.exit(guarded("", lambda _: status))

        def error(self, message: str) -> NoReturn:
            super().error(as_called(one_line(clean(message), LONGEST)))

    return Parser


def _overview(parser: argparse.ArgumentParser, commands: argparse.Action) -> str:
    """The help of the whole: the commands in their groups."""
    formatter = parser._get_formatter()
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    formatter.add_text(parser.description)
    lines = {action.dest: action for action in commands._get_subactions()}  # type: ignore[attr-defined]
    for heading, names in GROUPS.items():
        formatter.start_section(heading)
        formatter.add_arguments([lines[name] for name in names])
        formatter.end_section()
    formatter.start_section("options")
    formatter.add_arguments([action for action in parser._actions if action.option_strings])
    formatter.end_section()
    formatter.add_text(parser.epilog)
    return formatter.format_help()


def _add_common(parser: argparse.ArgumentParser) -> None:
    """The options of every command."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    parser.add_argument("--project", metavar="DIR", default="", help="default: the git root of the working directory")
    parser.add_argument("--home", metavar="DIR", default="", help="where everything is kept")
