"""Which session a fork was made of: the host does not say."""

from __future__ import annotations

import posix

from memory_keeper import wire
from memory_keeper.capture.tail import open_regular
from memory_keeper.keeper import Keeper
from memory_keeper.request import Call

END, LATELY = 1 << 20, 12  # bytes of a fork's transcript, and sessions, that are looked at to know whose it is
NEARLY = 2.5  # seconds


def find_origin(keeper: Keeper, call: Call, project: str, at: float) -> str:
    """The session that a fork was made of; empty when nothing tells."""
    return _by_lines(keeper, call.transcript, call.session) or _by_response(keeper, call, project, at)


def _by_lines(keeper: Keeper, transcript: str, fork: str) -> str:
    """By its transcript: that begins with its origin's lines, which may themselves begin with another one's, so that
    the last of them tells. There is none before its first prompt was taken."""
    fd = open_regular(transcript) if transcript else None
    if fd is None:
        return ""
    try:
        data = posix.pread(fd, END, max(0, posix.fstat(fd).st_size - END))
    finally:
        posix.close(fd)
    for line in reversed(data.split(b"\n")):
        uuid = wire.read_object(line.decode("utf-8", "replace")).get("uuid") if b'"uuid"' in line else None
        event = keeper.store.event(f"{uuid}:0") if isinstance(uuid, str) else None
        if event and event.session != fork:
            return event.session
    return ""


def _by_response(keeper: Keeper, call: Call, project: str, at: float) -> str:
    """By how long ago the last response came, to the second, and what it left in the context."""
    if call.quiet < 0:
        return ""
    sources = keeper.store.recent_sources(project, LATELY, agents=False)
    sessions = dict.fromkeys(source.session for source in sources if source.session != call.session)
    last = {session: usage for session in sessions if (usage := keeper.store.last_usage(session))}
    found = [session for session, usage in last.items() if abs(at - call.quiet - usage.at) < NEARLY]
    same = [session for session in found if last[session].context + last[session].output == call.tokens]
    return found[0] if len(found) == 1 else same[0] if len(same) == 1 else ""
