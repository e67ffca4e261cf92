"""`mcp`: answered before any parser is built; this is its help, and what explains a mistake."""

import os
from argparse import Namespace

from memory_keeper.server import front as mcp

ARGUMENTS = ()


def run(args: Namespace) -> int:
    """The same door as without options."""
    mcp.serve(args.home, os.path.abspath(args.project) if args.project else "")
    return 0
