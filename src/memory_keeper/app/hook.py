"""One hook call: payload on stdin, answer on stdout, and never a failure the user must see.

The same `answer` serves a command hook, which is a process of its own and must cost next to nothing, and the resident
server, which is asked while a session runs. A hook is a moment to look: it leaves a record in the session's spool, and
the transcript is read by whoever holds the writer's lock.
"""

from __future__ import annotations

import posix
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.capture.payload import read_payload
from memory_keeper.keep import spool
from memory_keeper.model import Status
from memory_keeper.policy import decide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.app.filling import Filling
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Brief, Call, Json

LARGEST = 32 << 20  # bytes of a payload
TEXT = 64 << 10  # characters of a prompt or an answer that are kept until the transcript has them
LEAST_HANDOFF = 500  # tokens, whatever a setting says: a context that was cleared has nothing else
CATCH_UP = 1.5  # seconds a start may spend on what its predecessor left unread
LOG = 256 << 10


def main(argv: list[str]) -> None:
    """`hook EVENT`: whatever happens, exit 0 with one JSON object or nothing."""
    event, home, said = (argv[1] if len(argv) > 1 else ""), "", None
    try:
        try:
            environ = config.environment()
            if config.INSIDE in environ:
                return  # a host that we started ourselves, to write a note
            home = config.find_home(environ)
            call = read_payload(event, wire.loads(_read_input().decode("utf-8", "replace")), environ)
            said = answer(call, home, environ, look=start_look) if call else None
        except BaseException as error:
            complain(home, event, error)
            said = trouble(event, error)
        write_all(1, wire.dumps(said).encode("ascii") if said else b"")
    finally:
        posix._exit(0)


def answer(
    call: Call,
    home: str,
    environ: dict[str, str],
    look: Callable[[str, str, str], object],
    resident: bool = False,
    at: float = 0.0,
) -> Json | None:
    """Keep a record of the call and say what the host should hear; None for nothing.

    `at` is when the call came. Who asks again because the first answer was lost gives the same time, so that what is
    kept twice is known to be one.
    """
    at = at or time()
    record = _record(call, home, environ, at)
    grown = spool.append(home, call.session, record)
    status, filling = Status(resident, grown, call.source), None
    try:
        filling = _measure(call, home, environ)
        mode, blocked = _mode(call, home, environ)
        status = status._replace(passed=filling.unsaid(at) if filling else (), mode=mode, blocked=blocked)
    except Exception as error:  # whatever is wrong with the gauge, what happens is kept
        complain(home, "gauge", error)
    said: Json = {}
    for action in decide(call.event, status):
        if action.do == "look":
            look(home, action.what, call.session)
        elif action.do == "tell":
            said |= _tell(call, home, environ, action.what, at, str(record.get("after") or ""))
        elif action.do == "save":
            _save(call, home, environ)
        elif action.do == "warn" and filling:
            said |= _warn(call, home, environ, filling, at)
        elif action.do == "refuse":
            said |= _refuse(call, home, at)
    return said or None


def _measure(call: Call, home: str, environ: dict[str, str]) -> Filling | None:
    """How full the context is, at the moments at which somebody can be told."""
    if call.event not in ("UserPromptSubmit", "PostToolUse") or call.agent or not call.transcript:
        return None
    from memory_keeper.app.filling import measure

    return measure(home, call.session, call.transcript, call.project_dir, environ)


def _mode(call: Call, home: str, environ: dict[str, str]) -> tuple[str, bool]:
    """What becomes of a full context, and whether its compaction was refused before; where that matters."""
    if call.event not in ("Stop", "PreCompact") or call.agent:
        return "supplement", False
    root = config.find_root(call.project_dir) if call.project_dir else ""
    mode = config.load(home, root, environ)[0]["compaction.mode"]
    if mode != "block":
        return mode, False
    from memory_keeper.keep.context import read_context

    return mode, bool(read_context(home, call.session).blocked)


