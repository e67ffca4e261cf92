"""`save`: bring everything in, write notes and handoff, so that `/clear` or a new session loses nothing."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from memory_keeper.cli.arguments import SESSION, argument
from memory_keeper.cli.commands import handoff
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import make_notes, render_memory
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import left_alone
from memory_keeper.terminal import from_here
from memory_keeper.text import many

ARGUMENTS = (
    SESSION,
    argument(
        "--adopt", action="store_true",
        help="take over files in .claude/memory that are not ours, such as a memory.md you wrote; they are kept beside",
    ),
)  # fmt: skip


def run(args: Namespace) -> int:
    """Write the handoff, the notes that can be made, and the files for people; say what was done."""
    note, where = _handed_over(args)
    with Keeper(args.home) as keeper:
        project = note.project or project_of(keeper, args)
        made: list[Note] = []
        with suppress(Busy):  # somebody else is at it
            made = make_notes(keeper, project)
        files = render_memory(keeper, project, folder_of(args), foreign=args.adopt)
        left = left_alone(Pages(keeper, project, find_root(folder_of(args))))
    if note.id:
        lines = [f"Saved session {note.session[:8]}, in {note.tokens} tokens: {from_here(where) or note.id}"]
    else:
        lines = ["The newest session has said nothing yet, so there is no handoff of it."]
    if told := sum(bool(one.text) for one in made):
        lines.append(f"{many(told, 'note')} written: `memory-keeper brief memory` prints the memory.")
    lines += [f"  {from_here(path)}" for path in files]
    lines += [f"  {from_here(path)} {problem}" for path, problem in left.items()]
    if note.id:
        lines.append("/clear goes on from the handoff in an empty context; `memory-keeper brief handoff` prints it.")
    about = {"id": note.id, "session": note.session, "path": where, "tokens": note.tokens}
    about |= {"notes": [one.id for one in made], "files": files, "left": list(left)}
    return respond(args, about, "\n".join(lines))


def _handed_over(args: Namespace) -> tuple[Note, str]:
    """The session's handoff and where it can be read; a note without an id when it has said nothing yet, which must
    not keep the others from being saved."""
    try:
        return handoff.write(args)
    except NotSetUp:
        with Keeper(args.home) as keeper:
            if args.session or not keeper.store.counts(project_of(keeper, args))["events"]:
                raise
        return Note("", 0.0, "handoff", 0, "", ""), ""
