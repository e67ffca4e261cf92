"""Threads for programs that are not asynchronous: their loop runs in a thread of its own."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

from claude_agent_sdk import Message

from memory_keeper.sdk.thread import Prompt
from memory_keeper.sdk.threads import Options, Threads


class SyncThreads:
    """`Threads` without `await`: the same arguments, and methods that wait. Any thread of the program may ask."""

    def __init__(self, options: Options | None = None, **how: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._runner = threading.Thread(target=self._loop.run_forever, name="memory-keeper")
        self._runner.start()
        self._threads = self._wait(self._make(options, how))

    @staticmethod
    async def _make(options: Options | None, how: dict[str, Any]) -> Threads:
        return Threads(options, **how)

    def _wait(self, doing: Any) -> Any:
        if threading.current_thread() is self._runner:  # such as on_reset
            doing.close()
            raise RuntimeError("a callback cannot wait for its own threads: ask them from another thread")
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result()

    def ask(self, key: str, prompt: Prompt, **how: Any) -> Iterator[Message]:
        """The messages that answer a prompt; who stops listening stops the turn."""
        heard: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        task = asyncio.run_coroutine_threadsafe(self._listen(key, prompt, how, heard), self._loop)
        try:
            while (message := heard.get()) is not None:
                yield message
            task.result()
        finally:
            if not task.done():
                task.cancel()

    async def _listen(
        self, key: str, prompt: Prompt, how: dict[str, Any], heard: queue.SimpleQueue[Message | None]
    ) -> None:
        try:
            async with aclosing(self._threads.ask(key, prompt, **how)) as answers:
                async for message in answers:
                    heard.put(message)
        finally:
            heard.put(None)

    def answer(self, key: str, prompt: Prompt, **how: Any) -> str:
        """What comes of a prompt, in words."""
        return str(self._wait(self._threads.answer(key, prompt, **how)))

    def interrupt(self, key: str) -> None:
        """Stop the turn that runs in a thread of the bot."""
        self._wait(self._threads.interrupt(key))

    def close(self, patience: float = 30.0) -> None:
        """Let what runs come to its end within so many seconds, and give all back."""
        if not self._loop.is_closed():
            self._wait(self._threads.close(patience))
            self._wait(self._loop.shutdown_asyncgens())
            self._wait(self._loop.shutdown_default_executor())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._runner.join()
            self._loop.close()

    def __enter__(self) -> SyncThreads:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
