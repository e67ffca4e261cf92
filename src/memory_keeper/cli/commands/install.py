"""`install`: register the plugin with Claude Code."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from argparse import BooleanOptionalAction, Namespace
from contextlib import suppress

from memory_keeper.briefs.rules import full, rules_of
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.claude import ask_claude
from memory_keeper.cli.commands import config, statusline
from memory_keeper.cli.output import is_sure, respond
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError, PartlyDone
from memory_keeper.host import claude_settings, own_command, registration
from memory_keeper.host.claude_settings import Outcome
from memory_keeper.host.own_command import OwnCommand
from memory_keeper.host.registration import NAME, PLUGIN, installed_at
from memory_keeper.imports import called, glance
from memory_keeper.keeper import Keeper
from memory_keeper.settings import DEFAULTS
from memory_keeper.terminal import say

SHIPPED = "rules.shipped"
OFFER = "Show how full the context is in Claude Code's status line?"
ARGUMENTS = (
    argument("--scope", choices=("local", "project", "user"), default="user", help="as in Claude Code's settings"),
    argument(
        "--statusline",
        action=BooleanOptionalAction,
        help="show the gauge in Claude Code's status line; asked otherwise",
    ),
    argument("--no-rules", action="store_true", help="without the five rules that come with it"),
)


def run(args: Namespace) -> int:
    """Put the plugin together in our home and register it from there."""
    registration.check_usual(args.home)
    registration.enter(args.project)
    registration.find_claude()
    with registration.alone(args.home):
        where = _register(args.home, args.scope)
    if args.no_rules:
        config.put(args.home, (args.home.rstrip("/"), "/config.json"), [], SHIPPED, False)
    shown = _show(args.home) if _is_wanted(args) else None
    command = own_command.put_all(args.home)
    about = {"installed": where, "scope": args.scope, "statusline": shown and shown._asdict()}
    return respond(args, {**about, "command": command._asdict()}, lambda: _say(args, shown, command))


def _say(args: Namespace, shown: Outcome | None, command: OwnCommand) -> None:
    say(f"Registered with Claude Code ({args.scope}). It works from the next session on.")
    _say_command(args.home, command)
    say(f"What is kept lies in {args.home}; `memory-keeper uninstall` takes the plugin away again.")
    if shown:
        say(statusline.describe_outcome(shown))
    if not args.no_rules:
        rules = rules_of(None, "")
        cost = full(rules, (), DEFAULTS["rules.budget"], "0" * 8).tokens  # fenced, as a context is told them
        say(
            f"Every context is given {len(rules)} rules of its own, in {cost} tokens:"
            f" {', '.join(rule.short for rule in rules)}. To go without them: memory-keeper config set {SHIPPED} false"
        )
    say("What Claude Code has already written down comes in with: memory-keeper import transcripts")
    for tool, counted in _older(args.home).items():
        say(f"There is {called(tool)} in this project: {counted}. It comes in with: memory-keeper import {tool}")


def _older(home: str) -> dict[str, str]:
    """What other tools have kept of this project, beside what is known here already."""
    root = find_root(os.getcwd())
    with suppress(KeeperError), Keeper(home) as keeper:
        return glance(root, keeper.environ, keeper.store, keeper.project(root))
    return glance(root, dict(os.environ))


def _is_wanted(args: Namespace) -> bool:
    """Whether the status line is to show the context: as was said, else as whoever sits there answers."""
    if args.statusline is None and not args.json and sys.stdin.isatty() and sys.stdout.isatty():
        return not statusline.is_installed() and is_sure(OFFER)
    return bool(args.statusline)


def _say_command(home: str, command: OwnCommand) -> None:
    if command.problem:
        say(f"{command.path} is not written: {command.problem}.")
    if command.problem and not command.on_path:
        say(f"The command in your terminal is {os.path.join(home, 'marketplace', 'bin', NAME)}.")
    elif command.on_path:
        say(f"The command in your terminal is memory-keeper ({command.path}).")
    else:
        say(f"The command in your terminal is {command.path}. To type only its name, say:")
        print(f'  export PATH={shlex.quote(os.path.dirname(command.path))}:"$PATH"')


def _show(home: str) -> Outcome:
    try:
        return statusline.install(home)
    except KeeperError as error:
        raise PartlyDone(f"The plugin is registered, the status line is not: {error}", hint=error.hint) from None


def _register(home: str, scope: str) -> str:
    """Where Claude Code has the plugin now; when it does not take it, nothing of it stays behind."""
    folder, root = registration.claude_folder(), find_root(os.getcwd())
    before = installed_at(folder)
    for place in {scope, "user"}:
        claude_settings.remember(home, registration.settings_path(place, root))
    try:
        marketplace = registration.assemble(home)
        if before:
            ask_claude("plugin", "marketplace", "update", NAME, needed=False)
            ask_claude("plugin", "update", PLUGIN, needed=False)
        else:
            ask_claude("plugin", "marketplace", "add", marketplace)
            ask_claude("plugin", "install", PLUGIN, "--scope", scope)
        where = installed_at(folder)
        if not where:
            raise KeeperError("Claude Code did not take the plugin", hint="run `claude plugin list`")
    except BaseException:
        if not before:
            _take_back(home)
        raise
    return where


def _take_back(home: str) -> None:
    try:
        ask_claude("plugin", "marketplace", "remove", NAME, needed=False)
    except KeeperError:
        pass  # the first failure is the one to tell
    claude_settings.put_back(home)
    shutil.rmtree(os.path.join(home, "marketplace"), ignore_errors=True)
    registration.drop_unused(home)
