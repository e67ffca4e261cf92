"""Claude Code's transcripts: every line, and every block of a line, becomes an event.

One response is written as one line per block, each with the whole usage; typed prompts, tool results, subagents and
the host's own remarks all come as `user` lines. Whatever is not known is kept as `other`, and its line raw.
"""

from __future__ import annotations

import json
from datetime import datetime

from memory_keeper import wire
from memory_keeper.capture.payload import COMMANDS, NOTICES, OWN_COMMAND, is_name, own_text
from memory_keeper.capture.typed import OWN_COMMANDS
from memory_keeper.model import ELSEWHERE, LATEST, Event, NamedTuple, Source, Usage
from memory_keeper.provenance import PROGRAM
from memory_keeper.text import storable

try:
    from _blake2 import blake2s  # hashlib would load OpenSSL: 3 ms and a megabyte
except ImportError:
    from hashlib import blake2s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memory_keeper.model import Json

    Block = tuple[str, str, str, str, str, bool, str]

LONGEST = 32 << 20  # a longer line is kept raw and not parsed
TODO_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
# who speaks in the user's place, as the host names them; where it names nobody, the user does
FIELDS = ("promptSource", "turnOrigin", "commandMode")
PEOPLE = frozenset({"typed", "queued", "human", "unknown", "prompt", ""})
MACHINES = frozenset(
    (
        *("system", "scheduled", "cron", "task-notification", "auto-continuation", "host-synthetic", "peer", "channel"),
        *("plugin", "coordinator", "observer", "observer-activity", "slack-ping"),
    )
)
EDITORS = frozenset({"claude-vscode", "claude-desktop"})  # in which people type what reaches the host by its SDK
UNTYPED = json.dumps({"by": PROGRAM})  # asked in the user's place, and not known to be typed by anybody
PRINTED = "Error: The user doesn't want"  # of a refusal; an older host says the same of what a failed program prints
REDACTED = "<REDACTED:"  # how a mark of redaction begins
PATHS = ("file_path", "notebook_path", "path")
COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class Line(NamedTuple):
    """What one line of a transcript says."""

    events: list[Event]
    usage: Usage | None = None
    parent: str = ""  # the line that it follows in the conversation


def read_line(line: bytes, source: Source, offset: int, at: float) -> Line | None:
    """The events of a line; `at` stands in when it has no time of its own. None for a blank line.

    `offset` is the line's place in the transcript as kept.
    """
    if not line.strip():
        return None
    entry = _parse(line)
    if not isinstance(entry, dict):
        return Line([_other(_hashed(line, source, offset), at, source, "unreadable", failed=True)])
    entry = _agents(entry)
    uuid = entry.get("uuid")
    base = uuid if isinstance(uuid, str) and is_name(uuid) else _hashed(line, source, offset)
    mark = ELSEWHERE if source.session.endswith(ELSEWHERE) else ""  # so that no line can take the place of the user's
    base += mark
    at = read_moment(entry.get("timestamp")) or at
    if _sidechain(entry) and not source.agent:
        source = source._replace(agent=_name(entry.get("agentId")) or "sidechain")
    reader = READERS.get(_name(entry.get("type")), _read_other)
    session, project, agent = source.session, source.project, source.agent
    try:
        blocks = list(reader(entry, source))
    except RecursionError:  # nested just deep enough to be read and not to be written
        return Line([_other(base, at, source, "unreadable", failed=True)])
    events = [
        Event(f"{base}:{number}", at, kind, session, project, text, tool, path, ref, agent, failed, extra, "")
        for number, (kind, text, tool, path, ref, failed, extra) in enumerate(blocks)
    ]
    usage, parent = _usage(entry, source, at), _name(entry.get("parentUuid"))
    usage = usage._replace(message=usage.message + mark) if usage else None
    return Line(events, usage, parent + mark if parent else "")


