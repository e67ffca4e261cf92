"""Find by a regular expression: every text in the scope is read, the newest first."""

from __future__ import annotations

import re

from memory_keeper.errors import KeeperError
from memory_keeper.model import Hit, Row, Scope
from memory_keeper.search.query import words_in
from memory_keeper.search.scope import FILE, kinds_of, scoped, tables, tagged
from memory_keeper.search.snippet import OFF, ON, WIDTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memory_keeper.keep.matches import Matches

PAGE = 200  # rows that are looked up at once


def find_pattern(store: Matches, pattern: str, scope: Scope, limit: int, deep: bool = False) -> list[Hit]:
    """The newest rows whose text a regular expression matches; all match equally well."""
    compiled = read_pattern(pattern)
    through = let_through(store, scope, deep)
    found: list[Hit] = []
    for notes in tables(scope):
        waiting: dict[int, str] = {}
        here: list[Hit] = []
        for key, text in store.scan(*_clause(scope, notes), notes=notes):
            if (one := compiled.search(text)) and names_file(text, scope.file):
                waiting[key] = shown(text, one)
            if len(waiting) >= PAGE:
                here += _hits(through(store.rows(list(waiting))), waiting)
                waiting = {}
            if len(here) >= limit:
                break
        found += here + _hits(through(store.rows(list(waiting))), waiting)
    return sorted(found, key=lambda hit: -hit.at)[:limit]


def let_through(store: Matches, scope: Scope, deep: bool) -> Callable[[Iterable[Row]], list[Row]]:
    """The rows of a scope, also of those that nobody asked the index for: only that knows whose answer a result is."""
    through = scoped(scope, deep)
    if not scope.tool:
        return through
    of_tool = set(store.matching(tagged(scope, False), -1))
    return lambda rows: [row for row in through(rows) if row.key in of_tool]


def read_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression, in which case does not matter and every line begins anew."""
    try:
        return re.compile(pattern, re.I | re.M)
    except (re.error, RecursionError, OverflowError) as error:
        raise KeeperError(f"Not a regular expression: {error}", hint="without --regex any text is a query") from None


def names_file(text: str, file: str) -> bool:
    """Whether a text names a file, by the last parts of its path; every text does where none is given."""
    if not file:
        return True
    words = words_in(file.lower())[-FILE:]
    low = text.lower()
    if not all(word in low for word in words):
        return False
    return f" {' '.join(words)} " in f" {' '.join(words_in(low))} "


def shown(text: str, one: re.Match[str]) -> str:
    """The match, marked, with what stands around it."""
    start, end = one.span()
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


def _clause(scope: Scope, notes: bool) -> tuple[str, list[object]]:
    """The part of a scope that SQL can tell."""
    filters: list[tuple[str, list[object]]] = []
    if scope.project is not None:
        filters.append(("project = ?", [scope.project]))
    if scope.session:
        filters.append(("session = ?", [scope.session]))
    if kinds := kinds_of(scope):
        filters.append((f"kind in ({', '.join('?' * len(kinds))})", list(kinds)))
    if scope.since:
        filters.append(("at >= ?", [scope.since]))
    if scope.until:
        filters.append(("at < ?", [scope.until]))
    if notes and scope.level is not None:
        filters.append(("level = ?", [scope.level]))
    clause = " and ".join(["text != ''", *[clause for clause, _ in filters]])
    return clause, [value for _, given in filters for value in given]
