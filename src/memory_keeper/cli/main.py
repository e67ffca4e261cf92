"""The table of commands: a row for each, its module is loaded only when it is asked for."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

from memory_keeper import __version__
from memory_keeper.cli.aliases import ALIASES, describe, names_of, resolve
from memory_keeper.cli.arguments import YES, Argument, Verb
from memory_keeper.cli.guard import guarded, open_streams
from memory_keeper.cli.parser import Parser, add_common
from memory_keeper.errors import NothingKept
from memory_keeper.hooks import ENTRY_POINTS, enter
from memory_keeper.terminal import USUAL, called, near


class Command(NamedTuple):
    """A row of the table: what the help says of a command."""

    group: str
    summary: str
    example: str = ""  # a line each; a resource has one for each of its verbs


BEGIN, CONTEXT, FIND, KEPT = "begin", "the context", "find something again", "what is kept: list, show, add, edit, rm"
MEMORY, TEAM, COST, CALLED = "the memory", "the team", "cost", "called by others"
COMMANDS = {
    "demo": Command(BEGIN, "show what it does, in a temporary home", "./memory-keeper demo"),
    "install": Command(BEGIN, "register the plugin with Claude Code", "memory-keeper install"),
    "doctor": Command(BEGIN, "check that everything works, and say what to do", "memory-keeper doctor --fix"),
    "import": Command(
        BEGIN,
        "read in transcripts that are already there, or the memory of another tool",
        "memory-keeper import transcripts ~/.claude/projects\nmemory-keeper import memory-keeper --dry-run",
    ),
    "docs": Command(BEGIN, "read the pages about Memory Keeper in the terminal",
                    "memory-keeper docs\nmemory-keeper docs tutorial"),
    "uninstall": Command(BEGIN, "take the plugin away again", "memory-keeper uninstall"),
    "context": Command(CONTEXT, "how full the context is, what ate it, and how long it lasts", "memory-keeper context"),
    "why": Command(CONTEXT, "every line that a context was told: its source, the reason, and what it cost",
                   "memory-keeper why --last"),
    "brief": Command(CONTEXT, "print what a new context would be told", "memory-keeper brief start --budget 800"),
    "save": Command(CONTEXT, "write notes, handoff and pages now, so that /clear or a new session loses nothing",
                    "memory-keeper save"),
    "restart": Command(CONTEXT, "save the handoff and have the session cleared; it goes on from there",
                       "memory-keeper restart"),
    "watch": Command(CONTEXT, "answer requests to clear, through tmux or GNU screen", "memory-keeper watch"),
    "run": Command(CONTEXT, "run Claude Code in tmux, and answer requests to clear there",
                   "memory-keeper run -- claude --model opus"),
    "search": Command(FIND, "find something again", "memory-keeper search retry back-off"),
    "show": Command(FIND, "one event or note, whole, or as its raw transcript line",
                    "memory-keeper show 4914e47a --raw"),
    "timeline": Command(FIND, "what happened when: around something, in a session, or in this project",
                        "memory-keeper timeline --around 4914e47a"),
    "blame": Command(FIND, "which sessions and prompts touched a file, and why",
                     "memory-keeper blame src/uploader/client.py"),
    "fixes": Command(FIND, "what fixed an error before, here",
                     "memory-keeper fixes \"ModuleNotFoundError: No module named 'yaml'\""),
    "how": Command(FIND, "how a command or a tool was run here, and which form of it worked",
                   "memory-keeper how docker compose"),
    "embed": Command(FIND, "make what search by meaning needs of what is kept; needs the extra `semantic`",
                     "memory-keeper embed"),
    "note": Command(KEPT, "what every session is to know of a project, in your own words"),
    "rule": Command(KEPT, "what every context is to go by; also in CLAUDE.md"),
    "observation": Command(KEPT, "what may be worth a rule: confirm or contradict it, make it one"),
    "task": Command(KEPT, "what is to be done and what was"),
    "session": Command(KEPT, "the sessions of this project"),
    "handoff": Command(KEPT, "what a session leaves to the next context: write it now, list, show"),
    "config": Command(KEPT, "the settings in force and where they come from; change them"),
    "status": Command(MEMORY, "this project at a glance", "memory-keeper status"),
    "summarize": Command(
        MEMORY,
        "make the notes that can be made now, or have a model word them better",
        "memory-keeper summarize --again --with claude-cli --limit 3\n"
        "memory-keeper summarize --compare extractive,claude-cli",
    ),
    "archive": Command(MEMORY, "put the memory into the archive and begin it anew; nothing is deleted",
                       "memory-keeper archive --dry-run"),
    "export": Command(MEMORY, "write what is kept of this project as files",
                      "memory-keeper export --format jsonl --to ~/memory"),
    "backup": Command(MEMORY, "take a backup, or list them; one is taken every day",
                      "memory-keeper backup --to /mnt/usb\nmemory-keeper backup --list"),
    "restore": Command(MEMORY, "put a backup back; what is there now is kept beside it",
                       "memory-keeper restore --dry-run"),
    "forget": Command(MEMORY, "take something out of everything that is kept, for good",
                      "memory-keeper forget --session 4914e47a --dry-run\nmemory-keeper forget --text - < leaked.txt"),
    "gc": Command(MEMORY, "delete what was put aside and nobody came back for; the memory itself always stays",
                  "memory-keeper gc --dry-run\nmemory-keeper gc --older-than 90d"),
    "upkeep": Command(MEMORY, "bring a session's notes, or a project's observations and tasks, up to date now",
                      "memory-keeper upkeep --session"),
    "schedule": Command(MEMORY, "show the crontab line for a weekly upkeep without a session",
                        "memory-keeper schedule"),
    "share": Command(TEAM, "share rules, notes, handoffs or sessions of this project, or list what is",
                     "memory-keeper share\nmemory-keeper share rule-3fa1 handoff\nmemory-keeper share --all --dry-run"),
    "unshare": Command(TEAM, "take back what was shared", "memory-keeper unshare rule-3fa1"),
    "sync": Command(TEAM, "send what is shared, and fetch what others share",
                    "memory-keeper sync --git\nmemory-keeper sync"),
    "team": Command(TEAM, "with whom this project is shared, and what they propose"),
    "usage": Command(COST, "tokens, cache and cost by day, week, month, session, model, project or tool",
                     "memory-keeper usage --by model --since 30d"),
    "report": Command(
        COST,
        "a month in figures, or one session: what it took, what compactions did, what we cost and saved",
        "memory-keeper report --format html --out report.html",
    ),
    "serve": Command(MEMORY, "see all of this in a browser; needs the extra `dashboard`", "memory-keeper serve --open"),
    "completion": Command(
        CALLED,
        "print what bash, zsh or fish need to complete commands and options",
        "memory-keeper completion bash > ~/.local/share/bash-completion/completions/memory-keeper\n"
        'memory-keeper completion zsh > "${fpath[1]}/_memory-keeper"\n'
        "memory-keeper completion fish > ~/.config/fish/completions/memory-keeper.fish",
    ),
    "statusline": Command(CALLED, "one line about the context for Claude Code's status line: its JSON on stdin",
                          "memory-keeper statusline --install"),
    "hook": Command(CALLED, "the entry point for Claude Code's hooks: payload on stdin, answer on stdout",
                    "memory-keeper hook Stop < payload.json"),
    "mcp": Command(CALLED, "the server that Claude Code starts with a session",
                   "memory-keeper mcp   # Claude Code starts it; it speaks JSON-RPC on stdin and stdout"),
}  # fmt: skip
ALIKE = 0.8  # how like an option of ours a word must be that any word may be
GROUPS = {
    group: [name for name, command in COMMANDS.items() if command.group == group]
    for group in dict.fromkeys(command.group for command in COMMANDS.values())
}
OTHER_NAMES = f"Other names, each with a help of its own: {', '.join(ALIASES)}."


def main(argv: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 ok, 1 error, 2 usage, 3 not set up, 4 busy, 5 partly done."""
    open_streams()
    argv = (sys.argv[1:] if argv is None else argv) or ["--help"]
    argv = [*argv[1:], "--help"] if argv[0] == "help" else argv
    if argv[0] in ENTRY_POINTS and argv[0] in COMMANDS and not {"-h", "--help"} & {*argv}:
        enter((ENTRY_POINTS[argv[0]][0], "main"), argv)
        sys.exit(0)
    sys.exit(parse_and_run(argv))


