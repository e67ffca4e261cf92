"""How full a session's context is, and who would clear it."""

from __future__ import annotations

import posix
from time import gmtime, strftime

from memory_keeper import config
from memory_keeper.capture.gauge import find_limits, read_gauge
from memory_keeper.config import find_root
from memory_keeper.named import NamedTuple
from memory_keeper.policy import clears_at, compacts_from, level, passed
from memory_keeper.request import Context, Gauge, Limits
from memory_keeper.store.context import read_context
from memory_keeper.store.home import try_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json


MODULE = "the plugin"
HELD = "held"  # stands among the levels that were told, for one that was not, since the context is compacted first
WATCHING = "watch.lock"  # in the home, held by the one watcher there is


class Fullness(NamedTuple):
    """A context: how full it is, where it ends, and what its hooks have done."""

    gauge: Gauge | None  # None while nobody knows
    limits: Limits
    context: Context
    settings: Json

    @property
    def tokens(self) -> int:
        """How many tokens it has; 0 while nobody knows."""
        return self.gauge.tokens if self.gauge else 0

    @property
    def level(self) -> str:
        """In a word: ok, warn, critical, or unknown."""
        return level(self.tokens, self.limits, self.settings) if self.gauge else "unknown"

    @property
    def percent(self) -> int | None:
        """Of the full window; None when that is not known."""
        return self.tokens * 100 // self.limits.window if self.gauge and self.limits.window else None

    @property
    def tended(self) -> bool:
        """Whether it is compacted by us when it is full, so that nobody has to do anything."""
        return self.context.module and bool(self.settings["compaction.mode"] == "replace")

    def is_compacted_now(self, call: str, prompted: bool) -> bool:
        """Whether the host is about to compact it, so that a warning would come too late and be told to the wrong
        context. It was to, and did not, when there is another prompt or response since that was `HELD` back."""
        if not self.gauge or not 0 < self.limits.compacts_at <= self.tokens:
            return False
        at, by = next(((at, by) for level, at, by in self.context.warned if level == HELD), (None, ""))
        comes = at is None or by == call or (not prompted and _is_before(self.gauge, at))
        return comes and self.settings["compaction.mode"] in ("supplement", "replace")

    def unsaid(self, call: str = "") -> tuple[str, ...]:
        """The levels it has passed that nobody was told of, the lowest first. What this very call was told it has not
        heard, if it asks again."""
        reached = passed(self.tokens, self.limits, self.settings) if self.gauge else []
        warned = {level: by for level, _, by in self.context.warned}
        return tuple(level for level in reached if warned.get(level) in (None, call))


def measure(home: str, session: str, transcript: str, folder: str, environ: dict[str, str]) -> Fullness:
    """A session's context as it is now."""
    root = find_root(folder) if folder else ""
    hosts = config.claude_settings(folder, environ)
    context, settings = read_context(home, session), config.load(home, root, environ, hosts)[0]
    gauge = read_gauge(transcript) if transcript else None
    if gauge and _older(gauge, context):
        gauge = None
    return Fullness(gauge, _limits(gauge, context, hosts, environ), context, settings)


def _limits(gauge: Gauge | None, context: Context, hosts: list[tuple[str, Json]], environ: dict[str, str]) -> Limits:
    """The limits of the model that answered last; what the host said of another one, before a switch, is void."""
    model, version, tokens = (gauge.model, gauge.version, gauge.tokens) if gauge else (context.model, "", 0)
    known = context.model.removesuffix("[1m]")  # a response does not say which window it was given
    same = known.startswith(model) or model.startswith(known)  # nor need it say the date of a model's release
    name = context.model if same and known else model
    limits = find_limits(context.window if same else 0, name, version, tokens, hosts, environ)
    seen = context.compacts_at if same and not limits.refuses_at else 0
    return limits._replace(compacts_at=seen) if 0 < seen < (limits.compacts_at or seen + 1) else limits


def _older(gauge: Gauge, context: Context) -> bool:
    """Whether the newest response is from before a compaction whose line is not on the disk yet."""
    if context.source != "compact" or gauge.compacted:
        return False
    return _is_before(gauge, context.begun)


def _is_before(gauge: Gauge, at: float) -> bool:
    """Whether the newest response is from before a moment."""
    moment = strftime("%Y-%m-%dT%H:%M:%S", gmtime(at)) + f".{int(at % 1 * 1000):03d}"
    return gauge.stamp[: len(moment)] < moment


def settings_of(home: str, environ: dict[str, str], session: str) -> Json:
    """The settings in force where a session runs."""
    folder = read_context(home, session).folder
    return config.load(home, config.find_root(folder) if folder else "", environ)[0]


def replaces(home: str, environ: dict[str, str], session: str) -> bool:
    """Whether compactions of a session are to be answered by us."""
    return bool(settings_of(home, environ, session)["compaction.mode"] == "replace")


def can_answer(home: str, context: Context) -> str:
    """Who will clear a context when asked; empty when nobody is there who could."""
    if context.module:
        return MODULE
    if context.run:
        return "memory-keeper run"
    return "memory-keeper watch" if any(context.terminal) and is_watched(home) else ""


def is_watched(home: str) -> bool:
    """Whether a watcher runs: it holds a lock."""
    try:
        fd = posix.open(f"{home}/{WATCHING}", posix.O_RDWR | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(fd)
    finally:
        posix.close(fd)


def describe(fullness: Fullness) -> str:
    """`72 % full (144,000 of 200,000 tokens, compaction at 167,000)`."""
    limits, clears = fullness.limits, clears_at(fullness.limits, fullness.settings)
    parts = [f"{fullness.tokens:,} of {limits.window:,} tokens" if limits.window else f"{fullness.tokens:,} tokens"]
    if clears:
        parts.append(f"cleared from {clears:,} on")
    elif fullness.tended and compacts_from(fullness.settings):
        parts.append(f"compacted from {compacts_from(fullness.settings):,} on")
    elif limits.compacts_at and limits.compacts_at != limits.window:
        parts.append(f"compaction at {limits.compacts_at:,}")
    elif limits.refuses_at:
        parts.append(f"refused from {limits.refuses_at:,} on")
    return f"{fullness.percent} % full ({', '.join(parts)})" if limits.window else ", ".join(parts)
