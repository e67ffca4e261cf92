"""Find by a regular expression: every text in the scope is read, the newest first."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterable
from time import monotonic

from memory_keeper.errors import KeeperError
from memory_keeper.model import Hit, Row, Scope
from memory_keeper.search.scope import scoped, tables
from memory_keeper.search.snippet import OFF, ON, WIDTH
from memory_keeper.store.index import file_words, words_in
from memory_keeper.store.store import Store

PAGE = 200  # rows that are looked up at once
LONGEST, SLOW = 5.0, 0.05  # seconds for all the texts that take long, and what is long


def find_pattern(store: Store, pattern: str, scope: Scope, limit: int, deep: bool = False) -> list[Hit]:
    """The newest rows whose text a regular expression matches; all match equally well."""
    compiled = read_pattern(pattern)
    through = let_through(store, scope, deep)
    found: list[Hit] = []
    for notes in tables(scope):
        waiting: dict[int, str] = {}
        here: list[Hit] = []
        for key, text in store.scan(scope, notes):
            if (match := compiled.search(text)) and names_file(text, scope.file):
                waiting[key] = shown(text, match)
            if len(waiting) >= PAGE:
                here += _hits(through(store.rows(list(waiting))), waiting)
                waiting = {}
            if len(here) >= limit:
                break
        found += here + _hits(through(store.rows(list(waiting))), waiting)
    return sorted(found, key=lambda hit: -hit.at)[:limit]


def let_through(store: Store, scope: Scope, deep: bool) -> Callable[[Iterable[Row]], list[Row]]:
    """The rows of a scope, also of those that nobody asked the index for: only that knows whose answer a result is."""
    through = scoped(scope, deep)
    if not scope.tool:
        return through
    of_tool = set(store.matching((), scope._replace(file=""), -1, deep=True))
    return lambda rows: [row for row in through(rows) if row.key in of_tool]


class Pattern:
    """A regular expression that gives up: there are some that a short text keeps busy for years."""

    def __init__(self, compiled: re.Pattern[str], left: float = LONGEST) -> None:
        self._compiled, self._left = compiled, left

    def search(self, text: str) -> re.Match[str] | None:
        """The first match; KeeperError once texts that take long have used up the time."""
        if threading.current_thread() is not threading.main_thread():  # where no signal interrupts
            return self._compiled.search(text)
        begin, before = monotonic(), signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, self._left)
        try:
            return self._compiled.search(text)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if (took := monotonic() - begin) > SLOW:
                self._left = max(self._left - took, SLOW)


def _give_up(*_: object) -> None:
    hint = "something repeated within something repeated, as in (a+)+, is tried in every way there is"
    raise KeeperError("This regular expression takes too long", hint=hint)


def read_pattern(pattern: str) -> Pattern:
    """A regular expression, in which case does not matter and every line begins anew."""
    try:
        return Pattern(re.compile(pattern, re.I | re.M))
    except (re.error, RecursionError, OverflowError) as error:
        raise KeeperError(f"Not a regular expression: {error}", hint="without --regex any text is a query") from None


def names_file(text: str, file: str) -> bool:
    """Whether a text names a file, by the last parts of its path; every text does where none is given."""
    if not file:
        return True
    words = file_words(file.lower())
    low = text.lower()
    if not all(word in low for word in words):
        return False
    return f" {' '.join(words)} " in f" {' '.join(words_in(low))} "


def shown(text: str, found: re.Match[str]) -> str:
    """The match, marked, with what stands around it."""
    start, end = found.span()
    end = min(end, start + WIDTH)
    before, match = text[max(0, start - WIDTH // 4) : start], text[start:end]
    after = text[end : end + max(0, WIDTH - (end - start))]
    before, match, after = (part.replace(ON, " ").replace(OFF, " ") for part in (before, match, after))
    return " ".join(f"{before}{ON}{match}{OFF}{after}".split())


def _hits(rows: Iterable[Row], texts: dict[int, str]) -> list[Hit]:
    return [
        Hit(row.id, row.level, row.kind, row.at, row.session, row.project, 1.0, texts[row.key], row.path)
        for row in sorted(rows, key=lambda row: -abs(row.key))
    ]
