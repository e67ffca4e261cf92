"""`note`: what every session is to know of a project, in the user's own words."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from time import time
from typing import Any, TextIO

from memory_keeper import wire
from memory_keeper.briefs.files import ONE_EACH
from memory_keeper.briefs.parts import STANDING
from memory_keeper.capture.redact import known_values, redact
from memory_keeper.cli.arguments import DRY_RUN, YES, Verb, argument
from memory_keeper.cli.output import REDACTED, Entry, print_entries, respond
from memory_keeper.cli.scope import folder_of, known_project
from memory_keeper.cli.work import PATIENCE, changed, remove
from memory_keeper.config import find_root, read_dotenv
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, origin
from memory_keeper.notes.kept_note import measure, written
from memory_keeper.provenance import whose
from memory_keeper.terminal import format_time, paint, say
from memory_keeper.text import clean, digest_of, storable

LONGEST = 20_000  # characters
KINDS = ", ".join(STANDING)
NONE = "No standing notes. memory-keeper note set project TEXT writes the first one."


# --- reading ----------------------------------------------------------------------------------------------------------


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        notes = _standing(keeper, known_project(keeper, args), args.kind or "")
    entries = [Entry(note.id, note.text, f"{note.kind:12}  {format_time(written(note))}{_by(note)}") for note in notes]
    return respond(args, [_as_json(note) for note in notes], lambda: print_entries(entries, NONE))


def _show(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        project, kind = known_project(keeper, args), args.target
        of_kind = not kind or kind in STANDING
        notes = _standing(keeper, project, kind, gone=args.all) if of_kind else [_find(keeper, project, kind)]
        revisions = [keeper.store.wordings(note.id) if args.all else [note] for note in notes]
    if not notes:
        what = f"note of kind {kind}" if kind else "standing note"
        old = " (`--all` shows old wordings)" if not args.all else ""
        raise KeeperError(f"This project has no {what}{old}", hint=f"memory-keeper note set {kind or 'project'} TEXT")
    shown = [
        _as_json(note) | ({"wordings": [*map(_as_json, each)]} if args.all else {})
        for note, each in zip(notes, revisions, strict=True)
    ]
    many = of_kind and kind not in ONE_EACH
    return respond(args, shown if many else shown[0], lambda: _print([note for each in revisions for note in each]))


def _print(notes: list[Note]) -> None:
    for note in notes:
        if len(notes) > 1:
            print(paint(f"{note.id}  {format_time(written(note))}{'' if note.text else '  (taken away)'}", "dim"))
        if note.text:
            say(clean(note.text))


def _by(note: Note) -> str:
    by = whose(note)
    return f"  by {by}" if by not in ("", "the user") else ""


def _standing(keeper: Keeper, project: str, kind: str = "", gone: bool = False) -> list[Note]:
    """The standing notes of a project, each as its wording in force; `gone`: also those that were taken away."""
    kinds = (kind,) if kind else tuple(STANDING)
    notes = [note for name in kinds if project for note in keeper.store.notes(project, 0, name)]
    return [note for note in notes if note.text or gone]


def _as_json(note: Note) -> dict[str, Any]:
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


def _set(args: Namespace, more: bool = False) -> int:
    text = _given(args)
    outside_a_session(args.home, OWN)
    with Keeper(args.home) as keeper:
        return _write(args, keeper, args.target, text, more)


def _add(args: Namespace) -> int:
    return _set(args, more=True)


def _given(args: Namespace) -> str:
    """The text that is to be written: from the command line, a file, or stdin."""
    if args.text and args.file:
        args.fail("a TEXT or a --file, not both")
    if args.text:
        return " ".join(args.text)
    if args.file and args.file != "-":
        with open(args.file, encoding="utf-8") as file:
            return _read(file, args.file)
    if sys.stdin.isatty():
        sys.stderr.write("The text, and Ctrl-D at its end:\n")
    return _read(sys.stdin, "What stdin has")


def _read(file: TextIO, name: str) -> str:
    problem = KeeperError(
        f"{name} is no text in UTF-8", hint="a note is text; save it as UTF-8, or name the file in one"
    )
    try:
        text = file.read(LONGEST * 4 + 1)
        text.encode()  # what stdin could not decode is in it as surrogates
    except UnicodeError:
        raise problem from None
    if "\0" in text:
        raise problem
    return text


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
        kept = keeper.redacted(text, project)
        new = not before or before.text != kept
        note = _worded(project, target, kept, before) if new or not before else before
        if new:
            keeper.writer.add(note)
    words = f"{'Kept' if new else 'Unchanged'}: {note.id} ({note.kind}, {note.tokens} tokens)"
    words += REDACTED * (kept != text)
    about = {**_as_json(note), "changed": new, "redacted": kept != text}
    return changed(args, keeper, words, **about) if new else respond(args, about, words)


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


def _remove(args: Namespace) -> int:
    """Take a note away: what it said stays in the store, and is told to nobody."""
    if not args.dry_run:
        outside_a_session(args.home, OWN)
    with Keeper(args.home) as keeper:
        note = _one(keeper, known_project(keeper, args), args.target)
        if not note.text:
            hint = "`memory-keeper note show ID --all` shows what it said"
            raise KeeperError(f"{note.id} was taken away before", hint=hint)

        def act() -> None:
            with keeper.writing(PATIENCE):
                keeper.writer.add(_worded(note.project, note.kind, "", note))

        return remove(args, keeper, origin(note), note.text, "a note", act, kind=note.kind)


def _one(keeper: Keeper, project: str, target: str) -> Note:
    """The note of a kind, where there is one, or of an id."""
    if target not in STANDING:
        return _find(keeper, project, target)
    notes = _standing(keeper, project, target)
    if not notes:
        raise KeeperError(f"This project has no note of kind {target}", hint="`memory-keeper note list` shows them")
    if len(notes) > 1:
        raise KeeperError(f"This project has {len(notes)} notes of kind {target}", hint="give the ID of one")
    return notes[0]


def _edit(args: Namespace) -> int:
    """Give a note another text; where none was typed, in the user's editor. What cannot be kept is left in a file."""
    if args.text:
        return _set(args)
    outside_a_session(args.home, OWN)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise KeeperError("There is no terminal to edit in", hint=f"memory-keeper note set {args.target} --file F")
    with Keeper(args.home) as keeper:
        project = known_project(keeper, args)
        new = args.target in ONE_EACH and not _standing(keeper, project, args.target)
        before = None if new else _one(keeper, project, args.target)
        text = _edited(editor, before.kind if before else args.target, before.text if before else "")
        try:
            return _write(args, keeper, origin(before) if before else args.target, text)
        except KeeperError as error:
            if not text.strip():
                raise
            raise type(error)(str(error), hint=f"what you wrote is in {_set_aside(args, keeper, text)}") from None


