"""Any Markdown that somebody kept notes in: a note for each section, under the date that it or its file names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from memory_keeper.errors import KeeperError
from memory_keeper.imports import Entry, Where
from memory_keeper.imports.files import dated, is_ours, read_text, sections, walk

ENDINGS = (".md", ".markdown", ".txt")


def find(where: Where) -> list[str]:
    """The files that are given, and those in folders that are."""
    if not where.paths:
        raise KeeperError("Nobody can say which Markdown is a memory", hint="memory-keeper import markdown PATH")
    given = [os.path.abspath(path) for path in where.paths]
    found = [path for place in given for path in ([place] if os.path.isfile(place) else walk(place, "", ENDINGS))]
    return list(dict.fromkeys(found))


def read(
    where: Where, files: Sequence[str], complain: Callable[[str], None], progress: Callable[[int], None]
) -> Iterator[Entry]:
    """The sections of each file, behind the name of the file."""
    for path in files:
        try:
            text = read_text(path)
        except (OSError, ValueError) as error:
            complain(f"{path}: {error}")
            continue
        progress(len(text))
        if not is_ours(text):
            yield from sections(text, "section", path, dated(text, path))
