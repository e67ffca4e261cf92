"""What is answered to a hook, whichever door it came in by.

A command hook is a process of its own and must cost next to nothing; the resident server is asked while a session runs.
A hook is an occasion to catch up: it leaves a record in the session's spool, and the transcript is read by whoever
holds the writer's lock.
"""

from __future__ import annotations

from time import time

from memory_keeper import config, wire
from memory_keeper.capture.payload import SUMMARY as TAGS
from memory_keeper.capture.payload import read_summary
from memory_keeper.capture.project import head
from memory_keeper.policy import decide
from memory_keeper.request import Status
from memory_keeper.store import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.hooks.actions.fullness import Fullness
    from memory_keeper.model import Json
    from memory_keeper.request import Call

TEXT = 64 << 10  # characters of a prompt or an answer that are kept until the transcript has them
SUMMARY = 256 << 10  # and of a summary
UNKEPT = ("PreCompact", "PostCompact", "PostToolUseFailure")  # calls whose text the transcript has, or another record
HEARD = 9_900  # characters, as the host counts: it puts more into a file


def answer(
    call: Call,
    home: str,
    environ: dict[str, str],
    catch_up: Callable[[str, str, str], object],
    resident: bool = False,
    at: float = 0.0,
) -> Json | str | None:
    """Keep a record of the call and say what the host should hear; None for nothing. Text is said as it is.

    `at` is when the call came. Who asks again because the first answer was lost gives the same call, with its id: what
    is kept twice is known to be one.
    """
    if call.agent and call.event in ("SessionStart", "PostCompact"):
        return None  # a subagent was compacted: its own affair
    at, call = at or time(), call if call.id else call._replace(id=spool.new_call())
    record = _record(call, home, environ, at)
    grown = spool.append(home, call.session, record)
    if call.agent and call.event == "PreCompact":
        return None
    status, fullness = _find_status(call, home, environ, Status(resident, grown, call.source), at)
    reply: Json = {}
    plain = ""
    for action in decide(call.event, status):
        if action.do == "catch_up":
            catch_up(home, action.what, call.session)
            continue
        from memory_keeper.hooks.actions import Request, perform

        after = str(record.get("after") or "")
        told = perform(action, Request(call, home, environ, at, fullness, after, _room(reply)))
        if isinstance(told, str):
            plain = told
        else:
            reply = joined(reply, told)
    return reply or plain or None


def despite(event: str, home: str, error: BaseException) -> Json | None:
    """What is said when nothing can be kept: at a start that this is so; with a prompt the rules all the same."""
    from memory_keeper.hooks.problems import trouble

    reply = trouble(event, error)
    if event != "UserPromptSubmit" or reply:
        return reply
    from memory_keeper.hooks.actions.rules import fail_safe

    return fail_safe(event, home)


def joined(reply: Json, more: Json) -> Json:
    """Two answers as one; the model hears first what came first."""
    heard, also = reply.get("hookSpecificOutput"), more.get("hookSpecificOutput")
    shown = [entry["systemMessage"] for entry in (reply, more) if entry.get("systemMessage")]
    both = {**reply, **more, **({"systemMessage": "\n".join(shown)} if shown else {})}
    if not heard or not also:
        return both
    text = f"{heard['additionalContext']}\n{also['additionalContext']}"
    if wire.units(text) > HEARD:
        text = heard["additionalContext"]
    return {**both, "hookSpecificOutput": {**heard, "additionalContext": text}}


def _room(reply: Json) -> int:
    """How much more the model can hear, beside what it hears so far."""
    heard = str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))
    return HEARD - wire.units(heard)


def _find_status(
    call: Call, home: str, environ: dict[str, str], status: Status, at: float
) -> tuple[Status, Fullness | None]:
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
        from memory_keeper.hooks.problems import complain

        complain(home, "gauge", error)
        return status, None


