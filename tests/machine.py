"""A machine to tell stories on: projects, Claude Code's sessions in them, and our hooks, called as the host calls them.

Times are an hour old at most and in order of the sessions' making, as the hooks themselves stamp their records with
the real time.
"""

from __future__ import annotations

import ctypes
import json
import os
import posix
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from threading import current_thread, main_thread
from time import sleep, time
from typing import Any, NamedTuple
from unittest.mock import patch

import memory_keeper
from memory_keeper import config
from memory_keeper.hooks.hook import respond
from memory_keeper.jobs.run import catch_up
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.moving import Added
from memory_keeper.store.sqlite import SqliteStore
from tests.transcripts import Transcript

START = Path(memory_keeper.__file__).parent / "hooks/start.py"
PATIENCE = 60.0  # seconds; a hook that takes longer hangs
HEARD = ("UserPromptSubmit", "SessionStart", "PostToolUse")


def without_rights() -> None:
    """Root may write anywhere; give that up, so that modes mean something."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


class Started:
    """How many processes this one has started: without any there is none to wait for."""

    count = 0

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"):
            self.count += 1


started = Started()
sys.addaudithook(started)


@contextmanager
def in_process(environ: dict[str, str], folder: Path) -> Iterator[None]:
    """The environment and the folder that a process of its own would have."""
    before, own = dict(os.environ), dict(posix.environ)
    with chdir(folder):
        try:
            os.environ.update(environ)
            posix.environ.clear()
            posix.environ.update({os.fsencode(name): os.fsencode(value) for name, value in environ.items()})
            yield
        finally:
            for name in environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update(before)
            posix.environ.clear()
            posix.environ.update(own)


@contextmanager
def another_host() -> Iterator[None]:
    """Another process than ours is the parent of what happens; it lives as long as that."""
    with subprocess.Popen(["/bin/sleep", str(PATIENCE)]) as host:
        started.count -= 1  # nobody has to wait for what it starts
        with patch("posix.getppid", lambda: host.pid):
            yield
        host.kill()


class Answer(NamedTuple):
    """What a hook gave back."""

    code: int
    out: bytes
    err: bytes

    @property
    def said(self) -> dict[str, Any]:
        """Its one JSON object; empty when it said nothing, or plain text."""
        answer = json.loads(self.out) if self.out and not self.plain else {}
        assert isinstance(answer, dict)
        return answer

    @property
    def plain(self) -> str:
        """What it said as it is."""
        return "" if self.out.startswith(b"{") else self.out.decode()

    @property
    def text(self) -> str:
        """What reaches the model."""
        return str(self.said.get("hookSpecificOutput", {}).get("additionalContext", ""))

    @property
    def message(self) -> str:
        """What reaches the user, who is to know who says it."""
        shown = str(self.said.get("systemMessage", ""))
        assert not shown or shown.startswith("Memory Keeper"), shown
        return shown


class Machine:
    """One user's machine."""

    def __init__(self, root: Path) -> None:
        self.root, self.user, self.home = root, root / "home", root / "keeper"
        self.transcripts = self.user / ".claude/projects"
        self.project = self.folder("work/app")
        self.made = 0
        self.started = started.count
        self.began = time() - 3600

    def folder(self, name: str) -> Path:
        made = self.root / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def session(self, project: Path | None = None, version: str = "2.1.325") -> Session:
        """A session of Claude Code, not started yet."""
        self.made += 1
        name = f"{self.made:08x}-0000-4000-8000-{self.made:012x}"
        where = project or self.project
        return Session(self, where, Transcript(name, str(where), version=version, start=self.began + 300 * self.made))

    def hook(
        self,
        event: str,
        payload: dict[str, Any] | bytes,
        project: Path | None = None,
        environ: dict[str, str] | None = None,
        **options: Any,
    ) -> Answer:
        """Call a hook as the host does. Whatever happens, it must not fail and say at most one thing.

        It is answered in this process, whose parent is the host, and then the writer comes by if it was sent for.
        Where a story is about processes each has its own: with `options` for one, or of several threads at once.
        ANOTHER in the environment: the host is a process that is gone when its hook was answered.
        """
        given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        where = project or self.project
        environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(where), "CLAUDECODE": "1", **(environ or {})}
        another = bool(environ.pop("ANOTHER", ""))
        if options or current_thread() is not main_thread():
            answer = self._start(event, given, where, environ, another, **options)
        else:
            with another_host() if another else nullcontext():
                answer = self._ask(event, given, where, environ)
        assert answer.code == 0
        assert answer.err == b""
        assert len(answer.out) < 30_000
        assert not answer.plain or event == "PreCompact"
        if "hookSpecificOutput" in answer.said:
            assert event in HEARD
            assert answer.said["hookSpecificOutput"]["hookEventName"] == event
            assert len(answer.text.encode("utf-16-le")) // 2 <= 10_000
        return answer

    def _ask(self, event: str, given: bytes, where: Path, environ: dict[str, str]) -> Answer:
        due: list[tuple[str, str, str]] = []
        with in_process(environ, where):
            config.hurried = True
            try:
                home = config.find_home(environ)
                out = respond(event, given, home, environ, lambda *wanted: due.append(wanted))
            finally:
                config.hurried = False
            for wanted in due:
                catch_up(*wanted)
        return Answer(0, out, b"")

    def _start(
        self, event: str, given: bytes, where: Path, environ: dict[str, str], another: bool, **options: Any
    ) -> Answer:
        command = [sys.executable, "-I", "-S", str(START), "hook", event]
        if another:
            command = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *command]
        done = subprocess.run(
            command, input=given, capture_output=True, cwd=where, env=environ, timeout=PATIENCE, **options
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def catch_up(self) -> Added:
        """What the writer does when somebody starts it."""
        with Keeper(str(self.home)) as keeper:
            return keeper.catch_up(patience=30.0)

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        """What is kept, read after everything was moved."""
        self.catch_up()
        store = SqliteStore(str(self.home / "store.db"), write=False)
        try:
            yield store
        finally:
            store.close()

    def files(self, folder: Path | None = None) -> list[Path]:
        return sorted(path for path in (folder or self.home).rglob("*") if path.is_file())

    def settle(self) -> None:
        """Wait until the writers that hooks started have ended; one that has just begun may not have its name yet."""
        if started.count == self.started:
            return
        until, quiet = time() + PATIENCE, 0
        while quiet < 2:
            assert time() < until, "a writer does not end"
            running = any(self._looks(pid) for pid in Path("/proc").iterdir() if pid.name.isdigit())
            quiet = 0 if running else quiet + 1
            sleep(0.02)

    def _looks(self, process: Path) -> bool:
        try:
            return str(self.home).encode() in (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return False


class Session:
    """One session, told in the order in which things reach the disk: hooks come before the lines they announce."""

    def __init__(self, machine: Machine, project: Path, transcript: Transcript) -> None:
        self.machine, self.project, self.transcript = machine, project, transcript
        self.id = transcript.session
        self.environ: dict[str, str] = {}  # of its process
        slug = "".join(char if char.isalnum() else "-" for char in str(project))
        self.path = machine.transcripts / slug / transcript.name

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        payload = {"session_id": self.id, "transcript_path": str(self.path), "cwd": str(self.project)}
        return {**payload, "hook_event_name": event, **fields}

    def happen(self, event: str, **fields: Any) -> Answer:
        """Call a hook of this session."""
        return self.machine.hook(event, self.payload(event, **fields), self.project, self.environ)

    def write(self) -> None:
        """Let what was said reach the transcript."""
        self.transcript.append_to(self.path)

    def start(self, source: str = "startup") -> Answer:
        return self.happen("SessionStart", source=source)

    def prompt(self, text: str) -> Answer:
        answer = self.happen("UserPromptSubmit", prompt=text)
        self.transcript.prompt(text)
        self.write()
        return answer

    def call(self, tool: str, given: dict[str, Any], result: str = "ok", failed: bool = False) -> Answer:
        self.transcript.call(tool, given, result, failed)
        self.write()
        return self.happen("PostToolUse", tool_name=tool, tool_input=given, tool_response={"stdout": result})

    def reply(self, text: str) -> Answer:
        """The end of a turn: the last answer comes to the transcript after the hook."""
        answer = self.happen("Stop", last_assistant_message=text, stop_hook_active=False)
        self.transcript.reply(text)
        self.write()
        return answer

    def turn(self, prompt: str, reply: str) -> None:
        """A request and its answer."""
        self.prompt(prompt)
        self.reply(reply)

    def fill(self, tokens: int) -> None:
        """A response comes, now, that was given so many tokens; never in the millisecond of a hook."""
        sleep(0.002)
        (row,) = self.transcript.reply("I go on.", usage=tokens)
        self.transcript.at = time()
        row["timestamp"] = datetime.fromtimestamp(self.transcript.at, UTC).isoformat(timespec="milliseconds")[:23] + "Z"
        self.write()
        sleep(0.002)

    @property
    def handoff(self) -> Path:
        """The file that its handoff is rendered in."""
        return self.project / f".claude/memory/handoffs/HANDOFF-{self.id}.md"

    def end(self, reason: str = "other") -> Answer:
        return self.happen("SessionEnd", reason=reason)
