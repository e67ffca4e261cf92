"""Members of a team: each with a home of their own, a clone of one repository, and what they share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from time import time
from typing import Any

from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.store.shared import shared_notes
from memory_keeper.team.outbox import share, unshare
from memory_keeper.team.sync import Synced, sync
from memory_keeper.team.teams import GIT, Team, find, keep
from memory_keeper.text import digest_of
from tests.command import Done, typed


def git(folder: Path, *words: str, given: bytes = b"", **environ: str) -> str:
    done = subprocess.run(
        ["git", "-C", folder, *words], input=given, capture_output=True, check=True, env={**os.environ, **environ}
    )
    return done.stdout.decode("utf-8", "replace").strip()


def remote(tmp_path: Path) -> Path:
    """A bare repository with one commit."""
    bare = tmp_path / "remote.git"
    bare.mkdir()
    git(bare, "init", "--quiet", "--bare")
    seed = bare.parent / "seed"
    seed.mkdir()
    git(seed, "init", "--quiet")
    git(seed, "-c", "user.name=Seed", "-c", "user.email=seed@x", "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(seed, "push", "--quiet", str(bare), "HEAD:refs/heads/main")
    git(bare, "symbolic-ref", "HEAD", "refs/heads/main")
    return bare


class Member:
    """Somebody with a clone."""

    def __init__(self, root: Path, bare: Path, name: str) -> None:
        self.name, self.author = name, f"{name.title()} <{name}@example.com>"
        self.folder, self.home = root / name / "app", root / name / "home"
        self.folder.parent.mkdir()
        git(root, "clone", "--quiet", str(bare), str(self.folder))
        git(self.folder, "config", "user.name", name.title())
        git(self.folder, "config", "user.email", f"{name}@example.com")
        self.keeper = Keeper(str(self.home), {**os.environ})
        with self.keeper.writing():
            self.project = self.keeper.project(str(self.folder), change=True)
        self.team = keep(self.keeper, Team(self.project, "origin", str(bare), GIT))

    def rule(self, text: str) -> Note:
        return add_rule(self.keeper, self.project, text)

    def note(self, text: str, kind: str = "decision") -> Note:
        now = time()
        id = "note-" + digest_of(self.name, text, repr(now))
        note = Note(id, now, kind, 0, self.project, text, "", measure(text), '{"by":"user"}', who="user")
        self.keeper.write(note)
        return note

    def share(self, *notes: Note) -> None:
        share(self.keeper, notes, self.author)

    def unshare(self, *notes: Note) -> None:
        unshare(self.keeper, notes)

    def sync(self) -> Synced:
        return sync(self.keeper, find(self.keeper.store, self.project), str(self.folder))

    def has(self) -> set[tuple[str, str]]:
        """What others share, as it is here: who and what."""
        return {(item.author, item.text) for _, item in shared_notes(self.keeper.store, self.project)}

    def typed(self, *words: str, **about: Any) -> Done:
        self.keeper.close()
        return typed(self.folder, *words, "--home", str(self.home), **about)
