"""A project of which sessions are told, one a day: what was said in them, and what came of that."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_keeper.briefs.rules import rules_of
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, Source
from memory_keeper.rules.observations import Observed, observed
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.home import Lock
from tests.command import Done, typed
from tests.transcripts import START, Transcript

ROOT = Path(__file__).parents[1]
DAY = 86_400.0


class Project:
    """A project whose sessions are imported, each of them whole, on a day of its own."""

    def __init__(self, root: Path, began: float = START, **settings: Any) -> None:
        self.began = began
        self.root, self.home, self.folder = root, root / "keeper", root / "work/app"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(exist_ok=True)
        (self.home / "config.json").write_text(json.dumps(settings))
        self.key = f"dir:{self.folder}"
        self.keeper = Keeper(str(self.home), {})
        with Lock(self.keeper.home, 5.0):
            self.keeper.writer.name_project([self.key], self.key)

    def session(self, day: int, *prompts: str) -> Transcript:
        """A session in which something is said, not read yet."""
        made = Transcript(
            f"{day:08x}-0000-4000-8000-{day:012x}", str(self.folder), seed=day, start=self.began + day * DAY
        )
        for prompt in prompts:
            made.prompt(prompt)
            made.reply("I see.")
        return made

    def read(self, *sessions: Transcript) -> list[Note]:
        """Import sessions and write their notes; a line of a transcript may be read again."""
        for one in sessions:
            path = one.write(self.root / "transcripts" / one.name)
            self.keeper.read(Source(str(path), one.session, self.key))
        return distil(self.keeper, self.began + 400 * DAY, self.key, force=True)

    def say(self, day: int, *prompts: str) -> None:
        self.read(self.session(day, *prompts))

    def observed(self, day: float = 1.0, project: str = "") -> list[Observed]:
        return observed(self.keeper.store, project or self.key, DEFAULTS, self.began + day * DAY)

    def rules(self) -> list[str]:
        return [rule.text for rule in rules_of(self.keeper.store, self.key, shipped=False)]

    def run(self, *argv: str, **environ: str) -> Done:
        """A command of ours, run where there is no terminal."""
        return typed(self.folder, *argv, **environ)

    def type(self, answer: str, *argv: str) -> str:
        """The same at a terminal, where a person answers the question."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, str(ROOT / "memory-keeper"), *argv],
            cwd=self.folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ):
            os.close(theirs)
            os.write(ours, answer.encode() + b"\n")
            return b"".join(_read(ours)).decode()


def _read(terminal: int) -> Iterator[bytes]:
    try:
        while said := os.read(terminal, 4096):
            yield said
    except OSError:  # the other side is closed
        os.close(terminal)