def _agents(entry: Json) -> Json:
    """What a subagent said or was answered, where older versions wrote it as progress of its session. Some wrote it to
    a transcript of the subagent's as well, under the same id."""
    about = entry.get("data") if entry.get("type") == "progress" else None
    told = about.get("message") if isinstance(about, dict) and about.get("type") == "agent_progress" else None
    if not isinstance(told, dict) or not isinstance(about, dict):
        return entry
    return {"timestamp": entry.get("timestamp"), **told, "isSidechain": True, "agentId": about.get("agentId")}


def first_folder(lines: list[bytes]) -> str:
    """The directory a transcript was begun in; empty when its first lines do not say."""
    for line in lines[:50]:
        entry = _parse(line)
        folder = entry.get("cwd") if isinstance(entry, dict) else None
        if isinstance(folder, str) and folder.startswith("/") and folder == storable(folder):
            return folder
    return ""


def first_moment(lines: list[bytes]) -> float:
    """A time for lines at a file's start that have none: that of the first line that has one."""
    for line in lines[:100]:
        stamp = line.partition(b'"timestamp":"')[2][:40].partition(b'"')[0]
        at = read_moment(stamp.decode("ascii", "replace"))
        if at:
            return at
    return 0.0


def _parse(line: bytes) -> Any:
    if len(line) > LONGEST:
        return None
    try:
        return wire.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError, MemoryError):
        return None


def _hashed(line: bytes, source: Source, offset: int) -> str:
    """The id of a line that has none of its own: the same from the transcript and from its archive."""
    given = f"{source.session}\0{source.agent}\0{offset}\0".encode("utf-8", "surrogatepass")
    return "h-" + blake2s(given + line, digest_size=16).hexdigest()


def _other(base: str, at: float, source: Source, tool: str, failed: bool = False) -> Event:
    return Event(
        f"{base}:0", at, "other", source.session, source.project, "", tool=tool, agent=source.agent, failed=failed
    )


# --- the kinds of lines; each reader yields the fields of its blocks' events ---


def _block(
    kind: str, text: str = "", tool: str = "", path: str = "", ref: str = "", failed: bool = False, extra: str = ""
) -> Block:
    return kind, text, tool, path, ref, failed, extra


def _read_user(entry: Json, source: Source) -> Iterator[Block]:
    content = _content(entry)
    said = "prompt" if not source.agent else "task"
    if entry.get("isCompactSummary"):
        said = "summary"
    elif entry.get("isMeta") or entry.get("isVisibleInTranscriptOnly"):
        said = "meta"
    for block in content:
        kind = block.get("type")
        if kind == "text":  # beside a result it is what the user typed meanwhile
            yield _said(said, _text(block.get("text")), entry, _name(entry.get("entrypoint")))
        elif kind == "tool_result":
            ref, failed = _name(block.get("tool_use_id")), block.get("is_error") is True
            kept = entry.get("toolUseResult")
            left = _file_left(kept) if len(content) == 1 and not failed else ""
            shown = block.get("shown")  # ours: of what the host had moved out
            if failed and isinstance(kept, str) and kept.startswith(PRINTED):
                extra = UNTYPED
            else:
                extra = json.dumps({"shown": shown}) if type(shown) is int and shown > 0 else left
            yield _block("result", _result_text(block.get("content")), ref=ref, failed=failed, extra=extra)
        else:
            yield _placeholder(block)


def _file_left(kept: Any) -> str:
    """The file that a tool wrote, changed or read whole, and a hash of what it then held; empty where that is not said.

    It is what the host shows its user, and it is redacted by now: of a file that has a secret no hash would be right.
    """
    if not isinstance(kept, dict) or kept.get("userModified") is True:  # the user changed what the model proposed
        return ""
    file = kept.get("file")
    if isinstance(file, dict):
        whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
        path, text = file.get("filePath"), file.get("content") if whole else None
    elif isinstance(kept.get("updated_file"), str):
        path, text = kept.get("notebook_path"), kept["updated_file"]
    else:
        path, text = kept.get("filePath"), _changed(kept)
    if not isinstance(path, str) or not isinstance(text, str) or REDACTED in text:
        return ""
    return json.dumps({"file": storable(path), "hash": fingerprint(text)})


