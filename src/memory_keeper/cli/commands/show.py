"""`show ID`: one event or note, whole; what a note covers, and the transcript's own lines behind it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs import short
from memory_keeper.briefs.projects import project_name
from memory_keeper.cli.arguments import argument, positive
from memory_keeper.cli.output import print_ways, respond
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.by_id import find_one
from memory_keeper.model import Event, Filter, Note, origin
from memory_keeper.notes.kept_note import lines_of, shown_at
from memory_keeper.provenance import MODEL, of_note, whose
from memory_keeper.terminal import format_time, paint, print_json, say, width
from memory_keeper.text import clean, one_line

PAGE = 50  # children
TOOK = ("model", "tokens_in", "tokens_out", "cost")  # what a model's wording says of itself
ARGUMENTS = (
    argument("id", metavar="ID", help="as a brief or a search gave it; a unique beginning is enough"),
    argument("--children", action="store_true", help="what a note covers"),
    argument("--page", type=positive, default=0, metavar="N", help=f"which {PAGE} of the children"),
    argument("--raw", action="store_true", help="the transcript's own line, as kept; of a note, all of them"),
)


def run(args: Namespace) -> int:
    """Zoom in on one thing."""
    with Keeper(args.home) as keeper:
        found = find_one(keeper, args.id)
        if isinstance(found, Note):
            return _raw_note(keeper, found, args.json) if args.raw else _show_note(keeper, found, args)
        if args.raw:
            return _raw(keeper, found.id, args.json)
        return _show_event(keeper, found, args)


def _show_event(keeper: Keeper, event: Event, args: Namespace) -> int:
    """An event, and the note that tells of it."""
    if args.children or args.page:
        ways = f"`memory-keeper timeline --around {short(event.id)}` gives what came before and after it"
        raise KeeperError(f"{short(event.id)} is an event: only a note covers others", hint=ways)
    note = keeper.store.cover(event.id)
    about = {**as_json(event), "note": note}

    def show() -> None:
        _say(keeper, about)
        say(clean(event.text))
        named = short(event.id)
        print_ways(f"timeline --around {named}", f"show {named} --raw", f"show {note}" if note else "")

    return respond(args, about, show)


def _say(keeper: Keeper, about: dict[str, Any]) -> None:
    """What is known of it, as people call things; `--json` has all of it as it is kept."""
    for name, value in about.items():
        if name != "text" and value:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            shown = (
                format_time(value)
                if name == "at"
                else project_name(keeper.store, value)
                if name == "project"
                else shown
            )
            say(f"{paint(name, 'dim')}: {clean(shown)}", rest="  ")
    print()


# --- notes ------------------------------------------------------------------------------------------------------------


def _show_note(keeper: Keeper, note: Note, args: Namespace) -> int:
    """A note in this wording, the others there are, and what it covers."""
    above = keeper.store.cover(origin(note))
    about = {**as_json(note), **({"note": above} if above else {})}
    children = [id for id in keeper.store.children(note.id) if not id.startswith("spent-")]
    force = keeper.store.wording(note.id)
    wordings = [
        {"id": item.id, "by": _by(item), "in_force": bool(force and item.id == force.id), "text": item.text}
        for item in keeper.store.wordings(note.id)
    ]
    listing = args.children or args.page

    def show() -> None:
        _say_note(keeper, note, about, len(children))
        if len(wordings) > 1:
            _say_wordings(wordings)
        if listing:
            _say_children(keeper, note, children, args.page or 1)
        if not wordings:
            say("It is in no note of the store yet: it is told as it stands here.", style="dim")
            return
        more = f"show {note.id} --children" if children and not listing else ""
        print_ways(f"timeline --around {note.id}", more, f"show {above}" if above else "")

    listed = {"children": children} if listing else {}
    return respond(args, {**about, "covers": len(children), "wordings": wordings, **listed}, show)


def _say_note(keeper: Keeper, note: Note, about: dict[str, Any], children: int) -> None:
    """What a note says, line by line, under what is known of it."""
    del about["extra"]
    carried = wire.read_object(note.extra)
    took = {name: carried.get(name) for name in TOOK}
    covers = f"{children} of the level beneath" if children else ""
    _say(keeper, {**about, "at": shown_at(note), "by": _by(note), **took, "covers": covers})
    for line, rests in lines_of(note):
        say(clean(line) + paint(_cited(rests), "dim"))
    if not note.text:
        print("(it says nothing)")


def _say_wordings(wordings: list[dict[str, Any]]) -> None:
    print(paint("\nwordings", "bold"))
    for wording in wordings:
        text = one_line(clean(wording["text"]), 80) or "(taken away)"
        say(
            f"{paint(wording['id'], 'cyan')}  {wording['by']}{', in force' if wording['in_force'] else ''}  {text}",
            rest="    ",
        )


def _by(note: Note) -> str:
    """Who worded it."""
    by = str(wire.read_object(note.extra).get("by") or "")
    return whose(note) if of_note(note) != MODEL and whose(note) else by


def _cited(ids: tuple[str, ...]) -> str:
    shown = ", ".join(short(id) for id in ids[:4])
    return f" [{shown}{', …' if len(ids) > 4 else ''}]" if ids else ""


def _say_children(keeper: Keeper, note: Note, ids: list[str], page: int) -> None:
    """One page of what a note covers; what the host and hooks noted without words is only counted."""
    silent = {
        kept.event.id for kept in keeper.store.find(Filter(covered_by=origin(note), text=1)) if not kept.event.text
    }
    worded = [id for id in ids if id not in silent]
    pages = max(1, -(-len(worded) // PAGE))
    if page > pages:
        raise KeeperError(f"There is no page {page}", hint=f"it has {pages} page{'s' * (pages > 1)}")
    wordless = f", {len(ids) - len(worded)} of them without words (--json lists all)" if len(worded) < len(ids) else ""
    print(paint(f"\ncovers {len(ids)}{wordless}", "bold"))
    for id in worded[(page - 1) * PAGE : page * PAGE]:
        item: Event | Note | None = keeper.store.wording(id) or keeper.store.event(id)
        if item:
            tool = f" {item.tool}" if isinstance(item, Event) and item.tool else ""
            print(f"{paint(short(id), 'cyan')}  {paint(format_time(item.at), 'dim')}  {item.kind}{tool}")
            print("    " + one_line(clean(item.text), min(120, width() - 4)))
    if len(worded) > page * PAGE:
        print(f"… {len(worded) - page * PAGE} more: --page {page + 1}")


# --- raw lines --------------------------------------------------------------------------------------------------------


def _raw(keeper: Keeper, id: str, as_document: bool) -> int:
    line = raw_line(keeper, id)
    if as_document:
        print_json({"id": id, "raw": line.decode("utf-8", "replace")})
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(line + b"\n")
    return 0


def _raw_note(keeper: Keeper, note: Note, as_document: bool) -> int:
    """The transcript's lines of all that a note covers, of whatever level."""
    try:
        if as_document:
            lines = [line.decode("utf-8", "replace") for line in keeper.raw_lines(_leaves(keeper, note.id))]
            print_json({"id": note.id, "raw": lines})
            return 0
        sys.stdout.flush()
        for line in keeper.raw_lines(_leaves(keeper, note.id)):
            sys.stdout.buffer.write(line + b"\n")
    except BrokenPipeError:
        raise  # who reads has enough
    except (OSError, ValueError) as error:
        raise _damaged(error) from None
    return 0


def _damaged(error: Exception) -> KeeperError:
    return KeeperError(f"The archive of this session is damaged: {error}", hint="run `memory-keeper doctor`")


def _leaves(keeper: Keeper, id: str) -> Iterator[str]:
    """The events beneath a note."""
    for child in keeper.store.children(id):
        if keeper.store.note(child):
            yield from _leaves(keeper, child)
        else:
            yield child


def raw_line(keeper: Keeper, id: str) -> bytes:
    """An event's line, out of the archive."""
    try:
        line = next(keeper.raw_lines([id]), b"")
    except (OSError, ValueError) as error:
        raise _damaged(error) from None
    if not line:
        raise KeeperError(f"{id} came from a hook, not from a transcript", hint="show it without --raw")
    return line


def as_json(value: Event | Note) -> dict[str, Any]:
    """A value for `--json`: what is kept as JSON is opened."""
    plain: dict[str, Any] = value._asdict()
    if plain.get("extra"):
        plain["extra"] = wire.loads(plain["extra"])
    return plain
