"""`save`: bring everything in and write the handoff, so that `/clear` or a new session loses nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memory_keeper.app.commands import handoff
from memory_keeper.app.terminal import print_json

EXAMPLE = "memory-keeper save"


def configure(parser: ArgumentParser) -> None:
    """Of which session."""
    handoff.configure(parser)


def run(args: Namespace) -> int:
    """Write the handoff and say where it is."""
    note, where = handoff.write(args)
    if args.json:
        print_json({"id": note.id, "session": note.session, "path": where, "tokens": note.tokens})
    else:
        print(f"Saved session {note.session[:8]}: {where or note.id} ({note.tokens} tokens).")
        print("/clear goes on from it in an empty context; `memory-keeper load` prints it.")
    return 0
