"""How full a session's context is, and what there is to say about it."""

from __future__ import annotations

from time import gmtime, strftime

from memory_keeper import config
from memory_keeper.capture.usage import find_limits, read_gauge
from memory_keeper.config import find_root
from memory_keeper.keep.context import read_context
from memory_keeper.model import Context, Gauge, Limits, NamedTuple
from memory_keeper.policy import level, passed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json


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

    def unsaid(self, at: float = 0.0) -> tuple[str, ...]:
        """The levels it has passed that nobody was told of, the lowest first. What was told `at` this very moment was
        not heard, if it is asked again."""
        reached, said = passed(self.tokens, self.limits, self.settings) if self.gauge else [], dict(self.context.warned)
        return tuple(one for one in reached if said.get(one) in (None, at))


def measure(home: str, session: str, transcript: str, folder: str, environ: dict[str, str]) -> Filling:
    """A session's context as it is now."""
    root = find_root(folder) if folder else ""
    hosts = config.claude_settings(root, environ)
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
    begun = strftime("%Y-%m-%dT%H:%M:%S", gmtime(context.begun)) + f".{int(context.begun % 1 * 1000):03d}"
    return gauge.stamp[: len(begun)] < begun


def describe(filling: Filling) -> str:
    """`72 % full: 144,000 of 200,000 tokens, compaction at 167,000`."""
    tokens, limits = filling.tokens, filling.limits
    if filling.percent is None:
        said = f"{tokens:,} tokens"
    else:
        said = f"{filling.percent} % full: {tokens:,} of {limits.window:,} tokens"
    if limits.compacts_at:
        return f"{said}, compaction at {limits.compacts_at:,}"
    return f"{said}, refused from {limits.refuses_at:,}" if limits.refuses_at else said


def warn(filling: Filling, level: str, saved: str) -> tuple[str, str]:
    """What the user and the model are told at a level; `saved` names the handoff, empty when there is none."""
    urgent = level == "critical"
    handoff = f"The handoff is written ({saved})" if saved else "The handoff could not be written"
    if filling.settings["compaction.mode"] == "clear":
        do = "The context is cleared and restored by itself when this turn is over."
        advise = (
            "It is cleared by itself, and restored from the handoff, when this turn is over: finish the step at hand."
        )
    else:
        now = "now" if urgent else "at the next good moment"
        do = f"/clear {now} goes on from it in an empty context; so does /memory-keeper:soft-restart."
        advise = (
            f"{'Tell the user now' if urgent else 'When the step at hand is done, tell the user'} that /clear (or"
            " /memory-keeper:soft-restart) goes on from the handoff in an empty context."
            " Do not summarise for it, and do not read large files again."
        )
    state = describe(filling)
    user = f"{'Context nearly full' if urgent else 'Context filling up'}: {state}. {handoff}. {do}"
    model = f'<memory-keeper context="{level}">\nThe context window is {state}. {handoff}. {advise}\n</memory-keeper>'
    return user, model
