"""One hook call: payload on stdin, answer on stdout, and never a failure the user must see.

The same `answer` serves a command hook, which is a process of its own and must cost next to nothing, and the resident
server, which is asked while a session runs. A hook is a moment to look: it leaves a record in the session's spool, and
the transcript is read by whoever holds the writer's lock.
"""

from __future__ import annotations

import posix
from time import time

from memory_keeper import config, wire
from memory_keeper.app.detached import start_look
from memory_keeper.app.problems import complain, trouble
from memory_keeper.capture.payload import read_payload
from memory_keeper.keep import spool
from memory_keeper.model import Status
from memory_keeper.policy import decide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.app.actions.fullness import Filling
    from memory_keeper.model import Call, Json

LARGEST = 32 << 20  # bytes of a payload
TEXT = 64 << 10  # characters of a prompt or an answer that are kept until the transcript has them
SUMMARY = 256 << 10  # and of a summary
INSTRUCTIONS = 4_000  # characters
UNKEPT = ("PostCompact", "PostToolUseFailure")  # calls whose text the transcript has, or another record
HEARD = 9_900  # characters, as the host counts: it puts more into a file


def main(argv: list[str]) -> None:
    """`hook EVENT`: whatever happens, exit 0 with one JSON object or nothing."""
    event, home, said = (argv[1] if len(argv) > 1 else ""), "", None
    config.hurried = True
    try:
        try:
            environ = config.environment()
            if config.INSIDE in environ:
                return  # a host that we started ourselves, to write a note
            if len(argv) > 2:
                event, home, environ = _read_options(argv[1:], environ)
            home = home or config.find_home(environ)
            call = read_payload(event, wire.loads(_read_input().decode("utf-8", "replace")), environ)
            said = answer(call, home, environ, look=start_look) if call else None
        except BaseException as error:
            complain(home, event, error)
            said = despite(event, home, error)
        write_all(1, written(said))
    finally:
        posix._exit(0)


def _read_options(words: list[str], environ: dict[str, str]) -> tuple[str, str, dict[str, str]]:
    """The event, the home that was named, and the environment with the project that was."""
    from memory_keeper.app.options import read_options

    given = read_options(words)
    project = {"CLAUDE_PROJECT_DIR": given.project} if given.project else {}
    return (*given.words, "")[0], given.home, {**environ, **project}


def answer(
    call: Call,
    home: str,
    environ: dict[str, str],
    look: Callable[[str, str, str], object],
    resident: bool = False,
    at: float = 0.0,
) -> Json | str | None:
    """Keep a record of the call and say what the host should hear; None for nothing. Text is said as it is.

    `at` is when the call came. Who asks again because the first answer was lost gives the same time, so that what is
    kept twice is known to be one.
    """
    if call.agent and call.event in ("SessionStart", "PostCompact"):
        return None  # a subagent was compacted: its own affair
    at = at or time()
    record = _record(call, home, environ, at)
    grown = spool.append(home, call.session, record)
    status, filling = Status(resident, grown, call.source), None
    try:
        filling = _measure(call, home, environ)
        mode, blocked = _mode(call, home, environ)
        status = status._replace(mode=mode, blocked=blocked)
        if filling:
            untold = filling.context.untold or filling.context.handed == at
            status = status._replace(passed=filling.unsaid(at), untold=untold)
    except Exception as error:  # whatever is wrong with the gauge, what happens is kept
        complain(home, "gauge", error)
    if call.agent and call.event == "PreCompact":
        return None
    said: Json = {}
    plain = ""
    for action in decide(call.event, status):
        if action.do == "look":
            look(home, action.what, call.session)
        elif action.do == "tell" and action.what == "lost":
            said = joined(said, _tell_lost(call, home, environ, at))
        elif action.do == "tell" and action.what in ("recall", "fix"):
            said = joined(said, _recall(call, home, environ, action.what, at, _room(said)))
        elif action.do == "tell" and action.what == "rules":
            said = joined(said, _rules(call, home, environ, at, _room(said)))
        elif action.do == "tell":
            said |= _begin(call, home, environ, action.what, at, str(record.get("after") or ""))
        elif action.do == "save":
            _save(call, home, environ)
        elif action.do == "warn" and filling:
            said = joined(said, _warn(call, home, environ, filling, at, _room(said)))
        elif action.do == "refuse":
            said |= _refuse(call, home, at)
        elif action.do == "instruct":
            plain = _instruct(call, home, environ)
        elif action.do == "score":
            _score(call, home, environ, at)
    return said or plain or None


def written(said: Json | str | None) -> bytes:
    """An answer as the host reads it."""
    if isinstance(said, str):
        return said.encode("utf-8", "replace")
    return wire.dumps(said).encode("ascii") if said else b""