def _changed(kept: Json) -> str | None:
    """What a file holds after a tool wrote or edited it; None when that cannot be told."""
    before = kept.get("originalFile", kept.get("originalFileContents"))
    if isinstance(kept.get("edits"), list):
        edits = [edit for edit in kept["edits"] if isinstance(edit, dict)]
        steps = [(edit.get("old_string"), edit.get("new_string"), edit.get("replace_all")) for edit in edits]
    elif "oldString" in kept:
        steps = [(kept["oldString"], kept.get("newString"), kept.get("replaceAll"))]
    else:
        content = kept.get("content")
        return content if isinstance(content, str) else None
    text = before if isinstance(before, str) else None
    if text is None or len(text) * len(steps) > 2 * LONGEST:
        return None
    for old, new, everywhere in steps:
        text = _replaced(text, old, new, everywhere is True) if text is not None else None
    return text


def _replaced(text: str, old: Any, new: Any, everywhere: bool) -> str | None:
    """A text after an edit, as the host makes it: where a line is taken away, its end goes too."""
    if not isinstance(old, str) or not isinstance(new, str) or (not old and text):
        return None
    if not old:
        return new
    if not new and not old.endswith("\n") and old + "\n" in text:
        old += "\n"
    times = text.count(old) if everywhere else 1
    return text.replace(old, new, times) if old in text and times * len(new) < LONGEST else None


def fingerprint(text: str) -> str:
    """What tells one content of a file from another; ends of lines, and of the file, are not told apart."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
    return blake2s(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _said(kind: str, text: str, about: Json, door: str) -> Block:
    """Text in the user's place, which is not always the user's. A slash command that the model answers is a prompt, but
    for ours, which are about the context and not about the work."""
    speakers = _speakers(about, door)
    if kind == "prompt" and (speakers & MACHINES or text.lstrip().startswith(NOTICES)):
        kind = "notice"
    elif kind == "prompt" and text.startswith(COMMANDS):
        name, words = _between(text, "command-name"), _between(text, "command-args")
        # the host's own commands begin with their name, those that are prompts with a message
        asked = name and (words or text.startswith("<command-message>")) and name not in OWN_COMMANDS
        asked = asked and not name.startswith(OWN_COMMAND)
        kind, text = ("prompt", f"{name} {words}".strip()) if asked else ("command", text)
    return _block(kind, text, extra=UNTYPED if kind == "prompt" and not speakers <= PEOPLE else "")


def _speakers(about: Json, door: str) -> set[str]:
    """Who the host says has spoken. A program that uses its SDK is one of them; an editor is its user's."""
    origin = about.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    named = [*(about.get(field) for field in FIELDS), kind]
    found = {_name(one).replace("_", "-") for one in named}
    if about.get("textNotTyped") is True:
        found.add("untyped")
    # a program that uses the SDK may say that a person typed what it sends
    return found - {"sdk"} if door in EDITORS or kind == "human" else found


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _read_assistant(entry: Json, source: Source) -> Iterator[Block]:
    for block in _content(entry):
        kind = block.get("type")
        if kind == "text":
            yield _block("reply", _text(block.get("text")))
        elif kind in ("thinking", "redacted_thinking"):
            yield _block("thinking", _text(block.get("thinking")))
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            yield _called(block)
        else:
            yield _placeholder(block)


def _called(block: Json) -> Block:
    tool, given = _name(block.get("name")), block.get("input")
    given = given if isinstance(given, dict) else {"input": given}
    todo = tool in TODO_TOOLS
    return _block(
        "todo" if todo else "call",
        "\n".join([f"{storable(key)}: {_flat(value)}" for key, value in given.items()]),
        tool=tool,
        path=next((storable(given[key]) for key in PATHS if isinstance(given.get(key), str)), ""),
        ref=_name(block.get("id")),
        extra=json.dumps(given) if todo else "",
    )


