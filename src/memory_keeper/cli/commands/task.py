"""`task`: what is to be done and what was: tasks of the model's lists, of commits, and those written down by hand."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any

from memory_keeper.briefs.done import as_json
from memory_keeper.cli.arguments import DRY_RUN, YES, Verb, argument
from memory_keeper.cli.output import REDACTED, Entry, checked, print_entries, respond, the_one
from memory_keeper.cli.scope import folder_of, known_project
from memory_keeper.cli.work import PATIENCE, changed, remove, session_here, write_down
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import in_a_session, outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.tasks.done import Done, done, open_tasks
from memory_keeper.notes.tasks.identity import folded, split
from memory_keeper.notes.tasks.manual import Unfinished, written
from memory_keeper.store.events import marks_on
from memory_keeper.terminal import as_called, format_time, say
from memory_keeper.text import clean, many, one_line, short_number

EXAMPLE = 'memory-keeper task add "Add the SMS OTP handler" --id TASK-42'
LONGEST = 2_000  # characters
ID = re.compile(r"[^\W_][\w.#/-]{0,39}")


# --- reading ----------------------------------------------------------------------------------------------------------


def _list(args: Namespace) -> int:
    which = args.which or ("open",)
    with Keeper(args.home) as keeper:
        ended, waiting = _known(args, keeper)
    shown = [*(waiting if "open" in which else ()), *(reversed(ended) if "done" in which else ())]

    def show() -> None:
        print_entries(
            map(_entry, shown), f"No {' or '.join(which)} tasks. memory-keeper task add TEXT writes one down."
        )
        if "done" not in which and ended:
            say(as_called(f"{len(ended)} done: memory-keeper task list --done"), style="dim")

    return respond(args, [*map(_as_json, shown)], show)


def _show(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        ended, waiting = _known(args, keeper)
    task: Done | Unfinished = the_one(_called(args, [*waiting, *reversed(ended)])[:1], "task", _asked(args), HINT)
    return respond(args, _as_json(task), lambda: print_entries([_entry(task)]))


def _known(args: Namespace, keeper: Keeper) -> tuple[list[Done], list[Unfinished]]:
    """What is done in this project, and what is not."""
    project = known_project(keeper, args)
    ended = done(keeper.store, project) if project else []
    return ended, open_tasks(keeper.store, project, ended) if project else []


def _as_json(task: Done | Unfinished) -> dict[str, Any]:
    if isinstance(task, Done):
        return {"state": "done", **as_json(task)}
    return {"state": "doing" if task.doing else "open", **task._asdict()}


def _entry(task: Done | Unfinished) -> Entry:
    if isinstance(task, Unfinished):
        by = "" if task.note else f"listed in session {task.session[:8]}"
        return Entry(task.id, task.text, by, "▸ " if task.doing else "· ")
    about = [format_time(task.at)[:10]] + [many(len(task.files), "file")] * bool(task.files)
    about += [f"{short_number(task.tokens)} tokens"] * bool(task.tokens)
    return Entry(
        task.id, task.text, ", ".join((*about, *task.commits[-3:])), "✓ ", beneath=task.outcome if task.given else ""
    )


def _asked(args: Namespace) -> str:
    return " ".join(args.task)


def _called(args: Namespace, tasks: Sequence[Any]) -> list[Any]:
    """The tasks of an id or of that of their note, of the beginning of either, or of the words."""
    asked = _asked(args).casefold()
    found = [
        task
        for task in tasks
        if task.id.casefold().startswith(asked)
        or getattr(task, "note", "").startswith((asked, f"note-{asked}"))
        or folded(task.text) == folded(asked)
    ]
    return [
        candidate for candidate in found if asked in (candidate.id.casefold(), getattr(candidate, "note", ""))
    ] or found


def _by_hand(args: Namespace, keeper: Keeper) -> list[Unfinished]:
    project = known_project(keeper, args)
    return _called(args, written(keeper.store, project)) if project else []


# --- changing ---------------------------------------------------------------------------------------------------------


def _add(args: Namespace) -> int:
    """Write a task down: the user's, or where a session's model may have written it, a model's."""
    text = checked(" ".join(args.text), "A task", LONGEST, EXAMPLE)
    if args.id and not ID.fullmatch(args.id):
        raise KeeperError(f"{clean(args.id)} is no id", hint="letters, digits and .#/_- of at most 40, such as TASK-42")
    with Keeper(args.home) as keeper:
        with keeper.writing(PATIENCE):
            project = keeper.project(folder_of(args), change=True)
            kept = keeper.redacted(text, project)
            id = args.id or split(kept)[0]
            same = (task for task in written(keeper.writer, project) if task.id == id or task.text == split(kept)[1])
            known = next(same, None)
            if known and known.text != split(kept)[1]:
                raise KeeperError(f"{id} is there already: {known.text}", hint="give it another --id")
            if known and _is_done(keeper, known, project):
                hint = f"word it otherwise, or `task rm {known.id}` first"
                raise KeeperError(f"{known.id} is done already", hint=hint)
            note = known or _write(keeper, project, kept, id)
        words = f"{'Known' if known else 'Kept'}: {note.id}  {one_line(note.text, 160)}"
        words += "" if kept == text else REDACTED
        return changed(args, keeper, words, **note._asdict(), added=not known)


