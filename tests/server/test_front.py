"""The process the host talks to: it greets by itself, and a worker that had nothing to do is no worker that hangs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

import memory_keeper

HASTY = "from memory_keeper.server import front; front.PATIENCE = 0.2; front.serve({!r})"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hook", "arguments": {}}}


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def test_a_worker_outlives_a_pause(tmp_path: Path) -> None:
    with start(tmp_path) as server:
        first = ask(server.stdin, server.stdout) and children(server.pid)
        time.sleep(0.5)
        assert ask(server.stdin, server.stdout) and children(server.pid) == first


@pytest.mark.parametrize("written", ["tools/call", "tools\\/call"])
def test_only_a_call_needs_a_worker(tmp_path: Path, written: str) -> None:
    with start(tmp_path) as server:
        for method in ("initialize", "ping", "server/discover"):
            assert ask(server.stdin, server.stdout, {"jsonrpc": "2.0", "id": 1, "method": method})
        assert not children(server.pid)
        line = json.dumps(CALL).replace("tools/call", written).encode()
        assert ask(server.stdin, server.stdout, line) and children(server.pid)


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HASTY.format(str(folder / "home"))]
    environ = {"HOME": str(folder), "PYTHONPATH": str(Path(memory_keeper.__file__).parents[1])}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)


def ask(to: IO[bytes] | None, back: IO[bytes] | None, line: dict[str, Any] | bytes = CALL) -> bytes:
    assert to and back
    to.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
    to.flush()
    return back.readline()
