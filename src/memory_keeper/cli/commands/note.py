"""`note`: what every session is to know of a project, in the user's own words."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from itertools import count
from time import time
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs.files import ONE_EACH
from memory_keeper.briefs.parts import STANDING
from memory_keeper.capture.redact import known_values, redact
from memory_keeper.cli.commands import confirm, folder_of, project_of, render_memory
from memory_keeper.config import find_root, read_dotenv
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host.consent import outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, origin
from memory_keeper.notes.kept_note import measure, written
from memory_keeper.terminal import as_called, moment, paint, print_json, say
from memory_keeper.text import clean, digest_of, one_line, storable

EXAMPLES = {
    "list": "memory-keeper note list",
    "get": "memory-keeper note get conventions",
    "set": 'memory-keeper note set conventions "Tests are run with make test."',
    "add": 'memory-keeper note add conventions "Names are English."',
    "edit": "memory-keeper note edit conventions",
    "rm": "memory-keeper note rm conventions",
}
EXAMPLE = EXAMPLES["set"]
LONGEST = 20_000  # characters
PATIENCE = 30.0
UNSAVED = "unsaved-note.md"
KINDS = ", ".join(STANDING)


def configure(parser: ArgumentParser) -> None:
    """One of six verbs, and what it is about."""
    parser.add_argument("what", nargs="?", choices=EXAMPLES, default="list", help="by default: list")
    parser.add_argument("rest", nargs="*", metavar="KIND", help=f"{KINDS}; or an ID. Then the text")
    parser.set_defaults(words="rest", fail=parser.error)
    parser.add_argument("--kind", choices=STANDING, metavar="KIND", help=f"list only these: {KINDS}")
    parser.add_argument("--file", default="", metavar="F", help="take the text from a file; `-`, or neither: stdin")
    parser.add_argument("--all", action="store_true", help="get: every wording there was")
    parser.add_argument("--yes", action="store_true", help="rm: do not ask")
    parser.add_argument("--dry-run", action="store_true", help="rm: only say what would go")


def run(args: Namespace) -> int:
    """Look at them, or change one."""
    target, *words = args.rest or [""]
    if (args.what == "list") == bool(target):
        args.fail(f"{args.what} takes {'no KIND' if target else 'a KIND or an ID'}")
    if words and args.what not in ("set", "add"):
        args.fail(f"{args.what} takes no text")
    if args.what in ("set", "add", "edit", "rm") and not args.dry_run:
        outside_a_session(args.home, "write what every session is told as yours")
    text = _given(args, words) if args.what in ("set", "add") else ""
    with Keeper(args.home) as keeper:
        if args.what == "list":
            return _list(args, _standing(keeper, _project(keeper, args), args.kind or ""))
        if args.what == "get":
            return _get(args, keeper, target)
        if args.what == "rm":
            return _remove(args, keeper, target)
        if args.what == "edit":
            return _edit(args, keeper, target)
        return _write(args, keeper, target, text, more=args.what == "add")


# --- looking ----------------------------------------------------------------------------------------------------------


def _project(keeper: Keeper, args: Namespace) -> str:
    try:
        return project_of(keeper, args)
    except NotSetUp:
        return ""  # nothing was ever kept: there are none


def _standing(keeper: Keeper, project: str, kind: str = "", gone: bool = False) -> list[Note]:
    """The standing notes of a project, each as its wording in force; `gone`: also those that were taken away."""
    kinds = (kind,) if kind else tuple(STANDING) if project else ()
    found = [note for one in kinds if project for note in keeper.store.notes(project, 0, one)]
    return [note for note in found if note.text or gone]


def _list(args: Namespace, notes: list[Note]) -> int:
    if args.json:
        print_json([_about(note) for note in notes])
        return 0
    if not notes:
        say(as_called("No standing notes. memory-keeper note set project TEXT writes the first one."))
    for note in notes:
        by = "" if note.who else "  by a model"
        say(f"{paint(note.id, 'cyan')}  {note.kind:12}  {paint(moment(written(note)) + by, 'dim')}")
        say(one_line(clean(note.text), 160), "    ", "    ")
    return 0


def _get(args: Namespace, keeper: Keeper, target: str) -> int:
    if target in STANDING:
        notes = _standing(keeper, _project(keeper, args), target, gone=args.all)
    else:
        notes = [_find(keeper, _project(keeper, args), target)]
    if not notes:
        old = " (`--all` shows old wordings)" if not args.all else ""
        raise KeeperError(
            f"This project has no note of kind {target}{old}", hint=f"memory-keeper note set {target} TEXT"
        )
    shown = [{**_about(note), "wordings": _wordings(keeper, note)} if args.all else _about(note) for note in notes]
    if args.json:
        print_json(shown if target in STANDING and target not in ONE_EACH else shown[0])
        return 0
    wordings = [one for note in notes for one in (keeper.store.wordings(note.id) if args.all else [note])]
    for note in wordings:
        if len(wordings) > 1:
            print(paint(f"{note.id}  {moment(written(note))}{'' if note.text else '  (taken away)'}", "dim"))
        if note.text:
            say(clean(note.text))
    return 0


def _wordings(keeper: Keeper, note: Note) -> list[dict[str, Any]]:
    return [_about(one) for one in keeper.store.wordings(note.id)]


def _about(note: Note) -> dict[str, Any]:
    names = ("id", "kind", "text", "at", "tokens", "who", "replaces")
    return {**{name: getattr(note, name) for name in names}, "written": written(note)}


def _find(keeper: Keeper, project: str, target: str) -> Note:
    """A note by its id or the beginning of it, in its wording in force; not a handoff, which nobody edits."""
    named = keeper.store.wording(target) if project else None
    if named and named.project == project and named.kind != "handoff":
        return named
    beginnings = (target, "note-" + target)
    found = [note for note in _standing(keeper, project, gone=True) if origin(note).startswith(beginnings)]
    if len(found) == 1:
        return found[0]
    what = "More than one note is" if found else "There is no kind of note, and no note,"
    raise KeeperError(f"{what} called {clean(target)}", hint=f"kinds: {KINDS}; `memory-keeper note list` gives ids")


# --- changing ---------------------------------------------------------------------------------------------------------


def _given(args: Namespace, words: list[str]) -> str:
    """The text that is to be written: from the command line, a file, or stdin."""
    if words and args.file:
        args.fail("a TEXT or a --file, not both")
    if words:
        return " ".join(words)
    if args.file and args.file != "-":
        with open(args.file, encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST * 4 + 1)
    if sys.stdin.isatty():
        sys.stderr.write("The text, and Ctrl-D at its end:\n")
    return sys.stdin.read(LONGEST * 4 + 1)


def _checked(text: str) -> str:
    text = clean(text).strip()
    if not text:
        raise KeeperError("A note says something", hint="`memory-keeper note rm` takes one away")
    if len(text) > LONGEST:
        long = f"{len(text):,}" if len(text) < LONGEST * 4 else f"more than {LONGEST * 4:,}"
        raise KeeperError(
            f"A note has at most {LONGEST:,} characters, and this has {long}", hint="what is longer belongs into a file"
        )
    return text


def _write(args: Namespace, keeper: Keeper, target: str, text: str, more: bool = False) -> int:
    """Give a note another wording, or begin one; `more`: beside what is there."""
    text = _checked(text)
    with keeper.writing(PATIENCE):
        project = keeper.project(folder_of(args), change=True)
        before = _before(keeper, project, target, more)
        if more and before and before.text:
            text = _checked(f"{before.text}\n{text}")
        said = keeper.redacted(text, project)
        changed = not before or before.text != said
        note = _worded(project, target, said, before) if changed or not before else before
        if changed:
            keeper.writer.add(note)
    if changed:
        render_memory(keeper, note.project, folder_of(args))
    if args.json:
        print_json({**_about(note), "changed": changed, "redacted": said != text})
        return 0
    say(f"{'Kept' if changed else 'Unchanged'}: {note.id} ({note.kind}, {note.tokens} tokens)")
    if said != text:
        say("What looked like a secret was left out.")
    return 0


def _before(keeper: Keeper, project: str, target: str, more: bool) -> Note | None:
    """The note that gets another wording; None for a new one."""
    if target not in STANDING:
        return _find(keeper, project, target)
    if target in ONE_EACH:
        return next(iter(_standing(keeper, project, target, gone=True)), None)
    if more or not _standing(keeper, project, target):
        return None
    raise KeeperError(
        f"This project may have many notes of kind {target}",
        hint=f"`memory-keeper note add {target} TEXT` adds one; `note set ID TEXT` changes one",
    )


def _worded(project: str, kind: str, text: str, before: Note | None) -> Note:
    """A note by the user: the first wording of a standing one, or another one of any."""
    now = time()
    about = wire.read_object(before.extra) if before else {}
    stays = {name: about[name] for name in ("first", "form") if name in about}
    extra = wire.dumps({"by": "user", "written": now, **stays})
    new = before or Note("", now, kind, 0, project, "")
    id = "note-" + digest_of(new.project, new.kind, origin(new), text, repr(now))
    replaces = origin(new) if before else ""
    return new._replace(id=id, text=text, tokens=measure(text), extra=extra, replaces=replaces, who="user")


def _remove(args: Namespace, keeper: Keeper, target: str) -> int:
    """Take a note away: what it said stays in the store, and is told to nobody."""
    project = _project(keeper, args)
    note = _only(_standing(keeper, project, target), target) if target in STANDING else _find(keeper, project, target)
    if not note.text:
        raise KeeperError(f"{note.id} was taken away before", hint="`memory-keeper note get --all` shows what it said")
    shown = f"{note.kind}: {one_line(clean(note.text), 120)}"
    if args.dry_run:
        print_json({"would_remove": _about(note)}) if args.json else print(f"would take away {note.id}, {shown}")
        return 0
    confirm(args, f"Take away {shown}\n", "--yes takes it away without a question")
    gone = _worded(project, note.kind, "", note)
    with keeper.writing(PATIENCE):
        keeper.writer.add(gone)
    render_memory(keeper, note.project, folder_of(args))
    if args.json:
        print_json({"id": origin(note), "removed": True})
    else:
        shows = as_called(f"`memory-keeper note get {origin(note)} --all` shows what it said.")
        say(f"Taken away: {origin(note)}. {shows}")
    return 0


def _only(notes: list[Note], kind: str) -> Note:
    if not notes:
        raise KeeperError(f"This project has no note of kind {kind}", hint="`memory-keeper note list` shows them")
    if len(notes) > 1:
        raise KeeperError(f"This project has {len(notes)} notes of kind {kind}", hint="give the ID of one")
    return notes[0]


def _edit(args: Namespace, keeper: Keeper, target: str) -> int:
    """Have a note changed in the user's editor. What cannot be kept is left in a file, so that it is not lost."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise KeeperError("There is no terminal to edit in", hint=f"memory-keeper note set {target} --file F")
    project = _project(keeper, args)
    if target in ONE_EACH:
        before = next(iter(_standing(keeper, project, target)), None)
    else:
        before = (
            _only(_standing(keeper, project, target), target) if target in STANDING else _find(keeper, project, target)
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{before.kind if before else target}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(before.text + "\n" if before and before.text else "")
        done = subprocess.run([*shlex.split(editor), path])
        if done.returncode:
            raise KeeperError(f"{editor} ended with {done.returncode}", hint="nothing was changed")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    try:
        return _write(args, keeper, origin(before) if before else target, text)
    except KeeperError as error:
        if not text.strip():
            raise
        raise type(error)(str(error), hint=f"what you wrote is in {_set_aside(args, keeper, text)}") from None


def _set_aside(args: Namespace, keeper: Keeper, text: str) -> str:
    """Leave a text in the home, without secrets and for its owner alone; its path. The store may be busy, so it is
    not asked."""
    known = known_values(keeper.environ, read_dotenv(find_root(folder_of(args))))
    stem, dot, ending = os.path.join(args.home, UNSAVED).rpartition(".")
    for number in count(1):
        path = stem + (f"-{number}" if number > 1 else "") + dot + ending
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue  # of another time, or a link
        with open(fd, "w", encoding="utf-8") as file:
            file.write(redact(storable(text), keeper.salt, known))
        return path
    raise AssertionError("numbers end")
