"""`re`, whose patterns are compiled when they are first used: a process has hundreds of them and uses a few.

A module imports it as `re`. To compile a pattern takes about 0.3 ms, for which a user would wait at the first prompt.
"""

from __future__ import annotations

import re
from re import *  # noqa: F403

METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _Pattern:
    """A pattern that is compiled at its first use, and from then on gives away the methods of what that made."""

    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._given)
        self.__dict__.update({method: getattr(compiled, method) for method in METHODS})
        return getattr(compiled, name)


def compile(source: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]
    """As `re.compile`; a mistake in a pattern shows where it is first used."""
    return _Pattern(source, flags)  # type: ignore[return-value]
