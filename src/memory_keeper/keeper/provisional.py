"""What hooks were told and no transcript has yet: the end of a session that was killed, or goes on this moment."""

from __future__ import annotations

from memory_keeper.capture.payload import OWN_COMMAND
from memory_keeper.model import Event
from memory_keeper.store import spool
from memory_keeper.store.events import says
from memory_keeper.store.home import about, read_salt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.store.store import Store

PREFIX = "spool-"  # how the ids of these events begin


def find_all(home: str, project: str, store: Store) -> list[Event]:
    """All that a project has of it, newest first."""
    found = []
    for session in spool.names(home):
        if store.project_of(session) == project:
            found += unmoved(home, session, store)
    return sorted(found, key=lambda event: event.at, reverse=True)


def find_one(home: str, id: str, store: Store) -> Event | None:
    """One of these events by its id, with or without its block."""
    session = id.removeprefix(PREFIX).rpartition("-")[0]
    if session not in spool.names(home):
        return store.event(id)
    return next((event for event in unmoved(home, session, store) if event.id in (id, f"{id}:0")), None)


def unmoved(home: str, session: str, store: Store) -> list[Event]:
    """The last prompt and answer in a spool, unless the transcript has gone past them."""
    data, found = spool.read(home, session), []
    seen = store.last_moment(session) if data else 0.0
    for event, kind in (("UserPromptSubmit", "prompt"), ("Stop", "reply")) if data else ():
        record = spool.last(data, event) or {}
        text, at = _without_forgotten(home, str(record.get("text") or "")), spool.time_of(record)
        if text.startswith(OWN_COMMAND):
            return []  # what came before it is in the transcript, and what came of it is not worth telling
        if text and at > seen and not says(store, session, text):
            found.append(Event(f"{PREFIX}{session}-{int(at * 1000)}:0", at, kind, session, "", text))
    return sorted(found, key=lambda event: event.at, reverse=True)


def _without_forgotten(home: str, text: str) -> str:
    """A text without the words that are not to come back."""
    if not text or not about(home + "/forgotten").st_size:
        return text
    from memory_keeper.capture.forgotten import Forgotten

    return Forgotten(home, read_salt(home)).mask(text)
