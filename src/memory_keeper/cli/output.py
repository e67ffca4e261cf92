"""How commands answer: one JSON document or text for people; lists, tables, questions."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memory_keeper.errors import KeeperError
from memory_keeper.terminal import as_called, hint, paint, print_json, say, wrapped
from memory_keeper.text import clean, one_line


def respond(args: Namespace, value: Any, text: str | Callable[[], object] = "") -> int:
    """Print what a command came to: JSON where it was asked for, else text, or by the function that prints it."""
    if args.json:
        print_json(value)
    elif callable(text):
        text()
    elif text:
        say(as_called(text))
    return 0


def plain(value: Any) -> Any:
    """A value for `--json`, with what it is made of."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(part) for name, part in zip(value._fields, value, strict=True)}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


class Entry(NamedTuple):
    """One of a list, as people see it."""

    id: str
    text: str
    about: str = ""  # beside the id
    mark: str = ""  # in front of it
    style: str = "dim"
    beneath: str = ""  # another line


def print_entries(entries: Iterable[Entry], none: str = "") -> None:
    """A list for people; what is said instead of an empty one."""
    empty = True
    for entry in entries:
        empty = False
        about = f"  {paint(entry.about, entry.style)}" if entry.about else ""
        say(f"{paint(clean(entry.id), 'cyan')}{about}", entry.mark, "    ")
        say(one_line(clean(entry.text), 300), "    ", "    ")
        if entry.beneath:
            say(one_line(clean(entry.beneath), 160), "    ", "    ")
    if empty:
        say(as_called(none))


def print_table(rows: Sequence[Sequence[str]], bold: Sequence[int] = (0,)) -> None:
    """A table for people: the first column begins at the left, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for place, (name, *cells) in enumerate(rows):
        row = " ".join(
            [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
        )
        print(paint(row, "bold") if place in {number % len(rows) for number in bold} else row)


def print_ways(*ways: str) -> None:
    """The commands that lead on from here."""
    say(as_called(f"\nmemory-keeper {' | '.join(filter(None, ways))}"), style="dim")


def say_nothing_found(others: int, further: str) -> None:
    """That nothing was found, and where there is something, or may be."""
    if others:
        times = "once" if others == 1 else f"{others} times"
        say(f"nothing found in this project, but {times} in others: --all-projects shows them")
    else:
        print("nothing found")
        hint(further)


# --- questions -------------------------------------------------------------------------------------------------------


REDACTED = "\nWhat looked like a secret was left out."  # said beside what was kept


def confirm(args: Namespace, question: str, hint: str) -> None:
    """Go on only with `--yes`, or when the person at the terminal is sure."""
    if not args.yes and not is_sure(question):
        raise KeeperError("Nothing was changed", hint=hint)


def is_sure(question: str) -> bool:
    """Whether the person at the terminal says yes; nobody there says no, and so does who ends the input (Ctrl-D)."""
    if not sys.stdin or not sys.stdin.isatty():
        return False
    try:
        reply = input(wrapped(question + ("Go ahead? " if question.endswith("\n") else " ") + "[y/N]") + " ")
    except EOFError:
        print()  # what is said next begins a line
        return False
    return reply.strip().lower() in ("y", "yes")


def checked(text: str, noun: str, longest: int, example: str) -> str:
    """A text of one line that is to be kept."""
    text = " ".join(clean(text).split())
    if not text:
        raise KeeperError(f"{noun} needs words", hint=example)
    if len(text) > longest:
        raise KeeperError(f"{noun} has at most {longest:,} characters", hint="`memory-keeper note` takes long texts")
    return text


def the_one(found: Sequence[Any], noun: str, given: str, hint: str) -> Any:
    """The only one that was found."""
    if len(found) != 1:
        what = f"More than one {noun} is" if found else f"No {noun} is"
        raise KeeperError(f"{what} called {clean(given)}", hint=hint)
    return found[0]
