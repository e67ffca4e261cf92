"""A thread: one conversation over any number of sessions, whose context never runs full.

A chat, an issue, a user: whatever has a key. When a turn is over and the next one may not fit, the handoff is written,
the context is cleared, and the new one begins with what it needs. The thread's sessions are found again by its key, so
it goes on in another process, after a crash, or when its session cannot be resumed.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    ConversationResetMessage,
    HookMatcher,
    Message,
    ResultMessage,
    SystemMessage,
    UserMessage,
)

from memory_keeper.capture.gauge import COUNTS
from memory_keeper.model import Json
from memory_keeper.sdk.hooks import Memory, with_hooks
from memory_keeper.sdk.record import Marks, find_marks, find_past, hand_over, thread_folder

LOG = logging.getLogger("memory_keeper")
ECHO = "replay-user-messages"  # the CLI says when it begins with a prompt: what follows is its answer
CLEAR = "/clear"
PATIENCE = 60.0  # seconds for a clear
LATELY, SHARE = 5, 4  # turns by which the next one is foreseen, and the part of the room that it may be given
RESUMED = 3  # times that a turn which fills the context is taken up again in a new one
TOO_LONG = "prompt is too long"
# what goes without saying where a thread is reset in time and resumed often; and word for word how it ended
OWN: Mapping[str, object] = {"context.warnings": False, "tell.resumeBudget": 0, "tell.replayBudget": 600}
STOPPED = "The context is full. The tools that ran have finished, and the work goes on in a new context."
GO_ON = (
    "The context became full in the middle of the last request and was replaced; what was done is handed over above."
    " Go on where it stopped, and do nothing again that is done. The request was:"
)
Prompt = str | Sequence[Mapping[str, Any]]  # text, or blocks of content such as images


class Reset(NamedTuple):
    """A context that was running full and was replaced, or that could not be had again."""

    key: str
    why: str  # due: before the next turn | full: in the middle of one | asked: by you | lost: it could not be resumed
    tokens: int  # that it had
    session: str  # that it was
    handoff: str  # what the next one is told of it
    path: str  # where that can be read

    def __str__(self) -> str:
        lost = "The session could not be resumed" if self.why == "lost" else "Context was running low"
        return f"{lost}, started fresh with state preserved."


class _Turn:
    """A prompt that is being answered."""

    def __init__(self) -> None:
        self.id = str(uuid4())
        self.messages: asyncio.Queue[Message | BaseException] = asyncio.Queue()
        self.begun = self.over = False


class Thread:
    """A conversation that goes on. One prompt at a time is answered, the others wait in the order in which they came.

    `options` are the SDK's; their hooks, tools, permissions and streaming work as they do there. The thread's memory is
    its own (`memory="thread"`), or that of the whole folder it works in (`memory="project"`). `human`: what it is asked
    was typed by people, so their wishes hold as a user's do. `reset_at` are the tokens that a context may have; `rules`
    are told to each; `handoffs` is a folder for HANDOFF-<session id>.md files. `on_reset` hears of each reset,
    `on_message` of messages that answer no prompt, such as those of a task that ended in the background.
    """

    def __init__(
        self,
        key: str,
        options: ClaudeAgentOptions | None = None,
        *,
        home: str | Path = "",
        memory: str = "thread",
        human: bool = False,
        reset_at: int = 0,
        rules: Sequence[str] = (),
        handoffs: str | Path = "",
        settings: Mapping[str, object] | None = None,
        on_reset: Callable[[Reset], Any] | None = None,
        on_message: Callable[[Message], Any] | None = None,
    ) -> None:
        options = options or ClaudeAgentOptions()
        self.key, self.human, self.rules = key, human, tuple(rules)
        self.handoffs, self.on_reset, self.on_message = str(handoffs), on_reset, on_message
        self.session = ""  # that it goes on in
        self.tokens = 0  # of its context
        self._marks = Marks()
        self._reset_at = reset_at
        quiet = {**OWN, **(settings or {})}
        self._memory = Memory(options, home=home, settings=quiet, key=key)
        if memory == "thread":
            folder = thread_folder(self._memory, key)
            self._memory = Memory(options, home=home, folder=folder, settings=quiet, key=key)
        self._echo = ECHO in options.extra_args
        options = replace(options, verbatim_prompts=False, extra_args={ECHO: None, **options.extra_args})
        hooks: dict[str, list[HookMatcher]] = {
            **self._memory.hooks(),
            "PostToolBatch": [HookMatcher(hooks=[self._ran])],
        }
        self._options = with_hooks(options, hooks)
        self._client: ClaudeSDKClient | None = None
        self._owner: asyncio.Task[None] | None = None
        self._ending = False  # the owner disconnects
        self._settling: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._turn: _Turn | None = None
        self._clearing: asyncio.Future[None] | None = None
        self._sizes: list[int] = []  # of the context, at the end of each turn in it
        self._window, self._model = 0, ""
        self._stopped = False  # the turn, since the context is full
        self._settled = False  # whether there is room for the next turn
        self._cleared = False
        self._echoes = False  # the CLI is one that says when it begins with a prompt

    # --- asking ----------------------------------------------------------------------------------------------------

    async def ask(
        self, prompt: Prompt, *, human: bool | None = None, verbatim: bool = True
    ) -> AsyncGenerator[Message, None]:
        """Send a prompt; the SDK's messages that answer it, to its ResultMessage. Who stops listening stops the turn.

        What it says is only text to the CLI, so that a user of the bot cannot clear the context with `/clear` or read
        files with `@path`; with `verbatim=False` slash commands and such work.
        """
        human = self.human if human is None else human
        async with self._lock:
            await self._connect()
            await self._settle()
            asked, again, self._stopped = prompt, 0, False
            while True:
                full = False
                async with aclosing(self._answer(asked, human, verbatim)) as answers:
                    async for message in answers:
                        if isinstance(message, ResultMessage) and again < RESUMED and self._is_full(message):
                            full = True
                        else:
                            yield message
                if not full:
                    break
                again += 1
                await self._reset("full")
                if self._stopped:  # else nothing of it was done
                    asked, human, self._stopped = _go_on(prompt), False, False
            self._settling = asyncio.ensure_future(self._settle_later())

    async def answer(self, prompt: Prompt, *, human: bool | None = None, verbatim: bool = True) -> str:
        """What comes of a prompt, in words."""
        said = ""
        async for message in self.ask(prompt, human=human, verbatim=verbatim):
            if isinstance(message, ResultMessage):
                said = message.result or "\n".join(message.errors or ())
        return said

    async def interrupt(self) -> None:
        """Stop the turn that runs; who listens to it hears its ResultMessage."""
        if self._client and self._turn:
            await self._client.interrupt()

    async def reset(self) -> None:
        """Start afresh with what the context held handed over, now that nothing runs."""
        async with self._lock:
            await self._connect()
            await self._reset("asked")

    async def disconnect(self) -> None:
        """Give the process back, once nothing runs; the next prompt has the thread go on in another."""
        async with self._lock:
            await self._leave()

    async def close(self) -> None:
        """The same, and wait until all is kept."""
        await self.disconnect()
        await asyncio.to_thread(self._memory.catch_up.wait)

    async def __aenter__(self) -> Thread:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def live(self) -> bool:
        """Whether it has a process of the CLI."""
        return self._client is not None

    @property
    def busy(self) -> bool:
        """Whether it answers a prompt, or somebody waits for that."""
        return self._lock.locked()

    @property
    def client(self) -> ClaudeSDKClient:
        """The SDK's own client, for what a thread does not do itself, such as `set_model`."""
        if not self._client:
            raise CLIConnectionError("The thread is not connected: ask it something first")
        return self._client

    async def _answer(self, prompt: Prompt, human: bool, verbatim: bool) -> AsyncGenerator[Message, None]:
        """One prompt sent, and what answers it."""
        turn = self._turn = _Turn()
        content = prompt if isinstance(prompt, str) else [*prompt]
        message: Json = {"type": "user", "message": {"role": "user", "content": content}, "uuid": turn.id}
        message |= {"parent_tool_use_id": None, "session_id": "default"}
        message |= {"client_composed": True} if verbatim else {}
        message |= {"origin": {"kind": "human"}} if human else {}
        try:
            await self.client.query(_only(message))
            while not turn.over or not turn.messages.empty():
                heard = await turn.messages.get()
                if isinstance(heard, BaseException):
                    raise heard
                yield heard
        finally:
            if not turn.over and self._client:
                await self._abandon(turn)
            self._turn = None

    async def _abandon(self, turn: _Turn) -> None:
        """Nobody listens any more: the turn is stopped, so that its result is not taken for another's."""
        with suppress(ClaudeSDKError):
            await self.client.interrupt()
            while not turn.over:
                if isinstance(await turn.messages.get(), BaseException):
                    return

    def _is_full(self, result: ResultMessage) -> bool:
        """Whether a turn has ended only since its context is full."""
        stopped = self._stopped and result.terminal_reason == "hook_stopped"
        return stopped or (result.is_error and TOO_LONG in (result.result or "").lower())

    # --- the client and its one owner ------------------------------------------------------------------------------

    async def _connect(self) -> None:
        """Have a client: one task connects it, reads all that it says, and disconnects it."""
        if self._client:
            return
        await self._leave()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ending = False
        self._owner = asyncio.ensure_future(self._own(ready))
        try:
            await asyncio.shield(ready)
        except BaseException:
            await self._leave()
            raise
        self._marks = await self._find_marks()

    async def _own(self, ready: asyncio.Future[None]) -> None:
        client = None
        try:
            client = self._client = await self._begin()
            ready.set_result(None)
            async for message in client.receive_messages():
                self._hear(message)
            raise CLIConnectionError("Claude Code has ended")
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
            if self._turn:
                self._turn.messages.put_nowait(error)
            if self._clearing and not self._clearing.done():
                self._clearing.set_exception(error)
        finally:
            self._client, self._ending = None, True
            if client:
                await client.disconnect()

    async def _begin(self) -> ClaudeSDKClient:
        """A client that goes on where the thread was; where that cannot be, in a new session that is handed it."""
        past = await asyncio.to_thread(find_past, self._memory, self.key, self.rules)
        wanted = past.session or self._options.resume or ""
        self._memory.begun.clear()
        if wanted and (past.there or not past.session or self._options.session_store):
            forks = self._options.fork_session and not past.session
            options = replace(self._options, resume=wanted, continue_conversation=False, fork_session=forks)
            client = ClaudeSDKClient(options)
            try:
                await client.connect()
            except ClaudeSDKError as error:
                LOG.warning("session %s cannot be resumed: %s", wanted, error)
                await client.disconnect()
            else:
                self.session, self.tokens = "" if forks else wanted, past.tokens
                self._sizes, self._settled = [], forks
                return client
        self._memory.after = past.session
        client = ClaudeSDKClient(replace(self._options, resume=None, fork_session=False))
        try:
            await client.connect()
        except BaseException:
            await client.disconnect()
            raise
        self.session, self.tokens, self._sizes, self._settled = "", 0, [], True
        if past.session:
            await self._tell(Reset(self.key, "lost", past.tokens, past.session, past.handoff, ""))
        return client

    async def _leave(self) -> None:
        """End the owner, and keep that the session is over for now."""
        owner, self._owner = self._owner, None
        if not owner:
            return
        if not self._ending:  # else it is at it, and would leave half of it undone
            owner.cancel()
        await asyncio.wait([owner])
        if self.session:
            over = {"hook_event_name": "SessionEnd", "session_id": self.session, "reason": "other"}
            await asyncio.to_thread(self._memory.answer, over)
            await asyncio.to_thread(hand_over, self._memory, self.session, self.handoffs)

    def _hear(self, message: Message) -> None:
        """One message of the CLI: what it says of the context, and whose it is."""
        self._note(message)
        turn = self._turn
        if self._clearing:
            self._hear_clearing(message)
            return
        if turn and isinstance(message, UserMessage) and message.uuid == turn.id:
            turn.begun = self._echoes = True
            if not self._echo:
                return
        ends = isinstance(message, ResultMessage)
        if turn and (turn.begun or (ends and not self._echoes)):
            turn.over = ends
            turn.messages.put_nowait(message)
            self._settled = self._settled and not ends
        elif turn and isinstance(message, SystemMessage) and message.subtype == "init":
            turn.messages.put_nowait(message)
        elif self.on_message:
            self.on_message(message)

    def _note(self, message: Message) -> None:
        if isinstance(message, SystemMessage) and message.subtype == "init":
            self.session = str(message.data.get("session_id") or self.session)
        elif isinstance(message, AssistantMessage) and message.parent_tool_use_id is None and message.usage:
            tokens = sum(int(message.usage.get(count) or 0) for count in COUNTS)
            if tokens:  # an error that the CLI reports in the model's place has none
                self.tokens, self._model = tokens, message.model
        elif isinstance(message, ResultMessage):
            self.session = message.session_id
            used = (message.model_usage or {}).get(self._model)
            self._window = int(used["contextWindow"]) if used else self._window

    def _hear_clearing(self, message: Message) -> None:
        """A clear is over with the first result after the reset: not with one of before."""
        if isinstance(message, ConversationResetMessage):
            self._cleared = True
        elif isinstance(message, ResultMessage) and self._cleared and self._clearing and not self._clearing.done():
            self._clearing.set_result(None)

    # --- the context -----------------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Start afresh if the next turn may not fit."""
        if self._settled or not self.session:
            return
        self._sizes.append(self.tokens)
        self._marks = await self._find_marks()
        self._settled = True
        if self.tokens + self._foreseen() >= self._marks.due:
            await self._reset("due")

    async def _find_marks(self) -> Marks:
        about = self.session, self._window, self._model, self._reset_at
        return await asyncio.to_thread(find_marks, self._memory, *about)

    async def _settle_later(self) -> None:
        """The same when a turn is over, before anybody asks."""
        async with self._lock:
            if self._client:
                with suppress(ClaudeSDKError, OSError, TimeoutError):  # whoever asks next is told
                    await self._settle()

    def _foreseen(self) -> int:
        """The tokens that the next turn may need: those of the largest lately, within reason."""
        grown = [after - before for before, after in pairwise(self._sizes)][-LATELY:]
        return min(max([0, *grown]), self._marks.due // SHARE)

    async def _reset(self, why: str) -> None:
        """Write the handoff, and clear: what begins then is told it by the hook of its start."""
        session, tokens = self.session, self.tokens
        if not session:
            return
        text, path = await asyncio.to_thread(hand_over, self._memory, session, self.handoffs, True)
        self._cleared, self._clearing = False, asyncio.get_running_loop().create_future()
        try:
            await self.client.query(CLEAR)
            await asyncio.wait_for(self._clearing, PATIENCE)
        finally:
            self._clearing = None
        self.tokens, self._sizes, self._settled = 0, [], True
        await self._tell(Reset(self.key, why, tokens, session, text, path))

    async def _tell(self, info: Reset) -> None:
        LOG.info("thread %s: reset (%s) at %d tokens", info.key, info.why, info.tokens)
        told = self.on_reset(info) if self.on_reset else None
        if inspect.isawaitable(told):
            await told

    async def _ran(self, payload: Any, tool: str | None, context: Any) -> Any:
        """Some tools have run, all of one message: the moment at which a turn can be stopped and loses nothing."""
        if payload.get("agent_id") or not self._turn or self.tokens < self._marks.most:
            return {}
        self._stopped = True
        return {"continue_": False, "stopReason": STOPPED}


def _go_on(prompt: Prompt) -> Prompt:
    if isinstance(prompt, str):
        return f"{GO_ON}\n\n{prompt}"
    return [{"type": "text", "text": GO_ON}, *prompt]


async def _only(message: Json) -> AsyncIterator[Json]:
    yield message
