"""A handoff now: everything new is brought in, then the session's handoff is kept as a note and rendered as a file."""

from __future__ import annotations

from time import monotonic

from memory_keeper import config
from memory_keeper.briefs import short
from memory_keeper.briefs.files import is_hosts, write_handoff
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.hooks.problems import complain
from memory_keeper.keeper import Keeper
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.context import read_context
from memory_keeper.store.events import as_of
from memory_keeper.text import clean, clip_middle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.hooks.actions import Request
    from memory_keeper.model import Json, Note, Source

CATCH_UP = 1.5  # seconds that a hook may spend on what is unread, or wait for who writes
PATIENCE = 5.0  # and anybody else, who has not said so
ANSWER = 400  # tokens of the last answer that are shown again


def save(
    home: str, session: str, folder: str, environ: dict[str, str], patience: float, extra: tuple[Source, ...] = ()
) -> str:
    """Bring in what is new, within so many seconds, and keep the handoff; where it can be read, empty for none."""
    with Keeper(home, environ) as keeper:
        try:
            keeper.catch_up(extra, patience=patience, deadline=monotonic() + patience)
        except Busy:
            pass  # somebody else is at it: hand over what there is
        return keep_handoff(keeper, session, folder, patience=patience)


def save_now(request: Request) -> Json:
    """Before a compaction: the host is told nothing."""
    try_to_save(request.home, request.call.session, request.call.folder, request.environ)
    return {}


def save_after(keeper: Keeper, session: str) -> None:
    """The handoff of a session that ended."""
    keep_handoff(keeper, session, read_context(keeper.home, session).folder)


def try_to_save(home: str, session: str, folder: str, environ: dict[str, str]) -> str:
    """`save` within a hook's time; empty when that failed: the host goes on all the same."""
    try:
        return save(home, session, folder, environ, CATCH_UP)
    except Exception as error:  # noqa: BLE001
        complain(home, "save", error)
        return ""


def try_to_keep(keeper: Keeper, session: str, folder: str, over: bool = False) -> str:
    """`keep_handoff` within a hook's time; empty when it cannot be done now: what there is can be told all the same."""
    try:
        return keep_handoff(keeper, session, folder, over, CATCH_UP)
    except (KeeperError, OSError) as error:
        complain(keeper.home, "handoff", error)
        return ""


def tell_cleared(keeper: Keeper, session: str, where: str, tokens: int) -> Json:
    """What the user hears when a session was cleared. When it was not the user who did it, also what the last answer
    was: the host has wiped it from the screen."""
    if not where:
        return {}
    if not read_context(keeper.home, session).asked:
        return {"systemMessage": f"Memory Keeper restored where the last context stood ({tokens:,} tokens, {where})"}
    text = f"Memory Keeper cleared the context and restored where it stood ({tokens:,} tokens, {where})."
    answer = keeper.last_answer(session)
    if not answer:
        return {"systemMessage": text}
    shown = clean(clip_middle(answer.text, ANSWER, "\n…\n"))
    return {"systemMessage": f"{text} The last answer was (memory-keeper show {short(answer.id)}):\n{shown}"}


def keep_handoff(keeper: Keeper, session: str, folder: str, over: bool = False, patience: float = PATIENCE) -> str:
    """Keep a session's handoff as a note and render it for people; where it can be read, empty when there is none.

    A file that cannot be written costs only the file: the note is what counts. Of a session that was over before, the
    branch and the commit that are checked out now say nothing, and its handoff is as old as its end.
    """
    if folder and not _is_of(keeper, session, folder):
        folder = ""  # the session is another project's: this one gets no file of it
    root = find_root(folder) if folder else ""
    settings = config.load(keeper.home, root, keeper.environ)[0]
    now = last_said(keeper, session) if over else 0.0
    budget = (
        settings["tell.handoffBudget"] or DEFAULTS["tell.handoffBudget"]
    )  # 0 keeps it from contexts, not from people
    note = keeper.save(session, budget, now, "" if over else folder, patience)
    if not note:
        return ""
    if not settings["tell.files"] or not root or is_hosts(root, keeper.environ):
        return note.id  # no project of its own: the host's folder is not ours to write in
    try:
        return write_handoff(root, note._replace(at=as_of(keeper.store, note))).removeprefix(root + "/")
    except KeeperError:
        return note.id


def foresee(keeper: Keeper, session: str, budget: int) -> Note | None:
    """The handoff that would be kept of a session that is over; None: there is nothing to say."""
    from memory_keeper.keeper.handoffs import make_handoff

    return make_handoff(keeper, keeper.handoff_id(session), session, budget, last_said(keeper, session), "")


def last_said(keeper: Keeper, session: str) -> float:
    """When the last thing was said in a session, or its last handoff made."""
    known = keeper.store.handoff(session)
    unmoved = [event.at for event in keeper.provisional(keeper.store.project_of(session)) if event.session == session]
    return max(keeper.store.last_moment(session), known.at if known else 0.0, *unmoved, 0.0)


def _is_of(keeper: Keeper, session: str, folder: str) -> bool:
    """Whether a session belongs to the project of a folder, as far as anybody knows."""
    project = keeper.store.project_of(session)
    return not project or keeper.project(folder) == project