def _measure(call: Call, home: str, environ: dict[str, str]) -> Fullness | None:
    """How full the context is, at the moments at which somebody can be told."""
    if call.event not in ("UserPromptSubmit", "PostToolUse") or call.agent or not call.transcript:
        return None
    from memory_keeper.hooks.actions.fullness import measure

    return measure(home, call.session, call.transcript, call.folder, environ)


def _find_mode(call: Call, home: str, environ: dict[str, str]) -> tuple[str, bool]:
    """What becomes of a full context, and whether its compaction was refused before; where that matters."""
    if call.event not in ("Stop", "PreCompact") or call.agent:
        return "supplement", False
    root = config.find_root(call.folder) if call.folder else ""
    mode = config.load(home, root, environ)[0]["compaction.mode"]
    if mode != "block":
        return mode, False
    from memory_keeper.store.context import read_context

    return mode, bool(read_context(home, call.session).blocked)


def _record(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """What is left in the session's spool: the call, or the summary of a compaction that it brings."""
    if summary := _summary(call, home):
        text = _clean(summary, home, environ, call.folder, SUMMARY)
        by, transcript = call.event, call.transcript
        return spool.make("Summary", call.id, at, call.folder, by=by, text=text, transcript=transcript)
    record = spool.make(
        call.event,
        call.id,
        at,
        call.folder,
        transcript=call.transcript,
        agent=call.agent,
        source=call.source,
        ref=call.ref,
        text=_clean("" if call.event in UNKEPT else call.text, home, environ, call.folder),
        model=call.model,
        busy=call.busy or None,
    )
    return record | _surroundings(call, home, environ, at)


def _surroundings(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """What only the host can tell now, and nobody could find out later."""
    if call.event == "SessionStart":
        return _process(call, home, environ, at)
    if call.event == "SessionEnd":
        branch, commit = head(config.find_root(call.folder)) if call.folder else ("", "")
        return {"place": [branch, commit]}  # another may be checked out when somebody asks
    if call.event == "PreCompact" and call.source == "auto" and not call.agent:
        from memory_keeper.capture.gauge import read_gauge

        gauge = read_gauge(call.transcript)
        return {"tokens": gauge.tokens} if gauge else {}  # so that is where this host compacts
    return {}


def _summary(call: Call, home: str) -> str:
    """The summary of a compaction that a call brings; empty when it brings none.

    The host has it written by a subagent that has no type, whose end comes before the context that begins with it.
    Other subagents may have none either, and those of a subagent's compaction are not ours.
    """
    if call.event not in ("SubagentStop", "PostCompact") or call.agent_type or not call.text:
        return ""
    if call.event == "SubagentStop" and TAGS[0] not in call.text:
        return ""
    from memory_keeper.store.context import read_context

    context = read_context(home, call.session)
    unheard = call.event == "PostCompact" and not context.scored
    return read_summary(call.text) if context.summarizing or unheard else ""


def _process(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """Which process of the host a context runs in, and the session that the same process has just cleared."""
    from memory_keeper.capture.host import OURS, born, find_pid, find_terminal

    pid = call.pid or find_pid(environ)
    found: Json = {"pid": pid, "born": born(pid)}
    terminal = find_terminal(environ)
    if any(terminal):
        found["terminal"] = terminal
    if environ.get(OURS):
        found["run"] = True
    if call.source == "clear":
        from memory_keeper.store.context import find_cleared, read_context

        before = call.after or find_cleared(home, call.session, pid, at, str(found["born"]), call.folder)
        if before:
            found["after"] = before
            if read_context(home, before).asked:
                found["ours"] = True
    return found


def _clean(text: str, home: str, environ: dict[str, str], folder: str, most: int = TEXT) -> str:
    """Text without its secrets; the expensive half of the redactor is loaded only for a text that needs it."""
    if not text:
        return ""
    text = text[: 2 * most]  # twice, so that a secret at the cut is still seen whole
    from memory_keeper.capture.redact import known_values, redact, suspicious

    known = known_values(environ, config.read_dotenv(folder) if folder else ())
    if suspicious(text, known):
        from memory_keeper.store.home import read_salt

        text = redact(text, read_salt(home), known)
    return text[:most]
