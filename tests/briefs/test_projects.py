"""What a project is called, for people."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memory_keeper.briefs.projects import project_name
from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
from tests.rows import rows
from tests.transcripts import Transcript


@rows("key", "name")
def test_a_key_is_not_for_people(tmp_path: Path, key: str, name: str) -> None:
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        t = Transcript("00000001-0000-4000-8000-000000000001", "/p")
        t.prompt("Go on.")
        keeper.catch_up([Source(str(t.write(tmp_path / t.name)), t.session, "dir:/p")])
        assert project_name(keeper.store, key) == name


@pytest.mark.git
def test_a_clone_of_a_folder_is_called_by_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    for words in (["init", "-q", str(folder)], ["-C", str(folder), "remote", "add", "origin", f"{tmp_path}/origin/."]):
        subprocess.run(["git", *words], check=True, capture_output=True)
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        t = Transcript("00000001-0000-4000-8000-000000000001", str(folder))
        t.prompt("Go on.")
        key = keeper.project(str(folder), change=True)
        keeper.catch_up([Source(str(t.write(tmp_path / t.name)), t.session, key)])
        assert key.startswith("remote:/")
        assert project_name(keeper.store, key) == str(folder)


@pytest.mark.git
def test_a_repository_without_a_remote_is_called_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (
        ["init", "-q", str(folder)],
        ["-C", str(folder), *name, "commit", "-q", "--allow-empty", "-m", "Begin"],
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        t = Transcript("00000001-0000-4000-8000-000000000001", str(folder))
        t.prompt("Go on.")
        key = keeper.project(str(folder), change=True)
        keeper.catch_up([Source(str(t.write(tmp_path / t.name)), t.session, key)])
        assert key.startswith("root:")
        assert project_name(keeper.store, key) == str(folder)
