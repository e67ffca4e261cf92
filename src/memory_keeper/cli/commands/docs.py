"""`docs`: the pages about Memory Keeper, where there is no browser and no checkout."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

from memory_keeper.cli.arguments import argument
from memory_keeper.cli.output import respond
from memory_keeper.errors import KeeperError
from memory_keeper.host.registration import origin
from memory_keeper.terminal import as_called, near, paint, say

COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
ARGUMENTS = (argument("page", nargs="?", default="", metavar="PAGE", help="its name; default: the list of all"),)


class Page(NamedTuple):
    """A page of the documentation."""

    name: str  # `how-to/rules`
    title: str
    path: str


def run(args: Namespace) -> int:
    """The list of pages, or one of them."""
    pages = list(_pages(os.path.join(origin(), "docs")))
    if not args.page:
        return respond(args, [page._asdict() for page in pages], lambda: _list(pages))
    page = _named(pages, args.page)
    text = COMMENT.sub("", _read(page.path))
    return respond(args, {**page._asdict(), "text": text}, lambda: say(text.rstrip("\n")))


def _pages(folder: str) -> Iterator[Page]:
    """The tutorial and the glossary, then what the folders have. Decisions and examples are for who reads the code."""
    for group in ("", "how-to", "explanation", "reference"):
        above = os.path.join(folder, group)
        for file in sorted(os.listdir(above)) if os.path.isdir(above) else ():
            if file.endswith(".md") and (group or file != "index.md"):
                path = os.path.join(above, file)
                title = next((line[2:] for line in _read(path).splitlines() if line.startswith("# ")), file)
                yield Page(os.path.join(group, file.removesuffix(".md")), title, path)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _named(pages: list[Page], given: str) -> Page:
    """The page of a name, with or without its folder and ending."""
    wanted = given.removeprefix("docs/").partition("#")[0].removesuffix(".md")
    for page in pages:
        if wanted in (page.name, os.path.basename(page.name)):
            return page
    names = [name for page in pages for name in (page.name, os.path.basename(page.name))]
    raise KeeperError(f"There is no page {given}", hint=near(wanted, names, "`memory-keeper docs` lists them"))


def _list(pages: list[Page]) -> None:
    room = max((len(page.name) for page in pages), default=0)
    for page in pages:
        say(f"{paint(page.name.ljust(room), 'cyan')}  {page.title}", rest=" " * (room + 2))
    say(as_called("\nmemory-keeper docs tutorial"), style="dim")
