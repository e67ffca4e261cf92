"""What is found where: a project stays one when it moves or is renamed, and what was taken out is never found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_keeper.cli.main import main
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search import find
from tests.machine import Machine
from tests.stories.test_handoff import git, repository

REMOTE = "https://example.org/team/one.git"


def found(machine: Machine, folder: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The kinds of what a search in a folder finds."""
    machine.catch_up()
    with pytest.raises(SystemExit) as left:
        main(["search", "--json", "--project", str(folder), "--home", str(machine.home), *words])
    assert left.value.code == 0
    return [hit["kind"] for hit in json.loads(capsys.readouterr().out)]


@pytest.mark.git
def test_a_project_that_moved_is_the_same(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    repository(machine.project)
    machine.session().turn("Where is the zebra?", "In the zoo.")
    assert found(machine, machine.project, "zebra", capsys=capsys) == ["prompt"]
    moved = machine.root / "elsewhere"
    machine.project.rename(moved)
    assert found(machine, moved, "zebra", capsys=capsys) == ["prompt"]


@pytest.mark.git
def test_a_worktree_is_the_same_project(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    repository(machine.project)
    tree = machine.root / "tree"
    git(machine.project, "worktree", "add", "-q", "-b", "feature", str(tree))
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.session(tree).turn("Where is the quagga?", "Gone.")
    for folder in (machine.project, tree):
        assert found(machine, folder, "zebra", capsys=capsys) == ["prompt"]
        assert found(machine, folder, "quagga", capsys=capsys) == ["prompt"]


@pytest.mark.git
def test_a_repository_whose_remote_was_renamed_is_the_same(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(machine.project)
    git(machine.project, "remote", "add", "origin", REMOTE)
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    git(machine.project, "remote", "set-url", "origin", "git@example.org:team/renamed.git")
    assert found(machine, machine.project, "zebra", capsys=capsys) == ["prompt"]
    machine.session().turn("Where is the quagga?", "Gone.")
    assert found(machine, machine.project, "quagga", capsys=capsys) == ["prompt"]
    clone = machine.root / "clone"
    git(machine.root, "clone", "-q", str(machine.project), str(clone))
    git(clone, "remote", "set-url", "origin", "https://example.org/team/renamed")
    assert found(machine, clone, "zebra", capsys=capsys) == ["prompt"], "wherever it lies"


@pytest.mark.git
def test_another_repository_in_its_old_place_is_another_project(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(machine.project)
    git(machine.project, "remote", "add", "origin", REMOTE)
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    machine.project.rename(machine.root / "elsewhere")
    machine.project.mkdir()
    repository(machine.project)
    git(machine.project, "remote", "add", "origin", "https://example.org/team/two.git")
    assert found(machine, machine.project, "zebra", capsys=capsys) == []
    assert found(machine, machine.project, "zebra", "--all-projects", capsys=capsys) == ["prompt"]


@pytest.mark.git
def test_a_fork_elsewhere_is_another_project(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    repository(machine.project)
    git(machine.project, "remote", "add", "origin", REMOTE)
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    fork = machine.root / "fork"
    git(machine.root, "clone", "-q", str(machine.project), str(fork))
    git(fork, "remote", "set-url", "origin", "https://example.org/me/one.git")
    machine.session(fork).turn("Where is the quagga?", "Gone.")
    assert found(machine, fork, "zebra", capsys=capsys) == []
    assert found(machine, machine.project, "quagga", capsys=capsys) == []


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["ghp_", "sk-ant-api03-", "AKIA", "xoxb-", "glpat-"]), st.integers(0, 3))
def test_what_was_redacted_is_never_found(machine: Machine, prefix: str, where: int) -> None:
    """However it is looked for: whole, by its beginning or end, by a pattern, or in the transcripts' lines."""
    secret = {"AKIA": prefix + "Q" + os.urandom(20).hex().upper()[:15]}.get(prefix, prefix + os.urandom(24).hex())
    session = machine.session()
    said = f"The key is {secret} and the animal a zebra."
    if where == 0:
        session.turn(said, "Noted.")
    elif where == 1:
        session.turn("Go on.", said)
    else:
        session.prompt("Go on.")
        session.call("Bash", {"command": f"echo {secret}"} if where == 2 else {"command": "env"}, said)
        session.reply("Done.")
    machine.catch_up()
    with Keeper(str(machine.home)) as keeper:
        for query in (secret, secret[:12] + "*", secret[-12:], f'"{secret}"', secret.replace("-", " ")):
            for hit in find(keeper.store, query, Scope(), deep=True):
                text = keeper.store.event(hit.id)
                assert text and secret not in text.text
                assert secret[8:] not in hit.snippet
        assert find(keeper.store, secret[6:], Scope(), regex=True) == []
