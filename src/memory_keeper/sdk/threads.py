"""Many threads over a few processes: each prompt has its thread's own, and the least recently used makes room."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Message

from memory_keeper.sdk.thread import Prompt, Thread, check, check_key, in_words

Options = ClaudeAgentOptions | Callable[[str], ClaudeAgentOptions]


class Threads:
    """Threads by their keys, `live` of which have a process of the CLI (some 220 MB each) at a time.

    A prompt for another one waits until some thread has nothing to do: the one that was used longest ago gives its
    process back, and goes on from the store when it is asked again. One that nobody asked for `idle` seconds does so
    too. `options` are the SDK's, or a function that gives those of a key; the rest is what a `Thread` takes.
    """

    def __init__(self, options: Options | None = None, *, live: int = 5, idle: float = 600.0, **each: Any) -> None:
        inspect.signature(Thread).bind("", None, **each)  # whatever it does not take
        check(**each)
        if type(live) is not int or live < 1:
            raise ValueError(f"live is a number of processes, at least 1, not {live!r}")
        if not idle > 0:
            raise ValueError(f"idle is a number of seconds, not {idle!r}")
        self.options, self.live, self.idle, self.each = options, live, idle, each
        self._threads: dict[str, Thread] = {}
        self._seats: dict[str, float] = {}  # who has a process or is about to, and since when; used last stands last
        self._moving: set[str] = set()  # who is giving a process back, or waits for that of another to end
        self._asking: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self._sweeper: asyncio.Task[None] | None = None
        self._closing = False

    def __getitem__(self, key: str) -> Thread:
        """The thread of a key. To ask it, use `ask` here: that waits for a process."""
        if key not in self._threads:
            options = self.options(key) if callable(self.options) else self.options
            self._threads[key] = Thread(key, options, **self.each)
        return self._threads[key]

    @property
    def alive(self) -> tuple[str, ...]:
        """The keys of threads that have a process, the one that was used longest ago first."""
        return tuple(key for key in self._seats if key in self._threads and self._threads[key].live)

    async def ask(self, key: str, prompt: Prompt, **how: Any) -> AsyncGenerator[Message, None]:
        """What `Thread.ask` gives, once there is a process for it."""
        check_key(key)
        self._asking[key] += 1
        try:
            await self._take_seat(key)
            async with aclosing(self[key].ask(prompt, **how)) as answers:
                async for message in answers:
                    yield message
        finally:
            self._asking[key] -= 1
            if not self._asking[key]:
                del self._asking[key]
            if key in self._seats:
                self._seats[key] = self._now()
            async with self._changed:
                self._changed.notify_all()

    async def answer(self, key: str, prompt: Prompt, **how: Any) -> str:
        """What comes of a prompt, in words; an AnswerError where the turn fails or is stopped."""
        async with aclosing(self.ask(key, prompt, **how)) as messages:
            return await in_words(messages)

    async def interrupt(self, key: str) -> None:
        """Stop the turn that runs in a thread."""
        if key in self._threads:
            await self._threads[key].interrupt()

    async def close(self, patience: float = 30.0) -> None:
        """Take no more prompts, let those that run come to their end within so many seconds, and give all back."""
        self._closing = True
        if self._sweeper:
            self._sweeper.cancel()
            await asyncio.wait([self._sweeper])
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), self._changed:
                await self._changed.wait_for(lambda: not self._asking.total())
        await asyncio.gather(*(thread.close(0 if self._asking[key] else None) for key, thread in self._threads.items()))
        self._threads.clear()
        self._seats.clear()

    async def __aenter__(self) -> Threads:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _take_seat(self, key: str) -> None:
        """Wait for a process; whose place it takes has left before."""
        if not self._sweeper:
            self._sweeper = asyncio.ensure_future(self._sweep())
        async with self._changed:
            await self._changed.wait_for(lambda: self._closing or self._has_seat(key))
            if self._closing:
                raise RuntimeError("the threads are closing")
            leaving = "" if key in self._seats else self._room() or ""
            self._seats.pop(leaving, None)
            self._seats.pop(key, None)
            self._seats[key] = self._now()  # used last stands last
            self._moving |= {key, leaving} if leaving else set()
        if leaving:
            try:
                await self._leave(leaving)
            except BaseException:  # its process may be there still
                del self._seats[key]
                self._seats = {leaving: 0.0, **self._seats}
                raise
            finally:
                self._moving -= {key, leaving}
            async with self._changed:
                self._changed.notify_all()

    def _has_seat(self, key: str) -> bool:
        """Whether there is a process for a thread, or one can be made."""
        return key not in self._moving and (key in self._seats or self._room() is not None)

    def _room(self) -> str | None:
        """Whose place may be taken; empty where there is a free one, None where all are at work."""
        if len(self._seats) < self.live:
            return ""
        return next((key for key in self._seats if not self._asking[key] and key not in self._moving), None)

    async def _leave(self, key: str) -> None:
        """Give a thread's process back. What it is lies in the store, so nothing of it stays here."""
        if thread := self._threads.get(key):
            await thread.disconnect()
            if not self._asking[key]:
                self._threads.pop(key, None)

    async def _sweep(self) -> None:
        """Have threads leave that nobody asks any more."""
        while True:
            await asyncio.sleep(min(self.idle, 60.0) / 2)
            old = self._now() - self.idle
            for key in [key for key, used in self._seats.items() if used < old]:
                if self._asking[key] or key in self._moving:
                    continue
                self._moving.add(key)
                try:
                    await self._leave(key)
                    self._seats.pop(key, None)  # only now: nobody may begin a process while this one ends
                finally:
                    self._moving.discard(key)
                async with self._changed:
                    self._changed.notify_all()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
