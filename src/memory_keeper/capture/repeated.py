"""What the host writes again: after a compaction of ours the line that says so, and the messages that stay.

They stand behind the compaction's own line, each the child of the one before, and none is younger than it. What they
say happened before, and is kept; of these only the raw lines are.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_keeper.capture.claude_code import Line
from memory_keeper.model import Event, NamedTuple

OPENING = "Memory Keeper compacted this session"  # how the line begins that we have the host write
HOSTS = "This session is being continued from a previous conversation"  # and the message with a summary of the host's
KEPT = "kept"  # what a message that stays is called
REACH = 100  # events in which a compaction is looked for: more than that do not stay


class Behind(NamedTuple):
    """How far the lines behind a compaction have been read."""

    line: str = ""  # the last one; empty: there was no compaction of ours
    until: float = 0.0  # when the host wrote that it compacted
    ours: bool = False


def find_behind(last: Iterable[Event]) -> Behind:
    """How far the lines behind a compaction have been read, by the last events of their file, newest first.

    What came in between does no harm: it is younger than the compaction, and so is all that follows it.
    """
    line = ""
    for event in last:
        if event.agent:
            continue
        if event.kind == "compact":
            return Behind(line or _line(event), event.at, bool(line))
        if event.tool == KEPT and not line:
            line = _line(event)
    return Behind()


def without_repeated(line: Line, behind: Behind) -> tuple[Line, Behind]:
    """A line of the main thread, of which nothing but its place is left when it says again what was said before."""
    if not line.events or line.events[0].agent:
        return line, behind
    first = line.events[0]
    own = _line(first)
    if first.kind == "compact":
        return line, Behind(own, first.at)
    if not behind.line or line.parent != behind.line or first.at > behind.until:
        return line, (behind if not line.parent else Behind())  # lines without a parent stand anywhere
    if not behind.ours and not first.text.startswith(OPENING):
        return line, Behind()  # the host has compacted by itself
    events = [event._replace(kind="other", text="", tool=KEPT, path="", ref="", extra="") for event in line.events]
    return line._replace(events=events, usage=None), behind._replace(line=own, ours=True)


def _line(event: Event) -> str:
    """The host's own id of an event's line."""
    return event.id.rpartition(":")[0]
