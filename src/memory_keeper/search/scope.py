"""Where a search looks: what a scope means to the index, and which rows it lets through.

The index finds by tags, which two names might share, and by days, which a moment cuts through; so a row is looked at
again before it is let through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import time

from memory_keeper.model import DAY, ROLES, Row, Scope
from memory_keeper.search.query import words_in
from memory_keeper.store.index import AGAIN, REPEATS, span, tag

OWN_TOOL = "memory-keeper_keeper__"  # in the names of our tools, as the host calls them: who asks them is not found
FILE = 4  # last words of a path that a text must have in a row


def tables(scope: Scope) -> list[bool]:
    """Which tables are asked: False is events, True is notes."""
    if scope.level:
        return [True]
    if scope.tool or scope.role:
        return [False]
    return [False, True]


def tagged(scope: Scope, notes: bool) -> str:
    """The tags of a scope, as an expression; empty when there are none."""
    found: list[str] = []
    if scope.project is not None:
        found.append(tag("p", scope.project))
    if scope.session:
        found.append(tag("s", scope.session))
    if kinds := kinds_of(scope):
        found.append(_either(tag("k", kind) for kind in kinds))
    if scope.tool:
        found.append(tag("t", scope.tool.lower()))
    if notes and scope.level is not None:
        found.append(f"l{scope.level}")
    if scope.since or scope.until:
        found.append(_either(span(scope.since, scope.until or time() + DAY)) or "never")
    return f"tags : ({' AND '.join(found)})" if found else ""


def within(scope: Scope, notes: bool, deep: bool = False) -> str:
    """What an expression ends with that is to stay inside a scope; `deep`: with what is left out otherwise."""
    tags = tagged(scope, notes)
    words = " ".join(words_in(scope.file)[-FILE:])
    found = (f" AND {tags}" if tags else "") + (f' AND text : "{words}"' if words else "")
    return found if deep or kinds_of(scope) else f"{found} NOT tags : {AGAIN}"


def kinds_of(scope: Scope) -> tuple[str, ...]:
    """The kinds that a scope names."""
    return (scope.kind,) if scope.kind else ROLES.get(scope.role, ())


def scoped(scope: Scope, deep: bool = False) -> Callable[[Iterable[Row]], list[Row]]:
    """The rows that a scope lets through; `deep`: also what is left out otherwise."""
    kinds = kinds_of(scope)

    def allowed(row: Row) -> bool:
        return (
            (scope.project is None or row.project == scope.project)
            and (not scope.session or row.session == scope.session)
            and (row.kind in kinds if kinds else deep or row.kind not in REPEATS)
            and (_of_tool(row, scope.tool) if scope.tool else OWN_TOOL not in row.tool)
            and (scope.level is None or row.level == scope.level)
            and (not scope.since or row.at >= scope.since)
            and (not scope.until or row.at < scope.until)
        )

    return lambda rows: [row for row in rows if allowed(row)]


def _of_tool(row: Row, tool: str) -> bool:
    """Whether a row is a call of a tool; of a result only the index knows."""
    return row.tool.lower() == tool.lower() or row.kind == "result"


def _either(names: Iterable[str]) -> str:
    said = " OR ".join(names)
    return f"({said})" if said else ""
