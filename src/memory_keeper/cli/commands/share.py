"""`share`: what leaves this machine, chosen by hand and shown before it does; without a word, what is shared."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence

from memory_keeper.briefs.parts import STANDING
from memory_keeper.cli.arguments import DRY_RUN, YES, argument
from memory_keeper.cli.output import Entry, checked, confirm, print_entries, respond
from memory_keeper.cli.scope import folder_of, known_project, project_of
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person, outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import Item, Json, Note, origin
from memory_keeper.team.git import author_of
from memory_keeper.team.outbox import UNSHARED, as_it_leaves, is_shareable, kind_of, marks_of, outbox, share
from memory_keeper.terminal import as_called, format_time, say
from memory_keeper.text import clean, many, one_line

KINDS = ("rule", *STANDING)
NONE = "Nothing of this project is shared. memory-keeper share ID shares a rule, a note, a handoff or a session."
HINT = "`memory-keeper rule list`, `note list`, `handoff list` and `sessions` give ids"
LATER = "It leaves with the next `memory-keeper sync`."
ARGUMENTS = (
    argument("what", nargs="*", metavar="WHAT",
             help=f"ids of rules, notes, handoffs or sessions; or all of a kind: {', '.join(KINDS)}, handoff"),
    argument("--all", action="store_true", help="all rules and standing notes that this project has now"),
    argument("--to", default=None, metavar="NAME", help="whom a handoff is for"),
    YES,
    DRY_RUN,
)  # fmt: skip


def run(args: Namespace) -> int:
    """Share some, or list what is shared."""
    with Keeper(args.home) as keeper:
        if not (args.what or args.all):
            return _list(args, keeper)
        if not args.dry_run:
            outside_a_session(args.home, "share what is kept")
        project = project_of(keeper, args)
        if args.what and args.all:
            args.fail("ids and kinds, or --all, not both")
        return share_notes(args, keeper, chosen(keeper, project, args.what, args.all), args.to)


def _list(args: Namespace, keeper: Keeper) -> int:
    project = known_project(keeper, args)
    items = [item for item in outbox(keeper, project) if not item.gone] if project else []
    entries = (Entry(item.id, item.text, _about(item)) for item in items)
    return respond(args, [as_json(item) for item in items], lambda: print_entries(entries, NONE))


def _about(item: Item) -> str:
    return f"{item.kind}{f' for {item.to}' if item.to else ''}  {format_time(item.at)}"


def as_json(item: Item) -> Json:
    """A shared item, as a document says it."""
    return {name: getattr(item, name) for name in ("id", "kind", "text", "author", "at", "to")}


def share_notes(args: Namespace, keeper: Keeper, notes: Sequence[Note], whom: str | None = None) -> int:
    """Show what leaves, and share it once a person has said so."""
    to = checked(whom, "--to", 80, "memory-keeper handoff --to Ben") if whom is not None else ""
    if to and any(note.kind != "handoff" for note in notes):
        raise KeeperError("Only a handoff is for somebody", hint="leave out --to: the others get all of the rest")
    author = author_of(find_root(folder_of(args)), keeper.environ)
    with keeper.writing(30.0):
        leaves = [(note, as_it_leaves(keeper, note)) for note in notes]
    shown: list[Json] = [
        {"id": origin(note), "kind": kind_of(note), "text": text, "redacted": text != clean(note.text).strip()}
        for note, text in leaves
    ]
    if args.dry_run:
        document: Json = {"would_share": shown, "author": author}
        return respond(args, document, lambda: _show(shown, author, "Would be shared"))
    if not args.json:
        _show(shown, author, "To be shared")
    by_a_person(args, "share what is kept")
    confirm(args, f"Share {many(len(shown), 'item')} as {author}?", "--yes shares it without a question")
    done = {origin(note) for note in share(keeper, notes, author, to)}
    known = len(shown) - len(done)
    words = f"Shared: {many(len(done), 'item')}" + f", and {known} that were before" * bool(known) + f". {LATER}"
    document = {"shared": [one for one in shown if one["id"] in done], "known": known, "author": author, "to": to}
    return respond(args, document, words)


def _show(shown: Iterable[Json], author: str, heading: str) -> None:
    say(f"{heading}, as {clean(author)}:", style="bold")
    for one in shown:
        say(f"{one['id']}  {one['kind']}" + "  without its secrets" * one["redacted"])
        say(clean(one["text"]), "    ", "    ")


def chosen(keeper: Keeper, project: str, what: Sequence[str], everything: bool = False) -> list[Note]:
    """The notes that some words name, each once; KeeperError where one names none that can be shared."""
    found = list(_settled(keeper, project, KINDS)) if everything else []
    for word in what:
        found += _named(keeper, project, word)
    unique = {origin(note): note for note in found}
    if not unique:
        raise KeeperError("This project has no rule and no note to share", hint="memory-keeper rule add TEXT")
    return list(unique.values())


def _settled(keeper: Keeper, project: str, kinds: Sequence[str]) -> Iterable[Note]:
    return (note for kind in kinds for note in keeper.store.notes(project, 0, kind) if is_shareable(note))


def _named(keeper: Keeper, project: str, word: str) -> list[Note]:
    kind = word.removesuffix("s") if word.removesuffix("s") in KINDS else word
    if kind in KINDS:
        back = {first for first, marks in marks_of(keeper, project=project).items() if marks[-1].kind == UNSHARED}
        notes = [note for note in _settled(keeper, project, (kind,)) if origin(note) not in back]
    elif kind in ("handoff", "handoffs"):
        newest = keeper.store.handoff(project=project)
        notes = [newest] if newest else []
    else:
        notes = _by_id(keeper, project, word)
    if not notes:
        raise KeeperError(f"There is nothing to share that is called {clean(one_line(word, 80))}", hint=as_called(HINT))
    return notes


def _by_id(keeper: Keeper, project: str, word: str) -> list[Note]:
    note = keeper.store.wording(word)
    if not note and word:
        near = [*_settled(keeper, project, KINDS), *keeper.store.handoffs(project, 1000)]
        begin = (word, *(f"{kind}-{word}" for kind in ("rule", "note", "handoff")))
        found = [one for one in near if origin(one).startswith(begin)]
        if len(found) > 1:
            raise KeeperError(f"More than one is called {clean(word)}", hint="give more of the id")
        note = found[0] if found else None
    if note:
        return [note] if note.project == project and is_shareable(note) else []
    if not word or not keeper.store.sessions_called(word):
        raise KeeperError(f"There is nothing to share called {clean(one_line(word, 80))!r}", hint=as_called(HINT))
    session = session_of(keeper, word)
    notes = [keeper.store.wording(one.id) for one in keeper.store.notes_of(session) if one.level == 1]
    handoff = keeper.store.handoff(session)
    return [one for one in (*notes, handoff) if one and one.project == project and is_shareable(one)]
