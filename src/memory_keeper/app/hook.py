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

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Call, Json

LARGEST = 32 << 20  # bytes of a payload
TEXT = 64 << 10  # characters of a prompt or an answer that are kept until the transcript has them
CATCH_UP = 1.5  # seconds a start may spend on what its predecessor left unread
LOG = 256 << 10


def main(argv: list[str]) -> None:
    """`hook EVENT`: whatever happens, exit 0 with one JSON object or nothing."""
    event, home, said = (argv[1] if len(argv) > 1 else ""), "", None
    try:
        try:
            environ = config.environment()
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
    call: Call, home: str, environ: dict[str, str], look: Callable[[str], None], resident: bool = False, at: float = 0.0
) -> Json | None:
    """Keep a record of the call and say what the host should hear; None for nothing.

    `at` is when the call came. Who asks again because the first answer was lost gives the same time, so that what is
    kept twice is known to be one.
    """
    at = at or time()
    grown = spool.append(home, call.session, _record(call, home, environ, at))
    said = None
    for action in decide(call.event, Status(resident, grown, call.source)):
        if action.do == "look":
            look(home)
        elif action.do == "tell":
            said = _tell(call, home, environ, action.what, at)
    return said


def _record(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    record: Json = {"event": call.event, "at": at}
    for name, value in (
        ("transcript", call.transcript),
        ("dir", call.project_dir),
        ("agent", call.agent),
        ("source", call.source),
        ("ref", call.ref),
        ("text", _clean(call.text, home, environ, call.project_dir)),
    ):
        if value:
            record[name] = value
    return record


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


def _tell(call: Call, home: str, environ: dict[str, str], name: str, at: float) -> Json | None:
    """The brief for a context that begins; what the last session left unread is read first, within reason."""
    from memory_keeper.capture.project import find_root
    from memory_keeper.errors import NotSetUp
    from memory_keeper.keeper import Keeper

    settings, broken = config.load(home, find_root(call.project_dir))
    said: Json = {"systemMessage": f"Memory Keeper cannot read {', '.join(broken)} and goes without"} if broken else {}
    with Keeper(home, environ) as keeper:
        try:
            said |= _catch_up(keeper, call)
            project, budget = keeper.project(call.project_dir), settings["tell"]["startBudget"]
            brief = keeper.brief(name, project, call.session, call.source, budget)
        except NotSetUp:
            return said or None  # the very first session: nothing to tell
    if brief.text:
        told = wire.dumps({"brief": name, "tokens": brief.tokens, "cites": list(brief.cites)})
        spool.append(home, call.session, {"event": "Told", "at": at, "dir": call.project_dir, "extra": told})
        said["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": brief.text}
    return said or None


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


def start_look(home: str) -> None:
    """Start the detached writer, in a session of its own so that it outlives the host."""
    import sys

    here = __file__.rpartition("/")[0]
    posix.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", here + "/start.py", "look", home],
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
