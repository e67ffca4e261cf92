"""A session's events in the predecessor's own form, one JSON object each: who said what, which tool did what to what.

What that form cuts short by its nature stays short (an edit is shown by its first lines, a written file by its size);
everything else is whole, and what it has no word for has a field more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from json import dumps
from time import gmtime, strftime

from memory_keeper.briefs.pages import iso
from memory_keeper.capture.calls import fields
from memory_keeper.capture.payload import safe_name
from memory_keeper.model import Event, Json
from memory_keeper.text import showable

ROLES = {"prompt": "user", "task": "user", "command": "user", "image": "user", "reply": "assistant"}
NOTED = ("summary", "meta", "notice", "compact", "title")  # by the host, in nobody's name
SEPARATORS = "\x85\u2028\u2029"  # JSON lets them stand as they are, and some readers end a line there
DIFF, WIDE = 3, 100  # lines of each side of an edit, and characters of each


def name_of(session: str, at: float) -> str:
    """A file for a session: two never have the same, and no id leads out of the folder."""
    minute = strftime("%Y-%m-%d_%H%M", gmtime(showable(at)))
    return f"{minute}_{safe_name(session)}.l1.jsonl"


def refine(events: Iterable[Event]) -> Iterator[str]:
    """The lines of a session's file."""
    for event in events:
        said = _said(event)
        if said:
            yield line({"ts": iso(event.at), **said, **({"agent": event.agent} if event.agent else {})})


def line(value: Json) -> str:
    """A value on one line, for every reader's idea of a line."""
    text = dumps(value, ensure_ascii=False)
    for char in SEPARATORS:
        if char in text:
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text + "\n"


def _said(event: Event) -> Json:
    if event.kind in ROLES:
        kind = {} if event.kind in ("prompt", "reply") else {"kind": event.kind}
        return {"role": ROLES[event.kind], "text": event.text, **kind}
    if event.kind in ("call", "todo"):
        shown = TOOLS.get(event.tool, _any)
        return {"role": "tool", "name": event.tool, **shown(event), "tool_use_id": event.ref}
    if event.kind == "result":
        answer = "error" if event.failed else "ok"
        return {"role": "tool_result", "tool_use_id": event.ref, "result": answer, "output": event.text}
    if event.kind in NOTED:
        return {"role": "system", "kind": event.kind, "text": event.text}
    return {}


def _read(event: Event) -> Json:
    given = fields(event)
    lines = "-".join(given[name] for name in ("offset", "limit") if name in given)
    return {"target": event.path, **({"lines": lines} if lines else {})}


def _edit(event: Event) -> Json:
    given = fields(event)
    sides = (("-", given.get("old_string", "")), ("+", given.get("new_string", "")))
    shown = [f"{sign}{line[:WIDE]}" for sign, text in sides for line in text.split("\n")[:DIFF] if text]
    return {"target": event.path, "diff": "\n".join(shown)}


def _write(event: Event) -> Json:
    return {"target": event.path, "size": len(fields(event).get("content", ""))}


def _bash(event: Event) -> Json:
    return {"cmd": fields(event).get("command", event.text)}


def _grep(event: Event) -> Json:
    return {"pattern": fields(event).get("pattern", ""), **({"path": event.path} if event.path else {})}


def _any(event: Event) -> Json:
    names = [line.partition(": ")[0] for line in event.text.split("\n") if ": " in line]
    return {"params": [name for name in dict.fromkeys(names) if name.isidentifier()], "text": event.text}


TOOLS: dict[str, Callable[[Event], Json]] = {
    "Read": _read,
    "Edit": _edit,
    "Write": _write,
    "Bash": _bash,
    "Grep": _grep,
    "Glob": lambda event: {"pattern": fields(event).get("pattern", "")},
}
