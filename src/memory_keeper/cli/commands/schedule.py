"""`schedule`: the crontab line for a weekly upkeep without a session."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping

from memory_keeper.cli.arguments import Argument, argument
from memory_keeper.cli.output import respond
from memory_keeper.config import environment
from memory_keeper.errors import KeeperError
from memory_keeper.host import registration
from memory_keeper.terminal import say

WORK = ("compact", "--observations", "--tasks", "--all-projects")
USUAL = ("/usr/local/bin", "/usr/bin", "/bin")
ARGUMENTS: tuple[Argument, ...] = (
    argument("what", nargs="?", choices=("status",), default="status", help="show the line, and write nothing"),
)


def run(args: Namespace) -> int:
    """Show the line; the link that it goes by is made."""
    line = cron_line(args.home, environment())
    os.makedirs(args.home, mode=0o700, exist_ok=True)
    registration.point_current(args.home)
    return respond(args, {"line": line}, lambda: _show(line))


def _show(line: str) -> None:
    say("Sessions do the upkeep when they begin and end. Where weeks go by without one, put this line in your crontab")
    say("(`crontab -e`); it does the upkeep of all projects on Sunday at midnight:")
    print(f"\n{line}\n")


def cron_line(home: str, environ: Mapping[str, str]) -> str:
    """The line for a crontab: the launcher behind a link that an update of the plugin moves along, with a PATH on which
    it finds the interpreter that runs now."""
    python = os.path.dirname(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))
    variables = {"PATH": ":".join(dict.fromkeys((python, *USUAL)))}
    if folder := environ.get("CLAUDE_CONFIG_DIR"):
        variables["CLAUDE_CONFIG_DIR"] = folder
    # through sh: `env` would take a launcher with `=` in its path for a variable
    launcher = f"{home}/{registration.CURRENT}/plugin/launch"
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()), "/bin/sh", launcher]
    words += [*WORK, "--home", home]
    if any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for word in words for char in word):
        raise KeeperError(f"{home!r} is no path for a crontab", hint="set MEMORY_KEEPER_HOME to another")
    return f"0 0 * * 0 {' '.join(map(escape, words))} >/dev/null"


def escape(word: str) -> str:
    """As the shell reads it, after cron has.

    To most crons `%` ends the command unless there is a backslash before it, and some take away one of two backslashes.
    So `%` stands outside the quotes, where a backslash that cron leaves does no harm, and no two backslashes meet.
    """
    quoted = shlex.quote(word)
    if not quoted.startswith("'"):
        return quoted.replace("%", "\\%")
    return quoted.replace("\\", "\\''").replace("%", "'\\%'")
