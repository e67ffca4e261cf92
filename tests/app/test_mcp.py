"""The process the host talks to: a worker that had nothing to do is no worker that hangs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import memory_keeper

HASTY = "from memory_keeper.app import mcp; mcp.PATIENCE = 0.2; mcp.serve({!r})"
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def test_a_worker_outlives_a_pause(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HASTY.format(str(tmp_path / "home"))]
    environ = {"HOME": str(tmp_path), "PYTHONPATH": str(Path(memory_keeper.__file__).parents[1])}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
    with server:
        first = ask(server.stdin, server.stdout) and children(server.pid)
        time.sleep(0.5)
        assert ask(server.stdin, server.stdout) and children(server.pid) == first


def ask(to: IO[bytes] | None, back: IO[bytes] | None) -> bytes:
    assert to and back
    to.write(PING)
    to.flush()
    return back.readline()
