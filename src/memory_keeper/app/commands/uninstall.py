"""`uninstall`: take the plugin away again, and with `--purge` everything that was kept."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace

from memory_keeper.app.registration import NAME, claude, put_back
from memory_keeper.app.terminal import print_json
from memory_keeper.errors import KeeperError

EXAMPLE = "memory-keeper uninstall"


def configure(parser: ArgumentParser) -> None:
    """How much of it."""
    parser.add_argument("--purge", action="store_true", help="also delete everything that was kept")
    parser.add_argument("--scope", choices=("user", "project", "local"), default="user", help="as it was installed")
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask before --purge")


def run(args: Namespace) -> int:
    """Unregister, give the user's settings back their bytes, and leave the store alone unless told otherwise."""
    if args.project:
        os.chdir(args.project)
    marketplace = os.path.join(args.home, "marketplace")
    if args.dry_run:
        return _say(args, {"would_remove": [f"plugin {NAME}", marketplace] + ([args.home] if args.purge else [])})
    if args.purge and not args.yes and not _sure(args.home):
        raise KeeperError("Nothing was changed", hint="--yes deletes without a question")
    claude("plugin", "uninstall", f"{NAME}@{NAME}", "--scope", args.scope, needed=False)
    claude("plugin", "marketplace", "remove", NAME, needed=False)
    restored = put_back(args.home)
    shutil.rmtree(marketplace, ignore_errors=True)
    if args.purge:
        shutil.rmtree(args.home, ignore_errors=True)
    return _say(args, {"removed": True, "restored": restored, "kept": "" if args.purge else args.home})


def _sure(home: str) -> bool:
    if not sys.stdin.isatty():
        return False
    return input(f"Delete everything in {home}? Type yes: ").strip() == "yes"


def _say(args: Namespace, about: dict[str, object]) -> int:
    if args.json:
        print_json(about)
    elif "would_remove" in about:
        print("would remove:", *about["would_remove"], sep="\n  ")  # type: ignore[misc]
    else:
        print("Unregistered." + (f" What was kept is still in {about['kept']}." if about["kept"] else ""))
    return 0