def _record(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    record: Json = {"event": call.event, "at": at}
    for name, value in (
        ("transcript", call.transcript),
        ("dir", call.project_dir),
        ("agent", call.agent),
        ("source", call.source),
        ("ref", call.ref),
        ("text", _clean(call.text, home, environ, call.project_dir)),
        ("model", call.model),
        ("busy", call.busy),
    ):
        if value:
            record[name] = value
    if call.event == "SessionStart":
        return record | _process(call, home, environ, at)
    if call.event == "PreCompact" and call.source == "auto" and not call.agent:
        from memory_keeper.capture.usage import read_gauge

        gauge = read_gauge(call.transcript)
        return record | ({"tokens": gauge.tokens} if gauge else {})  # so that is where this host compacts
    return record


def _process(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """Which process of the host a context runs in, and the session that the same process has just cleared."""
    from memory_keeper.capture.host import OURS, born, find_pid, find_terminal

    pid = find_pid(environ)
    found: Json = {"pid": pid, "born": born(pid)}
    terminal = find_terminal(environ)
    if any(terminal):
        found["terminal"] = terminal
    if environ.get(OURS):
        found["run"] = True
    if call.source == "clear":
        from memory_keeper.keep.context import find_cleared, read_context

        if before := find_cleared(home, call.session, pid, at, str(found["born"]), call.project_dir):
            found["after"] = before
            if read_context(home, before).asked:
                found["ours"] = True
    return found


def _clean(text: str, home: str, environ: dict[str, str], folder: str) -> str:
    """Text without its secrets; the expensive half of the redactor is loaded only for a text that needs it."""
    if not text:
        return ""
    text = text[: 2 * TEXT]  # twice, so that a secret at the cut is still seen whole
    from memory_keeper.capture.redact import known_values, redact, suspicious

    known = known_values(environ, config.read_dotenv(folder) if folder else ())
    if suspicious(text, known):
        from memory_keeper.keep.home import read_salt

        text = redact(text, read_salt(home), known)
    return text[:TEXT]


def _tell(call: Call, home: str, environ: dict[str, str], name: str, at: float, after: str) -> Json:
    """The brief for a context that begins; what the last session left unread is read first, within reason.

    A context that takes the place of one that was cleared is told that one's handoff.
    """
    from memory_keeper.errors import NotSetUp
    from memory_keeper.keeper import Keeper

    settings, broken = config.load(home, config.find_root(call.project_dir), environ)
    said: Json = {}
    if broken:
        names = ", ".join(broken)
        if not names.isprintable():  # a repository chooses its own path
            names = "".join(char if char.isprintable() else "?" for char in names)
        said["systemMessage"] = f"Memory Keeper cannot read {names} and goes without"
    _refresh_link(home)
    with Keeper(home, environ) as keeper:
        try:
            said |= _catch_up(keeper, call)
            project, budget = keeper.project(call.project_dir), settings["tell.startBudget"]
            _adopt(keeper, call, project, at)
            notes = settings["tell.notesBudget"]
            if after:
                handoff = max(LEAST_HANDOFF, settings["tell.handoffBudget"])
                brief = _take_over(keeper, call, after, handoff, notes, said)
            if not after or not brief.text:  # nothing was said in it
                brief = keeper.brief(name, project, call.session, call.source, budget, notes=notes)
        except NotSetUp:
            return said  # the very first session: nothing to tell
    if brief.text:
        told = wire.dumps({"brief": brief.name, "tokens": brief.tokens, "cites": list(brief.cites)})
        spool.append(home, call.session, {"event": "Told", "at": at, "dir": call.project_dir, "extra": told})
        said["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": brief.text}
    return said


def _take_over(keeper: Keeper, call: Call, session: str, budget: int, notes: int, said: Json) -> Brief:
    """Keep the handoff of a session that was cleared, and tell it; when keeping fails it is told all the same."""
    from memory_keeper.app.handoff import keep_handoff, tell_cleared
    from memory_keeper.errors import KeeperError

    where = ""
    try:
        where = keep_handoff(keeper, session, call.project_dir, keeper.environ)
    except (KeeperError, OSError) as error:
        complain(keeper.home, "save", error)
    project = keeper.project(call.project_dir)
    brief = keeper.brief("handoff", project, call.session, call.source, budget, of=session, notes=notes)
    if brief.text:
        said |= tell_cleared(keeper, session, where)
    return brief


def _save(call: Call, home: str, environ: dict[str, str]) -> str:
    """Write the session's handoff; where it can be read, empty when that failed: the host goes on all the same."""
    from memory_keeper.app.handoff import save

    try:
        return save(home, call.session, call.project_dir, environ, CATCH_UP)
    except Exception as error:
        complain(home, "save", error)
        return ""


def _warn(call: Call, home: str, environ: dict[str, str], filling: Filling, at: float) -> Json:
    """Write the handoff, and tell the user and the model how full the context is, once per level and context."""
    from memory_keeper.app.filling import can_answer, warn
    from memory_keeper.keep.context import read_context

    reached = filling.unsaid(at)
    record = {"event": "Warned", "at": at, "dir": call.project_dir, "level": " ".join(reached)}
    spool.append(home, call.session, {**record, "tokens": filling.tokens})
    first = dict(read_context(home, call.session).warned).get(reached[-1])
    if first != at:
        return {}  # another hook was faster
    saved, clearer = _save(call, home, environ), can_answer(home, filling.context)
    alone = filling.settings["compaction.mode"] == "clear" and not clearer  # then the user has to do it
    if (reached[-1] == "handoff" and not alone) or not filling.settings["context.warnings"]:
        return {}
    user, model = warn(filling, reached[-1], saved, clearer)
    heard = {"hookEventName": call.event, "additionalContext": model}
    return {"systemMessage": user, "hookSpecificOutput": heard}


def _refuse(call: Call, home: str, at: float) -> Json:
    """Refuse a compaction: the context is cleared instead, as soon as its turn is over."""
    spool.append(home, call.session, {"event": "Blocked", "at": at, "dir": call.project_dir})
    return {
        "decision": "block",
        "reason": "Memory Keeper wrote the handoff; this context is cleared and restored when the turn is over"
        " (setting compaction.mode). If nothing happens, type /clear.",
    }


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


def _catch_up(keeper: Keeper, call: Call) -> Json:
    """Read what the last session left unread; its writer may have only just been started.

    When that fails the user hears of it, and what is kept is told all the same.
    """
    from memory_keeper.errors import Busy, NotSetUp

    fresh = call.session if call.source == "startup" else ""  # all it left so far is the record of this very call
    try:
        behind = keeper.behind(keeper.project(call.project_dir), fresh)
    except NotSetUp:
        behind = [] if spool.names(keeper.home) != [fresh] else None
    if behind is None:
        return {}
    try:
        keeper.look(behind, patience=CATCH_UP, deadline=monotonic() + CATCH_UP)
    except Busy:
        pass  # somebody else is at it: tell what there is
    except Exception as error:
        complain(keeper.home, "look", error)
        return trouble(call.event, error) or {}
    return {}


def _adopt(keeper: Keeper, call: Call, project: str, at: float) -> None:
    """Read what somebody changed in the project's pages since they were written: the new context is told it. The pages
    themselves are written again with the next notes."""
    from memory_keeper.errors import Busy
    from memory_keeper.tell.files import changed

    root = config.find_root(call.project_dir)
    try:
        if changed(root):
            from memory_keeper.app.adopt import adopt

            adopt(keeper, project, root, at, CATCH_UP)
    except Busy:
        pass  # the page still says it at the next start
    except Exception as error:
        complain(keeper.home, "adopt", error)


def start_look(home: str, what: str = "", session: str = "") -> int:
    """Start the detached writer, in a session of its own so that it outlives the host; its process."""
    import sys

    here = __file__.rpartition("/")[0]
    return posix.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", here + "/start.py", "look", home, what, session],
        posix.environ,
        file_actions=[
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDWR, 0),
            (posix.POSIX_SPAWN_DUP2, 0, 1),
            (posix.POSIX_SPAWN_DUP2, 0, 2),
        ],
        setsid=True,
    )


