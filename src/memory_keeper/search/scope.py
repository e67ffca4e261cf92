"""Which tables a search asks, and which rows it lets through.

The index finds by tags, which two names might share, and by days, which a moment cuts through; so a row is looked at
again before it is let through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_keeper.model import Row, Scope
from memory_keeper.store.index import REPEATS

OWN_TOOL = "memory-keeper_keeper__"  # in the names of our tools, as the host calls them: who asks them is not found


def tables(scope: Scope) -> list[bool]:
    """Which tables are asked: False is events, True is notes."""
    if scope.level:
        return [True]
    if scope.tool or scope.role:
        return [False]
    return [False, True]


def scoped(scope: Scope, deep: bool = False) -> Callable[[Iterable[Row]], list[Row]]:
    """The rows that a scope lets through; `deep`: also what is left out otherwise."""
    kinds = scope.kinds

    def allowed(row: Row) -> bool:
        return (
            scope.holds(row)
            and (row.kind in kinds if kinds else deep or row.kind not in REPEATS)
            and (_of_tool(row, scope.tool) if scope.tool else OWN_TOOL not in row.tool)
            and (scope.level is None or row.level == scope.level)
        )

    return lambda rows: [row for row in rows if allowed(row)]


def _of_tool(row: Row, tool: str) -> bool:
    """Whether a row is a call of a tool; of a result only the index knows."""
    return row.tool.lower() == tool.lower() or row.kind == "result"
