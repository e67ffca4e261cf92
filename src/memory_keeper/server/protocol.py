"""What the server says for which nothing has to be known: all that is left to say when no worker lives."""

from __future__ import annotations

from memory_keeper import __version__, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_keeper.model import Json

VERSION = "2025-06-18"
HANDOFF = "handoff"
MODULES = "toolu_plugin_"  # how the calls of hooks modules are numbered; no model's is
READS = {"readOnlyHint": True}
WRITES = {"destructiveHint": False}  # a note, or a note and a file for people


def _tool(name: str, description: str, annotations: Json, required: str = "", **arguments: Json | str) -> Json:
    """A tool as it is listed; an argument is a type, or a schema."""
    schema: Json = {"type": "object"}
    if arguments:
        schema["properties"] = {
            name: {"type": about} if isinstance(about, str) else about for name, about in arguments.items()
        }
    if required:
        schema["required"] = [required]
    return {"name": name, "description": description, "inputSchema": schema, "annotations": annotations}


# What the model may call. Every context pays for each word here; what an argument may be is said when it is wrong
# (`tools`). A hooks module can only call what is listed, so `handoff` serves it too.
TOOLS = [
    _tool(
        "search",
        "Search earlier sessions: prompts, replies, commands, results, notes. One line per hit, best first.",
        READS,
        "query",
        query="string",
        kind={"type": "string", "description": "such as prompt, reply, result, decision"},
        file="string",
        since={"type": "string", "description": "7d, 2026-01-31"},
        session="string",
        all_projects="boolean",
        limit="integer",
    ),
    _tool(
        "timeline",
        "What happened around an id, in a session or since a time; one line each.",
        READS,
        around="string",
        session="string",
        since="string",
        limit="integer",
    ),
    _tool(
        "get",
        "The full text of ids that search or timeline gave.",
        READS,
        "ids",
        ids={"type": "array", "items": {"type": "string"}},
        raw="boolean",
        offset="integer",
    ),
    _tool(
        "remember",
        "Keep a fact, decision, open issue or observation for later sessions.",
        WRITES,
        "text",
        text="string",
        kind={"enum": ["fact", "decision", "issue", "observation"]},
    ),
    _tool("context", "How full this context is, and what fills it.", READS),
    _tool(
        HANDOFF,
        "The handoff of this session up to now: what was asked, decided and done, and what is open.",
        WRITES,
        budget={"type": "integer", "description": "tokens"},
    ),
]
SCHEMAS: dict[str, Json] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
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
    response: Json = {"jsonrpc": "2.0", "id": asked["id"]}
    name = given.get("name")
    if method == "initialize":
        response["result"] = {
            "protocolVersion": str(given.get("protocolVersion") or VERSION),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "memory-keeper", "version": __version__},
        }
    elif method == "ping":
        response["result"] = {}
    elif method == "tools/list":
        response["result"] = {"tools": TOOLS}
    elif method == "tools/call" and isinstance(name, str) and name in SCHEMAS and not by_module(given):
        response["result"] = refuse("Memory Keeper could not answer. `memory-keeper doctor` says why.")
    elif method == "tools/call":
        response["result"] = nothing(given.get("arguments"))
    else:
        response["error"] = {"code": -32601, "message": "no such method"}
    return response


def by_module(given: Json) -> bool:
    """Whether it is our hooks module that calls a tool, and no model."""
    about = given.get("_meta")
    return isinstance(about, dict) and str(about.get("claudecode/toolUseId") or "").startswith(MODULES)


def nothing(payload: Any) -> Json:
    """What a hook hears that is to hear nothing."""
    event = payload.get("hook_event_name") if isinstance(payload, dict) else ""
    return {"content": [] if str(event) in SILENT else [{"type": "text", "text": "{}"}]}


def refuse(why: str) -> Json:
    """What a model hears whose call came to nothing."""
    return {"content": [{"type": "text", "text": why}], "isError": True}
