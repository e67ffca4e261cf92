"""What follows when a turn is over and nothing runs any more: a clear or a compaction is asked for, when one is due.

To ask is to leave a record. Whoever can run or type `/clear` in that very session answers it: the hooks module,
`memory-keeper run`, or `memory-keeper watch`. A compaction only the hooks module can answer.
"""

from __future__ import annotations

from time import monotonic, sleep, time

from memory_keeper.capture.tail import LAG
from memory_keeper.errors import Busy
from memory_keeper.hooks.actions.fullness import Fullness, measure
from memory_keeper.policy import clear_is_due, compaction_is_due
from memory_keeper.request import Gauge
from memory_keeper.store import spool
from memory_keeper.store.context import read_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.keeper import Keeper
    from memory_keeper.request import Context

TTL = 120.0  # seconds for which somebody may answer
PAUSE = 600.0  # seconds between two clears that nobody but us wanted
PATIENCE, ATTEMPTS = 5.0, 5


def settle(home: str, environ: dict[str, str], session: str, window: int = 0, tokens: int = 0, model: str = "") -> str:
    """What is to be run in this session now: `clear`, `compact` or nothing. The hooks module knows what the window has
    and holds."""
    context, now = read_context(home, session), time()
    if window and (window, True) != (context.window, context.module):
        fields = {"window": window, "model": model, "by": "module"}
        spool.append(home, session, spool.make("Window", spool.new_call(), now, context.folder, **fields))
    fullness = measure(home, session, context.transcript, context.folder, environ)
    if tokens:  # at the end of a turn its last response is seldom on the disk
        fullness = fullness._replace(gauge=(fullness.gauge or Gauge(0, model))._replace(tokens=tokens))
    if window and _is_wanted(fullness, now):
        fullness = fullness._replace(context=_stopped(home, session, fullness.context))
    context = fullness.context
    if may_be_answered(context, now):
        return "clear"
    if window and fullness.settings["compaction.mode"] == "replace":
        return "compact" if _compacts(home, session, environ, fullness, now) else ""
    due = is_idle(context) and _is_due(fullness, now)
    if not due or not _saved(home, session, context.folder, environ):
        return ""
    ask(home, session, now, "due")
    return "clear"


def _is_wanted(fullness: Fullness, now: float) -> bool:
    """Whether something is to be run once the session is idle."""
    due = compaction_is_due(fullness.tokens, 0, fullness.settings, boundary=True)
    return bool(fullness.context.asked) or due or _is_due(fullness, now)


def _stopped(home: str, session: str, context: Context) -> Context:
    """A context whose turn is over for the module, as soon as it is so for the server too, which may hear it later."""
    for _ in range(ATTEMPTS):
        if context.ended or context.stopped >= context.prompted:
            break
        sleep(LAG)
        context = read_context(home, session)
    return context


def settle_after(keeper: Keeper, session: str) -> None:
    """What is due at the end of a turn, once everything is read."""
    settle(keeper.home, keeper.environ, session)


def _compacts(home: str, session: str, environ: dict[str, str], fullness: Fullness, now: float) -> bool:
    """Whether this session is to be compacted now; then its handoff is made ready: the compaction only has to read
    it."""
    context = fullness.context
    may_be = compaction_is_due(fullness.tokens, 0, fullness.settings, boundary=True)
    if not may_be or not is_idle(context) or now - context.compacting < TTL:
        return False
    sleep(LAG)  # the turn's last lines are still under way
    left, boundary = _look(home, session, environ, context)
    if not compaction_is_due(fullness.tokens, left, fullness.settings, boundary):
        return False
    if not _saved(home, session, context.folder, environ):
        return False
    record = spool.make("AskCompact", spool.new_call(), now, context.folder, tokens=fullness.tokens)
    spool.append(home, session, record)
    return True


def _look(home: str, session: str, environ: dict[str, str], context: Context) -> tuple[int, bool]:
    """What the last compaction of ours left, and whether a task is done, by all that has happened."""
    from memory_keeper.hooks.actions.boundary import at_boundary, size_after
    from memory_keeper.keeper import Keeper

    with Keeper(home, environ) as keeper:
        try:
            keeper.catch_up(patience=PATIENCE, deadline=monotonic() + PATIENCE)
        except Busy:
            pass  # somebody else is at it: by what is known
        return size_after(keeper.store, session, context.replaced), at_boundary(keeper.store, session)


def _saved(home: str, session: str, folder: str, environ: dict[str, str]) -> bool:
    """Whether there is a handoff: without one nothing is cleared. The turn's own lines may still be under way."""
    from memory_keeper.hooks.actions.handoff import save  # a process asks after every turn, and few are to be cleared

    for _ in range(ATTEMPTS):
        if save(home, session, folder, environ, PATIENCE):
            return True
        sleep(LAG)
    return False


def ask(home: str, session: str, now: float, why: str) -> None:
    """Ask for a clear of this session."""
    folder = read_context(home, session).folder
    spool.append(home, session, spool.make("AskClear", spool.new_call(), now, folder, why=why))


def may_be_answered(context: Context, now: float) -> bool:
    """Whether a clear was asked for, not long ago, and its session can be cleared now."""
    return bool(context.asked) and now - max(context.asked, context.stopped) < TTL and is_idle(context)


def is_idle(context: Context) -> bool:
    """Whether no turn, tool or background task runs in a session that goes on."""
    return bool(context.begun) and not context.ended and context.stopped >= context.prompted and not context.busy


def _is_due(fullness: Fullness, now: float) -> bool:
    context = fullness.context
    young = now - context.begun < PAUSE
    if young and not context.blocked and (context.ours or context.source == "resume"):
        return False  # one that is full when it begins would be cleared for ever; one that was brought back is wanted
    return clear_is_due(fullness.tokens, fullness.limits, fullness.settings, bool(context.blocked))
