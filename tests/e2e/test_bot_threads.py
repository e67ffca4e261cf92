"""A bot's thread on the real SDK: it goes on for ever, and its context is never full."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeSDKError,
    Message,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    ToolPermissionContext,
)

from memory_keeper.sdk import Reset
from memory_keeper.sdk.thread import Prompt
from tests.e2e.bots import Bot, ask, children, growing
from tests.e2e.cli import Sandbox, wait_for
from tests.e2e.model import Model, Reply, Request, call, text

pytestmark = pytest.mark.e2e

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def bot(bare: Sandbox, tmp_path: Path, rules_on: None) -> Iterator[Bot]:
    made = Bot(bare, tmp_path / "memory")
    yield made
    made.close()


def test_sixty_turns_pass_the_threshold_three_times(bot: Bot, api: Model) -> None:
    resets: list[Reset] = []
    api.play(*[growing(4_500)] * 60)

    async def main() -> list[str]:
        async with bot.thread(human=True, reset_at=80_000, on_reset=resets.append) as thread:
            said = [await ask(thread, "Hello.")]
            said.append(await ask(thread, "Remember: the invoices go to Wilhelmina Kessler, always in Danish kroner."))
            return said + [await ask(thread, f"Question number {number}.") for number in range(3, 61)]

    said = bot.run(main)
    assert said[2:] == [f"You said: Question number {number}." for number in range(3, 61)]
    requests = api.of("main")
    assert len(requests) == 60  # no turn lost or repeated
    assert [reset.why for reset in resets] == ["due"] * 3
    assert max(reset.tokens for reset in resets) < 80_000
    for request in requests[17:]:
        assert not request.saw("| Folder: ")  # which only stands for who talks here
        assert request.saw('brief="handoff"') and request.saw("Wilhelmina Kessler")


def test_a_turn_that_fills_the_context_goes_on_in_the_next(bot: Bot, api: Model, tmp_path: Path) -> None:
    logs = tmp_path / ".bot-logs/handoffs"
    resets: list[Reset] = []
    work = [
        call("Bash", command=f"echo part {number} >> work.log")._replace(tokens=6_000 * number)
        for number in range(1, 9)
    ]
    api.play(*work, *work[:3], text("All parts are done.", 9_000))

    async def main() -> str:
        options = bot.options(allowed_tools=["Bash"])
        async with bot.thread(
            options=options, human=True, reset_at=30_000, handoffs=logs, on_reset=resets.append
        ) as thread:
            return await ask(thread, "Write all parts to work.log.")

    assert bot.run(main) == "All parts are done."
    assert [reset.why for reset in resets] == ["full"]
    requests = api.of("main")
    done = (bot.sandbox.project / "work.log").read_text()
    assert "part 8" in done  # the tool that ran then has finished
    assert requests[8].saw('brief="handoff"') and requests[8].saw("Write all parts to work.log.")
    assert requests[8].saw("echo part 8 >> work.log")
    assert [reset.tokens for reset in resets] == [48_000]
    assert Path(resets[0].path) == logs / f"HANDOFF-{resets[0].session}.md"
    assert "echo part 8 >> work.log" in Path(resets[0].path).read_text()
    assert len([*logs.iterdir()]) == 2  # and one of the end


def test_a_model_that_never_stops_is_stopped(bot: Bot, api: Model) -> None:
    resets: list[Reset] = []
    api.play(*[call("Bash", command="true")._replace(tokens=50_000)] * 20)

    async def main() -> list[Message]:
        options = bot.options(allowed_tools=["Bash"])
        async with bot.thread(options=options, reset_at=30_000, on_reset=resets.append) as thread:
            return [message async for message in thread.ask("Go.")]

    said = bot.run(main)
    results = [message for message in said if isinstance(message, ResultMessage)]
    assert [result.terminal_reason for result in results] == ["hook_stopped"]
    assert len(api.of("main")) == 4
    assert [reset.why for reset in resets] == ["full", "full", "full"]


def test_a_thread_is_what_the_sdk_gives(bot: Bot, api: Model) -> None:
    """Tools, a permission callback, a subagent, streaming, an interrupt, and users who type commands."""
    asked: list[str] = []
    slow = threading.Event()

    def wait(request: Request) -> Reply:
        slow.wait(30)
        return text("Too late.")

    def is_there(request: Request) -> Reply:
        return text("It was allowed.") if request.saw("made by a tool") else text("It was not.")

    api.play(call("Bash", command="echo made by a tool > there; cat there"), is_there)
    look = {"description": "look", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": False}
    api.play(
        call("Agent", **look), text("The agent looked.", 3_000), wait, wait, growing(100), growing(100), growing(100)
    )
    api.play(agents=[text("I looked.", 70_000)])

    async def allow(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        asked.append(tool)
        return PermissionResultAllow()

    async def main() -> list[Any]:
        options = bot.options(can_use_tool=allow, include_partial_messages=True)
        async with bot.thread(options=options, reset_at=60_000) as thread:
            first = [message async for message in thread.ask("Make a file.")]
            assert any(isinstance(message, StreamEvent) for message in first)
            said = [getattr(first[-1], "result", ""), await ask(thread, "Have an agent look.")]
            assert thread.tokens == 3_000  # not the subagent's
            waiting = asyncio.ensure_future(ask(thread, "Wait."))
            while len(api.of("main")) < 5:
                await asyncio.sleep(0.05)
            await thread.interrupt()
            await waiting
            async for _ in thread.ask("And wait again."):
                while len(api.of("main")) < 6:
                    await asyncio.sleep(0.05)
                break  # whoever asked has gone
            session = thread.session
            slow.set()
            picture = {"type": "base64", "media_type": "image/png", "data": PNG}
            shown: Prompt = [{"type": "text", "text": "What is it?"}, {"type": "image", "source": picture}]
            said += [await ask(thread, "/clear"), await ask(thread, "@there"), await ask(thread, shown)]
            assert thread.session == session
            return said

    said = bot.run(main)
    assert said[:4] == ["It was allowed.", "The agent looked.", "You said: /clear", "You said: @there"]
    assert asked == ["Bash"]
    last = api.of("main")[-1]
    assert last.saw("Make a file.")  # nobody has cleared anything
    assert any(block.get("type") == "image" for block in last.body["messages"][-1]["content"])


def test_a_thread_goes_on_after_a_crash(bot: Bot, api: Model) -> None:
    """Killed in the middle of a turn: the bot, then the CLI; then the CLI has lost the session."""
    resets: list[Reset] = []
    slow = threading.Event()

    def wait(request: Request) -> Reply:
        slow.wait(60)
        return text("Nobody hears this.")

    api.play(growing(100), call("Bash", command="echo one >> done.txt"), wait)
    first = bot.start("chat", "The invoices go to Wilhelmina Kessler.", "Do the first step.")
    wait_for(lambda: len(api.of("main")) == 3, "a turn in its middle")
    first.kill()
    first.communicate()
    slow.set()
    wait_for(lambda: not children(bot.sandbox), "the end of its CLI")
    slow.clear()

    async def main() -> list[str]:
        async with bot.thread(on_reset=resets.append) as thread:
            api.play(growing(100), wait, growing(100), growing(100))
            said = [await ask(thread, "Where were we?")]
            waiting = asyncio.ensure_future(ask(thread, "Wait."))
            while len(api.of("main")) < 5:
                await asyncio.sleep(0.05)
            for pid in children(bot.sandbox):
                os.kill(pid, signal.SIGKILL)
            with pytest.raises(ClaudeSDKError):
                await waiting
            slow.set()
            said.append(await ask(thread, "And now?"))
            session = thread.session
            await thread.disconnect()
            (lost,) = (path for path in bot.sandbox.transcripts() if session in path.name)
            lost.unlink()
            return [*said, await ask(thread, "Still there?")]

    assert bot.run(main) == ["You said: Where were we?", "You said: And now?", "You said: Still there?"]
    after_bot, _, after_cli, after_loss = api.of("main")[3:]
    for request in (after_bot, after_cli):  # all of it
        assert request.saw("Wilhelmina Kessler") and request.saw("echo one >> done.txt")
        assert not request.saw('brief="handoff"')
    assert after_loss.saw("Wilhelmina Kessler")
    assert after_loss.saw('brief="handoff"')
    assert [reset.why for reset in resets] == ["lost"]
    assert (bot.sandbox.project / "done.txt").read_text() == "one\n"
