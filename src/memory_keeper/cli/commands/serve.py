"""`serve`: the dashboard, for this machine's user alone."""

from __future__ import annotations

import sys
import webbrowser
from argparse import Namespace
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from memory_keeper.cli.arguments import argument, number
from memory_keeper.cli.scope import folder_of
from memory_keeper.errors import NotSetUp
from memory_keeper.host.registration import checkout
from memory_keeper.terminal import say

NEEDED = ("starlette", "uvicorn", "jinja2")
ARGUMENTS = (
    argument("--open", action="store_true", help="open it in the browser"),
    argument("--port", type=number(0, 65_535), default=0, metavar="N", help="default: one that is free"),
)


def run(args: Namespace) -> int:
    """Say the link, and answer until Ctrl-C."""
    serve(args.home, folder_of(args), args.port, args.open)
    return 0


def check() -> None:
    """NotSetUp where the extra is not installed."""
    if missing := [name for name in NEEDED if not find_spec(name)]:
        hint = f"pipx install --force '{checkout()}[dashboard]'"
        are = "is" if len(missing) == 1 else "are"
        raise NotSetUp(f"The dashboard needs {', '.join(missing)}, which {are} not installed", hint=hint)


def serve(home: str, folder: str, port: int = 0, open: bool = False) -> None:
    """Serve a home; what is not installed everywhere is loaded only here."""
    check()

    def ready(link: str) -> None:
        say(f"The dashboard is at {link}")
        say("The link opens once, and only on this machine. Ctrl-C ends it.", style="dim")
        sys.stdout.flush()  # whoever reads it through a pipe waits for the link
        if open and not webbrowser.open(link):
            say("No browser could be opened: open the link yourself.")

    with suppress(KeyboardInterrupt):  # that is how it is ended
        import_module("memory_keeper.dashboard.serve").serve(home, folder, port, ready)
