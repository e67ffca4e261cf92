"""A git host on loopback, spoken to over HTTP as one speaks to GitHub.

The CLI clones shallowly, which plain files over HTTP cannot serve, so `git http-backend` answers.
"""

from __future__ import annotations

import os
import socket
import subprocess
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

from tests.e2e.model import ListeningServer

WHO = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]


def git(folder: Path, *args: str) -> str:
    """Run git in a folder, without the settings of whoever runs the tests."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *WHO, *args], cwd=folder, env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class GitServer:
    """Serves the bare repositories of a folder."""

    def __init__(self, folder: Path, listener: socket.socket) -> None:
        self._server = ListeningServer(listener, partial(_Handler, folder))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, folder: Path, *args: Any) -> None:
        self._folder = folder
        super().__init__(*args)

    def log_message(self, *args: Any) -> None:
        """Nothing: pytest shows what matters."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        length = self.headers.get("content-length") or "0"
        asked = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": length,
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
        }
        said = self.rfile.read(int(length))
        answer = subprocess.run(["git", "http-backend"], env=asked, input=said, capture_output=True).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815  (the name is http.server's)
