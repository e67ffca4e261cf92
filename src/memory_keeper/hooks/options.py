"""The options of the doors that have no time for a parser, `hook` and `mcp`: a home, and a project."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memory_keeper.named import NamedTuple


class Given(NamedTuple):
    """What was said beside the name of the door."""

    words: tuple[str, ...]
    home: str = ""  # an absolute path; empty: the usual one
    project: str = ""  # a directory as it was given; empty: the one that a session or the host names


def read_options(words: Sequence[str]) -> Given:
    """The words, and the options among them; whatever else looks like an option stays a word."""
    given, rest = Given(()), iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name == "--home" and (value := value if equals else next(rest, "")):
            given = given._replace(home=_absolute(value))
        elif name == "--project" and (value := value if equals else next(rest, "")):
            given = given._replace(project=_absolute(value))
        else:
            given = given._replace(words=(*given.words, word))
    return given


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