def despite(event: str, home: str, error: BaseException) -> Json | None:
    """What is said when nothing can be kept: at a start that this is so; with a prompt the rules all the same."""
    said = trouble(event, error)
    if event != "UserPromptSubmit" or said:
        return said
    from memory_keeper.app.actions.rules import fail_safe

    return fail_safe(event, home)


def joined(said: Json, more: Json) -> Json:
    """Two answers as one; the model hears first what came first."""
    heard, also = said.get("hookSpecificOutput"), more.get("hookSpecificOutput")
    shown = [one["systemMessage"] for one in (said, more) if one.get("systemMessage")]
    both = {**said, **more, **({"systemMessage": "\n".join(shown)} if shown else {})}
    if not heard or not also:
        return both
    text = f"{heard['additionalContext']}\n{also['additionalContext']}"
    if len(text.encode("utf-16")) // 2 > HEARD:
        text = heard["additionalContext"]
    return {**both, "hookSpecificOutput": {**heard, "additionalContext": text}}


def _room(said: Json) -> int:
    """How much more the model can hear, beside what it hears so far."""
    heard = str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))
    return HEARD - len(heard.encode("utf-16")) // 2


def _measure(call: Call, home: str, environ: dict[str, str]) -> Filling | None:
    """How full the context is, at the moments at which somebody can be told."""
    if call.event not in ("UserPromptSubmit", "PostToolUse") or call.agent or not call.transcript:
        return None
    from memory_keeper.app.actions.fullness import measure

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
    if summary := _summary(call, home):
        text = _clean(summary, home, environ, call.project_dir, SUMMARY)
        record = {"event": "Summary", "at": at, "dir": call.project_dir, "by": call.event, "text": text}
        return record | ({"transcript": call.transcript} if call.transcript else {})
    record = {"event": call.event, "at": at}
    for name, value in (
        ("transcript", call.transcript),
        ("dir", call.project_dir),
        ("agent", call.agent),
        ("source", call.source),
        ("ref", call.ref),
        ("text", _clean("" if call.event in UNKEPT else call.text, home, environ, call.project_dir)),
        ("model", call.model),
        ("busy", call.busy),
    ):
        if value:
            record[name] = value
    if call.event == "SessionStart":
        return record | _process(call, home, environ, at)
    if call.event == "SessionEnd":
        from memory_keeper.capture.project import head

        branch, commit = head(config.find_root(call.project_dir)) if call.project_dir else ("", "")
        return record | {"place": [branch, commit]}  # another may be checked out when somebody asks
    if call.event == "PreCompact" and call.source == "auto" and not call.agent:
        from memory_keeper.capture.usage import read_gauge

        gauge = read_gauge(call.transcript)
        return record | ({"tokens": gauge.tokens} if gauge else {})  # so that is where this host compacts
    return record


def _summary(call: Call, home: str) -> str:
    """The summary of a compaction that a call brings; empty when it brings none.

    The host has it written by a subagent that has no type, whose end comes before the context that begins with it.
    Other subagents may have none either, and those of a subagent's compaction are not ours.
    """
    if call.event not in ("SubagentStop", "PostCompact") or call.agent_type or not call.text:
        return ""
    from memory_keeper.capture.payload import SUMMARY as TAGS
    from memory_keeper.capture.payload import read_summary

    if call.event == "SubagentStop" and TAGS[0] not in call.text:
        return ""
    from memory_keeper.keep.context import read_context

    context = read_context(home, call.session)
    unheard = call.event == "PostCompact" and not context.scored
    return read_summary(call.text) if context.summarizing or unheard else ""


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


def _clean(text: str, home: str, environ: dict[str, str], folder: str, most: int = TEXT) -> str:
    """Text without its secrets; the expensive half of the redactor is loaded only for a text that needs it."""
    if not text:
        return ""
    text = text[: 2 * most]  # twice, so that a secret at the cut is still seen whole
    from memory_keeper.capture.redact import known_values, redact, suspicious

    known = known_values(environ, config.read_dotenv(folder) if folder else ())
    if suspicious(text, known):
        from memory_keeper.keep.home import read_salt

        text = redact(text, read_salt(home), known)
    return text[:most]


def _begin(call: Call, home: str, environ: dict[str, str], name: str, at: float, after: str) -> Json:
    from memory_keeper.app.actions.beginning import begin

    return begin(call, home, environ, name, at, after)


