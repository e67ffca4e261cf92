"""What the sessions of a project did, as far as its tasks ask. Questions to any store, without the long texts."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.model import Event, Filter, NamedTuple, Phrase, Scope
from memory_keeper.store.calls import failed_calls
from memory_keeper.store.store import Store

COMMAND, SAID = 400, 4_000  # characters of a command line; of what went wrong, or the model said
REPLIES, BACK = 5, 400  # answers before an event, and rows among which they are looked for
COMMITS = 20_000  # the newest of a project


class Step(NamedTuple):
    """A call that wrote a file or ran a command."""

    at: float
    seq: int
    session: str
    path: str
    tool: str
    text: str  # the beginning of the command
    wrong: str  # and of what was printed when it failed
    agent: str = ""  # the subagent that did it; empty: the main thread


def lists(store: Store, project: str) -> dict[int, Event]:
    """The calls that wrote the lists of tasks of a project's main threads, by their keys, in order; none that
    failed. What a list says is in `extra`."""
    return _that_worked(store, Filter(project, kinds=("todo",), agent="", text=0))


def taken_over(store: Store, session: str) -> list[Event]:
    """The same of one session, with those that it took over from the session it was forked from."""
    return [*_that_worked(store, Filter(lines_of=session, kinds=("todo",), agent="", text=0)).values()]


def _that_worked(store: Store, which: Filter) -> dict[int, Event]:
    calls = dict(store.find(which))
    failed = failed_calls(store, [*calls])
    return {key: call for key, call in calls.items() if key not in failed}


def writes(store: Store, project: str, tools: Sequence[str]) -> dict[str, list[Step]]:
    """The calls of a project that changed a file, by these tools, by session, in order."""
    found: dict[str, list[Step]] = {}
    for key, call in _that_worked(store, Filter(project, kinds=("call",), tools=tools, bare=True)).items():
        if call.path:
            step = Step(call.at, key, call.session, call.path, call.tool, "", "", call.agent)
            found.setdefault(call.session, []).append(step)
    return found


def steps(store: Store, session: str, tools: Sequence[str]) -> list[Step]:
    """What a session ran, and the calls of these tools, in order, with what went wrong."""
    calls = [*store.find(Filter(sessions=(session,), kinds=("call",), tools=("Bash", *tools), text=COMMAND))]
    failed = failed_calls(store, [call.key for call in calls])
    wrong = {key: result.event.text for key, result in store.results([*failed], SAID).items()}
    return [
        Step(
            call.at,
            key,
            call.session,
            call.path,
            call.tool,
            call.text if call.tool == "Bash" else "",
            wrong.get(key, ""),
            call.agent,
        )
        for key, call in calls
    ]


def commits(store: Store, project: str) -> list[tuple[int, Event]]:
    """What the commands of a project printed that may have made commits and did not fail, with the keys of their
    calls, in order."""
    if not store.indexed:
        return []
    wanted = [[Phrase(word, "text")] for word in ("git", "commit")]
    calls = sorted(store.matching(wanted, Scope(project, kind="call", tool="Bash"), COMMITS))
    results = store.results(calls, SAID)
    return [(key, results[key].event) for key in calls if key in results and not results[key].event.failed]


class Asked(NamedTuple):
    """A prompt of the user's."""

    seq: int
    at: float
    commits: bool  # it speaks of committing


def prompts(store: Store, project: str) -> dict[str, list[Asked]]:
    """The user's prompts, by session, in order."""
    found: dict[str, list[Asked]] = {}
    for key, prompt in store.find(Filter(project, kinds=("prompt",), agent="", text=SAID)):
        found.setdefault(prompt.session, []).append(Asked(key, prompt.at, "commit" in prompt.text.lower()))
    return found


def replies_between(store: Store, session: str, after: int, before: int, first: bool = False) -> list[str]:
    """What the main thread of a session said between two of its events: last, the newest first; or first."""
    near = (after, min(before, after + BACK)) if first else (max(after, before - BACK), before)
    which = Filter(sessions=(session,), kinds=("reply",), agent="", after=near[0], before=near[1], text=SAID)
    return [reply.event.text for reply in store.find(which._replace(newest=not first, limit=REPLIES))]


def new_tokens(store: Store, session: str) -> list[tuple[float, int]]:
    """When each response of a session came, its subagents' too, and its tokens that were new: all but those that the
    host had in its cache."""
    return [(usage.at, usage.input + usage.cache_write + usage.output) for usage in store.usages(session)]
