"""`search QUERY`: find something again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import Any

from memory_keeper.cli.search import OPTIONS, Option
from memory_keeper.cli.search import run as search

EXAMPLE = "memory-keeper search retry back-off"


def configure(parser: ArgumentParser) -> None:
    """What to look for, and where."""
    parser.add_argument(
        "query", nargs="+", metavar="QUERY", help='words, names, "a phrase", begin*; nothing in it needs care'
    )
    parser.set_defaults(words="query")
    for name, option in OPTIONS.items():
        if option.help and not option.metavar:
            parser.add_argument(name, action="store_true", help=option.help)
        elif option.help:
            parser.add_argument(
                name, type=_type(option), default=option.default, metavar=option.metavar, help=option.help
            )


def run(args: Namespace) -> int:
    """The best matches first."""
    return search({**vars(args), "query": " ".join(args.query)})


def _type(option: Option) -> Callable[[str], Any]:
    """A reader of values as a parser wants it."""

    def read(said: str) -> Any:
        try:
            return option.read(said) if said else option.default
        except ValueError as error:
            raise ArgumentTypeError(f"{said!r} is not {error}") from None

    return read
