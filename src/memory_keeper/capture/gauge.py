"""How full the context is: read from the end of its transcript, counted as the host itself counts.

A response says how many tokens it was given; the newest one of the main thread is the gauge, until the context is
compacted. Lines are read from the end backwards and only those that can matter are parsed, so the cost is the same at
any size of the transcript.
"""

from __future__ import annotations

import posix

from memory_keeper import wire
from memory_keeper.config import open_plain
from memory_keeper.request import Gauge, Limits, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.model import Json

BLOCK, LARGEST_BLOCK = 1 << 16, 1 << 22
LONGEST = 64 << 20  # bytes of a line
FURTHEST = 256 << 20  # how far back a response is looked for: beyond that it is not known
COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")  # what a response was given
# a quote inside a JSON string is escaped, so no text that a tool or a person wrote can contain these
BOUNDARY, USAGE, ASSISTANT = b'"compact_boundary"', b'"usage"', b'"assistant"'


def read_gauge(path: str) -> Gauge | None:
    """The gauge of a transcript's context; None while no response says it."""
    fd = open_plain(path)
    if fd is None:
        return None
    try:
        return _newest(_lines_back(fd))
    finally:
        posix.close(fd)


def _newest(lines: Iterator[bytes]) -> Gauge | None:
    """The newest line that says how full it is; after a compaction the model is told by the response before."""
    after = -1
    for line in lines:
        if after < 0 and BOUNDARY in line:
            after = _after_compaction(line)
            if after == 0:
                return None  # compacted, and nobody says to what
        # the same line may be a response: one that looks for the word
        if USAGE in line and ASSISTANT in line and (gauge := _response(line)):
            return gauge if after < 0 else gauge._replace(tokens=after, compacted=True)
    return Gauge(after, "", "", "", True) if after > 0 else None


def _response(line: bytes) -> Gauge | None:
    entry = _parse(line)
    message = entry.get("message")
    if entry.get("type") != "assistant" or entry.get("isSidechain") is True or not isinstance(message, dict):
        return None
    usage, model = message.get("usage"), message.get("model")
    if not isinstance(usage, dict) or not isinstance(model, str) or model == "<synthetic>":
        return None
    tokens = sum(wire.count(usage.get(name)) for name in COUNTS)
    return Gauge(tokens, model[:200], _text(entry.get("timestamp")), _text(entry.get("version"))) if tokens else None


def _after_compaction(line: bytes) -> int:
    """What a compaction left in the window; 0 when it does not say, -1 when the line is none."""
    entry = _parse(line)
    if entry.get("type") != "system" or entry.get("subtype") != "compact_boundary" or entry.get("isSidechain") is True:
        return -1
    about = entry.get("compactMetadata")
    return wire.count(about.get("postTokens")) if isinstance(about, dict) else 0


# --- where it ends ---------------------------------------------------------------------------------------------------

LARGE, SMALL = 1_000_000, 200_000
OUTPUT = 20_000  # tokens the host keeps free for an answer, at most
BEFORE_COMPACTION, BEFORE_REFUSAL = 13_000, 3_000  # tokens before what is left then
MEASURED, OLD = [2, 1, 325], [2, 1, 197]  # the versions of the host whose tables these are
OLD_SONNET = 967_000  # what an older host compacts sonnet-5 for, where that has the large window
OFF = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")


