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
from contextlib import aclosing, asynccontextmanager, suppress
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
from memory_keeper.sdk.hooks import Memory, check_settings, with_hooks
from memory_keeper.sdk.record import Marks, find_marks, find_past, hand_over, thread_folder
from memory_keeper.settings import FEWEST

LOG = logging.getLogger("memory_keeper")
ECHO = "replay-user-messages"  # the CLI says when it begins with a prompt: what follows is its answer
CLEAR = "/clear"
MEMORIES = "thread", "project"
PATIENCE = 60.0  # seconds for a clear
LATELY, SHARE = 5, 4  # turns by which the next one is foreseen, and the part of the room that it may be given
RESUMED = 3  # times that a turn which fills the context is taken up again in a new one
TOO_LONG = "prompt is too long"
# what goes without saying where a thread is reset in time and resumed often; and word for word how it ended
OWN: Mapping[str, object] = {"context.warnings": False, "tell.resumeBudget": 0, "tell.replayBudget": 600}
STOPPING = 5.0  # seconds for a turn to stop, before its process is ended
BLANK = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)  # to the CLI
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


class AnswerError(ClaudeSDKError):
    """A turn that came to no answer: it failed, or was stopped. `result` is the SDK's message that says so."""

    def __init__(self, result: ResultMessage) -> None:
        said = result.result or "\n".join(result.errors or ()) or result.terminal_reason or result.subtype
        super().__init__(said)
        self.result = result


class _Turn:
    """A prompt that is being answered."""

    def __init__(self, begun: bool = False) -> None:
        self.id = str(uuid4())
        self.messages: asyncio.Queue[Message | BaseException] = asyncio.Queue()
        self.begun, self.over = begun, False


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
        reset_at: int | None = None,
        rules: str | Sequence[str] = (),
        handoffs: str | Path = "",
        settings: Mapping[str, object] | None = None,
        on_reset: Callable[[Reset], Any] | None = None,
        on_message: Callable[[Message], Any] | None = None,
    ) -> None:
        options = options or ClaudeAgentOptions()
        check_key(key)
        check(memory=memory, rules=rules, reset_at=reset_at, settings=settings)
        self.key, self.human, self.rules = key, human, (rules,) if isinstance(rules, str) else tuple(rules)
        self.handoffs, self.on_reset, self.on_message = str(handoffs), on_reset, on_message
        self.session = ""  # that it goes on in
        self.tokens = 0  # of its context
        self._marks = Marks()
        self._reset_at = reset_at or 0
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
        self._closing = False  # nobody is answered any more
        self._telling: asyncio.Task[Any] | None = None  # that calls on_reset
        self._turn: _Turn | None = None
        self._clearing: asyncio.Future[None] | None = None
        self._sizes: list[int] = []  # of the context, at the end of each turn in it
        self._window, self._model = 0, ""
        self._stopped = False  # the turn, since the context is full
        self._settled = False  # whether there is room for the next turn
        self._cleared = False
        self._empty = True  # nothing was answered in this context yet
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
        async with self._alone():
            if self._closing:
                raise CLIConnectionError("The thread is closing")
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
        """What comes of a prompt, in words; an AnswerError where the turn fails or is stopped."""
        async with aclosing(self.ask(prompt, human=human, verbatim=verbatim)) as messages:
            return await in_words(messages)

    async def interrupt(self) -> None:
        """Stop the turn that runs; who listens to it hears its ResultMessage."""
        if self._client and self._turn:
            await self._client.interrupt()

    async def reset(self) -> None:
        """Start afresh with what the context held handed over, now that nothing runs."""
        async with self._alone():
            await self._connect()
            await self._reset("asked")

    async def disconnect(self) -> None:
        """Give the process back, once nothing runs; the next prompt has the thread go on in another."""
        async with self._alone():
            await self._leave()

    async def close(self, patience: float | None = None) -> None:
        """The same, and wait until all is kept. With `patience`, what runs or waits after so many seconds is stopped,
        and whoever asked hears an error."""
        try:
            async with asyncio.timeout(patience):
                await self.disconnect()
        except TimeoutError:
            await self._stop()
        await asyncio.to_thread(self._memory.catch_up.wait)

    async def _stop(self) -> None:
        """Have the turn that runs end; where it does not, its process."""
        self._closing = True
        try:
            with suppress(ClaudeSDKError, TimeoutError):
                async with asyncio.timeout(STOPPING):
                    await self.interrupt()
                    await self.disconnect()
            await self._leave()
        finally:
            self._closing = False

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """While nothing else is done in this thread."""
        if self._telling and self._telling is asyncio.current_task():
            raise RuntimeError("on_reset is called in the middle of a turn: start a task that asks the thread later")
        async with self._lock:
            yield

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
        # Claude Code repeats no prompt of blanks only: what it says next is its answer
        turn = self._turn = _Turn(isinstance(prompt, str) and bool(prompt) and not prompt.strip(BLANK))
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
        try:
            async with asyncio.timeout(STOPPING):
                await self.client.interrupt()
                while not turn.over:
                    if isinstance(await turn.messages.get(), BaseException):
                        return
        except (ClaudeSDKError, TimeoutError):
            await self._leave()
        except asyncio.CancelledError:  # for the second time: whoever asks next waits for the end of the process
            if self._owner and not self._ending:
                self._owner.cancel()
            raise

    def _is_full(self, result: ResultMessage) -> bool:
        """Whether a turn has ended only since its context is full; not where the prompt alone is too long for one."""
        if result.is_error and TOO_LONG in (result.result or "").lower():
            alone, self._empty = self._empty, False
            return not alone
        return self._stopped and result.terminal_reason == "hook_stopped"

    # --- the client and its one owner ------------------------------------------------------------------------------

    async def _connect(self) -> None:
        """Have a client: one task connects it, reads all that it says, and disconnects it."""
        if self._client:
            return
        await self._leave()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        ready.add_done_callback(lambda done: done.cancelled() or done.exception())  # who waits for it may have gone
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
        except BaseException as error:
            self._client, self._ending = None, True
            told = error if isinstance(error, Exception) else CLIConnectionError("Claude Code was ended")
            if not ready.done():
                ready.set_exception(told)
            if self._turn:
                self._turn.messages.put_nowait(told)
            if self._clearing and not self._clearing.done():
                self._clearing.set_exception(told)
            if told is not error:
                raise
        finally:
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
            try:
                client = await _connected(options)
            except (ClaudeSDKError, RuntimeError) as error:  # what a session store raises becomes the latter
                LOG.warning("session %s cannot be resumed: %s", wanted, error)
            else:
                self.session, self.tokens = "" if forks else wanted, past.tokens
                self._sizes, self._settled, self._empty = [], forks, False
                return client
        self._memory.after = past.session
        client = await _connected(replace(self._options, resume=None, fork_session=False))
        self.session, self.tokens, self._sizes, self._settled, self._empty = "", 0, [], True, True
        if past.session:
            await self._tell(Reset(self.key, "lost", past.tokens, past.session, past.handoff, ""))
        return client

    async def _leave(self) -> None:
        """End the owner, and keep that the session is over for now."""
        if not (owner := self._owner):
            return
        if not self._ending:  # else it is at it, and would leave half of it undone
            owner.cancel()
        await asyncio.wait([owner])
        if self._owner is not owner:  # somebody else has waited for it too
            return
        self._owner = None
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
                self.tokens, self._model, self._empty = tokens, message.model, False
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
        self.tokens, self._sizes, self._settled, self._empty = 0, [], True, True
        await self._tell(Reset(self.key, why, tokens, session, text, path))

    async def _tell(self, info: Reset) -> None:
        LOG.info("thread %s: reset (%s) at %d tokens", info.key, info.why, info.tokens)
        self._telling = asyncio.current_task()
        try:
            told = self.on_reset(info) if self.on_reset else None
            if inspect.isawaitable(told):
                await told
        except Exception:  # the prompt that waits is nobody's fault
            LOG.exception("thread %s: on_reset failed", info.key)
        finally:
            self._telling = None

    async def _ran(self, payload: Any, tool: str | None, context: Any) -> Any:
        """Some tools have run, all of one message: the moment at which a turn can be stopped and loses nothing."""
        if payload.get("agent_id") or not self._turn or self.tokens < self._marks.most:
            return {}
        self._stopped = True
        return {"continue_": False, "stopReason": STOPPED}


