"""The door of every command: its help in groups, what is mistyped, and hints that can be typed as they stand."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memory_keeper.app.cli import COMMANDS, GROUPS, main
from memory_keeper.app.terminal import as_called

ROOT = Path(__file__).resolve().parents[2]


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as left:
        main([*words])
    heard = capsys.readouterr()
    assert left.value.code == code, heard.err
    return heard.err if code else heard.out


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_the_help_lists_every_command_once_in_its_group(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    lines = told(capsys, *words).splitlines()
    heads = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == [*GROUPS, "options"]
    listed = [line.split()[0] for line in lines if line[:2] == "  " and line[2:3].isalpha()]
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize(("typed", "meant"), [("serach", "search"), ("timline", "timeline"), ("Status", "status")])
def test_a_mistyped_command(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    said = told(capsys, typed, "retry", code=2)
    assert f"there is no command {typed}; did you mean {meant}" in said
    assert len(said.splitlines()) == 2 and "hook" not in said


def test_a_command_that_is_like_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`memory-keeper --help` names them all" in told(capsys, "xyzzy", code=2)


def test_a_verb_has_its_own_example_and_no_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    add, every = told(capsys, "rule", "add", "--help"), told(capsys, "rule", "--help")
    assert "example: memory-keeper rule add " in add and "rule sync" not in add
    assert "--user" in add and "\n  --remove" not in add
    assert "\n  --remove" in every and "rule sync" in every and "rule adopt" in every


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert all(len(line) <= 80 for line in told(capsys, name, "--help").splitlines())


def test_a_hint_has_the_name_that_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (
        "run `memory-keeper doctor`; the plugin memory-keeper, ~/.local/share/memory-keeper and <memory-keeper brief>"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["./memory-keeper", "status"])
    assert as_called(text) == text.replace("run `memory-keeper", "run `./memory-keeper")
    monkeypatch.setattr("sys.argv", ["/usr/lib/python3/start.py"])
    assert as_called(text) == text
    program = tmp_path / "memory-keeper"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", ["./memory-keeper", "status"])
    assert as_called(text) == text, "a shell finds it"


def test_a_checkout_says_how_it_was_called(tmp_path: Path) -> None:
    path = os.pathsep.join(one for one in os.defpath.split(os.pathsep) if not Path(one, "memory-keeper").exists())
    environ = {"PATH": path, "HOME": str(tmp_path), "MEMORY_KEEPER_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["./memory-keeper", "status"], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "run `./memory-keeper install`" in done.stderr and done.stderr.startswith("memory-keeper: ")
