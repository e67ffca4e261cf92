"""How full a session's context is, and what there is to say about it."""

from __future__ import annotations

import posix
from time import gmtime, strftime

from memory_keeper import config
from memory_keeper.capture.usage import find_limits, read_gauge
from memory_keeper.config import find_root
from memory_keeper.keep.context import read_context
from memory_keeper.model import Context, Gauge, Limits, NamedTuple
from memory_keeper.policy import LATEST, clears_at, compacts_from, level, passed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json


MODULE = "the plugin"
HELD = "held"  # stands among the levels that were told, for one that was not, since the context is compacted first
WATCHING = "watch.lock"  # in the home, held by the one watcher there is


class Filling(NamedTuple):
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

    def is_compacted_now(self, at: float, prompted: bool) -> bool:
        """Whether the host is about to compact it, so that a warning would come too late and be told to the wrong
        context. It was to, and did not, when there is another prompt or response since that was `HELD` back."""
        if not self.gauge or not 0 < self.limits.compacts_at <= self.tokens:
            return False
        held = dict(self.context.warned).get(HELD)
        comes = held is None or held == at or (not prompted and _is_before(self.gauge, held))
        return comes and self.settings["compaction.mode"] in ("supplement", "replace")

    def unsaid(self, at: float = 0.0) -> tuple[str, ...]:
        """The levels it has passed that nobody was told of, the lowest first. What was told `at` this very moment was
        not heard, if it is asked again."""
        reached, said = passed(self.tokens, self.limits, self.settings) if self.gauge else [], dict(self.context.warned)
        return tuple(one for one in reached if said.get(one) in (None, at))


def measure(home: str, session: str, transcript: str, folder: str, environ: dict[str, str]) -> Filling:
    """A session's context as it is now."""
    root = find_root(folder) if folder else ""
    hosts = config.claude_settings(folder, environ)
    context, settings = read_context(home, session), config.load(home, root, environ, hosts)[0]
    gauge = read_gauge(transcript) if transcript else None
    if gauge and _older(gauge, context):
        gauge = None
    return Filling(gauge, _limits(gauge, context, hosts, environ), context, settings)


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
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        flock(fd, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        posix.close(fd)
    return False


def describe(filling: Filling) -> str:
    """`72 % full (144,000 of 200,000 tokens, compaction at 167,000)`."""
    limits, clears = filling.limits, clears_at(filling.limits, filling.settings)
    said = [f"{filling.tokens:,} of {limits.window:,} tokens" if limits.window else f"{filling.tokens:,} tokens"]
    if clears:
        said.append(f"cleared from {clears:,} on")
    elif filling.tended and compacts_from(filling.settings):
        said.append(f"compacted from {compacts_from(filling.settings):,} on")
    elif limits.compacts_at:
        said.append(f"compaction at {limits.compacts_at:,}")
    elif limits.refuses_at:
        said.append(f"refused from {limits.refuses_at:,} on")
    return f"{filling.percent} % full ({', '.join(said)})" if limits.window else ", ".join(said)


def warn(filling: Filling, level: str, saved: str, clearer: str) -> tuple[str, str]:
    """What the user and the model are told at a level: what to do, and that the handoff is written.

    `saved` says where it can be read, empty when it could not be written; `clearer` clears the context by itself where
    the mode says so, empty when nobody can.
    """
    urgent, clears = level == "critical", filling.settings["compaction.mode"] == "clear"
    handoff = "The handoff is written" if saved else "The handoff could not be written (memory-keeper doctor)"
    if clears and clearer:
        do = "it is cleared and goes on from it when this turn is over"
        advise = (
            "It is cleared by itself when this turn is over, and goes on from the handoff: finish the step at hand."
        )
    else:
        nobody = " (By itself only under `memory-keeper run -- claude` or with `memory-keeper watch`)" if clears else ""
        do = f"/clear {'now' if urgent else 'at the next good moment'} goes on from it.{nobody}"
        advise = (
            f"{'Tell the user now' if urgent else 'When the step at hand is done, tell the user'} that /clear (or"
            " /memory-keeper:soft-restart) goes on from the handoff in an empty context."
            " Do not summarise for it, and do not read large files again."
        )
    head, state = _reached(filling, level)
    user = f"{head}. {handoff}{': ' if saved else '; '}{do}"
    where = f" ({saved})" if saved else ""
    model = f'<memory-keeper context="{level}">\n{state}. {handoff}{where}. {advise}\n</memory-keeper>'
    return user, model


def _reached(filling: Filling, level: str) -> tuple[str, str]:
    """What the user and the model hear first: how full it is, or how near its end, whichever the warning is for."""
    limits, settings, tokens = filling.limits, filling.settings, filling.tokens
    end, share = limits.compacts_at or limits.refuses_at, settings.get(f"context.{level}Percent", 0)
    if level in LATEST and tokens >= end * LATEST[level] > 0 and tokens * 100 < share * limits.window:
        what = "Compaction" if limits.compacts_at else "The limit of this context"
        head = f"{what} is {'due' if tokens >= end else 'near'}: {tokens:,} of {end:,} tokens"
        return head, head
    full = {"critical": "Context nearly full", "warn": "Context filling up"}.get(level, "Context large enough to clear")
    state = describe(filling)
    return f"{full}: {state}", f"The context is {state}"
