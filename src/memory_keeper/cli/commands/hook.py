"""`hook EVENT`: answered before any parser is built; this is only its help."""

from argparse import Namespace

from memory_keeper.cli.arguments import argument
from memory_keeper.hooks import hook

ARGUMENTS = (argument("event", metavar="EVENT", help="SessionStart, UserPromptSubmit, PostToolUse, Stop, ..."),)


def run(args: Namespace) -> int:
    """The same door as without options."""
    hook.main(["hook", args.event, f"--home={args.home}", f"--project={args.project}"])
    return 0