def parse_and_run(argv: list[str]) -> int:
    """Run the command that some words name; its exit code."""
    open_streams()
    umask = os.umask(0o077)  # of the user: what is written here is the user's alone
    os.umask(umask)
    args = _parse([_as_text(word) for word in argv])
    args.umask = umask

    def run(home: str) -> int:
        args.home = home
        try:
            code: int = args.run(args)
        except NothingKept:
            from memory_keeper.cli.beginning import nothing_kept  # noqa: PLC0415  seldom needed

            raise nothing_kept(args) from None
        return code

    return guarded(args.home, run)


def _as_text(word: str) -> str:
    """What was typed, with a sign in the place of bytes that are no UTF-8: nothing is kept or found by those. The name
    of a file stays what it is."""
    if os.path.lexists(word):
        return word
    try:
        data = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no shell can say but whoever calls us from Python
        data = word.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def _parse(argv: list[str]) -> Namespace:
    """What was asked for; argparse alone does not take a list of words with options in between."""
    given, typed, argv = argv, argv[0] if argv else "", resolve(argv) if argv else argv
    parser = build_parser(argv, typed)
    if typed not in COMMANDS and typed not in ALIASES and not typed.startswith("-"):
        hint = near(typed, [*COMMANDS, *ALIASES], "`memory-keeper --help` names them all")
        parser.error(f"there is no command {typed}; {hint}")
    if typed.partition("=")[0] in ("--json", "--project", "--home"):
        command = next((word for word in argv if word in COMMANDS or word in ALIASES), "COMMAND")
        parser.error(f"{typed} goes after the command: memory-keeper {command} {typed} …")
    args, rest = parser.parse_known_args(_with_verb(argv))
    words: list[str] | None = getattr(args, args.words, None) if args.words else None
    if problem := _refused(rest, args.parser.options(), words is not None, args.any_words):
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}{problem.rstrip()}")
    if words is not None:
        setattr(args, args.words, [*words, *rest])  # a new list: that of the parser is its default
    args.typed = given
    return args


