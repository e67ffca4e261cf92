"""Compaction of our own, mode `replace`: what the hooks module is answered, when the end of a turn is a good moment for
it, and what it saved.

The host hands its plugins a conversation that is about to be compacted. Where the user wants that, the module puts a
line and the last messages in its place, and the handoff comes with the start of the context that follows: no model is
asked. Whatever is in doubt is answered with nothing, and the host compacts itself.
"""

from __future__ import annotations

import posix

from memory_keeper import config
from memory_keeper.keep import spool
from memory_keeper.keep.context import read_context
from memory_keeper.model import NamedTuple
from memory_keeper.policy import shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Event, Json, Usage

PATIENCE = 1.5  # seconds for what is new and nobody has read
ASKED = 300  # characters of what the user wants the compaction to keep
BY_HAND = ("manual", "plugin")  # what sets a compaction off between two turns
LAST = 400  # events in which a turn's commit is looked for
SOON, AT_ONCE = 60.0, 10.0  # seconds from our answer to the line that says it was compacted; and to a summary's line
LARGEST = 4_000  # tokens of a handoff that a model asks for


def replaces(home: str, environ: dict[str, str], session: str) -> bool:
    """Whether compactions of this session are to be answered by us."""
    return bool(_settings(home, environ, session)["compaction.mode"] == "replace")


def replace(home: str, environ: dict[str, str], question: Json, session: str, at: float) -> Json:
    """What takes the place of a conversation that is about to be compacted; empty: the host is to do it itself."""
    from memory_keeper.app.handoff import save
    from memory_keeper.tell.kept import keep, read

    settings, trigger = _settings(home, environ, session), str(question.get("trigger") or "")
    if settings["compaction.mode"] != "replace":
        return {}
    if trigger == "precompute":  # a summary that nobody would read
        return {"skip": "Memory Keeper compacts this session without a model"}
    messages, model = read(question.get("messages")), str(question.get("model") or "")[:100]
    kept = keep(messages, shares(settings)[1], trigger not in BY_HAND, model)
    folder = read_context(home, session).folder
    if not kept or not save(home, session, folder, environ, PATIENCE):
        return {}
    tokens = question.get("tokens")
    size = tokens if isinstance(tokens, int) and 0 < tokens < 100_000_000 else 0
    spool.append(home, session, {"event": "Replaced", "at": at, "dir": folder, "source": trigger[:20], "tokens": size})
    return {"compact": {"text": describe(size, str(question.get("instructions") or "")), "keep": kept}}


def describe(tokens: int, instructions: str) -> str:
    """The line that the user and the model read at the head of a context that was compacted."""
    from memory_keeper.capture.repeated import OPENING
    from memory_keeper.text import clean, one_line

    size = f" ({tokens:,} tokens before)" if tokens else ""
    asked = one_line(clean(instructions), ASKED)
    wanted = f' The user wants kept: "{asked}".' if asked else ""
    return f"{OPENING}{size}: its handoff and these messages remain, `memory-keeper search` finds the rest.{wanted}"


def tell(home: str, environ: dict[str, str], session: str, budget: int) -> str:
    """The handoff of a session, up to now, for the model that runs in it."""
    from memory_keeper.app.handoff import save
    from memory_keeper.keeper import Keeper

    folder = read_context(home, session).folder
    if not save(home, session, folder, environ, PATIENCE):
        return ""
    budget = min(max(budget, 0) or config.DEFAULTS["tell.handoffBudget"], LARGEST)
    with Keeper(home, environ) as keeper:
        return keeper.brief("handoff", keeper.store.project_of(session), session, "compact", budget).text


def find_running(home: str, pid: int) -> str:
    """The session that runs in a process of the host: the one that something happened in last; empty for none."""
    found, latest = "", 0.0
    for name in spool.names(home):
        try:
            touched = posix.stat(f"{home}/spool/{name}.spool").st_mtime
        except OSError:
            continue
        if touched > latest and (context := read_context(home, name)).pid == pid and not context.ended:
            found, latest = name, touched
    return found


def _settings(home: str, environ: dict[str, str], session: str) -> Json:
    folder = read_context(home, session).folder
    return config.load(home, config.find_root(folder) if folder else "", environ)[0]


# --- between two turns -----------------------------------------------------------------------------------------------


def at_boundary(store: SqliteStore, session: str) -> bool:
    """Whether a task has just been done: nothing on the model's list is in progress, or the turn made a commit."""
    from memory_keeper.reduce.tasks import DOING, tasks

    doing = any(task.status == DOING for task in tasks(store.todo_events(session)))
    return not doing or _committed(store.stretch((session,), LAST))


def _committed(events: Sequence[Event]) -> bool:
    """Whether a commit was made since the last prompt."""
    answered: dict[str, bool] = {}
    for event in reversed(events):
        if event.kind == "prompt" and not event.agent:
            break
        if event.kind == "result":
            answered[event.ref] = not event.failed
        elif event.kind == "call" and answered.get(event.ref) and {"git", "commit"} <= {*event.text[:2000].split()}:
            return True
    return False


def size_after(store: SqliteStore, session: str, at: float) -> int:
    """The tokens of the first response after the compaction that we answered then; 0 when none is known."""
    return next((size for when, size in _sizes(store.usages(session)) if when > at), 0) if at else 0


def _sizes(usages: Sequence[Usage]) -> list[tuple[float, int]]:
    sizes = [(one.at, one.input + one.cache_read + one.cache_write) for one in usages if not one.agent]
    return [(at, size) for at, size in sizes if size]


# --- what it saved ---------------------------------------------------------------------------------------------------


class Saving(NamedTuple):
    """A compaction of ours, as later requests measured it."""

    session: str
    at: float
    before: int  # tokens of the last request before it
    after: int  # and of the first after it
    requests: int  # since then, until the context was compacted again

    @property
    def tokens(self) -> int:
        """What those requests did not have to carry."""
        return max(0, self.before - self.after) * self.requests


def saved(store: SqliteStore, project: str) -> list[Saving]:
    """The compactions of ours in a project that a request has followed, oldest first."""
    replaced: dict[str, list[float]] = {}
    for event in store.latest(project, "replaced", LAST):
        replaced.setdefault(event.session, []).append(event.at)
    ends, summed = store.compacted(project), store.latest(project, "summary", LAST, text=False)
    found: list[Saving] = []
    for session, answered in replaced.items():
        compacted = [event.at for event in ends if event.session == session and event.kind == "compact"]
        hosts = [event.at for event in summed if event.session == session]
        for one in _savings(session, compacted, _sizes(store.usages(session))):
            ours = any(-1 < one.at - at < SOON for at in answered)
            if ours and not any(abs(one.at - at) < AT_ONCE for at in hosts):
                found.append(one)
    return sorted(found, key=lambda one: one.at)


def _savings(session: str, compacted: Sequence[float], sizes: Sequence[tuple[float, int]]) -> Iterator[Saving]:
    for place, at in enumerate(compacted):
        until = compacted[place + 1] if place + 1 < len(compacted) else float("inf")
        before = [size for when, size in sizes if when <= at]
        after = [size for when, size in sizes if at < when <= until]
        if before and after:
            yield Saving(session, at, before[-1], after[0], len(after))