def find_limits(
    window: int, model: str, version: str, tokens: int, hosts: list[tuple[str, Json]], environ: dict[str, str]
) -> Limits:
    """Where a context ends. `window` is what the host says itself, if it does; `hosts` are its settings, the weakest
    first; `tokens` that are in it are in it, whatever a table says."""
    environ = _as_the_host_has_it(environ, hosts)
    size = window or known_window(model, version, environ)
    if tokens > size > 0:
        size = LARGE if tokens <= LARGE else 0
    if not size:
        return Limits()
    kept = min(int(_variable(environ, "CLAUDE_CODE_MAX_OUTPUT_TOKENS")) or OUTPUT, OUTPUT)
    if not _compacts(hosts, environ):
        return Limits(size, 0, size - kept - BEFORE_REFUSAL)
    wanted = _configured(model, version, hosts, environ)
    if not wanted and not _looks_ahead(model, version):
        return Limits(size, size)  # it goes on until the model itself refuses
    if not wanted and "sonnet-5" in model and _is_old(version):
        wanted = OLD_SONNET
    usable = min(size, wanted or size) - kept
    at, percent = usable - BEFORE_COMPACTION, _variable(environ, "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
    return Limits(size, min(at, int(usable * percent / 100)) if 0 < percent <= 100 else at)


def _as_the_host_has_it(environ: dict[str, str], hosts: list[tuple[str, Json]]) -> dict[str, str]:
    """The environment with what the host's settings put there; hooks inherit it, a terminal beside it does not."""
    for _, given in hosts:
        more = given.get("env")
        if isinstance(more, dict):
            environ = environ | {name: str(value) for name, value in more.items() if isinstance(name, str)}
    return environ


def known_window(model: str, version: str, environ: dict[str, str]) -> int:
    """The window a model has in a version of the host; 0 where we do not know it."""
    if _on(environ.get("CLAUDE_CODE_DISABLE_1M_CONTEXT")):
        return SMALL
    if "[1m]" in model.lower():
        return LARGE
    number, host = version_of(model), _numbers(version)
    if not model or (number and number[:2] < [4, 7]):
        return SMALL if model else 0
    if host >= MEASURED:
        return LARGE
    first = "api.anthropic.com" in (environ.get("ANTHROPIC_BASE_URL") or "api.anthropic.com")
    if first and (number[:2] in ([4, 7], [4, 8]) or "sonnet-5" in model):
        return LARGE
    return SMALL if _is_old(version) else 0  # somewhere in between it changed


def _looks_ahead(model: str, version: str) -> bool:
    """Whether the host compacts before a model refuses: for those since 4.6, and those it does not know."""
    number = version_of(model)
    if "[1m]" in model.lower():  # a window that was asked for
        return False
    if _is_old(version):
        return number[:2] == [4, 6] or "sonnet-5" in model
    return not number or number[:2] >= [4, 6]


def _numbers(version: str) -> list[int]:
    return [int(word) for word in version.split(".") if word.isdecimal()]


def _is_old(version: str) -> bool:
    return [] < _numbers(version) <= OLD


def _configured(model: str, version: str, hosts: list[tuple[str, Json]], environ: dict[str, str]) -> int:
    """The window that the host is to compact for, where somebody said so."""
    said = int(_variable(environ, "CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
    if said:
        return max(100_000, min(said, LARGE))
    for _, given in reversed(hosts):
        models = None if _is_old(version) else given.get("modelSettings")
        own = models.get(model) if isinstance(models, dict) else None
        for place in (own, given):
            value = wire.count(place.get("autoCompactWindow")) if isinstance(place, dict) else 0
            if 100_000 <= value <= LARGE:
                return value
    return 0


def _compacts(hosts: list[tuple[str, Json]], environ: dict[str, str]) -> bool:
    """Whether the host compacts by itself."""
    if any(_on(environ.get(name)) for name in OFF):
        return False
    for _, given in reversed(hosts):
        if isinstance(given.get("autoCompactEnabled"), bool):
            return bool(given["autoCompactEnabled"])
    return True


def _on(value: str | None) -> bool:
    return (value or "").strip().lower() in ("1", "true", "yes", "on")


def _variable(environ: dict[str, str], name: str) -> float:
    """A number as JavaScript reads it: what follows its digits does not matter."""
    text = environ.get(name, "").strip()
    digits = text[: len(text) - len(text.lstrip("0123456789."))][:12]
    try:
        return float(digits)
    except ValueError:
        return 0.0


# --- reading a file from its end --------------------------------------------------------------------------------------


def _lines_back(fd: int) -> Iterator[bytes]:
    """A file's lines, the last one first; blocks grow, so that a line of many megabytes is not read in crumbs."""
    end = posix.fstat(fd).st_size
    furthest, step = max(0, end - FURTHEST), BLOCK
    pieces: list[bytes] = []  # of the line whose beginning has not been found, the last piece first
    while end > furthest:
        begin = max(furthest, end - step)
        block = posix.pread(fd, end - begin, begin)
        if len(block) < end - begin:
            return  # it shrank under our eyes
        cut = len(block)
        while (newline := block.rfind(b"\n", 0, cut)) >= 0:
            pieces.append(block[newline + 1 : cut])
            yield b"".join(reversed(pieces)) if len(pieces) > 1 else pieces[0]
            pieces.clear()
            cut = newline
        pieces.append(block[:cut])
        if sum(map(len, pieces)) > LONGEST:
            return  # no response is as long as that
        end, step = begin, min(2 * step, LARGEST_BLOCK)
    if not furthest:
        yield b"".join(reversed(pieces))


def _parse(line: bytes) -> Json:
    try:
        entry = wire.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _text(value: object) -> str:
    return value[:40] if isinstance(value, str) else ""
