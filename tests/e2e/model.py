"""The scripted model: the Messages API on loopback, playing a conversation and remembering what it was sent.

    api.play(call("Bash", command="ls"), text("done"), agents=[text("found it")])
    ...                                      # run the CLI against api.url
    api.of("main")[-1].saw("Memory Keeper")  # what the model could really read

A request of the main thread takes the next step of the script, one of a subagent the next of `agents`, one of our own
summarizer the next of `notes`, one of the CLI's own summarizer the next of `summaries`. A step is a reply, or a
function of the request that gives one. What the CLI asks beside the conversation is answered in `ASIDE`.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
SUMMARIZER = "You write the memory of a programmer's assistant"  # what ours tells a model first


class Reply(NamedTuple):
    """One message of the model."""

    blocks: tuple[Json, ...]
    tokens: int = 100  # what the request filled of the context window, as the CLI is told
    status: int = 200
    stop: str = ""  # why it ended, if not as usual


class Request(NamedTuple):
    """What the CLI asked; `kind` is main, agent, note, compact, title, probe, count or other."""

    kind: str
    body: Json

    def saw(self, needle: str) -> bool:
        """Whether the model could read this: in the system prompt, a message or the description of a tool."""
        return any(needle in part for part in self.parts())

    def parts(self) -> Iterator[str]:
        """All that the model could read."""
        yield flat(self.body.get("system", ""))
        yield from (flat(message["content"]) for message in self.body.get("messages", ()))
        yield from (json.dumps(tool, ensure_ascii=False) for tool in self.body.get("tools", ()))


Step = Reply | Callable[[Request], Reply]


def text(body: str, tokens: int = 100) -> Reply:
    """The model says something and its turn ends."""
    return Reply(({"type": "text", "text": body},), tokens)


def call(tool: str, /, **given: Any) -> Reply:
    """The model calls a tool."""
    return calls((tool, given))


def calls(*several: tuple[str, Json]) -> Reply:
    """The model calls several tools at once."""
    return Reply(tuple({"type": "tool_use", "name": tool, "input": given} for tool, given in several))


def fail(status: int) -> Reply:
    """The API answers with an error."""
    return Reply((), status=status)


ERRORS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
ASIDE: dict[str, Reply] = {
    "compact": text("<analysis>none</analysis>\n<summary>SUMMARY of the conversation so far.</summary>"),
    "title": text('{"title": "A scripted session"}'),
    "probe": text("ok"),
}


def flat(content: Any) -> str:
    """The text of a content: a string, a block or a list of blocks."""
    if isinstance(content, list):
        return "\n".join(map(flat, content))
    if isinstance(content, dict):
        if content.get("type") == "tool_use":
            return json.dumps(content.get("input", {}), ensure_ascii=False)
        return flat(content.get("text") or content.get("content") or content.get("thinking") or "")
    return content if isinstance(content, str) else ""


def classify(path: str, agent: bool, body: Json) -> str:
    """What the CLI wants with a request."""
    if not path.endswith("/messages"):
        return "count" if path.endswith("/count_tokens") else "other"
    asked = [flat(message["content"]) for message in body.get("messages", ()) if message["role"] == "user"]
    if asked and "Your task is to create a detailed summary" in asked[-1]:
        return "compact"
    if agent:
        return "agent"
    if not body.get("tools") and SUMMARIZER in flat(body.get("system", "")):
        return "note"
    if not body.get("tools"):
        return "probe" if body.get("max_tokens", 0) <= 1 else "title"
    return "main"


class Model:
    """The API while it listens."""

    def __init__(self, listener: socket.socket) -> None:
        self.requests: list[Request] = []
        self._steps: dict[str, list[Step]] = {"main": [], "agent": [], "note": [], "compact": []}
        self._sent = 0
        self._lock = threading.Lock()
        self._server = ListeningServer(listener, type("Handler", (_Handler,), {"model": self}))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def play(
        self,
        *steps: Step,
        agents: Iterable[Step] = (),
        notes: Iterable[Step] = (),
        summaries: Iterable[Step] = (),
    ) -> None:
        """What it says next."""
        self._steps["main"] += steps
        self._steps["agent"] += agents
        self._steps["note"] += notes
        self._steps["compact"] += summaries

    def of(self, *kinds: str) -> list[Request]:
        """The requests of these kinds, in order."""
        return [request for request in self.requests if request.kind in kinds]

    def left(self, kind: str) -> int:
        """How many steps of a script nobody has asked for yet; they are taken away."""
        with self._lock:
            over, self._steps[kind] = self._steps[kind], []
        return len(over)

    def reply(self, request: Request) -> Json:
        """The message that answers a request."""
        with self._lock:
            self.requests.append(request)
            self._sent += 1
            number, steps = self._sent, self._steps.get(request.kind)
            step = steps.pop(0) if steps else ASIDE.get(request.kind, text("(the script is over)"))
        return message(number, request, step(request) if callable(step) else step)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def message(number: int, request: Request, reply: Reply) -> Json:
    """A reply as the API words it."""
    if reply.status != 200:
        said = "prompt is too long: 210000 tokens > 200000 maximum" if reply.status == 400 else "scripted"
        why = {"type": ERRORS.get(reply.status, "api_error"), "message": said}
        return {"type": "error", "error": why, "status": reply.status}
    blocks = [
        {"id": f"toolu_{number:04}{place:02}", **block} if block["type"] == "tool_use" else block
        for place, block in enumerate(reply.blocks)
    ]
    calling = any(block["type"] == "tool_use" for block in blocks)
    usage = {"input_tokens": reply.tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", ""),
        "content": blocks,
        "stop_reason": reply.stop or ("tool_use" if calling else "end_turn"),
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 20},
    }


def stream(said: Json) -> Iterator[Json]:
    """The events in which the API sends a message."""
    yield {"type": "message_start", "message": {**said, "content": [], "stop_reason": None}}
    for index, block in enumerate(said["content"]):
        if block["type"] == "tool_use":
            given = json.dumps(block["input"])
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
        else:
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": said["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": said["usage"]}
    yield {"type": "message_stop"}


class ListeningServer(ThreadingHTTPServer):
    daemon_threads = True  # the CLI keeps its connections open

    def __init__(self, listener: socket.socket, handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        super().__init__(listener.getsockname(), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the CLI may hang up
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    model: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Nothing: pytest shows what matters."""

    def do_GET(self) -> None:
        self._send(404, "application/json", b"{}")

    def do_HEAD(self) -> None:
        self._send(404, "application/json", b"{}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        request = Request(classify(path, "x-claude-code-agent-id" in self.headers, body), body)
        if request.kind in ("count", "other"):
            status, answer = (200, {"input_tokens": len(raw) // 4}) if request.kind == "count" else (404, {})
            return self._send(status, "application/json", json.dumps(answer).encode())
        said = self.model.reply(request)
        if said["type"] == "error":
            return self._send(said["status"], "application/json", json.dumps(said).encode())
        if not body.get("stream"):
            return self._send(200, "application/json", json.dumps(said).encode())
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in stream(said))
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
