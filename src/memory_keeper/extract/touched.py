"""The files of some calls, and how often each was changed and read. Hooks load this."""

from __future__ import annotations

from memory_keeper.model import WRITES, Event, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Touched(NamedTuple):
    """A file and what was done to it."""

    path: str
    changes: int
    reads: int
    cite: str  # the newest event about it


def touched(calls: Sequence[Event]) -> list[Touched]:
    """The files of some calls, newest call first; changed files before files that were only read."""
    found: dict[str, Touched] = {}
    for call in calls:
        if call.path and not call.path.endswith("/"):
            seen = found.get(call.path) or Touched(call.path, 0, 0, call.id)
            wrote = call.tool in WRITES
            found[call.path] = seen._replace(changes=seen.changes + wrote, reads=seen.reads + (call.tool == "Read"))
    files = [one for one in found.values() if one.changes or one.reads]
    return [one for one in files if one.changes] + [one for one in files if not one.changes]
