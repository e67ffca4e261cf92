"""Projects, sessions that grow in them and a keeper beside: what hooks leave is there, without a process for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.store import spool
from memory_keeper.store.sqlite import SqliteStore
from tests.transcripts import START, Transcript

LATER = 2 * 3600.0  # seconds after which a session is taken to be over


class Workplace:
    """One home, and the sessions that it hears of; time passes only where something happens."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root, self.home = root, root / "keeper"
        self.sessions: list[Worked] = []
        self.now = START
        self.set(**settings)

    def set(self, **settings: Any) -> None:
        """The user's own settings of the stage that writes notes."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.json").write_text(json.dumps({"reduce": settings}))

    def folder(self, project: str) -> Path:
        made = self.root / project
        made.mkdir(parents=True, exist_ok=True)
        return made

    def project(self, name: str = "app") -> str:
        """What a project is called in the store."""
        return f"dir:{self.folder(name)}"

    def session(self, project: str = "app") -> Worked:
        """A session that has just begun."""
        number = len(self.sessions) + 1
        name = f"{number:08x}-0000-4000-8000-{number:012x}"
        made = Worked(self, project, Transcript(name, str(self.folder(project)), seed=number, start=self.now))
        self.sessions.append(made)
        made.mark("SessionStart", source="startup")
        return made

    def keeper(self) -> Keeper:
        return Keeper(str(self.home), {"CLAUDE_CONFIG_DIR": str(self.root / "claude")})

    def catch_up(self) -> None:
        with self.keeper() as keeper:
            keeper.catch_up()

    def distil(self, later: float = 0.0, **options: Any) -> list[Note]:
        """Look, and write what is due now or so many seconds later."""
        with self.keeper() as keeper:
            keeper.catch_up()
            return distil(keeper, self.now + later, **options)

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        """What is kept."""
        store = SqliteStore(str(self.home / "store.db"), write=False)
        try:
            yield store
        finally:
            store.close()

    def notes(self, level: int = 1, project: str = "app", **only: Any) -> list[Note]:
        with self.store() as store:
            return store.notes(self.project(project), level, **only)


class Worked:
    """One session: what is said in it reaches its transcript at once."""

    def __init__(self, place: Workplace, project: str, transcript: Transcript) -> None:
        self.place, self.project, self.transcript = place, project, transcript
        self.id = transcript.session
        self.path = place.root / "transcripts" / project / transcript.name

    def mark(self, event: str, **more: Any) -> None:
        """What a hook leaves in the spool."""
        self._pass(0.001)
        record = {"event": event, "at": self.place.now, "dir": str(self.place.folder(self.project))}
        spool.append(str(self.place.home), self.id, {**record, "transcript": str(self.path), **more})

    def write(self) -> None:
        """Let what was said reach the transcript, and a hook tell of it."""
        self.transcript.append_to(self.path)
        self.mark("Stop")

    def turn(self, prompt: str, reply: str, *commands: str) -> None:
        """A request, what was run for it, and the answer."""
        self.transcript.at = max(self.transcript.at, self.place.now)
        self.transcript.prompt(prompt)
        for command in commands:
            self.transcript.call("Bash", {"command": command}, f"output of {command}")
        self.transcript.reply(reply)
        self.write()

    def compact(self, summary: str = "What was said before.") -> None:
        self.transcript.compact(summary)
        self.write()
        self.mark("SessionStart", source="compact")

    def agent(self, name: str, *said: str) -> None:
        """A subagent says something in a file of its own."""
        path = self.path.with_suffix("") / f"subagents/agent-{name}.jsonl"
        inner = self.transcript.subagent(name) if not path.exists() else self.transcript.subagent(name + "x")
        inner.reply(*said)
        inner.agent = name
        with_lines = b"".join(inner.raw().splitlines(keepends=True))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(with_lines)
        self.mark("PostToolUse")

    def fork(self) -> Worked:
        """A session that begins with all the lines of this one."""
        made = self.place.session(self.project)
        made.transcript = self.transcript.fork(made.id)
        made.write()
        return made

    def end(self) -> None:
        self.mark("SessionEnd", source="other")

    def _pass(self, seconds: float = 0.0) -> None:
        self.place.now = max(self.place.now, self.transcript.at) + seconds
