"""The server's worker, or the CLI itself, is killed in the middle: the user sees nothing of it, and nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Timer

import pytest

from tests.e2e.cli import Sandbox, read_quietly, wait_for
from tests.e2e.kept import assert_all_kept_once
from tests.e2e.model import Model, Reply, call, text
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    lists = [read_quietly(path) for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for one in lists for child in one.split()]


def serves(pid: int) -> bool:
    """Whether the CLI talks to this process of ours."""
    return b"start.py\0mcp" in read_quietly(Path(f"/proc/{pid}/cmdline"))


def workers(cli: int) -> list[int]:
    """The processes that answer for our server: the children of the one the CLI talks to."""
    return [worker for pid in children(cli) if serves(pid) for worker in children(pid)]


def test_a_killed_worker_is_not_noticed(sandbox: Sandbox, api: Model) -> None:
    killed: list[int] = []

    def find() -> None:
        """The worker of the moment; one that was killed may still be seen beside it."""
        alive = wait_for(lambda: [pid for pid in workers(terminal.pid) if pid not in killed], "another worker")
        killed.append(alive[0])

    def kill(reply: Reply) -> Reply:
        """The worker dies while the model thinks, so that the next hook finds it gone."""
        find()
        os.kill(killed[-1], signal.SIGKILL)
        return reply

    def stall() -> None:
        """The worker has the next hook's question when it dies, and has not answered."""
        find()
        os.kill(killed[-1], signal.SIGSTOP)
        Timer(3, os.kill, (killed[-1], signal.SIGKILL)).start()

    api.play(
        lambda request: kill(call("Bash", command="echo one", description="one")),
        lambda request: kill(text("The first answer.")),
        text("The second answer."),
    )
    with Tui(sandbox, "--allowedTools", "Bash") as terminal:
        terminal.type("The first prompt")
        terminal.finish(turns=1)
        stall()
        terminal.type("The second prompt")
        seen = terminal.finish(turns=2)
        terminal.leave()
    assert len(killed) == 3
    assert "The first answer." in seen and "The second answer." in seen
    for line in (
        "UserPromptSubmit says: Memory Keeper gave this context",
        "SessionStart:startup says: Memory Keeper keeps",
    ):
        seen = seen.replace(line, "", 1)
    for word in ("error", "timed out", "says"):
        assert word not in seen.lower(), seen
    (transcript,) = sandbox.transcripts()
    assert_all_kept_once(sandbox, transcript.stem)