def _edited(editor: str, name: str, text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.md")
        path.write_text(text + "\n" if text else "", encoding="utf-8")
        done = subprocess.run([*shlex.split(editor), path])
        if done.returncode:
            raise KeeperError(f"{editor} ended with {done.returncode}", hint="nothing was changed")
        return path.read_text(encoding="utf-8", errors="replace")


def _set_aside(args: Namespace, keeper: Keeper, text: str) -> str:
    """Leave a text in the home, without secrets and for its owner alone; its path. The store may be busy, so it is
    not asked."""
    known = known_values(keeper.environ, read_dotenv(find_root(folder_of(args))))
    fd, path = tempfile.mkstemp(".md", "unsaved-note-", args.home)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(redact(storable(text), keeper.salt, known))
    return path


OWN = "write what every session is told as yours"
TARGET = argument("target", metavar="KIND", help=f"{KINDS}; or the ID of a note")
SHOWN = argument("target", nargs="?", default="", metavar="KIND", help=f"{KINDS}; or an ID; default: all")
TEXT = argument("text", nargs="*", metavar="TEXT", help="by default: what --file or stdin has")
FILE = argument("--file", default="", metavar="F", help="take the text from a file; `-`, or neither: stdin")
VERBS = {
    "list": Verb(_list, "the standing notes of this project", "memory-keeper note list",
            (argument("--kind", choices=STANDING, metavar="KIND", help=f"only these: {KINDS}"),)),
    "show": Verb(_show, "a note, those of a kind, or all, whole", "memory-keeper note show conventions",
            (SHOWN, argument("--all", action="store_true", help="every wording there was")), aliases=("get",)),
    "set": Verb(_set, "write the note of a kind, or give one another text",
            'memory-keeper note set conventions "Tests are run with make test."', (TARGET, TEXT, FILE)),
    "add": Verb(_add, "one more note of a kind, or a line to it",
            'memory-keeper note add conventions "Names are English."', (TARGET, TEXT, FILE)),
    "edit": Verb(_edit, "change a note in your editor, or to a text", "memory-keeper note edit conventions",
            (TARGET, argument("text", nargs="*", metavar="TEXT", help="by default: your editor is opened"), FILE)),
    "rm": Verb(_remove, "take a note away", "memory-keeper note rm conventions", (TARGET, YES, DRY_RUN)),
}  # fmt: skip
