"""A project with pages, and the person who edits them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_keeper.jobs.summarize import outline_project
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.pages.adopt import adopt
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.home import Lock

AT = 1_768_305_600.0  # 2026-01-13 12:00 UTC
NOW = AT + 10_000_000


class Desk:
    """A project, its store, and the person who edits its pages."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir(parents=True)
        self.project = f"dir:{self.root}"
        self.keeper = Keeper(str(folder / "keeper"), {"HOME": str(folder)})
        self.folder = self.root / ".claude/memory"
        self.memory = self.folder / "memory.md"
        self.made = 0
        with Lock(self.keeper.home, 5.0):
            self.keeper.writer.name_project([self.project], self.project)

    def add(
        self, text: str = "", kind: str = "session", level: int = 1, covers: tuple[str, ...] = (), **more: Any
    ) -> Note:
        """Keep a note, as distilling does."""
        self.made += 1
        text = text or f"Sentence {self.made}.\nAnother of {self.made}."
        at = more.pop("at", AT + 60 * self.made)
        id = more.pop("id", f"note-{self.made:012x}")
        note = Note(id, at, kind, level, self.project, text, tokens=measure(text), **more)
        with Lock(self.keeper.home, 5.0):
            self.keeper.writer.add(note, covers)
        return note

    @property
    def pages(self) -> Pages:
        return self.pages_at(NOW)

    def pages_at(self, now: float) -> Pages:
        """They are read anew each time, as each hook and command does."""
        return Pages(self.keeper, self.project, str(self.root), now)

    def render(self, **more: Any) -> list[str]:
        paths = render(self.pages, **more)
        return [path.removeprefix(f"{self.folder}/") for path in paths]

    def adopt(self, **more: Any) -> list[Note]:
        """What a start does."""
        return adopt(self.pages_at(more.pop("now", NOW)), **more)

    def edit(self, change: Callable[[str], str], name: str = "memory.md") -> None:
        path = self.folder / name
        path.write_text(change(path.read_text()))

    def replace(self, old: str, new: str, name: str = "memory.md", at_end: bool = False) -> None:
        assert old in (self.folder / name).read_text()
        self.edit(lambda text: text + new if at_end else text.replace(old, new), name)

    def rotate(self) -> list[Note]:
        return list(outline_project(self.keeper, self.project, DEFAULTS, everything=True))

    def in_force(self) -> list[Note]:
        levels = [self.keeper.store.notes(self.project, level) for level in range(4)]
        return [note for notes in levels for note in notes if note.text]

    def texts(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(self.folder.glob("*")) if path.name != ".gitignore"}
