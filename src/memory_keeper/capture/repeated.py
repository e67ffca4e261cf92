"""What the host writes again: after a compaction of ours the line that says so, and the messages that stay.

They stand behind the compaction's own line, each the child of the one before, and none is younger than it. What they
say happened before, and is kept; of these only the raw lines are.
"""

from __future__ import annotations

from memory_keeper.model import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.capture.claude_code import Line

OPENING = "Memory Keeper compacted this session"  # how the line begins that we have the host write
KEPT = "kept"  # what a message that stays is called


class Behind(NamedTuple):
    """How far the lines behind a compaction have been read."""

    line: str = ""  # the last one; empty: there was no compaction of ours
    until: float = 0.0  # when the host wrote that it compacted
    ours: bool = False


def without_repeated(line: Line, behind: Behind) -> tuple[Line, Behind]:
    """A line of the main thread, of which nothing but its place is left when it says again what was said before."""
    if not line.events or line.events[0].agent:
        return line, behind
    first = line.events[0]
    own = first.id.rpartition(":")[0]
    if first.kind == "compact":
        return line, Behind(own, first.at)
    if not behind.line or line.parent != behind.line or first.at > behind.until:
        return line, (behind if not line.parent else Behind())  # lines without a parent stand anywhere
    if not behind.ours and not first.text.startswith(OPENING):
        return line, Behind()  # the host has compacted by itself
    events = [event._replace(kind="other", text="", tool=KEPT, path="", ref="", extra="") for event in line.events]
    return line._replace(events=events, usage=None), behind._replace(line=own, ours=True)
