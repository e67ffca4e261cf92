"""The half of the server that knows something: it answers the host's questions, and looks while nobody asks."""

from __future__ import annotations

import os
import posix
import signal
from threading import Condition, Thread
from time import sleep

from memory_keeper import __version__, config, wire
from memory_keeper.app.hook import answer, complain, describe, trouble, write_all
from memory_keeper.capture.payload import read_payload
from memory_keeper.keeper import Keeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_keeper.model import Json

PROTOCOL = "2025-06-18"
LAG = 0.4  # seconds a transcript's last lines may come after the hook that announces them
HOOK = "hook"  # a tool that `tools/list` does not show: the host's hooks may call it, the model cannot
# where the host would show an empty object to the model, nothing at all has to be said
SILENT = frozenset({"PreCompact", "PostCompact"})


def serve(asked: int, answers: int) -> None:
    """Answer numbered lines until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the front ends us by closing the pipe
    worker = Worker(config.environment())
    with os.fdopen(asked, "rb") as lines:
        for line in lines:
            number, _, question = line.partition(b" ")
            write_all(answers, number + b" " + worker.answer(question) + b"\n")
    posix._exit(0)


class Worker:
    """Answers one line at a time, and has a thread that looks."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.home = config.find_home(environ)
        self.looking = Looking(self.home)

    def answer(self, question: bytes) -> bytes:
        """The answer to one line of JSON-RPC; empty for one that wants none. No question may end the worker."""
        try:
            asked = wire.loads(question.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict) or asked.get("id") is None:
            return b""
        method, given = asked.get("method"), asked.get("params")
        given = given if isinstance(given, dict) else {}
        said: Json = {"jsonrpc": "2.0", "id": asked["id"]}
        if method == "initialize":
            said["result"] = {
                "protocolVersion": str(given.get("protocolVersion") or PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "memory-keeper", "version": __version__},
            }
        elif method == "ping":
            said["result"] = {}
        elif method == "tools/list":
            said["result"] = {"tools": []}
        elif method == "tools/call" and given.get("name") == HOOK:
            said["result"] = self.hook(given)
        elif method == "tools/call":
            said["error"] = {"code": -32602, "message": "no such tool"}
        else:
            said["error"] = {"code": -32601, "message": "no such method"}
        return wire.dumps(said).encode("ascii")

    def hook(self, given: Json) -> Json:
        """The answer to a hook. A call that carries `_meta` is a model's, not the host's: it gets nothing."""
        payload = given.get("arguments")
        event = str(payload.get("hook_event_name") or "") if isinstance(payload, dict) else ""
        said: Json | None = None
        if "_meta" not in given:
            try:
                said = self._hook(event, payload)
            except Exception as error:
                complain(self.home, event, error)
                said = trouble(event, error)
        if event == "UserPromptSubmit" and not said:
            said = self.looking.news()
        if not said and event in SILENT:
            return {"content": []}
        return {"content": [{"type": "text", "text": wire.dumps(said or {})}]}

    def _hook(self, event: str, payload: Any) -> Json | None:
        call = read_payload(event, payload, self.environ)
        if not call:
            return None
        if not self._own(call.transcript):
            call = call._replace(transcript="")
        return answer(call, self.home, self.environ, look=self.looking.poke, resident=True)

    def _own(self, path: str) -> bool:
        """Whether a path lies where this host keeps its transcripts: a call from elsewhere can name no other file."""
        folder = self.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
        return os.path.realpath(path).startswith(os.path.realpath(folder) + "/projects/")


class Looking:
    """The thread that moves what is new into the store, while the host waits for nothing."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.wanted = Condition()
        self.due = 0
        self.problem = ""
        Thread(target=self._run, daemon=True).start()

    def poke(self, home: str) -> None:
        """Something happened: look, and once more a moment later."""
        with self.wanted:
            self.due = 2
            self.wanted.notify()

    def news(self) -> Json | None:
        """What the user should hear of a failure, once."""
        problem, self.problem = self.problem, ""
        if not problem:
            return None
        return {"systemMessage": f"Memory Keeper could not keep the last lines ({problem}). Try: memory-keeper doctor"}

    def _run(self) -> None:
        told = False
        with Keeper(self.home) as keeper:
            while True:
                with self.wanted:
                    self.wanted.wait_for(lambda: self.due)
                    self.due -= 1
                    again = self.due
                try:
                    keeper.look(patience=30.0)
                except Exception as error:
                    complain(self.home, "look", error)
                    keeper.close()
                    self.problem, told = ("" if told else describe(error)), True
                if again:
                    sleep(LAG)