def _read_system(entry: Json, source: Source) -> Iterator[Block]:
    kind = _name(entry.get("subtype"))
    if kind in ("compact_boundary", "microcompact_boundary"):
        about = entry.get("compactMetadata") or entry.get("microcompactMetadata")
        extra = json.dumps(about) if isinstance(about, dict) else ""
        yield _block("compact", tool=kind, extra=extra)
    elif kind == "local_command":
        yield _block("command", _text(entry.get("content")))
    else:
        yield _block("other", tool=kind or "system")


def _read_attachment(entry: Json, source: Source) -> Iterator[Block]:
    about = entry.get("attachment")
    about = about if isinstance(about, dict) else {}
    if about.get("type") == "queued_command" and isinstance(about.get("prompt"), str):
        kind = "meta" if about.get("isMeta") else "prompt" if not source.agent else "task"
        yield _said(kind, _text(about["prompt"]), about, _name(entry.get("entrypoint")))
    else:
        yield _block("other", tool=_name(about.get("type")) or "attachment")


def _read_queue(entry: Json, source: Source) -> Iterator[Block]:
    text = _text(entry.get("content"))
    if text and not own_text(text):  # a background task has ended, say: that comes as a notice
        yield _block("other", tool=_name(entry.get("operation")))
    else:
        yield _block("queued", text, tool=_name(entry.get("operation")))


def _read_title(entry: Json, source: Source) -> Iterator[Block]:
    # a summary names the session that has its leaf, which in most files is another than theirs
    yield _block("title", _text(entry.get(TITLES[entry["type"]])), ref=_name(entry.get("leafUuid")))


def _read_other(entry: Json, source: Source) -> Iterator[Block]:
    yield _block("other", tool=_name(entry.get("type")) or "unknown")


READERS = {
    "user": _read_user,
    "assistant": _read_assistant,
    "system": _read_system,
    "attachment": _read_attachment,
    "queue-operation": _read_queue,
    **dict.fromkeys(TITLES, _read_title),
}


# --- the parts of a line ---


def _content(entry: Json) -> list[Json]:
    """The blocks of a message: a bare string is one text block, and what is no block becomes an unknown one."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return [{"type": "empty"}]
    return [block if isinstance(block, dict) else {"type": "unknown"} for block in content] or [{"type": "empty"}]


def _placeholder(block: Json) -> Block:
    """What cannot be kept as text is named: its kind and size; the raw line has the rest."""
    kind = _name(block.get("type")) or "unknown"
    source = block.get("source")
    if kind not in ("image", "document") or not isinstance(source, dict):
        return _block("other", tool=kind)
    size = len(source.get("data") or "") * 3 // 4 if isinstance(source.get("data"), str) else 0
    return _block("image", f"[{kind} {_name(source.get('media_type'))} {size} bytes]", tool=kind)


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return storable(content)
    parts = content if isinstance(content, list) else []
    return "\n".join(
        _text(part.get("text")) if part.get("type") == "text" else _placeholder(part)[1]
        for part in parts
        if isinstance(part, dict)
    )


def _flat(value: Any) -> str:
    return storable(value) if isinstance(value, str) else json.dumps(value)


def _text(value: Any) -> str:
    return storable(value) if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return storable(value)[:200] if isinstance(value, str) else ""


def _sidechain(entry: Json) -> bool:
    return entry.get("isSidechain") is True


def read_moment(stamp: Any) -> float:
    """Epoch seconds of an ISO time; 0 when it is none, or one that would be the newest for ever."""
    if not isinstance(stamp, str):
        return 0.0
    try:
        at = datetime.fromisoformat(stamp).timestamp()
        return at if 0 < at < LATEST else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0


def _usage(entry: Json, source: Source, at: float) -> Usage | None:
    message = entry.get("message")
    if entry.get("type") != "assistant" or not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return None
    id, model, used = message.get("id"), _name(message.get("model")), message["usage"]
    if not isinstance(id, str) or model == "<synthetic>":
        return None
    counts = [wire.count(used.get(kind)) for kind in COUNTS]
    return Usage(_name(id), at, source.session, source.project, source.agent, model, *counts)
