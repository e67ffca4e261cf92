"""A project and what was done in it: sessions written as transcripts and read in by the real import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.cli.main import main
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.store.sqlite import SqliteStore
from tests.transcripts import START, Transcript


class Work(Transcript):
    """A session in which things are run, edited and said."""

    def bash(self, command: str, output: str = "", failed: bool = False) -> None:
        self.call("Bash", {"command": command, "description": "run it"}, output, failed)

    def edit(self, path: str, old: str, new: str, failed: bool = False) -> None:
        given = {"file_path": f"{self.cwd}/{path}", "old_string": old, "new_string": new}
        self.call("Edit", given, "<tool_use_error>String to replace not found" if failed else "Done.", failed)

    def write_file(self, path: str, content: str) -> None:
        self.call("Write", {"file_path": f"{self.cwd}/{path}", "content": content}, "Done.")

    def read_file(self, path: str, content: str) -> None:
        self.call("Read", {"file_path": f"{self.cwd}/{path}"}, content)

    def say(self, text: str) -> None:
        self.reply(text)


class Workshop:
    """The project, its transcripts and its store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "transcripts"
        self.home = folder / "keeper"
        self.root = folder / "project"
        self.root.mkdir()
        self.made = 0

    def session(self, root: Path | None = None, days: float = 0.0) -> Work:
        """A session of its own; later ones are later."""
        self.made += 1
        name = f"5e551011-0000-4000-8000-{self.made:012d}"
        return Work(name, str(root or self.root), self.made, start=START + 86_400 * (self.made + days))

    def keep(self, *sessions: Work) -> SqliteStore:
        """Import them, and open what is kept."""
        for one in sessions:
            one.write(self.folder / one.name)
        with pytest.raises(SystemExit) as ended:
            main(["import", "accept", str(self.folder), "--yes", "--home", str(self.home), "--json"])
        assert not ended.value.code
        return SqliteStore(str(self.home / "store.db"), write=False)

    def scope(self, root: Path | None = None) -> Scope:
        with Keeper(str(self.home)) as keeper:
            return Scope(project=keeper.project(str(root or self.root)))

    def ask(self, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
        """What a command answers as JSON."""
        return json.loads(self.told(capsys, *words, "--json"))

    def told(self, capsys: pytest.CaptureFixture[str], *words: str) -> str:
        """What a command prints."""
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*words, "--home", str(self.home), "--project", str(self.root)])
        said = capsys.readouterr()
        assert not ended.value.code, said.err
        return said.out
