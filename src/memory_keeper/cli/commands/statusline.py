"""`statusline`: one line about the context, for Claude Code to show; installed on request, beside the user's own."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

from memory_keeper import config
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError
from memory_keeper.hooks import statusline
from memory_keeper.host import claude_settings, registration
from memory_keeper.host.claude_settings import LINE, Outcome, command_of, is_ours
from memory_keeper.terminal import print_json

EXAMPLE = "memory-keeper statusline --install"
ARGUMENTS = (
    argument("--install", action="store_true", help="put it into your Claude Code settings; yours is kept"),
    argument("--remove", action="store_true", help="put back the status line that was there before"),
    argument("--wrap", default="", metavar="CMD", help="run this status line too, and show it first"),
    argument("--width", type=int, default=0, metavar="N", help="cells, where COLUMNS does not say; else 80"),
)


def run(args: Namespace) -> int:
    """Without an option: Claude Code's JSON on stdin, one line on stdout."""
    if args.install and args.remove:
        args.fail("argument --remove: not allowed with argument --install")
    if args.install or args.remove:
        if args.wrap or args.width:
            args.fail("--wrap and --width are for showing it; a status line that is there is wrapped by itself")
        outcome = install(args.home) if args.install else remove(args.home)
        # where a project shows something else, that wins
        root = find_root(os.path.abspath(args.project or os.getcwd()))
        paths = [root + name for name in config.CLAUDE_FILES]
        notes = [f"{path} has a status line of its own, which wins here." for path in paths if LINE in _settings(path)]
        return respond(args, {**outcome._asdict(), "notes": notes}, "\n".join((describe_outcome(outcome), *notes)))
    if sys.stdin.isatty():
        raise KeeperError("It reads what Claude Code says of a session from stdin", hint=f"try `{EXAMPLE}`")
    if args.json:
        print_json(_describe(args.home))
    else:
        statusline.serve(args.wrap, args.width)
    return 0


def settings_path() -> str:
    """The user's own settings of Claude Code."""
    return os.path.abspath(registration.settings_path("user", ""))


def install(home: str) -> Outcome:
    """Have Claude Code show the line; what it showed before is run as well, and comes back on `remove`."""
    registration.check_usual(home)
    os.makedirs(home, mode=0o700, exist_ok=True)
    launch = os.path.join(registration.point_current(home), "plugin", "launch")
    return claude_settings.set_line(home, settings_path(), launch)


def remove(home: str) -> Outcome:
    """Take the line away again."""
    return claude_settings.restore_line(home, settings_path())


def is_installed() -> bool:
    """Whether Claude Code shows the line."""
    return is_ours(command_of(_settings(settings_path()).get(LINE)))


def describe_outcome(outcome: Outcome) -> str:
    """What became of the status line, for people."""
    if outcome.did == "changed":
        beside = ", with yours before it" if command_of(outcome.was) else ""
        away = "To take it away again: memory-keeper statusline --remove"
        return f"The status line shows the context from now on{beside} ({outcome.path}).\n{away}"
    if outcome.did == "restored":
        return f"The status line is as it was before ({outcome.path})."
    if is_ours(command_of(outcome.now)):
        return f"The status line is there already ({outcome.path})."
    return f"There was none of ours in {outcome.path}: it stays as it is."


def _settings(path: str) -> dict[str, Any]:
    return registration.read_json(path) or {}


def _describe(home: str) -> dict[str, Any]:
    answer = statusline.measure(sys.stdin.buffer.read(), home, dict(os.environ))
    if not answer:
        raise KeeperError("That is not what Claude Code gives a status line", hint="one JSON object on stdin")
    shown, limits, level, clears = answer
    percent = 100 * shown.tokens // limits.window if limits.window and shown.tokens else None
    about = {
        "tokens": shown.tokens or None,
        "percent": percent,
        "level": level,
        "model": shown.model,
        "clears_at": clears,
    }
    return {**about, **limits._asdict(), "line": statusline.compose(answer, statusline.WIDTH, painted=False)}
