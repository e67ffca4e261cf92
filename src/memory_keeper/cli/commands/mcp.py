"""`mcp`: answered before any parser is built; this is its help, and what explains a mistake."""

import os
from argparse import ArgumentParser, Namespace

from memory_keeper.server import front as mcp

EXAMPLE = "memory-keeper mcp   # Claude Code starts it; it speaks JSON-RPC on stdin and stdout"


def configure(parser: ArgumentParser) -> None:
    """It takes nothing of its own."""


def run(args: Namespace) -> int:
    """The same door as without options."""
    mcp.serve(args.home, os.path.abspath(args.project) if args.project else "")
    return 0
