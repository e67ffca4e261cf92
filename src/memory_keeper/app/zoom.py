"""One thing that was kept, by its id or the beginning of it, and the lines of the transcript behind it."""

from __future__ import annotations

from memory_keeper.errors import KeeperError
from memory_keeper.keep import archive, moments
from memory_keeper.model import Event, Member, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memory_keeper.keeper import Keeper


def called(keeper: Keeper, id: str) -> Event | Note | None:
    """The note or the event of that id, in that wording; None when nothing, or more than one thing, is called so."""
    note = keeper.store.note(id)
    if note:
        return note
    event = keeper.event(id)
    return event or keeper.store.note(moments.note_called(keeper.store.db, id))


def raw_lines(keeper: Keeper, ids: Iterable[str]) -> Iterator[bytes]:
    """The transcript's own lines of some events, as kept, each once; none for what came from a hook."""
    known: tuple[tuple[int, Member] | None, bytes] = None, b""
    seen: set[tuple[int, int, int]] = set()
    for id in ids:
        found = keeper.store.line(id)
        if not found:
            continue
        source, member, offset = found
        place = source.seq, member.offset, offset
        if place in seen:
            continue  # a line may have several blocks
        seen.add(place)
        if known[0] != (source.seq, member):
            known = (source.seq, member), archive.read(keeper.home, source, member)
        yield known[1][offset : known[1].index(b"\n", offset)]


def session_of(keeper: Keeper, given: str) -> str:
    """The session a user named, by all of its id or by the beginning that every screen shows."""
    found = keeper.store.sessions_called(given) if given else []
    if given and len(found) != 1:
        what = "No session is" if not found else "More than one session is"
        raise KeeperError(f"{what} called {given}", hint="`memory-keeper status` lists them")
    return found[0] if found else ""
