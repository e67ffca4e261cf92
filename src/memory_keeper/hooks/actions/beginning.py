"""What a context is told when it begins, by how it began: anew, after a clear, a compaction, a resume or a fork."""

from __future__ import annotations

import posix
from time import monotonic

from memory_keeper import config
from memory_keeper.briefs import CHARACTERS
from memory_keeper.briefs.files import changed
from memory_keeper.capture.host import find_terminal
from memory_keeper.errors import Busy, NotSetUp, Outdated
from memory_keeper.hooks.actions import FRESH
from memory_keeper.hooks.actions.handoff import CATCH_UP, tell_cleared, try_to_keep
from memory_keeper.hooks.actions.previous import find_before, where_it_stood
from memory_keeper.hooks.actions.telling import heard, record_told
from memory_keeper.hooks.actions.welcome import (
    say_adopted,
    say_begun_anew,
    say_broken,
    say_restored,
    say_vanished,
    welcome,
)
from memory_keeper.hooks.problems import complain, trouble
from memory_keeper.keeper import Keeper
from memory_keeper.request import Brief, Context
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.wire import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.briefs import Before
    from memory_keeper.hooks.actions import Request
    from memory_keeper.model import Json, Note
    from memory_keeper.request import Call

NOTHING = Brief("", "", 0)
GOES_ON = ("resume", "fork")  # with all that it had
WAITS = 3.0  # seconds in which a start waits for others, in all: the host gives it 10, which a busy machine may need
SAME_TIME = 60.0  # seconds within which a compaction and what it was told belong together
LEAST_HANDOFF = 500  # tokens, unless a setting says none: a context that was cleared has nothing else


def begin(request: Request) -> Json:
    """The brief for a context that begins; what the last session left unread is read first, within reason.

    A context that takes the place of one that was cleared is told that one's handoff.
    """
    call, home, environ, at = request.call, request.home, request.environ, request.at
    settings, broken = config.load(home, config.find_root(call.folder), environ)
    reply = say_broken(broken)
    _refresh_link(home)
    with Keeper(home, environ) as keeper:
        keeper.until = monotonic() + WAITS
        reply |= welcome(keeper, call, reply)
        try:
            reply |= _catch_up(keeper, call)
            adopted = _adopt(keeper, call, keeper.project(call.folder), at)
            reply |= say_adopted(call, environ, adopted, reply)
            reply |= say_vanished(call, environ, home, reply)
            _load_module(keeper, keeper.project(call.folder), settings)
            if _begins_anew(request, settings):
                return reply | say_begun_anew(call, environ, request.after, reply)
            briefs = [brief for brief in _briefs(keeper, request, settings, reply) if brief.text]
        except NotSetUp:
            return reply  # the very first session: nothing to tell
    if briefs:
        record_told(home, call.session, call.folder, call.id, at, briefs, on=call.event, remember=True)
        text = "\n".join(brief.text for brief in briefs)
        reply |= heard(call.event, text)
        if call.source == "compact" or not any(brief.name == "handoff" for brief in briefs):  # else it was said already
            replaced = bool(read_context(home, call.session).replaced)
            reply |= say_restored(call, environ, sum(brief.tokens for brief in briefs), replaced, reply)
    return reply


def _briefs(keeper: Keeper, request: Request, settings: Json, reply: Json) -> Iterator[Brief]:
    """What is told, by how the context began."""
    call, at, after = request.call, request.at, request.after
    project, notes = keeper.project(call.folder), settings["tell.notesBudget"]
    first = NOTHING
    if call.source == "compact":
        from memory_keeper.hooks.actions import lost

        first = lost.begin(keeper, call, settings, at)
    elif after:
        first = _take_over(keeper, call, after, settings, reply)
    yield first
    if first.text:  # else nothing was said in it
        yield _replay(keeper, call, settings, after, first)
        return
    room = CHARACTERS
    if call.source in GOES_ON:
        handoff = _where_it_was(keeper, call, project, settings, at)
        yield handoff
        room -= units(handoff.text) + 1
    if call.source not in ("compact", "fork"):  # a fork has all that its origin had
        before = _before(keeper, call, project, at) if call.source not in GOES_ON else None
        budget = settings["tell.startBudget"]
        view = keeper.view(call.session, call.source, project=project, before=before, notes=notes)
        view = view._replace(settings=settings, ruled=settings["rules.enabled"])
        brief = keeper.brief("start", view, budget, room)
        yield brief._replace(why=([before.why],), handed=before.note) if before else brief


def _handoff_budget(settings: Json) -> int:
    budget: int = settings["tell.handoffBudget"]
    return budget and max(LEAST_HANDOFF, budget)


def _begins_anew(request: Request, settings: Json) -> bool:
    """Whether a context that was cleared begins with nothing: the user asked for that, this once or always. A clear of
    ours always brings back what was there."""
    if request.call.source != "clear":
        return False
    cleared = read_context(request.home, request.after) if request.after else Context()
    return cleared.why == FRESH if cleared.asked else not settings["tell.afterClear"]


