"""Claude Code's status line: how full the context is, on one line; and what its payload says makes the hooks exact.

The host calls this after every response and throws away the call before, so it costs what a hook costs and loads what
a hook loads. A status line of the user's own is run beside it and comes first.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix
import sys
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.capture.gauge import COUNTS, find_limits, read_gauge
from memory_keeper.capture.payload import read_path, read_text, safe_name
from memory_keeper.hooks import PARSER, enter
from memory_keeper.named import NamedTuple
from memory_keeper.policy import clears_at, compacts_at, compacts_from, level
from memory_keeper.request import Limits
from memory_keeper.width import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json

LARGEST = 4 << 20  # bytes of a payload
MOST = 64 << 10  # bytes of the other status line
PATIENCE = 5.0  # seconds for it
WIDTH, CELLS = 80, 10
MARGIN = 4  # cells that the host keeps for itself; a longer line it cuts
COLOURS = {"ok": "32", "warn": "33", "critical": "31", "unknown": "2"}
NAME = 40  # characters of a model's name
SPLIT = " · "


class Shown(NamedTuple):
    """What a payload says."""

    session: str
    tokens: int  # 0: no response yet
    window: int  # 0: it does not say
    model: str  # its id
    name: str  # for people
    version: str
    folder: str
    transcript: str


class Answer(NamedTuple):
    """What there is to say."""

    shown: Shown
    limits: Limits
    level: str
    clears_at: int = 0


def main(argv: list[str]) -> None:
    """`statusline [--wrap CMD] [--width N]`: exit 0 whatever happens. Other options are for the parser."""
    options = read_options(argv[1:])
    if options is None:
        sys.exit(enter(PARSER, argv))
    try:
        serve(*options)
    finally:
        posix._exit(0)


def read_options(argv: list[str]) -> tuple[str, int] | None:
    """The other command and the width; None when there is anything else."""
    wrap, width, words = "", 0, iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in ("--wrap", "--width"):
            return None
        if not equals:
            value = next(words, "")
        if name == "--wrap":
            wrap = value
        elif value.isdecimal() and len(value) < 6:
            width = int(value)
        else:
            return None
    return wrap, width


def serve(wrap: str, width: int) -> None:
    """Read the payload, write the line; nothing that goes wrong is the user's to see."""
    environ = config.environment()
    width = find_width(environ) or width or WIDTH
    home, line, other, answer = config.find_home(environ), "", None, None
    data = _read_all()
    try:
        other = Other(wrap, data) if wrap else None
    except OSError as error:
        _complain(home, error)
    try:
        answer = measure(data, home, environ)
        line = compose(answer, width, painted=_painted(environ)) if answer else ""
    except Exception as error:
        _complain(home, error)
    try:
        if answer:
            keep(answer.shown, home, time())
    except Exception as error:
        _complain(home, error)
    first = other.finish() if other else b""
    _write_all(join(first, line, width))


def find_width(environ: dict[str, str]) -> int:
    """The cells the host shows of a line, of those its terminal has; 0 when it does not say."""
    text = environ.get("COLUMNS", "")
    return max(1, int(text) - MARGIN) if text.isdecimal() and len(text) < 6 and int(text) else 0


def measure(data: bytes, home: str, environ: dict[str, str]) -> Answer | None:
    """What a payload says of the context; None when it is none."""
    try:
        payload = wire.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    shown = read(payload)
    if not shown.tokens and shown.transcript:  # after a compaction the host says 0, and its transcript knows better
        gauge = read_gauge(shown.transcript)
        shown = shown._replace(tokens=gauge.tokens) if gauge and gauge.compacted else shown
    root = config.find_root(shown.folder) if shown.folder else ""
    hosts = config.claude_settings(shown.folder, environ)
    settings, _ = config.load(home, root, environ, hosts)
    limits = find_limits(shown.window, shown.model, shown.version, shown.tokens, hosts, environ)
    reached = level(shown.tokens, limits, settings) if shown.tokens else "unknown"
    if compacts_from(settings):
        from memory_keeper.store.context import read_context

        tended = read_context(home, safe_name(shown.session)).module
        limits = limits._replace(compacts_at=compacts_at(limits, settings, tended))
    return Answer(shown, limits, reached, clears_at(limits, settings))


