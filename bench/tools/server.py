"""Our server, asked over stdio as Claude Code asks it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.tools import measure
from bench.tools.measure import PYTHON, ROOT, START

ENVIRON = json.loads(Path(ROOT, ".claude-plugin/plugin.json").read_bytes())["mcpServers"]["keeper"]["env"]


class Server:
    """One of a session; it ends with the block."""

    def __init__(self, env: dict[str, str]) -> None:
        measure.adopt_orphans()
        begin = time.perf_counter()
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-S", START, "mcp"], env=env | ENVIRON, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": "1"})
        self.started = (time.perf_counter() - begin) * 1000

    def ask(self, method: str, **params: object) -> tuple[dict[str, Any], float]:
        """The answer, and the milliseconds from question to answer."""
        assert self.process.stdin and self.process.stdout
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode() + b"\n"
        begin = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        took = (time.perf_counter() - begin) * 1000
        if "result" not in said:
            raise SystemExit(f"{method}: {said}")
        return said["result"], took

    def hook(self, said: dict[str, object]) -> tuple[str, float]:
        """What the model is told at a hook, and the milliseconds that took."""
        given = {name: value for name, value in said.items() if not name.startswith("tool_")}
        answer, took = self.ask("tools/call", name="hook", arguments=given)
        text = "".join(block.get("text", "") for block in answer["content"])
        told = json.loads(text).get("hookSpecificOutput", {}) if text.startswith("{") else {}
        return str(told.get("additionalContext", "")), took

    def processes(self) -> Iterator[tuple[str, int]]:
        """The process the host knows, and its worker."""
        pid = self.process.pid
        yield "front", pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield "worker", int(child)

    def spent(self) -> float:
        """Milliseconds of the processor that its processes have used so far."""
        threads = [path for _, pid in self.processes() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
        return sum(int(path.read_text().split()[0]) for path in threads) / 1e6

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        started = [pid for _, pid in self.processes()]
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in started):  # its worker ends a moment later
            measure.end_orphans()
            time.sleep(0.01)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
