"""A service with a model, on loopback: it does what a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Act = Callable[[BaseHTTPRequestHandler], None]


class Service:
    """An HTTP server on loopback that does what the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Json, dict[str, str]]] = []
        self.act: Act = lambda handler: None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                """Nothing."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                given = {name.lower(): value for name, value in self.headers.items()}
                service.asked.append((self.path, json.loads(body), given))
                try:
                    service.act(self)
                except OSError:
                    pass  # it hung up

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def answering(body: Any, status: int = 200, **headers: str) -> Act:
    def act(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return act


def said_by_openai(said: str) -> Json:
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": "claude-x", "choices": [choice], "usage": usage}
