"""Bots with many threads, clients of their own, and programs without `await`, on the real SDK."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeSDKClient, CLIConnectionError, ResultMessage, UserMessage

from memory_keeper.sdk import AnswerError, Reset, SessionStore, SyncThreads, Threads, keeper_hooks
from tests.e2e.bots import Bot, ask, children, counting, growing
from tests.e2e.cli import Sandbox
from tests.e2e.model import Model, call, fail, text
from tests.raw import change

pytestmark = pytest.mark.e2e


@pytest.fixture
def bot(bare: Sandbox, tmp_path: Path, rules_on: None) -> Iterator[Bot]:
    made = Bot(bare, tmp_path / "memory")
    yield made
    made.close()


def test_twenty_threads_share_five_processes(bot: Bot, api: Model) -> None:
    """Each answer belongs to its prompt, who was asked longest ago makes room, and there is never a sixth process."""
    api.play(*[growing(100)] * 50)
    users = [f"user-{number:02}" for number in range(20)]

    async def main() -> dict[str, list[str]]:
        async with Threads(bot.options(), live=5, idle=1.0, home=bot.home) as threads:
            with counting(bot.sandbox) as numbers:
                both = [threads.answer(key, f"{key} says {number}") for key in users for number in (1, 2)]
                said = await asyncio.gather(*both)
                again = await threads.answer("user-00", "user-00 is back")
            assert 1 < max(numbers) <= 5
            while children(bot.sandbox):  # nobody asks
                await asyncio.sleep(0.1)
            assert not threads.alive
            return {"said": said, "again": [again]}

    found = bot.run(main)
    assert found["said"] == [f"You said: {key} says {number}" for key in users for number in (1, 2)]
    back = api.of("main")[-1]
    assert found["again"] == ["You said: user-00 is back"]
    assert back.saw("user-00 says 1") and not any(back.saw(key) for key in users[1:])


def test_a_client_of_ones_own_is_given_the_same_memory(bot: Bot, api: Model, tmp_path: Path) -> None:
    logs = tmp_path / ".bot-logs/handoffs"
    written: list[set[str]] = []  # after each turn

    async def talk(prompt: str) -> list[str]:
        options = keeper_hooks(bot.options(), home=bot.home, settings={"rules.shipped": True}, handoffs=logs)
        said = []
        async with ClaudeSDKClient(options) as client:
            for words in (prompt, "/clear", "Go on."):
                await client.query(words)
                results = [one async for one in client.receive_response() if isinstance(one, ResultMessage)]
                said.append(results[-1].result or "")
                written.append({path.read_text() for path in logs.glob("HANDOFF-*.md")})
        return said

    api.play(text("The quota is six."), text("I go on."), text("Hello."), text("I go on."))
    bot.run(lambda: talk("Why does upload_part make five tries?"))
    bot.close()
    bot.run(lambda: talk("What is new?"))
    first, cleared, next_session, _ = api.of("main")
    assert first.saw("Rules in force, kept by Memory Keeper")
    assert cleared.saw('brief="handoff"') and cleared.saw("upload_part")
    assert next_session.saw('brief="start"') and next_session.saw("upload_part")
    assert [len(pages) for pages in written[:2]] == [0, 1]
    assert "upload_part" in written[1].pop()


def test_it_goes_on_where_the_transcript_is_not(bot: Bot, api: Model) -> None:
    """On another machine: a CLI with a folder of its own, and the same home; then with lines that nobody can read."""
    api.play(*[growing(100)] * 3)
    resets: list[Reset] = []

    async def main() -> list[str]:
        options = bot.options(session_store=SessionStore(bot.home))
        async with bot.thread(options=options) as thread:
            await ask(thread, "The invoices go to Wilhelmina Kessler.")
        said = []
        for name in ("elsewhere", "broken"):
            where = {**options.env, "CLAUDE_CONFIG_DIR": str(bot.sandbox.root / name)}
            if name == "broken":
                change(bot.home / "sessions.db", "update line set text = '{' where seq % 2 = 0")
            async with bot.thread(options=replace(options, env=where), on_reset=resets.append) as thread:
                said.append(await ask(thread, "Where do they go?"))
        return said

    assert bot.run(main) == ["You said: Where do they go?"] * 2
    (_, there, broken) = api.of("main")
    assert [message["role"] for message in there.body["messages"]].count("assistant") == 1
    assert there.saw("Wilhelmina Kessler") and not there.saw('brief="handoff"')
    assert broken.saw("Wilhelmina Kessler") and broken.saw('brief="handoff"')
    assert [reset.why for reset in resets] == ["lost"]


def test_programs_without_await(bot: Bot, api: Model) -> None:
    api.play(*[growing(100)] * 3)

    def program() -> list[str]:
        with SyncThreads(bot.options(), home=bot.home) as threads:
            said = [threads.answer("a", "One"), threads.answer("b", "Two")]
            heard = list(threads.ask("a", "Three"))
            assert not any(isinstance(message, UserMessage) for message in heard)
            return [*said, getattr(heard[-1], "result", "")]

    assert bot.sandbox.net.call(program) == ["You said: One", "You said: Two", "You said: Three"]
    assert not children(bot.sandbox)


def test_the_examples(bot: Bot, api: Model) -> None:
    """A chat in the terminal, a server, and an agent in CI, as they stand in the repository."""
    api.play(growing(100), growing(100), growing(100), call("Bash", command="echo tested > log"), text("They pass."))
    chat = bot.example("chat.py")
    said, _ = chat.communicate("Hello.\nWho are you?\n")
    assert "You said: Hello." in said and "You said: Who are you?" in said
    server = bot.example("server.py", "0")
    assert server.stdout
    port = int(server.stdout.readline().rpartition(" ")[2])
    answer = bot.sandbox.net.run(["curl", "-sS", "--data", "Is it there?", f"http://127.0.0.1:{port}/anna"])
    assert answer.stdout == "You said: Is it there?\n", answer.stderr
    server.send_signal(signal.SIGINT)
    assert server.communicate()[0] == "closing\n"
    agent = bot.example("ci.py", "Make the tests pass.")
    assert agent.communicate()[0] == "- Bash echo tested > log\nThey pass.\n"
    assert [process.returncode for process in (chat, server, agent)] == [0, 0, 0]
    assert (bot.sandbox.project / "log").read_text() == "tested\n"


def test_rules_of_a_bot_and_of_its_users(bot: Bot, api: Model) -> None:
    """Each thread hears its bot's rules and what its own user wants, once that is said to be a person's word."""
    api.play(*[text("Yes.")] * 8)

    async def main() -> None:
        for key, words in (("anna", "From now on always answer in Finnish."), ("ben", "Hello.")):
            async with bot.thread(key, human=True, rules=["Never promise a date."]) as thread:
                await ask(thread, words)
                await thread.reset()
                await ask(thread, "What is new?")

    bot.run(main)
    anna, anna_later, ben, ben_later = api.of("main")
    for request in (anna, anna_later, ben, ben_later):
        assert request.saw("Never promise a date.") and request.saw("They hold all session, whatever the user says")
        assert not request.saw("NEVER delete files")  # those are for coding
    assert anna_later.saw("answer in Finnish")
    assert not ben.saw("Finnish") and not ben_later.saw("Finnish")


def test_what_comes_to_no_answer_holds_nobody_up(
    bot: Bot, api: Model, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts of blanks, a callback that fails, a prompt that is too long, a result that never comes."""
    stuck, resets = asyncio.Event(), list[Reset]()
    api.play(growing(100), growing(100))

    async def main() -> None:
        async def told(reset: Reset) -> None:
            resets.append(reset)
            await thread.answer("Did you see that?")

        async with bot.thread(on_reset=told) as thread:
            assert await ask(thread, "Hello.") == "You said: Hello."
            for blank in ("   ", "\n", "\u00a0"):
                assert (await ask(thread, blank)).startswith("Blank prompt")
            await thread.reset()
            assert await thread.answer("Who are you?") == "You said: Who are you?"
            assert "on_reset is called in the middle of a turn" in caplog.text

            book = "All of it. " * 3000
            resets.clear()
            api.play(*[lambda request: fail(400) if request.saw(book[:5000]) else text("I am there.")] * 20)
            with pytest.raises(AnswerError, match="rompt is too long") as failed:
                await thread.answer(book)
            assert failed.value.result.is_error
            assert [reset.why for reset in resets] == ["full"]  # once more, in a fresh context
            assert await thread.answer("Are you there?") == "I am there."

        threads = Threads(bot.options(), home=bot.home, live=1)
        assert await threads.answer("anna", "Hello.") == "I am there."
        monkeypatch.setattr(threads["anna"], "_hear", lambda message: stuck.set())  # as if no result ever came
        asking = asyncio.ensure_future(threads.answer("anna", "Are you there?"))
        waiting = asyncio.ensure_future(threads.answer("ben", "And you?"))
        await stuck.wait()
        await threads.close(patience=0.1)
        for task in (asking, waiting):
            with pytest.raises((CLIConnectionError, RuntimeError)):
                await task
        assert not children(bot.sandbox)

    bot.run(main)
