"""What the server says for which nothing has to be known: all that is left to say when no worker lives."""

from __future__ import annotations

from memory_keeper import __version__, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_keeper.model import Json

VERSION = "2025-06-18"
HANDOFF = "handoff"
# A hooks module can only call what is listed, and then the model can too: so it is of use to both. Few words, as every
# context pays for them.
TOOLS = [
    {
        "name": HANDOFF,
        "description": "The handoff of this session up to now: what was asked, decided and done, and what is open.",
        "inputSchema": {"type": "object", "properties": {"budget": {"type": "integer", "description": "tokens"}}},
        "annotations": {"destructiveHint": False, "idempotentHint": True},  # it writes: a note, and a file for people
    }
]
# where the host would show an empty object to the model, nothing at all has to be said
SILENT = frozenset({"PreCompact", "PostCompact"})


def read(line: bytes) -> Json:
    """What a line asks; empty when it is none that wants an answer."""
    try:
        asked = wire.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError, SystemError):
        return {}
    return asked if isinstance(asked, dict) and asked.get("id") is not None else {}


def plainly(asked: Json) -> Json | None:
    """The answer to a request for which nothing has to be known: the host stays connected, and a hook says nothing."""
    if not asked:
        return None
    method, given = asked.get("method"), asked.get("params")
    given = given if isinstance(given, dict) else {}
    said: Json = {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        said["result"] = {
            "protocolVersion": str(given.get("protocolVersion") or VERSION),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "memory-keeper", "version": __version__},
        }
    elif method == "ping":
        said["result"] = {}
    elif method == "tools/list":
        said["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        said["result"] = nothing(given.get("arguments"))
    else:
        said["error"] = {"code": -32601, "message": "no such method"}
    return said


def nothing(payload: Any) -> Json:
    """What a hook hears that is to hear nothing."""
    event = payload.get("hook_event_name") if isinstance(payload, dict) else ""
    return {"content": [] if str(event) in SILENT else [{"type": "text", "text": "{}"}]}
