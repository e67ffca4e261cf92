"""What was called and what came of it: a call and its result, the calls of a tool or about a file, the turn that
something belongs to. Questions to any store."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.model import Event, Filter, Kept, NamedTuple
from memory_keeper.store.store import Store

SHOWN = 40_000  # characters of a text: what is looked at in the longest output
SOON = 2_000  # events within which a turn ends, or a commit comes
COMMIT = ("] ", "changed")  # what git prints has these near its beginning
HEAD = 4_000  # characters


def find_after(store: Store, session: str, agent: str, first: str, limit: int) -> list[Event]:
    """What one thread of a session did and said from an event on, in order; without what was printed by what did not
    fail."""
    begin = _key(store, first)
    which = Filter(
        sessions=(session,),
        agent=agent,
        kinds=("call", "result", "reply", "prompt"),
        after=begin - 1,
        limit=limit,
        text=SHOWN,
        printed=False,
    )
    return [kept.event for kept in store.find(which)] if begin else []


def call_of(store: Store, result: Event) -> Event | None:
    """The call that a result answers."""
    if not result.ref:
        return None
    which = Filter(sessions=(result.session,), refs=(result.ref,), kinds=("call", "todo"), text=SHOWN)
    calls = store.find(which._replace(before=_key(store, result.id) + 1, newest=True, limit=1))
    return next((call.event for call in calls), None)


def events_of(store: Store, ids: Sequence[str]) -> list[Event]:
    """Some events by their ids, in the order asked for."""
    found = {kept.event.id: kept.event for kept in store.find(Filter(ids=ids, text=SHOWN))}
    return [found[id] for id in ids if id in found]


def files_left(store: Store, session: str, until: str) -> list[Event]:
    """The results of a session that say what a file then held, up to an event; up to its result, if that is a call."""
    end = next(iter(store.find(Filter(ids=(until,), bare=True))), None)
    if not end:
        return []
    results = store.find(Filter(sessions=(session,), kinds=("result",), extra='{"file"', text=0))
    return [kept.event for kept in results if kept.key <= end.key or kept.event.ref == end.event.ref != ""]


def _key(store: Store, id: str) -> int:
    return next((kept.key for kept in store.find(Filter(ids=(id,), bare=True))), 0)


# --- calls ---


def calls_with(store: Store, project: str | None, tool: str, word: str, limit: int) -> list[Kept]:
    """The newest calls of a tool whose text has a word, the newest first."""
    which = Filter(kinds=("call",), tools=(tool,), words=(word,) if word else (), text=SHOWN, limit=limit)
    found = [
        call
        for name in ([project] if project is not None else store.projects())
        for call in store.find(which._replace(project=name, by_time=True, newest=True))
        if call.event.ref
    ]
    return sorted(found, key=lambda call: (call.event.at, call.key), reverse=True)[:limit]


def results_of(store: Store, calls: Sequence[int]) -> dict[int, Event]:
    """What came of some calls, by their keys; not of those that nothing came of."""
    return {key: result.event for key, result in store.results(calls, SHOWN).items()}


def tool_called(store: Store, project: str | None, name: str, limit: int) -> str:
    """The tool of this name, whatever the case of its letters, among the newest calls; empty when there is none."""
    newest = Filter(kinds=("call",), by_time=True, newest=True, limit=limit, bare=True)
    for one in [project] if project is not None else store.projects():
        for call in store.find(newest._replace(project=one)):
            if call.event.tool.lower() == name.lower():
                return call.event.tool
    return ""


def paths_called(store: Store, project: str | None, name: str, limit: int) -> list[tuple[str, str]]:
    """The files of this name that the newest calls were about, and their projects."""
    newest = Filter(kinds=("call",), by_time=True, newest=True, limit=limit, bare=True)
    return [
        (path, one)
        for one in ([project] if project is not None else store.projects())
        for path in dict.fromkeys(call.event.path for call in store.find(newest._replace(project=one)))
        if path == name or path.endswith("/" + name)
    ]


def calls_about(store: Store, project: str, paths: Sequence[str], limit: int) -> list[tuple[int, Event, bool]]:
    """The newest calls about some files, each with its key and whether it failed; oldest first."""
    return _with_outcome(store, Filter(project, kinds=("call",), paths=paths, limit=limit))


def shell_calls(store: Store, project: str, words: Sequence[str], limit: int) -> list[tuple[int, Event, bool]]:
    """The newest shell calls of a project whose text has all of some words, each with its key and whether it failed;
    oldest first."""
    return _with_outcome(store, Filter(project, kinds=("call",), tools=("Bash",), words=words, limit=limit))


def _with_outcome(store: Store, which: Filter) -> list[tuple[int, Event, bool]]:
    calls = [*store.find(which._replace(by_time=True, newest=True, text=SHOWN))]
    failed = failed_calls(store, [call.key for call in calls])
    return [(key, call, key in failed) for key, call in reversed(calls)]


def failed_calls(store: Store, calls: Sequence[int]) -> set[int]:
    """Those of some calls whose results say that they failed."""
    return {key for key, result in store.results(calls, 0).items() if result.event.failed}


# --- what stands around an event ---


def last_before(store: Store, session: str, key: int, kind: str, since: int = 0) -> Kept | None:
    """The last thing of a kind that a session's main thread said before one of its events."""
    which = Filter(sessions=(session,), kinds=(kind,), agent="", after=since, before=key, text=SHOWN)
    return next(iter(store.find(which._replace(newest=True, limit=1))), None)


