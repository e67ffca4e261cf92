"""The hooks of Claude Code, answered in the bot's own process: what the plugin does, with no plugin installed.

The SDK hands each hook's payload to a Python function, and the answer is the one that the plugin's server gives. Two
things differ: a session's first start reaches no such function, so it is told with the first prompt; and what is said
to the screen goes to the log, since who talks to a bot did not install us.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher
from claude_agent_sdk.types import HookCallback

from memory_keeper import config
from memory_keeper.capture.payload import read_payload
from memory_keeper.hooks.answer import answer, despite
from memory_keeper.hooks.problems import complain
from memory_keeper.model import Json
from memory_keeper.request import Call
from memory_keeper.server.catch_up import CatchUp
from memory_keeper.settings import problem, variable
from memory_keeper.store import spool
from memory_keeper.store.context import read_context

LOG = logging.getLogger("memory_keeper")
STARTED = "SessionStart"  # how a session's first start is asked for, which no hook of the SDK announces
EVENTS = (
    STARTED,
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
ENDS = ("PreCompact", "SessionEnd")  # of what a context held
QUIET: Mapping[str, object] = {"rules.shipped": False}  # they are for coding, and bots talk to anybody
LINGER = 0.5  # seconds for which the thread that catches up waits for more before it ends
_catching: dict[str, CatchUp] = {}  # one for each home: a process has one writer


class Memory:
    """What a bot keeps and is told: a home, the folder whose memory it is, and the answers to the hooks."""

    def __init__(
        self,
        options: ClaudeAgentOptions,
        *,
        home: str | Path = "",
        folder: str | Path = "",
        settings: Mapping[str, object] | None = None,
        key: str = "",
    ) -> None:
        wanted = {**QUIET, **(settings or {})}
        check_settings(wanted)
        given = {
            variable(name): str(value).lower() if value in (True, False) else str(value)
            for name, value in wanted.items()
        }
        environ = {**config.environment(), **options.env, **given}
        environ.pop(config.INSIDE, None)
        self.home = os.path.abspath(home or config.find_home(environ))
        self.folder = os.path.abspath(folder or options.cwd or os.getcwd())
        self.environ = {**environ, "CLAUDE_PROJECT_DIR": self.folder}
        self.key = key  # of the thread whose sessions these are; empty: of none
        self.ended: Callable[[str], object] | None = None  # told of each session whose context ends
        self.after = ""  # the session whose place the next one takes
        self.begun: dict[str, asyncio.Task[Json]] = {}  # the sessions that this process knows, and their first answers
        self.catch_up = _catching.setdefault(self.home, CatchUp(self.home, LINGER))

    def hooks(self) -> dict[str, list[HookMatcher]]:
        """The hooks to give to the SDK."""
        found = {event: [HookMatcher(hooks=[_callback(self._heard)], timeout=60)] for event in EVENTS}
        # two hooks may say twice as much as one
        found["UserPromptSubmit"][0].hooks.insert(0, _callback(self._begin))
        return found

    async def _begin(self, payload: Json) -> Json:
        """What a session hears that begins with this prompt, or goes on in this process."""
        session = str(payload.get("session_id"))
        if session in self.begun:
            return {}
        self.begun[session] = asyncio.ensure_future(asyncio.to_thread(self._start, payload))
        said = await self.begun[session]
        context = said.get("hookSpecificOutput", {}).get("additionalContext")
        return _telling("UserPromptSubmit", context) if context else {}

    def _start(self, payload: Json) -> Json:
        known = bool(read_context(self.home, str(payload["session_id"])).begun)
        source = "resume" if known else "clear" if self.after else "startup"
        return self.answer({**payload, "hook_event_name": STARTED, "source": source})

    async def _heard(self, payload: Json) -> Json:
        session, event = str(payload.get("session_id")), payload.get("hook_event_name")
        if event == STARTED and payload.get("source") == "clear":
            self.begun[session] = asyncio.ensure_future(asyncio.to_thread(self.answer, payload))
            return await self.begun[session]
        if event == "UserPromptSubmit" and session in self.begun:
            await asyncio.wait([self.begun[session]])
        return await asyncio.to_thread(self.answer, payload)

    def answer(self, payload: Json) -> Json:
        """The answer to a hook; whatever goes wrong, the bot goes on."""
        event = str(payload.get("hook_event_name"))
        try:
            call = read_payload(event, payload, self.environ)
            said = self._answer(call) if call else None
        except Exception as error:
            complain(self.home, event, error)
            said = despite(event, self.home, error, self.environ)
        if isinstance(said, str):  # of a compaction: what its summarizer is to keep
            return {"systemMessage": said}
        if said and said.get("systemMessage"):
            LOG.info(said.pop("systemMessage"))
        return said or {}

    def _answer(self, call: Call) -> Json | str | None:
        after, cleared = self.after, call.event == "SessionEnd" and call.source == "clear"
        call = call._replace(pid=os.getpid(), after=after if call.source == "clear" and not cleared else "")
        if cleared:
            self.after = call.session
        elif call.event == STARTED:
            self.after = ""
            if self.key:
                self.leave(call.session, "Thread", source=self.key)
        said = answer(call, self.home, self.environ, self.catch_up.poke, resident=True)
        if self.ended and call.event in ENDS:
            self.ended(call.session)
        return said

    def leave(self, session: str, event: str, **fields: Any) -> None:
        """Keep a record that no hook leaves."""
        spool.append(self.home, session, spool.make(event, spool.new_call(), time(), self.folder, **fields))


def check_settings(settings: Mapping[str, object]) -> None:
    """Say what is wrong with the settings of a bot."""
    for name, value in settings.items():
        if wrong := problem(name, value):
            raise ValueError(f"settings: {wrong}")


def with_hooks(options: ClaudeAgentOptions, hooks: Mapping[str, list[HookMatcher]]) -> ClaudeAgentOptions:
    """Options with more hooks; a plugin of ours that the CLI may load keeps silent, so that nothing is told twice."""
    merged: dict[Any, list[HookMatcher]] = {**(options.hooks or {})}  # the SDK knows fewer events than it passes on
    for event, matchers in hooks.items():
        merged[event] = [*merged.get(event, ()), *matchers]
    return replace(options, hooks=merged, env={**options.env, config.INSIDE: "1"})


def _callback(hear: Callable[[Json], Coroutine[Any, Any, Json]]) -> HookCallback:
    async def called(payload: Any, tool: str | None, context: Any) -> Any:
        return await hear(dict(payload))

    return called


def _telling(event: str, text: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
