"""A bot's thread on the real SDK: it goes on for ever, and its context is never full."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
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
    create_sdk_mcp_server,
    tool,
)

from memory_keeper.sdk import Reset
from memory_keeper.sdk.thread import Prompt
from tests.e2e.bots import Bot, ask, children, growing
from tests.e2e.cli import Sandbox, wait_for
from tests.e2e.model import Model, Reply, Request, call, calls, flat, text

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


def test_sixty_turns_of_every_kind(bot: Bot, api: Model) -> None:
    """Custom tools, a permission callback, subagents, streaming, interrupts, and prompts that come at once, over three
    resets: each answer is its own prompt's, each tool runs once, and what was said first is known to the end."""
    ran, allowed, resets, streamed, sizes = list[str](), list[str](), list[Reset](), set[str](), list[int]()
    reached, released = threading.Event(), threading.Event()

    def work(request: Request) -> Reply:
        """A model that does what it was asked last, says whose answer it gives, and fills the context meanwhile."""
        messages = request.body["messages"]
        place = max(number for number, message in enumerate(messages) if is_prompt(message))
        words = flat(messages[place]["content"]).strip().rpartition("\n")[2]
        name, _, kind = words.partition(": ")
        tokens = 10_000 + 3_000 * sum(message["role"] == "assistant" for message in messages)
        sizes.append(tokens)
        if kind == "stop":
            reached.set()
            released.wait(30)
        elif kind in begins and not any(message["role"] == "assistant" for message in messages[place:]):
            return begins[kind](name)._replace(tokens=tokens)
        results = [flat(message["content"]) for message in messages[place + 1 :] if message["role"] == "user"]
        return text(" ".join([name, *results]), tokens)

    look = {"description": "look", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": False}
    begins: dict[str, Callable[[str], Reply]] = {
        "tools": lambda name: calls(("mcp__shop__price", {"of": name}), ("mcp__shop__stock", {"of": name})),
        "shell": lambda name: call("Bash", command=f"echo {name} | tee -a log"),
        "agent": lambda name: call("Agent", **look),
    }
    api.play(*[work] * 150, agents=[text("I looked.", 60_000)] * 10)

    @tool("price", "What something costs", {"of": str})
    async def price(given: dict[str, str]) -> dict[str, Any]:
        await asyncio.sleep(0.05)
        ran.append(f"price of {given['of']}")
        return {"content": [{"type": "text", "text": f"{given['of']} costs 3."}]}

    @tool("stock", "How many there are", {"of": str})
    async def stock(given: dict[str, str]) -> dict[str, Any]:
        ran.append(f"stock of {given['of']}")
        return {"content": [{"type": "text", "text": f"9 of {given['of']}."}]}

    async def allow(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        allowed.append(tool)
        return PermissionResultAllow()

    async def main() -> dict[str, str]:
        shop = create_sdk_mcp_server("shop", tools=[price, stock])
        options = bot.options(mcp_servers={"shop": shop}, can_use_tool=allow, include_partial_messages=True)
        said = dict[str, str]()

        async with bot.thread(options=options, human=True, reset_at=70_000, on_reset=resets.append) as thread:

            async def talk(number: int, kind: str) -> None:
                name = f"Turn-{number}"
                async for message in thread.ask(f"{name}: {kind}"):
                    if isinstance(message, StreamEvent):
                        streamed.add(name)
                    elif isinstance(message, ResultMessage):
                        assert name not in said
                        said[name] = message.result or message.subtype

            await talk(1, "talk")
            await talk(2, "Remember: the invoices go to Wilhelmina Kessler, always in Danish kroner.")
            for number in range(3, 61, 2):
                kind = ("tools", "shell", "agent", "stop")[number // 2 % 4]
                first = asyncio.ensure_future(talk(number, kind))
                await asyncio.sleep(0)
                second = asyncio.ensure_future(talk(number + 1, "talk"))  # while the first is answered
                if kind == "stop":
                    await asyncio.to_thread(reached.wait, 30)
                    await thread.interrupt()
                    await first
                    released.set()
                await asyncio.gather(first, second)
                reached.clear()
                released.clear()
        return said

    said = bot.run(main)
    kinds = {f"Turn-{number}": ("tools", "shell", "agent", "stop")[number // 2 % 4] for number in range(3, 60, 2)}
    for number in range(1, 61):
        name = f"Turn-{number}"
        wanted = {
            "tools": f"{name} {name} costs 3.\n9 of {name}.",
            "shell": f"{name} {name}",
            "stop": "error_during_execution",
        }
        if kinds.get(name) == "agent":
            assert said[name].startswith(f"{name} ") and "I looked." in said[name]
        else:
            assert said[name] == wanted.get(kinds.get(name, ""), name)
    assert list(said) == [f"Turn-{number}" for number in range(1, 61)]
    assert streamed >= {name for name in said if kinds.get(name) != "stop"}
    tools = [name for name, kind in kinds.items() if kind == "tools"]
    assert sorted(ran) == sorted(f"{what} of {name}" for name in tools for what in ("price", "stock"))
    shells = [name for name, kind in kinds.items() if kind == "shell"]
    assert (bot.sandbox.project / "log").read_text().split() == shells
    assert Counter(allowed)["Bash"] == len(shells) and Counter(allowed)["mcp__shop__price"] == len(tools)
    assert [reset.why for reset in resets] == ["due"] * 3
    assert max(sizes) < 70_000
    for request in api.of("main")[-5:]:
        assert request.saw('brief="handoff"') and request.saw("Wilhelmina Kessler")


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


def test_a_thread_goes_on_whatever_became_of_its_transcript(bot: Bot, api: Model) -> None:
    """Emptied, no JSON any more, cut in the middle of a line, or a folder: what was said is known from the memory."""
    resets: list[Reset] = []
    api.play(*[growing(100)] * 20)
    damages: dict[str, Callable[[bytes], bytes]] = {
        "emptied": lambda data: b"",
        "garbage": lambda data: bytes(range(256)) * 40,
        "cut": lambda data: data[: -len(data.splitlines()[-1]) - 200],
        "folder": lambda data: data,
    }

    async def main() -> None:
        for name, damage in damages.items():
            async with bot.thread(name, on_reset=resets.append) as thread:
                await ask(thread, f"The invoices of {name} go to Wilhelmina Kessler.")
                await thread.disconnect()
                (path,) = (path for path in bot.sandbox.transcripts() if thread.session in path.name)
                kept = path.read_bytes()
                path.unlink()
                if name == "folder":
                    path.mkdir()
                else:
                    path.write_bytes(damage(kept))
                assert await ask(thread, "Where do they go?") == "You said: Where do they go?"
            assert api.of("main")[-1].saw(f"The invoices of {name} go to Wilhelmina Kessler."), name

    bot.run(main)
    assert {reset.why for reset in resets} == {"lost"}


def is_prompt(message: dict[str, Any]) -> bool:
    """Whether somebody asks something there, and no tool answers."""
    return (
        message["role"] == "user" and re.search(r"^Turn-\d+: .+\Z", flat(message["content"]).strip(), re.M) is not None
    )
