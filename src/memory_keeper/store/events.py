"""What sessions said, asked for and came to, and what became of their events. Questions to any store."""

from __future__ import annotations

from itertools import islice

from memory_keeper.model import APART, ELSEWHERE, Event, Filter, Kept, Note, origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.store.store import Store

# the kinds that hooks leave of a context
MARKED = ("start", "end", "window", "thread", "warned", "ask", "blocked", "ask-compact", "replaced", "scored")
OURS = (
    "told",
    "spent",
    "archived",
    "confirmed",
    "contradicted",
    "done",
    "shared",
    "unshared",
)  # and those that nothing in it said
COMMANDS = ("<command-", "<bash-input")  # how one begins that was typed
BACK, ALIKE = 20, 2_000  # prompts and answers in which one is looked for; characters that are compared
AT_ONCE = 500  # events that are asked for by their ids
FIRST = 50  # lines of a session: some go backwards


def events_of(store: Store, which: Filter) -> list[Event]:
    """The events that are asked for."""
    return [kept.event for kept in store.find(which)]


def once(store: Store, project: str, events: Iterable[Kept]) -> Iterator[Kept]:
    """The events of a project without those that a copy from elsewhere says again: the transcript itself is kept."""
    if not project.startswith(APART):
        yield from events
        return
    left = iter(events)
    while some := [*islice(left, AT_ONCE)]:
        known = {kept.event.id for kept in store.find(Filter(ids=[_copied(one.event) for one in some], bare=True))}
        yield from (one for one in some if _copied(one.event) not in known or not one.event.session.endswith(ELSEWHERE))


def _copied(event: Event) -> str:
    """What the event is called that one in a copy from elsewhere says again."""
    base, colon, block = event.id.rpartition(":")
    return base.removesuffix(ELSEWHERE) + colon + block


def session_events(store: Store, session: str) -> list[Event]:
    """A session in order: what it took over from the session it was forked from comes first."""
    return events_of(store, Filter(lines_of=session))


def newest_events(store: Store, sessions: Sequence[str], limit: int) -> list[Event]:
    """The newest events of some sessions, in order."""
    return events_of(store, Filter(sessions=sessions, newest=True, limit=limit))[::-1]


def newest_id(store: Store, session: str) -> str:
    """The id of the last thing that a transcript of a session says; empty when there is none."""
    ours = (*MARKED, *OURS, "other")
    found = events_of(store, Filter(sessions=(session,), no_kinds=ours, newest=True, limit=1, bare=True))
    return found[0].id if found else ""


def has_prompt(store: Store, session: str) -> bool:
    """Whether the user asked for anything in a session."""
    return bool(store.count(Filter(sessions=(session,), kinds=("prompt",), limit=1)))


def began_at(store: Store, session: str) -> float:
    """When the first thing happened that a session says of itself; 0 when nothing has."""
    return min((event.at for event in events_of(store, Filter(sessions=(session,), limit=FIRST, bare=True))), default=0)


def as_of(store: Store, handoff: Note) -> float:
    """When the last thing was said that a handoff knows of: one may be made of a session that ended long ago."""
    return min(handoff.at, store.last_moment(handoff.session) or handoff.at)


def marks(store: Store, session: str) -> list[str]:
    """What hooks left of a session's contexts, oldest first: their records as they were."""
    return [event.extra for event in events_of(store, Filter(sessions=(session,), kinds=MARKED, text=0))]


def says(store: Store, session: str, text: str) -> bool:
    """Whether a session's transcript has this prompt or answer near its end."""
    near = events_of(store, Filter(sessions=(session,), kinds=("prompt", "reply"), newest=True, limit=BACK))
    return any(text.strip()[:ALIKE] == event.text.strip()[:ALIKE] for event in near)


def boundaries(store: Store, project: str) -> list[Event]:
    """Where contexts of a project were compacted or cleared, or put into its archive by hand; oldest first."""
    named = {"compact": "compact_boundary", "end": "clear"}
    which = Filter(project, kinds=("compact", "end", "archived"), agent="", by_time=True)
    events = (kept.event for kept in once(store, project, store.find(which)))
    return [event for event in events if named.get(event.kind, event.tool) == event.tool]


def todo_events(store: Store, session: str) -> list[Event]:
    """The calls of a session's main thread that wrote the model's list of tasks, and their results, in order; none
    that failed."""
    calls = [*store.find(Filter(sessions=(session,), kinds=("todo",), agent=""))]
    results = store.results([call.key for call in calls])
    worked = [call for call in calls if call.key not in results or not results[call.key].event.failed]
    answers = [results[call.key] for call in worked if call.key in results]
    return [kept.event for kept in sorted([*worked, *answers], key=lambda kept: kept.key)]


def outcome(store: Store, id: str) -> tuple[Event, bool] | None:
    """What the model said last about a prompt, and whether it was done then or in the middle of something."""
    asked = next(iter(store.find(Filter(ids=(id,), bare=True))), None)
    if not asked:
        return None
    thread = Filter(sessions=(asked.event.session,), agent="", after=asked.key)
    # a turn begins with what the user asks, or with a command; what one printed is none
    begins = store.find(thread._replace(kinds=("prompt", "command"), text=20))
    end = next(
        (kept.key for kept in begins if kept.event.kind == "prompt" or kept.event.text.startswith(COMMANDS)), None
    )
    replies = store.find(thread._replace(before=end, kinds=("reply",), newest=True, limit=1))
    for reply in replies:
        later = thread._replace(after=reply.key, before=end, kinds=("call", "todo"), limit=1)
        return reply.event, not store.count(later)
    return None


# --- and notes ---


def covered_events(store: Store, id: str) -> list[Event]:
    """The events that a note of level 1 covers, in order, by the id of any of its wordings."""
    note = store.note(id)
    return events_of(store, Filter(covered_by=origin(note))) if note else []


def not_covered(store: Store, ids: Sequence[str]) -> set[str]:
    """Those of some events that no note covers."""
    return {event.id for event in events_of(store, Filter(ids=ids, covered=False, bare=True))}


def open_events(store: Store, session: str, project: str, text: bool = True) -> list[Event]:
    """The events of a session that no note covers, in order; with their texts, which may be long, or without."""
    return events_of(store, Filter(project, (session,), covered=False, bare=not text))


def marks_on(store: Store, project: str, kind: str) -> list[Event]:
    """What became of a project's notes, of one kind, the oldest first."""
    return events_of(store, Filter(project, kinds=(kind,), by_time=True))


def model_calls(store: Store, since: float = 0.0, limit: int = -1) -> list[Event]:
    """What models were asked for notes, in all projects, the newest first."""
    return events_of(store, Filter(kinds=("spent",), since=since, by_time=True, newest=True, limit=limit))
