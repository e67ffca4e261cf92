"""`task`: what is to be done and what was: tasks of the model's lists, of commits, and those written down by hand."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from time import time
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs.done import as_json
from memory_keeper.cli.commands import confirm, folder_of, project_of, render_memory
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host.consent import by_a_person, in_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.notes.tasks.done import Done, done, open_tasks
from memory_keeper.notes.tasks.identity import folded, split
from memory_keeper.notes.tasks.manual import Unfinished, written
from memory_keeper.terminal import as_called, moment, paint, print_json, say
from memory_keeper.text import clean, digest_of, one_line, short_number

EXAMPLES = {
    "list": "memory-keeper task list --all",
    "add": 'memory-keeper task add "Add the SMS OTP handler" --id TASK-42',
    "done": 'memory-keeper task done TASK-42 --outcome "It is in."',
    "rm": "memory-keeper task rm TASK-42",
}
EXAMPLE = EXAMPLES["add"]
TAKES = {"list": "no TEXT", "add": "a TEXT", "done": "the ID or words of a task", "rm": "the ID or words of a task"}
LONGEST = 2_000  # characters
ID = re.compile(r"[^\W_][\w.#/-]{0,39}")
PATIENCE = 30.0


def configure(parser: ArgumentParser) -> None:
    """One of four verbs, and what it is about."""
    parser.add_argument("what", nargs="?", choices=TAKES, default="list", help="by default: list")
    parser.add_argument("rest", nargs="*", metavar="TEXT", help="add: the task; done, rm: its ID or words")
    parser.set_defaults(words="rest", fail=parser.error)
    parser.add_argument("--id", default="", help="add: by which it is known, such as TASK-42")
    parser.add_argument("--outcome", default="", metavar="TEXT", help="done: what came of it")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--open", action="store_const", const=("open",), dest="which", help="list what is not done")
    which.add_argument("--done", action="store_const", const=("done",), dest="which", help="list what is done")
    which.add_argument("--all", action="store_const", const=("open", "done"), dest="which", help="list both")
    parser.add_argument("--yes", action="store_true", help="rm: do not ask")
    parser.add_argument("--dry-run", action="store_true", help="rm: only say what would go")


def run(args: Namespace) -> int:
    """Look at them, or change one."""
    if (args.what == "list") == bool(args.rest):
        args.fail(f"{args.what} takes {TAKES[args.what]}")
    with Keeper(args.home) as keeper:
        return {"list": _list, "add": _add, "done": _finish, "rm": _remove}[args.what](args, keeper)


# --- looking ----------------------------------------------------------------------------------------------------------


def _list(args: Namespace, keeper: Keeper) -> int:
    ended, waiting = _known(args, keeper)
    which = args.which or ("open",)
    shown = [*(waiting if "open" in which else ()), *(reversed(ended) if "done" in which else ())]
    if args.json:
        print_json([_about(one) for one in shown])
        return 0
    for one in shown:
        _print(one)
    if not shown:
        say(as_called(f"No {' or '.join(which)} tasks. memory-keeper task add TEXT writes one down."))
    if "done" not in which and ended:
        say(as_called(f"{len(ended)} done: memory-keeper task list --done"), style="dim")
    return 0


def _known(args: Namespace, keeper: Keeper) -> tuple[list[Done], list[Unfinished]]:
    """What is done in this project, and what is not."""
    try:
        project = project_of(keeper, args)
        ended = done(keeper.store, project)
        return ended, open_tasks(keeper.store, project, ended)
    except NotSetUp:
        return [], []  # nothing was ever kept: there are none


def _about(one: Done | Unfinished) -> dict[str, Any]:
    if isinstance(one, Done):
        return {"state": "done", **as_json(one)}
    return {"state": "doing" if one.doing else "open", **one._asdict()}


def _print(one: Done | Unfinished) -> None:
    id, text = clean(one.id), one_line(clean(one.text), 160)
    if isinstance(one, Unfinished):
        say(f"{paint(id, 'cyan')}  {text}", "▸ " if one.doing else "· ", "    ")
        return
    about = [moment(one.at)[:10]] + [f"{len(one.files)} file{'s' * (len(one.files) > 1)}"] * bool(one.files)
    about += [f"{short_number(one.tokens)} tokens"] * bool(one.tokens)
    say(f"{paint(id, 'cyan')}  {text}  {paint(', '.join((*about, *one.commits[-3:])), 'dim')}", "✓ ", "    ")
    if one.given:
        say(one_line(clean(one.outcome), 160), "  ", "    ")


def _find(args: Namespace, keeper: Keeper) -> Unfinished:
    """A task written by hand: by its id or that of its note, by the beginning of either, or by its words."""
    asked = " ".join(args.rest).casefold()
    try:
        tasks = written(keeper.store, project_of(keeper, args))
    except NotSetUp:
        tasks = []
    begins = [
        one
        for one in tasks
        if one.id.casefold().startswith(asked)
        or one.note.startswith((asked, f"note-{asked}"))
        or folded(one.text) == folded(asked)
    ]
    found = [one for one in begins if asked in (one.id.casefold(), one.note)] or begins
    if len(found) == 1:
        return found[0]
    what = "More than one task is" if found else "No task that was written down by hand is"
    raise KeeperError(f"{what} called {clean(' '.join(args.rest))}", hint="`memory-keeper task list --all` gives ids")


# --- changing ---------------------------------------------------------------------------------------------------------


def _add(args: Namespace, keeper: Keeper) -> int:
    """Write a task down: the user's, or where a session's model may have written it, a model's."""
    text, now, model = _checked(args), time(), in_a_session(args.home)
    with keeper.writing(PATIENCE):
        project = keeper.project(folder_of(args), change=True)
        said = keeper.redacted(text, project)
        id = args.id or split(said)[0]
        known = next(
            (one for one in written(keeper.writer, project) if one.id == id or one.text == split(said)[1]), None
        )
        if known and known.text != split(said)[1]:
            raise KeeperError(f"{id} is there already: {known.text}", hint="give it another --id")
        if known and _is_done(keeper, known, project):
            raise KeeperError(f"{known.id} is done already", hint=f"word it otherwise, or `task rm {known.id}` first")
        extra = wire.dumps({"by": "model" if model else "user", "written": now, **({"task": id} if id else {})})
        session = os.environ.get("CLAUDE_CODE_SESSION_ID", "") if model else ""
        name = "note-" + digest_of(project, "task", said, repr(now))
        note = Note(name, now, "task", 0, project, said, session, measure(said), extra, who="" if model else "user")
        if not known:
            keeper.writer.add(note)
        (kept,) = [one for one in written(keeper.writer, project) if one.note == (known.note if known else name)]
    words = f"{'Known' if known else 'Kept'}: {kept.id}  {one_line(kept.text, 160)}"
    words += "" if said == text else "\nWhat looked like a secret was left out."
    return _changed(args, keeper, words, **kept._asdict(), added=not known)