def read(payload: Json) -> Shown:
    """A payload, read forgivingly: whatever is not as expected is not there."""
    model, place, about = (_part(payload, name) for name in ("model", "workspace", "context_window"))
    usage = _part(about, "current_usage")
    tokens = sum(wire.count(usage.get(name)) for name in COUNTS)
    return Shown(
        session=read_text(payload, "session_id"),
        tokens=tokens,
        window=wire.count(about.get("context_window_size")),
        model=_plain(read_text(model, "id"), 100),
        name=_plain(read_text(model, "display_name") or read_text(model, "id"), NAME),
        version=_plain(read_text(payload, "version"), NAME),
        folder=read_path(place, "project_dir") or read_path(payload, "cwd"),
        transcript=read_path(payload, "transcript_path"),
    )


def keep(shown: Shown, home: str, at: float) -> None:
    """Leave the window's size for the hooks, which are not told it; only when it is news to them."""
    if not shown.session or not shown.window:
        return
    from memory_keeper.store.context import read_context

    session = safe_name(shown.session)
    known = read_context(home, session)
    if known.window != shown.window or (shown.model and known.model != shown.model):
        from memory_keeper.store import spool

        about = {"window": shown.window, "model": shown.model}
        spool.append(home, session, spool.make("Window", spool.new_call(), at, shown.folder, **about))


# --- the line ---------------------------------------------------------------------------------------------------------


def compose(answer: Answer, width: int, painted: bool = True) -> str:
    """The line, as much of it as fits: what stands last goes first."""
    parts = _parts(answer, width)
    while parts and columns(SPLIT.join(parts)) > width:
        parts.pop()
    if not parts or not painted:
        return SPLIT.join(parts)
    head, *rest = parts
    line = f"\x1b[{COLOURS[answer.level]}m{head}\x1b[0m"
    return line + (f"\x1b[2m{SPLIT}{SPLIT.join(rest)}\x1b[0m" if rest else "")


def _parts(answer: Answer, width: int) -> list[str]:
    tokens, limits = answer.shown.tokens, answer.limits
    if not tokens:
        return ["context: no response yet"]
    if not limits.window:  # then nobody knows how much that is
        return [f"{short(tokens)} tokens", *([answer.shown.name] if answer.shown.name else [])]
    percent = f"{100 * tokens // limits.window}%"
    drawn = f"{bar(tokens, limits.window, answer.clears_at or limits.compacts_at or limits.refuses_at)} {percent}"
    parts = [drawn if len(drawn) <= width else percent, f"{short(tokens)}/{short(limits.window)}"]
    if answer.clears_at:
        parts.append(f"clears at {short(answer.clears_at)}")
    elif limits.compacts_at:
        parts.append(f"compacts at {short(limits.compacts_at)}")
    elif limits.refuses_at:
        parts.append(f"refuses at {short(limits.refuses_at)}")
    return [*parts, answer.shown.name] if answer.shown.name else parts


