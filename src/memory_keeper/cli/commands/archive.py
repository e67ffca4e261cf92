"""`archive`: put what the memory says into the archive, so that it begins anew. Nothing is deleted."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper.cli.arguments import DRY_RUN, YES
from memory_keeper.cli.output import confirm, respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import PATIENCE, catch_up, make_notes, render_memory
from memory_keeper.jobs.summarize import outline_project
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.project_settings import Settings
from memory_keeper.store.home import Lock
from memory_keeper.terminal import from_here, say

ARGUMENTS = (DRY_RUN, YES)


def run(args: Namespace) -> int:
    """Cover every open note of the project with an outline, after notes of what has none yet."""
    with Keeper(args.home) as keeper:
        project = project_of(keeper, args)
        catch_up(keeper, [project])
        open, unnoted = keeper.store.notes(project, 1, open=True), len(keeper.store.open_sessions(project))
        plan = _plan(open, unnoted)
        if args.dry_run:
            about = {"notes": len(open), "tokens": sum(note.tokens for note in open), "unnoted_sessions": unnoted}
            return respond(args, {"would_archive": about}, plan)
        if not open and not unnoted:
            return respond(args, {"outlines": [], "files": []}, plan)
        if not args.json:
            say(plan)
        confirm(args, "Go on?", "--yes archives without a question")
        make_notes(keeper, project)
        with Lock(keeper.home, PATIENCE, "distil"):
            made = list(outline_project(keeper, project, Settings(keeper).of(project), everything=True))
        files = render_memory(keeper, project, folder_of(args))
    lines = [
        f"Archived under {note.id}: `memory-keeper show {note.id} --children` lists what it covers." for note in made
    ]
    lines += [f"  {from_here(path)}" for path in files]
    return respond(args, {"outlines": [note.id for note in made], "files": files}, "\n".join(lines))


def _plan(open: list[Note], unnoted: int) -> str:
    if not open and not unnoted:
        return "The memory of this project is empty already: `memory-keeper status` says what there is."
    worded = [note for note in open if note.text]
    tokens = sum(note.tokens for note in worded)
    notes = f"{len(worded)} notes ({tokens:,} tokens) go" if len(worded) != 1 else f"1 note ({tokens:,} tokens) goes"
    lines = [f"The memory of this project begins anew: {notes} into the archive."]
    if unnoted:
        those = f"{unnoted} sessions get" if unnoted != 1 else "1 session gets"
        lines.append(f"Before that, {those} a note, as none tells of all that was said.")
    lines.append("Nothing is deleted: standing notes stay, and `memory-keeper search` and `show` find all the rest.")
    return "\n".join(lines)
