"""`mcp`: answered before any parser is built; this is only its help."""

from argparse import ArgumentParser, Namespace

EXAMPLE = "memory-keeper mcp   (Claude Code starts it; it speaks JSON-RPC on stdin and stdout)"


def configure(parser: ArgumentParser) -> None:
    """It takes nothing."""


def run(args: Namespace) -> int:
    """The same door as without options."""
    from memory_keeper.app import mcp

    mcp.main(["mcp"])
    return 0
