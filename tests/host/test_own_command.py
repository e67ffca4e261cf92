"""The command in the user's own terminal: it runs, is found, goes again, and is never put over somebody else's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memory_keeper.host.own_command import OTHERS, OwnCommand, place, put, put_all, remove, remove_all
from memory_keeper.host.registration import assemble

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A home with the plugin in it, of a user whose shell finds no command of ours; its path is at its worst."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    made = tmp_path / "it's a home"
    made.mkdir()
    assemble(str(made))
    return str(made)


def test_it_runs_the_plugin_in_our_home_and_goes_again(home: str) -> None:
    command = put(home)
    assert (command.path, command.on_path, command.problem) == (place(), False, "")
    said = subprocess.run([command.path, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("memory-keeper ")
    assert put(home) == command  # again: the same
    assert remove(home, dry_run=True).path == command.path and Path(command.path).exists()
    assert remove(home).path == command.path and not Path(command.path).exists()
    assert not remove(home).path


def test_compress_context_comes_with_it_and_no_folder_stays(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(Path.home().rglob("*"))
    main = put_all(home)
    (other,) = map(place, OTHERS)
    assert Path(main.path).parent == Path(other).parent
    said = subprocess.run([other, "--help"], capture_output=True, text=True, check=True)
    assert "--session-now" in said.stdout
    assert remove_all(home).path == main.path
    assert sorted(Path.home().rglob("*")) == before
    Path(place()).parent.mkdir(parents=True)
    theirs = Path(place()).with_name("theirs")
    theirs.touch()
    put_all(home)
    remove_all(home)
    assert theirs.exists()


def test_a_shell_that_has_the_folder_finds_it(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(place()).parent}:/usr/bin:/bin")
    assert put(home).on_path
    assert put(home).on_path  # now it finds ours


def test_what_a_shell_finds_already_will_do(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "pipx/memory-keeper"
    other.parent.mkdir()
    other.write_text("#!/usr/bin/python3\nfrom memory_keeper.cli.main import main\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:/usr/bin:/bin")
    assert (put(home).path, put(home).on_path) == (str(other), True)
    assert not os.path.lexists(place())


@pytest.mark.parametrize("theirs", ["file", "link", "folder"])
def test_somebody_else_s_stays(home: str, theirs: str) -> None:
    path = Path(place())
    path.parent.mkdir(parents=True)
    if theirs == "folder":
        path.mkdir()
    elif theirs == "link":
        path.symlink_to("/nowhere")
    else:
        path.write_text("#!/bin/sh\necho mine\n")
    assert put(home).problem == "something else is there"
    assert not remove(home).path
    assert os.path.lexists(path)


def test_the_command_of_another_home_stays(home: str, tmp_path: Path) -> None:
    put(str(tmp_path / "another"))
    assert not remove(home).path
    assert put(home).problem == ""  # installed again from here: it is ours to lead here
    assert remove(home).path == place()


@pytest.mark.parametrize("change", ["export MINE=1\n", "exec '", "exec\n"])
def test_one_that_the_user_has_changed_stays(home: str, change: str) -> None:
    put(home)
    said = Path(place()).read_text().replace("exec ", f"{change}exec ", 1)
    Path(place()).write_text(said)
    assert put(home) == OwnCommand(place(), False, "somebody has changed it")
    assert not remove(home).path and Path(place()).read_text() == said
    assert remove(home).left == place()


def test_one_that_the_user_has_changed_is_what_a_shell_runs(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home)
    Path(place()).write_text(Path(place()).read_text().replace("exec ", "export MINE=1\nexec ", 1))
    monkeypatch.setenv("PATH", f"{Path(place()).parent}:/usr/bin:/bin")
    assert put(home) == OwnCommand(place(), True, "somebody has changed it")


def test_where_nothing_can_be_put_it_is_said(home: str) -> None:
    Path(place()).parents[1].parent.mkdir(exist_ok=True)
    Path(place()).parents[1].write_text("a file where a folder should be")
    assert put(home).problem


def test_a_link_that_leads_to_us_will_do(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(place()).parent
    folder.mkdir(parents=True)
    Path(place()).symlink_to(CHECKOUT / "memory-keeper")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert put(home) == OwnCommand(place(), True)
    assert not remove(home).path and Path(place()).is_symlink()


@pytest.mark.parametrize("lent", ["plugins/cache/x/bin", "."])
def test_what_only_a_session_or_a_folder_lends_is_no_command(
    home: str, lent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    if lent == ".":
        monkeypatch.chdir(CHECKOUT)
        monkeypatch.setenv("PATH", ".:/usr/bin:/bin")
    else:
        program = claude / lent / "memory-keeper"
        program.parent.mkdir(parents=True)
        (program.parents[1] / "plugin").mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert put(home).path == place() and Path(place()).exists()


def test_one_that_cannot_be_taken_away_is_said_and_nothing_else_fails(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home)

    def refuse(path: str) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "unlink", refuse)
    assert remove(home) == OwnCommand(place(), False, "Read-only file system")


def test_what_a_killed_one_left_goes(home: str) -> None:
    put(home)
    left = Path(f"{place()}.memory-keeper.999999999")
    left.write_text("half")
    put(home)
    assert not left.exists()