def _save(call: Call, home: str, environ: dict[str, str]) -> str:
    """Write the session's handoff; where it can be read, empty when that failed: the host goes on all the same."""
    from memory_keeper.app.actions.handoff import CATCH_UP, save

    try:
        return save(home, call.session, call.project_dir, environ, CATCH_UP)
    except Exception as error:
        complain(home, "save", error)
        return ""


def _warn(call: Call, home: str, environ: dict[str, str], filling: Filling, at: float, room: int) -> Json:
    """Write the handoff, and tell the user and the model how full the context is, once per level and context."""
    from memory_keeper.app.actions.fullness import HELD, can_answer, warn
    from memory_keeper.app.actions.telling import record_warning
    from memory_keeper.keep.context import read_context

    reached = filling.unsaid(at)
    held = filling.is_compacted_now(at, call.event == "UserPromptSubmit")
    reached = (HELD,) if held else reached
    record = {"event": "Warned", "at": at, "dir": call.project_dir, "level": " ".join(reached)}
    spool.append(home, call.session, {**record, "tokens": filling.tokens})
    first = dict(read_context(home, call.session).warned).get(reached[-1])
    if first != at:
        return {}  # another hook was faster
    saved, clearer = _save(call, home, environ), can_answer(home, filling.context)
    alone = filling.settings["compaction.mode"] == "clear" and not clearer  # then the user has to do it
    if held or (reached[-1] == "handoff" and not alone) or not filling.settings["context.warnings"] or filling.tended:
        return {}
    user, model = warn(filling, reached[-1], saved, clearer)
    if len(model) >= room:
        return {"systemMessage": user}
    record_warning(home, call.session, call.project_dir, at, call.event, model)
    heard = {"hookEventName": call.event, "additionalContext": model}
    return {"systemMessage": user, "hookSpecificOutput": heard}


def _tell_lost(call: Call, home: str, environ: dict[str, str], at: float) -> Json:
    """Tell a context that was compacted what that lost, if nobody has: its beginning should have."""
    from memory_keeper.app.actions.lost import lost_text
    from memory_keeper.keeper import Keeper

    try:
        settings = config.load(home, config.find_root(call.project_dir), environ)[0]
        with Keeper(home, environ) as keeper:
            text = lost_text(keeper, call.session, call.project_dir, settings, at, call.event)
    except Exception as error:
        complain(home, "lost", error)
        return {}
    return {"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}} if text else {}


def _recall(call: Call, home: str, environ: dict[str, str], what: str, at: float, room: int) -> Json:
    """Tell a context what was kept about what its prompt names, or what helped before against what went wrong."""
    try:
        from memory_keeper.app.actions.recall import fix_text, recall_text

        text = (fix_text if what == "fix" else recall_text)(call, home, environ, at, room)
    except Exception as error:
        complain(home, what, error)
        return {}
    return {"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}} if text else {}


def _rules(call: Call, home: str, environ: dict[str, str], at: float, room: int) -> Json:
    """The rules, in full or in short; when something is wrong, those that come with us: a prompt never goes without."""
    from memory_keeper.app.actions.rules import fail_safe, tell_rules

    try:
        return tell_rules(call, home, environ, at, room)
    except Exception as error:
        complain(home, "rules", error)
        return fail_safe(call.event, home) if not call.agent else {}


def _instruct(call: Call, home: str, environ: dict[str, str]) -> str:
    """What the host's summarizer is told besides. The host takes plain text, and shows the user and the model the same
    when it was they who compacted."""
    root = config.find_root(call.project_dir) if call.project_dir else ""
    said: str = config.load(home, root, environ)[0]["compaction.instructions"]
    return said.strip()[:INSTRUCTIONS]


def _score(call: Call, home: str, environ: dict[str, str], at: float) -> None:
    """Measure a compaction's summary, where that was not done before its context began."""
    if not call.text:
        return  # it was not the host that summarised
    from memory_keeper.keep.context import read_context

    context = read_context(home, call.session)
    if not context.handed or context.scored:
        return
    from memory_keeper.app.actions.lost import keep_score
    from memory_keeper.keeper import Keeper

    try:
        settings = config.load(home, config.find_root(call.project_dir), environ)[0]
        with Keeper(home, environ) as keeper:
            keep_score(keeper, call.session, call.project_dir, settings, at)
    except Exception as error:
        complain(home, "score", error)


def _refuse(call: Call, home: str, at: float) -> Json:
    """Refuse a compaction: the context is cleared instead, as soon as its turn is over."""
    spool.append(home, call.session, {"event": "Blocked", "at": at, "dir": call.project_dir})
    return {
        "decision": "block",
        "reason": "Memory Keeper wrote the handoff; this context is cleared and restored when the turn is over"
        " (setting compaction.mode). If nothing happens, type /clear.",
    }


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
