"""What there is to know of a call while its session runs: then the server is asked, and no process waits to be loaded.

Its words without secrets, the summary of a compaction that it brings, and how full the context is.
"""

from __future__ import annotations

from memory_keeper import config
from memory_keeper.capture.gauge import read_gauge
from memory_keeper.capture.payload import SUMMARY as TAGS
from memory_keeper.capture.payload import read_summary
from memory_keeper.capture.redact import known_values, redact, suspicious
from memory_keeper.hooks.actions.fullness import Fullness, measure
from memory_keeper.hooks.problems import complain
from memory_keeper.model import Json
from memory_keeper.request import Call, Status
from memory_keeper.store.context import read_context
from memory_keeper.store.home import read_salt

TEXT = 64 << 10  # characters of a prompt or an answer that are kept until the transcript has them
SUMMARY = 256 << 10  # and of a summary
UNKEPT = ("PreCompact", "PostCompact", "PostToolUseFailure")  # calls whose text the transcript has, or another record


def find_status(call: Call, home: str, environ: dict[str, str], status: Status) -> tuple[Status, Fullness | None]:
    """What triggers may know of a request, and how full the context is, where somebody can be told."""
    try:
        fullness = _measure(call, home, environ)
        mode, blocked = _find_mode(call, home, environ)
        status = status._replace(mode=mode, blocked=blocked)
        if not fullness:
            return status, None
        untold = fullness.context.untold or fullness.context.handed == call.id
        return status._replace(passed=fullness.unsaid(call.id), untold=untold), fullness
    except Exception as error:  # whatever is wrong with the gauge, what happens is kept
        complain(home, "gauge", error)
        return status, None


def _measure(call: Call, home: str, environ: dict[str, str]) -> Fullness | None:
    """How full the context is, at the moments at which somebody can be told."""
    if call.event not in ("UserPromptSubmit", "PostToolUse") or call.agent or not call.transcript:
        return None
    return measure(home, call.session, call.transcript, call.folder, environ)


def _find_mode(call: Call, home: str, environ: dict[str, str]) -> tuple[str, bool]:
    """What becomes of a full context, and whether its compaction was refused before; where that matters."""
    if call.event not in ("Stop", "PreCompact") or call.agent:
        return "supplement", False
    root = config.find_root(call.folder) if call.folder else ""
    mode = config.load(home, root, environ)[0]["compaction.mode"]
    if mode != "block":
        return mode, False
    return mode, bool(read_context(home, call.session).blocked)


def compacts_at(call: Call) -> Json:
    """Where this host compacts: how full a context is that it is about to compact by itself."""
    if call.event != "PreCompact" or call.source != "auto" or call.agent:
        return {}
    gauge = read_gauge(call.transcript)
    return {"tokens": gauge.tokens} if gauge else {}


def clean_text(call: Call, home: str, environ: dict[str, str]) -> str:
    """The words that a call brings, without secrets, where they are to be kept."""
    return "" if call.event in UNKEPT else _clean(call.text, home, environ, call.folder, TEXT)


def clean_summary(call: Call, home: str, environ: dict[str, str]) -> str:
    """The summary of a compaction that a call brings, without secrets; empty when it brings none."""
    return _clean(_summary(call, home), home, environ, call.folder, SUMMARY)


def _summary(call: Call, home: str) -> str:
    """The summary of a compaction that a call brings; empty when it brings none.

    The host has it written by a subagent that has no type, whose end comes before the context that begins with it.
    Other subagents may have none either, and those of a subagent's compaction are not ours.
    """
    if call.event not in ("SubagentStop", "PostCompact") or call.agent_type or not call.text:
        return ""
    if call.event == "SubagentStop" and TAGS[0] not in call.text:
        return ""
    context = read_context(home, call.session)
    unheard = call.event == "PostCompact" and not context.scored
    return read_summary(call.text) if context.summarizing or unheard else ""


def _clean(text: str, home: str, environ: dict[str, str], folder: str, most: int) -> str:
    """Text without its secrets; the expensive half of the redactor is loaded only for a text that needs it."""
    if not text:
        return ""
    text = text[: 2 * most]  # twice, so that a secret at the cut is still seen whole
    known = known_values(environ, config.read_dotenv(folder) if folder else ())
    if suspicious(text, known):
        text = redact(text, read_salt(home), known)
    return text[:most]
