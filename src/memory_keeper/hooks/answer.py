"""What is answered to a hook, whichever door it came in by.

A command hook is a process of its own and must cost next to nothing; the resident server is asked while a session runs.
A hook is an occasion to catch up: it leaves a record in the session's spool, and the transcript is read by whoever
holds the writer's lock.
"""

from __future__ import annotations

from time import time

from memory_keeper import config, wire
from memory_keeper.capture.project import head
from memory_keeper.policy import decide
from memory_keeper.request import Status
from memory_keeper.store import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.model import Json
    from memory_keeper.request import Call

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
    status, fullness = Status(resident, grown, call.source), None
    if call.event not in ("SessionStart", "SessionEnd"):
        from memory_keeper.hooks.during import find_status

        status, fullness = find_status(call, home, environ, status)
    reply: Json = {}
    plain = ""
    for action in decide(call.event, status):
        if action.do == "catch_up":
            catch_up(home, action.what, call.session)
            continue
        from memory_keeper.hooks.actions import Request, perform

        after = str(record.get("after") or "")
        heard = perform(action, Request(call, home, environ, at, fullness, after, _room(reply)))
        if isinstance(heard, str):
            plain = heard
        else:
            reply = joined(reply, heard)
    return reply or plain or None


def despite(event: str, home: str, error: BaseException, environ: dict[str, str] | None = None) -> Json | None:
    """What is said when nothing can be kept: at a start that this is so; with a prompt the rules all the same."""
    from memory_keeper.hooks.problems import trouble

    reply = trouble(event, error)
    if event != "UserPromptSubmit" or reply:
        return reply
    from memory_keeper.hooks.actions.rules import fail_safe

    return fail_safe(event, home, environ)


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


def _record(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """What is left in the session's spool: the call, or the summary of a compaction that it brings."""
    text, more = "", {}
    if call.event == "SessionStart":
        more = _process(call, home, environ, at)
    elif call.event == "SessionEnd":
        branch, commit = head(config.find_root(call.folder)) if call.folder else ("", "")
        more = {"place": [branch, commit]}  # another may be checked out when somebody asks
    else:
        from memory_keeper.hooks.during import clean_summary, clean_text, compacts_at

        if summary := clean_summary(call, home, environ):
            by, transcript = call.event, call.transcript
            return spool.make("Summary", call.id, at, call.folder, by=by, text=summary, transcript=transcript)
        text, more = clean_text(call, home, environ), compacts_at(call)
    record = spool.make(
        call.event,
        call.id,
        at,
        call.folder,
        transcript=call.transcript,
        agent=call.agent,
        source=call.source,
        ref=call.ref,
        text=text,
        model=call.model,
        busy=call.busy or None,
    )
    return record | more


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
