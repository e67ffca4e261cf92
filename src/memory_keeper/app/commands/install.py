"""`install`: register the plugin with Claude Code."""

from __future__ import annotations

import os
import shutil
from argparse import ArgumentParser, Namespace

from memory_keeper import config
from memory_keeper.app import registration
from memory_keeper.app.registration import NAME, PLUGIN, claude, installed_at
from memory_keeper.app.terminal import print_json
from memory_keeper.capture.project import find_root
from memory_keeper.errors import KeeperError

EXAMPLE = "memory-keeper install"


def configure(parser: ArgumentParser) -> None:
    """For whom."""
    scopes = ("local", "project", "user")
    parser.add_argument("--scope", choices=scopes, default="user", help="as in Claude Code's settings")


def run(args: Namespace) -> int:
    """Put the plugin together in our home and register it from there."""
    usual = config.find_home(dict(os.environ))
    if os.path.realpath(args.home) != os.path.realpath(usual):
        hint = f"set MEMORY_KEEPER_HOME={args.home} where Claude Code is started, and here, instead of --home"
        raise KeeperError(f"Claude Code's hooks would keep everything in {usual}, not in {args.home}", hint=hint)
    registration.enter(args.project)
    registration.find_claude()
    os.makedirs(args.home, mode=0o700, exist_ok=True)
    where = _register(args.home, args.scope)
    if args.json:
        print_json({"installed": where, "scope": args.scope})
    else:
        print(f"Registered with Claude Code ({args.scope}). It works from the next session on.")
        print("What Claude Code has already written down comes in with: memory-keeper import transcripts")
    return 0


def _register(home: str, scope: str) -> str:
    """Where Claude Code has the plugin now; when it does not take it, nothing of it stays behind."""
    folder, root = registration.claude_folder(), find_root(os.getcwd())
    before = installed_at(folder)
    for one in {scope, "user"}:
        registration.remember(home, registration.settings_path(one, root))
    try:
        marketplace = registration.assemble(home)
        if before:
            claude("plugin", "marketplace", "update", NAME, needed=False)
            claude("plugin", "update", PLUGIN, needed=False)
        else:
            claude("plugin", "marketplace", "add", marketplace)
            claude("plugin", "install", PLUGIN, "--scope", scope)
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
        claude("plugin", "marketplace", "remove", NAME, needed=False)
    except KeeperError:
        pass  # the first failure is the one to tell
    registration.put_back(home)
    shutil.rmtree(os.path.join(home, "marketplace"), ignore_errors=True)
    if not os.listdir(home):
        os.rmdir(home)