def _checked(args: Namespace) -> str:
    text = " ".join(clean(" ".join(args.rest)).split())
    if not text:
        raise KeeperError("A task says something", hint=EXAMPLE)
    if len(text) > LONGEST:
        raise KeeperError(f"A task has at most {LONGEST:,} characters", hint="`memory-keeper note` takes more")
    if args.id and not ID.fullmatch(args.id):
        raise KeeperError(f"{clean(args.id)} is no id", hint="letters, digits and .#/_- of at most 40, such as TASK-42")
    return text


def _finish(args: Namespace, keeper: Keeper) -> int:
    """A task is done: in the session that says so, or by hand."""
    one = _find(args, keeper)
    project = project_of(keeper, args)
    before = _is_done(keeper, one, project)
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "") if in_a_session(args.home) else ""
    if not before:
        keeper.mark("done", _note(keeper, one), session=session, text=" ".join(clean(args.outcome).split())[:LONGEST])
    words = f"{'Done before' if before else 'Done'}: {one.id}  {one_line(one.text, 160)}"
    return _changed(args, keeper, words, id=one.id, note=one.note, done=not before)


def _is_done(keeper: Keeper, one: Unfinished, project: str) -> bool:
    return any(mark.ref == one.note for mark in keeper.store.marks_on(project, "done"))


def _remove(args: Namespace, keeper: Keeper) -> int:
    """Take a task away: what it said stays in the store."""
    one = _find(args, keeper)
    shown = one_line(one.text, 120)
    if args.dry_run:
        print_json({"would_remove": one._asdict()}) if args.json else print(f"would take away {one.id}: {shown}")
        return 0
    by_a_person(args, "take a task away")
    confirm(args, f"Take away {one.id}: {shown}\n", "--yes takes it away without a question")
    keeper.reword(_note(keeper, one), "")
    return _changed(args, keeper, f"Taken away: {one.id}", id=one.id, note=one.note, removed=True)


def _note(keeper: Keeper, one: Unfinished) -> Note:
    note = keeper.store.wording(one.note)
    if not note:
        raise KeeperError(f"{one.id} is gone", hint="`memory-keeper task list --all` gives ids")
    return note


def _changed(args: Namespace, keeper: Keeper, words: str, **told: Any) -> int:
    """Bring the pages up to date, and say what was done."""
    render_memory(keeper, project_of(keeper, args), folder_of(args))
    print_json(told) if args.json else print(words)
    return 0
