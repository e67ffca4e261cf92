"""Find by a regular expression: every text in the scope is read, the newest first."""

from __future__ import annotations

import re

from memory_keeper.errors import KeeperError
from memory_keeper.model import Hit, Row, Scope
from memory_keeper.search.snippet import OFF, ON, WIDTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.keep.lookup import Lookup

PAGE = 200  # rows that are looked up at once


def find_pattern(store: Lookup, pattern: str, scope: Scope, limit: int) -> list[Hit]:
    """The newest rows whose text a regular expression matches; all match equally well."""
    from memory_keeper.search import scoped

    try:
        compiled = re.compile(pattern, re.I | re.M)
    except (re.error, RecursionError, OverflowError) as error:
        raise KeeperError(f"Not a regular expression: {error}", hint="without --regex any text is a query") from None
    found: list[Hit] = []
    for notes in (False, True):
        waiting: dict[int, str] = {}
        for key, text in store.scan(*_clause(scope, notes), notes=notes):
            if one := compiled.search(text):
                waiting[key] = _shown(text, one)
            if len(waiting) >= PAGE:
                found += _hits(scoped(store, scope)(store.rows(list(waiting))), waiting)
                waiting = {}
            if len(found) >= limit:
                break
        found += _hits(scoped(store, scope)(store.rows(list(waiting))), waiting)
    return sorted(found, key=lambda hit: -hit.at)[:limit]


def _hits(rows: list[Row], shown: dict[int, str]) -> list[Hit]:
    rows = sorted(rows, key=lambda row: -abs(row.key))
    return [
        Hit(row.id, row.level, row.kind, row.at, row.session, row.project, 1.0, shown[row.key], row.path)
        for row in rows
    ]


def _clause(scope: Scope, notes: bool) -> tuple[str, list[object]]:
    """The part of a scope that SQL can tell."""
    given: dict[str, object] = {}
    if scope.project is not None:
        given["project = ?"] = scope.project
    if scope.session:
        given["session = ?"] = scope.session
    if scope.kind:
        given["kind = ?"] = scope.kind
    if scope.since:
        given["at >= ?"] = scope.since
    if scope.until:
        given["at < ?"] = scope.until
    if notes and scope.level is not None:
        given["level = ?"] = scope.level
    nothing = (scope.level and not notes) or ((scope.tool or scope.role) and notes)
    return " and ".join(["0" if nothing else "text != ''", *given]), list(given.values())


def _shown(text: str, one: re.Match[str]) -> str:
    start, end = one.span()
    end = min(end, start + WIDTH)
    before, after = text[max(0, start - WIDTH // 4) : start], text[end : end + max(0, WIDTH - (end - start))]
    return " ".join(f"{before}{ON}{text[start:end]}{OFF}{after}".split())
