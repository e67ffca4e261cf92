"""A bot on the real SDK and the real CLI, in a network of its own, whose model is scripted."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from memory_keeper.sdk import Thread
from memory_keeper.sdk.thread import Prompt
from tests.e2e.cli import Sandbox, read_quietly, wait_for
from tests.e2e.model import Reply, Request, Step, flat

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")


class Bot:
    """Where bots run: the options of their clients, and a memory."""

    def __init__(self, sandbox: Sandbox, home: Path) -> None:
        self.sandbox, self.home = sandbox, home

    def close(self) -> None:
        """Wait for the last who writes to its memory."""
        mark = str(self.home).encode()
        lines = Path("/proc").glob("[0-9]*/cmdline")
        wait_for(lambda: not any(mark in read_quietly(line) for line in lines), "the end of the last writer")

    def run(self, main: Callable[[], Awaitable[T]], patience: float = 120) -> T:
        """Run a program of bots to its end; no task of it may be left."""

        async def whole() -> T:
            async with asyncio.timeout(patience):
                done = await main()
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return done

        before = lasting_threads()
        done = self.sandbox.net.call(lambda: asyncio.run(whole()))
        wait_for(lambda: lasting_threads() <= before, "the end of the last thread", patience=5)
        gc.collect()  # what was not closed says so now
        return done

    def options(self, **more: Any) -> ClaudeAgentOptions:
        env = {name: value for name, value in self.sandbox.env.items() if name != "PATH"}
        env["CLAUDE_CONFIG_DIR"] = str(self.sandbox.home / ".claude")
        where = {"cli_path": self.sandbox.cli, "env": env, "cwd": self.sandbox.project}
        return ClaudeAgentOptions(**{**where, "setting_sources": [], **more})

    def start(self, key: str, *prompts: str) -> subprocess.Popen[str]:
        """A bot in a process of its own, that asks some things and says what it was answered."""
        given = json.dumps({"env": self.options().env, "cli": str(self.sandbox.cli), "home": str(self.home)})
        return self._start("-m", "tests.e2e.bots", given, key, *prompts)

    def example(self, name: str, *words: str) -> subprocess.Popen[str]:
        """One of the bots that the repository shows, on a machine where Claude Code is installed."""
        programs = self.sandbox.root / "bin"
        programs.mkdir(exist_ok=True)
        if not (programs / "claude").exists():
            (programs / "claude").symlink_to(self.sandbox.cli)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        env = {**self.options().env, "PATH": path, "MEMORY_KEEPER_HOME": str(self.home)}
        return self._start(str(ROOT / "docs/examples/bots" / name), *words, **env)

    def _start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **more}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return self.sandbox.net.start([sys.executable, *words], env=env, cwd=self.sandbox.project, **pipes)

    def thread(self, key: str = "chat", *, options: ClaudeAgentOptions | None = None, **more: Any) -> Thread:
        return Thread(key, options or self.options(), home=self.home, **more)


def lasting_threads() -> set[str]:
    """The threads for which the end of the process waits."""
    return {thread.name for thread in threading.enumerate() if not thread.daemon}


def children(sandbox: Sandbox) -> list[int]:
    """The processes of the CLI that run in a sandbox; not one that such a process is about to start a program in."""
    mark, cli = f"HOME={sandbox.home}\0".encode(), sandbox.cli.encode() + b"\0"
    found = (path for path in Path("/proc").glob("[0-9]*") if read_quietly(path / "cmdline").startswith(cli))
    above = {
        int(path.name): int((read_quietly(path / "stat").rpartition(b")")[2].split() or [b"0", b"0"])[1])
        for path in found
        if mark in read_quietly(path / "environ")
    }
    return [pid for pid, parent in above.items() if parent not in above]


@contextmanager
def counting(sandbox: Sandbox) -> Iterator[list[int]]:
    """How many such processes there are, again and again."""
    numbers, over = [0], threading.Event()

    def count() -> None:
        while not over.wait(0.01):
            numbers.append(len(children(sandbox)))

    counter = threading.Thread(target=count)
    counter.start()
    try:
        yield numbers
    finally:
        over.set()
        counter.join()


async def ask(thread: Thread, prompt: Prompt) -> str:
    """Ask, and the words of the one result."""
    results = [message async for message in thread.ask(prompt) if isinstance(message, ResultMessage)]
    (result,) = results
    return result.result or ""


def last_prompt(request: Request) -> str:
    """What was asked last."""
    asked = [flat(message["content"]) for message in request.body["messages"] if message["role"] == "user"]
    return asked[-1].strip().rpartition("\n")[2]


def growing(by: int, begins: int = 10_000) -> Step:
    """A model that repeats what it was asked last, and fills the context by so much each turn."""

    def answer(request: Request) -> Reply:
        turns = sum(message["role"] == "assistant" for message in request.body["messages"])
        words = last_prompt(request)
        return Reply(({"type": "text", "text": f"You said: {words}"},), begins + by * turns)

    return answer


async def talk(given: dict[str, Any], key: str, prompts: list[str]) -> None:
    """What a bot in a process of its own does."""
    options = ClaudeAgentOptions(cli_path=given["cli"], env=given["env"], setting_sources=[], allowed_tools=["Bash"])
    async with Thread(key, options, home=given["home"], human=True) as thread:
        for prompt in prompts:
            print(await thread.answer(prompt), flush=True)


if __name__ == "__main__":
    asyncio.run(talk(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]))