def _refused(rest: list[str], options: list[str], words: bool, any_words: bool) -> str:
    """Why what no argument takes cannot be words of the command, and what may have been meant; empty when it can."""
    typed = [word.partition("=")[0] for word in rest if word.startswith("-")]
    hints = [near(word, options, "", ALIKE if any_words else USUAL) for word in typed]
    if not rest or (words and not (any(hints) if any_words else typed)):
        return ""
    meant = next(filter(None, hints), "after -- they are words" if words else "")
    return f" ({meant})" if meant else " "


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
    return getattr(load(name), "VERBS", {}) if name in COMMANDS else {}


def load(name: str) -> Any:
    """The module of a command."""
    return import_module(f"memory_keeper.cli.commands.{name}{'_' * iskeyword(name)}")  # `import` cannot be a module's


def build_parser(argv: list[str] | None = None, typed: str = "") -> Parser:
    """The whole parser, or the part that `argv` needs, which was `typed` by this name."""
    parser = Parser(
        groups=GROUPS,
        prog=called(),
        description="Keeps what happened in Claude Code, and gives the next context what it needs.",
        epilog=f"`memory-keeper COMMAND --help` tells more of one.\n{OTHER_NAMES}\nexample: memory-keeper demo",
    )
    parser.set_defaults(parser=parser, words="", any_words=False)
    parser.add_argument("--version", action="version", version=f"memory-keeper {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = (argv or [""])[0]
    for name, command in COMMANDS.items():
        also = f" Also: {', '.join(names)}." if (names := names_of(name)) else ""
        also = f" {describe(typed)}" if typed in names else also
        sub = commands.add_parser(name, help=command.summary, description=_sentence(command.summary) + also)
        if argv is None or wanted == name:
            _configure(sub, load(name), command, also if typed in names else "")
    return parser


def _configure(parser: Parser, module: Any, command: Command, also: str) -> None:
    """Give a command's parser its arguments and examples; a verb is said what was typed instead of it."""
    verbs: Mapping[str, Verb] = getattr(module, "VERBS", {})
    if not verbs:
        parser.allow_abbrev = not getattr(module, "ANY_WORDS", False)  # words may begin like an option of ours
        _finish(parser, module.run, module.ARGUMENTS, command.example, any_words=not parser.allow_abbrev)
        return
    parser.epilog = "\n".join(f"example: {verb.example}" for verb in verbs.values())
    add_common(parser)  # of every verb: they are typed behind it
    choices = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in verbs.items():
        sub = choices.add_parser(name, aliases=verb.aliases, help=verb.help, description=_sentence(verb.help) + also)
        if YES not in verb.takes:
            sub.add_argument("--yes", action="store_true", help=SUPPRESS)  # scripts may say it to every verb
        _finish(sub, verb.run, verb.takes, verb.example)


def _finish(
    parser: Parser, run: Callable[[Namespace], int], takes: Iterable[Argument], example: str, **defaults: Any
) -> None:
    """Arguments, examples, and what is called in the end. A positional that takes many takes all words."""
    words = ""
    for names, given in takes:
        action = parser.add_argument(*names, **given)
        words = action.dest if action.nargs in ("*", "+") and not action.option_strings else words
    add_common(parser)
    parser.set_defaults(run=run, parser=parser, fail=parser.error, words=words, **defaults)
    parser.epilog = "\n".join(f"example: {line}" for line in example.split("\n"))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