def bar(tokens: int, window: int, end: int) -> str:
    """How full, in cells, with a mark where it is compacted, cleared or refused."""
    filled = min(CELLS, (2 * CELLS * tokens + window) // (2 * window))
    cells = ["▓"] * filled + ["░"] * (CELLS - filled)
    if end:
        cells[min(CELLS - 1, CELLS * end // window)] = "│"
    return "".join(cells)


def short(tokens: int) -> str:
    """A number of tokens for people: 950, 144k, 1M, 1.2M."""
    if tokens < 1000:
        return str(tokens)
    thousands = (tokens + 500) // 1000
    if thousands < 1000:
        return f"{thousands}k"
    return f"{(tokens + 50_000) // 100_000 / 10:g}M"


def join(first: bytes, line: str, width: int) -> bytes:
    """The user's own line, then ours: to its right where there is room, else below."""
    first = first.rstrip(b"\r\n\t ")
    ours = line.encode("utf-8", "replace")
    if not first or not ours:
        return (first or ours) + b"\n" if first or ours else b""
    from memory_keeper.text import clean

    last = clean(first.rpartition(b"\n")[2].decode("utf-8", "replace")).expandtabs()
    beside = columns(last) + 2 + columns(clean(line)) <= width
    reset = b"\x1b[0m" if b"\x1b" in first else b""
    return first + reset + (b"  " if beside else b"\n") + ours + b"\n"


def _painted(environ: dict[str, str]) -> bool:
    """The host shows colours, though it gives us a pipe; some users want none."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _plain(text: str, limit: int) -> str:
    """Somebody else's words, on our one line."""
    if text.isascii() and text.isprintable():
        return text[:limit]
    from memory_keeper.text import clean, one_line

    return one_line(clean(text[: 50 * limit]), limit)


def _part(payload: Json, field: str) -> Json:
    value = payload.get(field)
    return value if isinstance(value, dict) else {}


# --- the other status line --------------------------------------------------------------------------------------------


class Other:
    """The user's own status line: a shell command that is given the same payload and may take its time."""

    def __init__(self, command: str, data: bytes) -> None:
        thrown_away = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT)  # by the host
        self.until, self.left = monotonic() + PATIENCE, data
        given, self.to = posix.pipe()
        self.out, gives = posix.pipe()
        actions = [
            (posix.POSIX_SPAWN_DUP2, given, 0),
            (posix.POSIX_SPAWN_DUP2, gives, 1),
            (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
        ]
        before = _signal.pthread_sigmask(_signal.SIG_BLOCK, thrown_away)  # until it is known whom else to end
        # a group of its own, so that all it has started can be ended; in the same session, so that it sees the terminal
        self.pid = posix.posix_spawn(
            "/bin/sh",
            ["/bin/sh", "-c", command],
            posix.environ,
            file_actions=actions,
            setpgroup=0,
            setsigdef=[_signal.SIGPIPE],
            setsigmask=before,
        )
        for number in thrown_away:
            _signal.signal(number, self._interrupted)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
        for fd in (given, gives):
            posix.close(fd)
        for fd in (self.to, self.out):
            posix.set_blocking(fd, False)
        self._give()

    def _give(self) -> None:
        """As much of the payload as it takes now."""
        try:
            self.left = self.left[posix.write(self.to, self.left) :] if self.left else b""
        except BlockingIOError:
            return
        except OSError:
            self.left = b""  # it does not want to know
        if not self.left:
            posix.close(self.to)
            self.to = -1

    def finish(self) -> bytes:
        """What it printed; nothing when it takes too long."""
        from select import select

        parts: list[bytes] = []
        ended = False
        while sum(map(len, parts)) < MOST:
            wait = 0.0 if ended else min(0.05, self.until - monotonic())
            if wait < 0:
                self._kill()
                return b""
            readable, writable, _ = select([self.out], [self.to] if self.to >= 0 else [], [], wait)
            if writable:
                self._give()
            if readable:
                part = posix.read(self.out, MOST)
                if not part:
                    break
                parts.append(part)
            elif ended:
                break  # what it left in the background may hold the pipe for long
            else:
                ended = posix.waitpid(self.pid, posix.WNOHANG)[0] != 0
        return b"".join(parts)[:MOST]

    def _kill(self) -> None:
        try:
            posix.kill(-self.pid, 9)
        except OSError:
            pass

    def _interrupted(self, number: int, _: object) -> None:
        self._kill()
        posix._exit(0)


def _read_all() -> bytes:
    parts, size = [], 0
    try:
        while size < LARGEST and (part := posix.read(0, 1 << 16)):
            parts.append(part)
            size += len(part)
    except OSError:
        pass  # nobody gives anything
    return b"".join(parts)


def _write_all(data: bytes) -> None:
    try:
        wire.write_all(1, data)
    except OSError:
        pass  # nobody reads it any more


def _complain(home: str, error: Exception) -> None:
    from memory_keeper.hooks.problems import complain

    complain(home, "statusline", error)
