"""A resource is a table of verbs; the first is meant where none is typed. What all resources share is here."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from memory_keeper.cli.commands import confirm
from memory_keeper.cli.parser import argument
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person
from memory_keeper.terminal import as_called, paint, print_json, say
from memory_keeper.text import clean, one_line

YES = argument("--yes", action="store_true", help="do not ask")
DRY_RUN = argument("--dry-run", action="store_true", help="only say what would change")
ID = argument("id", metavar="ID", help="its id, or the beginning of it")


class Entry(NamedTuple):
    """One of a list, as people see it."""

    id: str
    text: str
    about: str = ""  # beside the id
    mark: str = ""  # in front of it
    style: str = "dim"
    beneath: str = ""  # another line


def print_entries(entries: Iterable[Entry], none: str) -> None:
    """A list for people; what is said instead of an empty one."""
    empty = True
    for one in entries:
        empty = False
        about = f"  {paint(one.about, one.style)}" if one.about else ""
        say(f"{paint(clean(one.id), 'cyan')}{about}", one.mark, "    ")
        say(one_line(clean(one.text), 300), "    ", "    ")
        if one.beneath:
            say(one_line(clean(one.beneath), 160), "    ", "    ")
    if empty:
        say(as_called(none))


def checked(text: str, noun: str, longest: int, example: str) -> str:
    """A text of one line that is to be kept."""
    text = " ".join(clean(text).split())
    if not text:
        raise KeeperError(f"{noun} needs words", hint=example)
    if len(text) > longest:
        raise KeeperError(f"{noun} has at most {longest:,} characters", hint="`memory-keeper note` takes long texts")
    return text


def the_one(found: list[Any], noun: str, given: str, hint: str) -> Any:
    """The only one that was found."""
    if len(found) != 1:
        what = f"More than one {noun} is" if found else f"No {noun} is"
        raise KeeperError(f"{what} called {clean(given)}", hint=hint)
    return found[0]


def remove(args: Namespace, id: str, text: str, noun: str, would: Any, act: Callable[[], Any]) -> bool:
    """Take one away once a person has said so; whether it went. What it said stays in the store."""
    shown = one_line(clean(text), 120)
    if args.dry_run:
        print_json({"would_remove": would}) if args.json else print(f"would take away {id}: {shown}")
        return False
    by_a_person(args, f"take {noun} away")
    confirm(args, f"Take away: {shown}\n", "--yes takes it away without a question")
    act()
    return True


def say_removed(args: Namespace, id: str, where: str = "", **more: Any) -> int:
    """That it is gone, and how it can be read all the same."""
    if args.json:
        print_json({"id": id, **more, "removed": True})
    else:
        say(f"Taken away: {id}{where}. " + as_called(f"`memory-keeper show {id}` gives what it said."))
    return 0
