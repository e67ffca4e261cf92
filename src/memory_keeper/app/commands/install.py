"""`install`: register the plugin with Claude Code."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from memory_keeper.app.registration import NAME, assemble, claude, claude_folder, installed_at, remember
from memory_keeper.app.terminal import print_json
from memory_keeper.errors import KeeperError

EXAMPLE = "memory-keeper install"
SETTINGS = {"user": "", "project": ".claude/settings.json", "local": ".claude/settings.local.json"}


def configure(parser: ArgumentParser) -> None:
    """For whom."""
    parser.add_argument("--scope", choices=sorted(SETTINGS), default="user", help="as in Claude Code's settings")


def run(args: Namespace) -> int:
    """Put the plugin together in our home and register it from there."""
    os.makedirs(args.home, mode=0o700, exist_ok=True)
    folder = claude_folder()
    if args.project:
        os.chdir(args.project)
    settings = os.path.join(folder, "settings.json") if args.scope == "user" else os.path.abspath(SETTINGS[args.scope])
    for path in {settings, os.path.join(folder, "settings.json")}:
        remember(args.home, path)
    marketplace = assemble(args.home)
    if installed_at(folder):
        claude("plugin", "marketplace", "update", NAME, needed=False)
        claude("plugin", "update", f"{NAME}@{NAME}", needed=False)
    else:
        claude("plugin", "marketplace", "add", marketplace)
        claude("plugin", "install", f"{NAME}@{NAME}", "--scope", args.scope)
    where = installed_at(folder)
    if not where:
        raise KeeperError("Claude Code did not take the plugin", hint="run `claude plugin list`")
    if args.json:
        print_json({"installed": where, "scope": args.scope})
    else:
        print(f"Registered with Claude Code ({args.scope}). It works from the next session on.")
        print("What Claude Code has already written down comes in with: memory-keeper import transcripts")
    return 0