def _replay(keeper: Keeper, call: Call, settings: Json, after: str, first: Brief) -> Brief:
    """What was said, word for word, where the user wants that told beside the handoff."""
    budget = settings["tell.replayBudget"]
    if not budget:
        return NOTHING
    room = CHARACTERS - units(first.text) - 1
    return keeper.brief("replay", keeper.view(call.session, call.source, of=after), budget, room)


def _where_it_was(keeper: Keeper, call: Call, project: str, settings: Json, at: float) -> Brief:
    """In short where a session stood that goes on: its context has all of it, but nobody has looked at it since. Not
    when a handoff stands in it already."""
    budget = settings["tell.resumeBudget"]
    session = call.session if call.source == "resume" else _find_origin(keeper, call, project, at)
    if not budget or not session or keeper.store.project_of(session) != project:
        return NOTHING
    if _was_handed(keeper, project, session):
        return NOTHING
    return where_it_stood(keeper, session, call.folder, budget, at)


def _find_origin(keeper: Keeper, call: Call, project: str, at: float) -> str:
    from memory_keeper.hooks.actions.fork import find_origin

    return find_origin(keeper, call, project, at)


def _was_handed(keeper: Keeper, project: str, session: str) -> bool:
    """Whether a session was told a handoff since it was last compacted: the host says that again."""
    from memory_keeper.store.injected import told

    compacted = keeper.store.latest(project, "compact", 1, (session,))
    since = compacted[0].at - SAME_TIME if compacted else 0.0
    return any(telling.said.get("brief") == "handoff" for telling in told(keeper.store, project, session, since))


def _before(keeper: Keeper, call: Call, project: str, at: float) -> Before | None:
    """What a new session is handed; when that cannot be found out, the rest is told all the same."""
    try:
        return find_before(keeper, project, call.session, call.folder, find_terminal(keeper.environ), at)
    except Exception as error:  # noqa: BLE001
        complain(keeper.home, "handoff", error)
        return None


def _take_over(keeper: Keeper, call: Call, session: str, settings: Json, reply: Json) -> Brief:
    """Keep the handoff of a session that was cleared, and tell it; when keeping fails it is told all the same."""
    where = try_to_keep(keeper, session, call.folder)
    project = keeper.project(call.folder)
    view = keeper.view(call.session, call.source, project=project, of=session, notes=settings["tell.notesBudget"])
    view = view._replace(ruled=settings["rules.enabled"])
    brief = keeper.brief("handoff", view, _handoff_budget(settings))
    if brief.text:
        reply |= tell_cleared(keeper, session, where, brief.tokens)
    note = keeper.store.handoff(session)
    return brief._replace(handed=note.id if note else "")


def _refresh_link(home: str) -> None:
    """Point what a statusline runs to the plugin as it is installed now: an update brings a new folder."""
    link, here = home + "/current", __file__.rpartition("/src/memory_keeper/")[0]
    try:
        if posix.readlink(link) == here or not posix.access(here + "/plugin/launch", posix.X_OK):
            return
        own = f"{link}.{posix.getpid()}"
        posix.symlink(here, own)
        posix.rename(own, link)
    except OSError:
        return  # there is none, as a rule


def _load_module(keeper: Keeper, project: str, settings: Json) -> None:
    """Have the next sessions load the hooks module, where compactions are ours or somebody had a context cleared."""
    if settings["compaction.mode"] != "supplement" or keeper.store.latest(project, "ask", 1):
        from memory_keeper.host.hooks_module import have_loaded

        have_loaded(keeper.environ.get("CLAUDE_PLUGIN_ROOT", ""))


def _catch_up(keeper: Keeper, call: Call) -> Json:
    """Read what the last session left unread; its writer may have only just been started.

    When that fails the user hears of it, and what is kept is told all the same.
    """
    fresh = call.session if call.source == "startup" else ""  # all it left so far is the record of this very call
    try:
        behind = keeper.behind(keeper.project(call.folder), fresh)
    except NotSetUp:
        behind = [] if spool.names(keeper.home) != [fresh] else None
    if behind is None:
        return {}
    try:
        finished = keeper.catch_up(behind, patience=CATCH_UP, deadline=monotonic() + CATCH_UP).finished
    except Outdated:
        finished = False
    except Busy:
        finished = True  # somebody else is at it: tell what there is
    except Exception as error:  # noqa: BLE001
        complain(keeper.home, "catch_up", error)
        return trouble(call.event, error) or {}
    if not finished:
        from memory_keeper.hooks.detached import start_catch_up

        start_catch_up(keeper.home)  # it takes its time; what there is can be told meanwhile
    return {}


def _adopt(keeper: Keeper, call: Call, project: str, at: float) -> list[Note]:
    """Read what somebody changed in the project's pages since they were written: the new context is told it. The pages
    themselves are written again with the next notes."""
    root = config.find_root(call.folder)
    try:
        if changed(root):
            from memory_keeper.pages.adopt import adopt
            from memory_keeper.pages.reading import Pages

            return adopt(Pages(keeper, project, root, at), CATCH_UP)
    except Busy:
        pass  # the page still says it at the next start
    except Exception as error:  # noqa: BLE001
        complain(keeper.home, "adopt", error)
    return []
