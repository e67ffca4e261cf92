"""A hook payload, read once and forgivingly: unknown fields are ignored, and no field can choose a path or a name."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.request import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_keeper.model import Json

NAME = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")
# what stands in the user's place without being the user's
NOTICES = (
    "<task-notification>",
    "<bash-notification>",
    "<teammate-message",
    "Unknown slash command: ",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
)
TASK = '{"task_id":'  # how older hosts queue what a background task has to say
# blocks that the host, an editor or somebody else puts beside what was typed
ADDED = (
    *("system-reminder", "local-command-caveat", "user-prompt-submit-hook", "channel"),
    *("ide_selection", "ide_opened_file", "ide_diagnostics", "ide_context"),
    *("teammate-message", "agent-message", "cross-session-message", "task-notification", "bash-notification"),
)
COMMANDS = ("<command-name>", "<command-message>", "<local-command-", "<bash-")
OWN_COMMAND = "/memory-keeper:"  # how ours begin, as they are typed
PROVISIONAL = {
    "UserPromptSubmit": "prompt",
    "Stop": "last_assistant_message",
    "SubagentStop": "last_assistant_message",
    "PreCompact": "custom_instructions",
    "PostCompact": "compact_summary",
    "PostToolUseFailure": "error",
}
SUMMARY = ("<summary>", "</summary>")
ANALYSIS = ("<analysis>", "</analysis>")


def read_payload(event: str, payload: Any, environ: dict[str, str]) -> Call | None:
    """The call a payload describes; None when it names no session, since nothing can be kept without one."""
    if not isinstance(payload, dict) or not read_text(payload, "session_id"):
        return None
    cwd = read_path(payload, "cwd")
    return Call(
        event=event,
        session=safe_name(read_text(payload, "session_id")),
        transcript=_transcript(payload),
        # cwd follows the model's `cd`; the project does not
        folder=read_path(environ, "CLAUDE_PROJECT_DIR") or read_path(payload, "project_dir") or cwd,
        agent=_name(payload, "agent_id"),
        source=_name(payload, "source") or _name(payload, "reason") or _name(payload, "trigger"),
        text=_provisional(event, payload),
        ref=_name(payload, "tool_use_id") or _name(payload, "prompt_id"),
        model=read_text(payload, "model")[:100] if event == "SessionStart" else "",
        busy=_number_of(payload.get("background_tasks")),
        agent_type=_name(payload, "agent_type"),
        quiet=wire.count(payload.get("seconds_since_last_response"), -1),
        tokens=wire.count(payload.get("context_tokens")),
    )


def is_name(name: str) -> bool:
    """Whether a name may stand in a file's name, and outside a fence."""
    return 0 < len(name) <= 64 and NAME.issuperset(name)


def safe_name(name: str) -> str:
    """A name that may stand in a file's name: itself when it is plain, else a hash of it."""
    if is_name(name):
        return name
    from hashlib import blake2s

    return "x-" + blake2s(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _provisional(event: str, payload: Json) -> str:
    """What was asked, was answered or went wrong; what only stands in the place of a prompt is none."""
    text = read_text(payload, PROVISIONAL.get(event, ""))
    if event == "PostToolUseFailure" and payload.get("is_interrupt") in (True, "true"):
        return ""  # the user stopped it: nothing went wrong
    return "" if event == "UserPromptSubmit" and text.lstrip().startswith(NOTICES + COMMANDS) else text


def own_text(text: str) -> str:
    """What of a text in the user's place is not the host's; empty where all of it is."""
    text = text.strip()
    if text.startswith((*NOTICES, *COMMANDS, TASK)):
        return ""
    for tag in ADDED if "</" in text else ():
        first, last = f"<{tag}", f"</{tag}>"
        begin, end = text.find(first), text.rfind(last)
        # to the last end of it: what stands in a block may have another in it, and go on as if it were the user
        if 0 <= begin < end and text[begin + len(first)] in "> \n":
            text = f"{text[:begin].rstrip()} {text[end + len(last) :].lstrip()}".strip()
    return "" if text.startswith((*NOTICES, *COMMANDS, TASK)) else text


def read_summary(text: str) -> str:
    """What a model's answer to "summarize" leaves in the context: neither what it thought aloud nor the tags."""
    text = _without(text, *ANALYSIS)
    _, opened, rest = text.partition(SUMMARY[0])
    return (rest.partition(SUMMARY[1])[0] if opened else text).strip()


def _without(text: str, first: str, last: str) -> str:
    before, opened, rest = text.partition(first)
    _, closed, after = rest.partition(last)
    return before + after if opened and closed else text


def _number_of(tasks: Any) -> int:
    """How many things a list names; a server is given the list as text."""
    if isinstance(tasks, str) and tasks:
        try:
            tasks = wire.loads(tasks)
        except (ValueError, RecursionError):
            return 1  # something is there, whatever it is
    return len(tasks) if isinstance(tasks, (list, dict)) else 0


def read_text(payload: Json, field: str) -> str:
    """What a field says, when it is text."""
    value = payload.get(field, "")
    return value if isinstance(value, str) else ""


def _name(payload: Json, field: str) -> str:
    value = read_text(payload, field)
    return safe_name(value) if value else ""


def _transcript(payload: Json) -> str:
    """Only a plain absolute .jsonl path: devices, pipes and everything else are refused when it is opened."""
    path = read_path(payload, "transcript_path")
    return path if path.endswith(".jsonl") else ""


def read_path(payload: Json, field: str) -> str:
    """An absolute path; one that no system call takes would stop the writer at every look."""
    path = read_text(payload, field)
    try:
        path.encode()
    except UnicodeEncodeError:
        return ""
    return path if path.startswith("/") and "\0" not in path else ""