async def in_words(messages: AsyncIterator[Message]) -> str:
    """What the messages that answer a prompt come to."""
    said = ""
    async for message in messages:
        if isinstance(message, ResultMessage):
            if message.is_error or message.subtype != "success" or message.terminal_reason == "hook_stopped":
                raise AnswerError(message)
            said = message.result or ""
    return said


def check_key(key: object) -> None:
    """Say what is wrong with the key of a thread."""
    if not isinstance(key, str):
        raise TypeError(f"the key of a thread is a str, not {key!r}")
    if not key:
        raise ValueError("the key of a thread is not empty")


def check(
    *,
    memory: str = "thread",
    rules: str | Sequence[str] = (),
    reset_at: int | None = None,
    settings: Mapping[str, object] | None = None,
    **_: Any,
) -> None:
    """Say what is wrong with what a thread is given, before it mixes anything up."""
    if memory not in MEMORIES:
        raise ValueError(f"memory is one of {', '.join(MEMORIES)}, not {memory!r}")
    if not all(isinstance(rule, str) for rule in rules):
        raise TypeError(f"rules are texts, not {rules!r}")
    if reset_at is not None and (type(reset_at) is not int or reset_at < FEWEST):
        raise ValueError(f"reset_at is a number of tokens, at least {FEWEST:,}, not {reset_at!r}")
    check_settings(settings or {})


async def _connected(options: ClaudeAgentOptions) -> ClaudeSDKClient:
    client = ClaudeSDKClient(options)
    try:
        await client.connect()
    except BaseException:
        await client.disconnect()
        raise
    return client


def _go_on(prompt: Prompt) -> Prompt:
    if isinstance(prompt, str):
        return f"{GO_ON}\n\n{prompt}"
    return [{"type": "text", "text": GO_ON}, *prompt]


async def _only(message: Json) -> AsyncIterator[Json]:
    yield message
