"""`import TOOL`: bring in what another tool has kept."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Sequence

from memory_keeper.briefs.files import FOLDER
from memory_keeper.cli.scope import folder_of
from memory_keeper.cli.work import make_notes, render_memory
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.imports import IMPORTERS, Where, counted, reader
from memory_keeper.jobs.bring_in import Brought, Importing
from memory_keeper.keeper import Keeper
from memory_keeper.project_settings import Settings
from memory_keeper.store.home import about
from memory_keeper.terminal import Bar, as_called, called, from_here, print_json, say, say_problem
from memory_keeper.text import clean, many


def bring_in(args: Namespace) -> int:
    """Read in what another tool had kept, and say what it was; a second time adds nothing."""
    tool, importer, module = args.what, IMPORTERS[args.what], reader(args.what)
    root = find_root(folder_of(args))
    where = Where(root, dict(os.environ), tuple(args.paths), args.named)
    usual = f"by default it is looked for in {importer.finds}" if importer.finds else ""
    for path in args.paths:
        if not os.path.exists(path):
            raise KeeperError(f"{path} does not exist", hint=usual)
    files = module.find(where)
    if not files:
        ways = usual if args.paths else f"memory-keeper import {tool} PATH"
        what = f"memory of {tool}" if importer.finds else "Markdown"
        raise KeeperError(
            f"No {what} was found in {', '.join(map(from_here, args.paths)) or importer.finds}", hint=ways
        )
    problems: list[str] = []
    with Keeper(args.home) as keeper, Bar("importing", sum(about(file).st_size for file in files)) as bar:
        project = _project(keeper, root, args.dry_run)
        most = 0 if args.dry_run else Settings(keeper).of(project)["reduce.outlineTokens"]
        importing = Importing(keeper, tool, project, most, args.dry_run)
        brought = importing.bring(module.read(where, files, problems.append, bar.advance))
        written = 0 if args.dry_run else _finish(keeper, project, root, files, problems)
    result = {
        "tool": tool,
        "files": len(files),
        "lines": brought.found.total(),
        "found": dict(brought.found),
        "events_added": brought.events,
        "events_known": brought.events_known,
        "notes_added": brought.notes,
        "notes_known": brought.notes_known,
        "skipped": len(problems),
        "notes": written,
        "project": project,
        "dry_run": args.dry_run,
    }
    print_json(result) if args.json else _say(tool, brought, _without_dry_run(args.typed) if args.dry_run else "")
    for problem in problems:
        say_problem(problem)
    if problems and not brought.found:
        raise KeeperError(f"nothing of {many(len(files), 'file')} could be read")
    if problems:
        raise PartlyDone(f"{many(len(problems), 'thing')} could not be read")
    return 0


def _project(keeper: Keeper, root: str, dry: bool) -> str:
    if not dry:
        with keeper.writing(60.0):
            return keeper.project(root, change=True)
    try:
        return keeper.project(root)
    except NotSetUp:
        return ""


def _finish(keeper: Keeper, project: str, root: str, files: list[str], problems: list[str]) -> int:
    """Write the notes that are due now, and our pages in the place of those that came in; how many notes."""
    try:
        notes = sum(bool(note.text) for note in make_notes(keeper, project, force=False))
    except (Busy, NotSetUp):
        notes = 0
    folder = "/".join((root, *FOLDER))
    whole = [file for file in files if not any(problem.startswith(f"{file}:") for problem in problems)]
    names = {os.path.basename(file) for file in whole if os.path.dirname(file) == folder}
    render_memory(keeper, project, root, imported={*names, "memory-index.json"} if names else ())
    return notes


def _without_dry_run(typed: Sequence[str]) -> str:
    """The command that was typed, for a shell, to be done this time; an option may have been cut short."""
    words = [word for word in typed if not (word.startswith("--d") and "--dry-run".startswith(word))]
    return clean(shlex.join([called(), *words]))


def _say(tool: str, brought: Brought, again: str) -> None:
    new, known = brought.events + brought.notes, brought.events_known + brought.notes_known
    verb = "would be added" if again else "added"
    say(f"{tool}: {counted(brought.found)}; {new:,} {verb}, {known:,} known already")
    if again:
        say(f"Nothing was changed. `{again}` brings it in." if new else "Nothing was changed, and nothing is new.")
    elif new:
        say("It is told as imported, never as your word, and no rule is made of it.")
        say(as_called("`memory-keeper search WORDS` finds it; `memory-keeper brief memory` tells what is remembered."))