def _write(keeper: Keeper, project: str, text: str, id: str) -> Unfinished:
    """A new task by hand, as the lists have it."""
    note = write_down(keeper, "task", project, text, **({"task": id} if id else {}))
    return next(task for task in written(keeper.writer, project) if task.note == note.id)


def _finish(args: Namespace) -> int:
    """A task is done: in the session that says so, or by hand. One of a model's list is written down to be closed."""
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        listed = [] if (mine := _by_hand(args, keeper)) else _called(args, _known(args, keeper)[1])
        task: Unfinished = the_one(mine or listed, "task that is not done", _asked(args), HINT)
        task, before = finish(keeper, project, task, args.outcome)
        words = f"{'Done before' if before else 'Done'}: {task.id}  {one_line(task.text, 160)}"
        return changed(args, keeper, words, id=task.id, note=task.note, done=not before)


def finish(keeper: Keeper, project: str, task: Unfinished, outcome: str = "") -> tuple[Unfinished, bool]:
    """Keep that a task is done; the task as it is written down, and whether that was known."""
    if not task.note:
        with keeper.writing(PATIENCE):
            task = _write(keeper, project, keeper.redacted(task.text, project), task.id)
    before = _is_done(keeper, task, project)
    session = session_here() if in_a_session(keeper.home) else ""
    if not before:
        text = " ".join(clean(outcome).split())[:LONGEST]
        keeper.mark("done", _note(keeper, task), session=session, text=text)
    return task, before


def _edit(args: Namespace) -> int:
    """Give a task by hand another wording."""
    text = checked(" ".join(args.text), "A task", LONGEST, EXAMPLE)
    with Keeper(args.home) as keeper:
        task: Unfinished = the_one(_by_hand(args, keeper), "task written down by hand", _asked(args), HINT)
        outside_a_session(args.home, "reword a task")
        keeper.reword(_note(keeper, task), text, {"task": task.id})
        return changed(args, keeper, f"Now: {task.id}  {text}", id=task.id, text=text, before=task.text)


def _is_done(keeper: Keeper, task: Unfinished, project: str) -> bool:
    return any(mark.ref == task.note for mark in marks_on(keeper.store, project, "done"))


def _remove(args: Namespace) -> int:
    """Take a task away: what it said stays in the store."""
    with Keeper(args.home) as keeper:
        task: Unfinished = the_one(_by_hand(args, keeper), "task written down by hand", _asked(args), HINT)
        act = partial(keeper.reword, _note(keeper, task), "")
        return remove(args, keeper, task.id, task.text, "a task", act, note=task.note)


def _note(keeper: Keeper, task: Unfinished) -> Note:
    note = keeper.store.wording(task.note)
    if not note:
        raise KeeperError(f"{task.id} is gone", hint="`memory-keeper task list --all` gives ids")
    return note


HINT = "`memory-keeper task list --all` gives ids"
TASK = argument("task", nargs="+", metavar="TASK", help="its id, or its words")
ONE = argument("task", nargs=1, metavar="ID", help="its id")
TEXT = argument("text", nargs="+", metavar="TEXT", help="the task")
WHICH = tuple(
    argument(f"--{name}", action="store_const", const=const, dest="which", help=help)
    for name, const, help in (
        ("open", ("open",), "what is not done (default)"),
        ("done", ("done",), "what is done"),
        ("all", ("open", "done"), "both"),
    )
)
VERBS = {
    "list": Verb(_list, "what is to be done", "memory-keeper task list --all", WHICH),
    "show": Verb(_show, "a task, whole", "memory-keeper task show TASK-42", (TASK,)),
    "add": Verb(_add, "write one down", EXAMPLE,
            (TEXT, argument("--id", default="", help="by which it is known, such as TASK-42"))),
    "edit": Verb(_edit, "give one another wording", 'memory-keeper task edit TASK-42 "Add the SMS handler"',
            (ONE, TEXT)),
    "done": Verb(_finish, "it is done: one of yours, or of a session's list",
            'memory-keeper task done TASK-42 --outcome "It is in."',
            (TASK, argument("--outcome", default="", metavar="TEXT", help="what came of it"))),
    "rm": Verb(_remove, "take one away", "memory-keeper task rm TASK-42", (TASK, YES, DRY_RUN)),
}  # fmt: skip