def commits_after(store: Store, session: str, key: int, limit: int) -> list[Event]:
    """The first results of a session, soon after one of its events, that may be of a commit."""
    which = Filter(
        sessions=(session,), kinds=("result",), failed=False, words=COMMIT, after=key, before=key + SOON, text=SHOWN
    )
    found = (kept.event for kept in store.find(which))
    return [event for event in found if all(word in event.text[:HEAD] for word in COMMIT)][:limit]


class Turn(NamedTuple):
    """What came of one prompt in the main thread: where it begins and ends, by the keys of events."""

    session: str
    first: int  # its prompt; 0: there is none
    end: int  # the next prompt


def turn_of(store: Store, session: str, key: int) -> Turn:
    """The turn that an event belongs to."""
    prompts = Filter(sessions=(session,), kinds=("prompt",), agent="", limit=1, bare=True)
    begin = [*store.find(prompts._replace(after=key - SOON, before=key + 1, newest=True))]
    end = [*store.find(prompts._replace(after=key, before=key + SOON))]
    return Turn(session, begin[0].key if begin else 0, end[0].key if end else key + SOON)


def replies_in(store: Store, turn: Turn, limit: int) -> list[int]:
    """The keys of the last answers of a turn, newest first."""
    within = Filter(sessions=(turn.session,), kinds=("reply",), agent="", after=turn.first, before=turn.end, bare=True)
    return [reply.key for reply in store.find(within._replace(newest=True, limit=limit))]


def written_in(store: Store, turn: Turn, tools: Sequence[str]) -> set[str]:
    """The files that a turn wrote."""
    within = Filter(
        sessions=(turn.session,), kinds=("call",), tools=tools, after=turn.first, before=turn.end, bare=True
    )
    return {call.event.path for call in store.find(within) if call.event.path}


class Touch(NamedTuple):
    """What a session did with a file."""

    session: str
    path: str  # as the call has it
    wrote: bool
    last: int  # the key of the event that shows it: the last that wrote, or else the last


PASSED = 4  # calls that are looked at for each that may be about a file


def files_touched(
    store: Store, project: str, writes: Sequence[str], reads: Sequence[str], before: float, limit: int
) -> list[Touch]:
    """The files that the newest calls of a project were about, once for each session, the newest session first."""
    which = Filter(project, kinds=("call",), until=before or None, tools=(*writes, *reads), by_time=True, newest=True)
    found: dict[str, dict[str, Touch]] = {}
    # those about no file are passed over, but not without end
    for key, call in store.find(which._replace(newest_of=PASSED * limit, limit=limit, bare=True)):
        files = found.setdefault(call.session, {})
        known = files.get(call.path)
        if call.path and (known is None or (call.tool in writes and not known.wrote)):
            files[call.path] = Touch(call.session, call.path, call.tool in writes, key)
    return [touch for files in found.values() for touch in files.values()]
