"""The half of the server that knows something: it answers what the host, its hooks module and its model ask."""

from __future__ import annotations

import os
import posix
import signal
import sys
from typing import Any

from memory_keeper import config, wire
from memory_keeper.capture.payload import read_payload, safe_name
from memory_keeper.errors import Busy
from memory_keeper.hooks.actions import ACTIONS, load
from memory_keeper.hooks.actions.compaction import find_own, replace, tell
from memory_keeper.hooks.answer import answer, despite, joined
from memory_keeper.hooks.problems import complain, describe
from memory_keeper.model import Json
from memory_keeper.server.catch_up import CatchUp
from memory_keeper.server.protocol import HANDOFF, MODULES, SCHEMAS, by_module, nothing, plainly, read, refuse
from memory_keeper.store.context import read_context
from memory_keeper.store.spool import new_call

UNKNOWN = "No session is known that runs here."
NOTHING = "Nothing has been asked or done in this session yet that a handoff could tell."
SWITCH = 0.0005  # seconds that a hook waits at most for the thread that catches up
HOOK = "hook"  # a tool that `tools/list` does not show: the host's hooks may call it, the model cannot


def serve(asked: int, answers: int, home: str = "", project: str = "") -> None:
    """Answer numbered lines until there are no more; in a home and for a project, where they were named."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the front ends us by closing the pipe
    sys.setswitchinterval(SWITCH)
    config.hurried = True
    worker = Worker(config.environment(), home, project)
    for name in ACTIONS.values():
        load(name)  # before a hook asks for it: this is while the host goes on
    try:
        with os.fdopen(asked, "rb") as lines:
            for line in lines:
                number, at, question = line.split(b" ", 2)
                when = float(at)
                call = f"{posix.getppid():x}-{int(number):x}-{int(when * 1e6):x}"  # the same when the front asks again
                wire.write_all(answers, number + b" " + worker.answer(question, when, call) + b"\n")
    except BrokenPipeError:
        pass  # the front is gone
    posix._exit(0)


class Worker:
    """Answers one line at a time; a thread of its own catches up meanwhile."""

    def __init__(self, environ: dict[str, str], home: str = "", project: str = "") -> None:
        self.environ = {**environ, "CLAUDE_PROJECT_DIR": project} if project else environ
        self.home = home or config.find_home(environ)
        self.project = project  # the folder that the tools look in; empty: that of the session that asks
        self.catch_up = CatchUp(self.home)
        self.heard: set[str] = set()  # the sessions whose hooks it has answered

    def answer(self, question: bytes, at: float, call: str = "") -> bytes:
        """The answer to one line of JSON-RPC that came then; empty for one that wants none. Asked again it is the same
        `call`."""
        with self.catch_up.answering:
            return self._answer(question, at, call or new_call())

    def _answer(self, question: bytes, at: float, call: str) -> bytes:
        asked = read(question)
        response, given = plainly(asked), asked.get("params")
        if response and asked.get("method") == "tools/call" and isinstance(given, dict):
            name = given.get("name")
            if name == HOOK:
                response["result"] = self.hook(given, at, call)
            elif name == HANDOFF:
                response["result"] = self.handoff(given, at, call)
            elif isinstance(name, str) and name in SCHEMAS:
                response["result"] = self.tool(name, given.get("arguments"), at)
            else:
                response = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": "no such tool"}}
        return wire.dumps(response).encode("ascii") if response else b""

    def hook(self, given: Json, at: float, id: str) -> Json:
        """The answer to a hook. A call that carries `_meta` is a model's, not the host's: it gets nothing."""
        payload = given.get("arguments")
        event = str(payload.get("hook_event_name") or "") if isinstance(payload, dict) else ""
        reply: Json | str | None = None
        if "_meta" not in given:
            try:
                reply = self._hook(event, payload, at, id)
            except Exception as error:
                complain(self.home, event, error)
                reply = despite(event, self.home, error)
        if event == "UserPromptSubmit" and not isinstance(reply, str):
            reply = joined(reply or {}, self.catch_up.news() or {})
        text = reply if isinstance(reply, str) else wire.dumps(reply)
        return {"content": [{"type": "text", "text": text}]} if reply else nothing(payload)

    def _hook(self, event: str, payload: Any, at: float, id: str) -> Json | str | None:
        if config.is_inside(self.environ):
            return None  # a host that we started ourselves, to write a note
        call = read_payload(event, payload, self.environ)
        if not call or call.ref.startswith(MODULES):
            return None  # what a plugin asks a server is no work
        self.heard.add(call.session)
        if not self._own(call.transcript):
            call = call._replace(transcript="")
        call = call._replace(id=id)
        return answer(call, self.home, self.environ, catch_up=self.catch_up.poke, resident=True, at=at)

    def handoff(self, given: Json, at: float, call: str) -> Json:
        """The answer to the hooks module that asks how to compact a session, or to a model that wants its handoff."""
        asked, module = given.get("arguments"), by_module(given)
        asked = asked if isinstance(asked, dict) else {}
        try:
            text = self._replace(asked, call, at) if module else self._handoff(asked)
        except Exception as error:
            if isinstance(error, Busy) and not module:
                return refuse(f"{error} ({error.hint}).")
            complain(self.home, HANDOFF, error)
            if not module:
                return refuse(_sorry(error))
            text = ""
        if text or module:
            return {"content": [{"type": "text", "text": text or "{}"}]}
        return refuse(UNKNOWN)

    def _replace(self, asked: Json, call: str, at: float) -> str:
        session = safe_name(str(asked.get("session") or ""))
        if config.is_inside(self.environ) or not self._knows(session):
            return ""
        return wire.dumps(replace(self.home, self.environ, asked, session, call, at))

    def _handoff(self, asked: Json) -> str:
        """What a model hears; empty when no session is known that it runs in."""
        session, budget = find_own(self.home, self.environ), asked.get("budget")
        if not session or config.is_inside(self.environ):
            return ""
        return tell(self.home, self.environ, session, budget if isinstance(budget, int) else 0) or NOTHING

    def tool(self, name: str, given: Any, at: float) -> Json:
        """The answer to a model that looks something up or keeps something."""
        try:
            from memory_keeper.server import tools  # noqa: PLC0415  only a session that uses them pays for them

            return tools.answer(name, given, self.home, self.environ, at, self.project, self.catch_up.poke)
        except Exception as error:
            complain(self.home, name, error)
            return refuse(_sorry(error))

    def _knows(self, session: str) -> bool:
        """Whether it has served a session since that began. The host starts a server again that was killed when its
        module asks; what it died of nobody knows, so that one leaves the compaction to the host."""
        context = read_context(self.home, session)
        return session in self.heard or not (context.prompted or context.stopped)

    def _own(self, path: str) -> bool:
        """Whether a path lies where this host keeps its transcripts: a call from elsewhere can name no other file."""
        folder = os.path.realpath(config.claude_folder(self.environ))
        return os.path.realpath(path).startswith(folder + "/projects/")


def _sorry(error: Exception) -> str:
    return f"Memory Keeper could not answer ({describe(error)}). `memory-keeper doctor` says more."