def trouble(event: str, error: BaseException) -> Json | None:
    """What the user hears of a failure: one line at a session's start, nothing anywhere else."""
    if event != "SessionStart":
        return None
    return {
        "systemMessage": f"Memory Keeper is not keeping this session ({describe(error)}). Try: memory-keeper doctor"
    }


def complain(home: str, where: str, error: BaseException) -> None:
    """Write a failure down for `doctor`: names and numbers only, never content."""
    if not home:
        return
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        path = home + "/problems.log"
        fd = posix.open(path, flags, 0o600)
        try:
            line = wire.dumps({"at": time(), "in": where[:40], "problem": describe(error)})
            posix.write(fd, line.encode("ascii") + b"\n")
            if posix.fstat(fd).st_size > LOG:
                posix.rename(path, path + ".old")
        finally:
            posix.close(fd)
    except OSError:
        pass


def describe(error: BaseException) -> str:
    """An error without content: its type, the system's word for it, and where it was raised."""
    said = getattr(error, "strerror", None) or (str(error) if hasattr(error, "hint") else "")
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return " ".join(part for part in (type(error).__name__, said, place) if part)


def write_all(fd: int, data: bytes) -> None:
    """A pipe may take less than it is given."""
    while data:
        data = data[posix.write(fd, data) :]


def _read_input() -> bytes:
    parts, size = [], 0
    while size < LARGEST:
        part = posix.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
