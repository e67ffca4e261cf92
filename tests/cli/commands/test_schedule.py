"""`schedule`: the line that it shows runs, whatever stands in a path, and nothing is installed."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.cli.commands import schedule
from memory_keeper.cli.main import main
from memory_keeper.errors import KeeperError

ODD = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=20)


def line_of(capsys: pytest.CaptureFixture[str], home: Path) -> str:
    with pytest.raises(SystemExit) as leave:
        main(["schedule", "--json", "--home", str(home)])
    assert leave.value.code == 0
    return str(json.loads(capsys.readouterr().out)["line"])


def test_it_shows_a_line_and_installs_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = line_of(capsys, tmp_path / "home")
    assert line.startswith("0 0 * * 0 /usr/bin/env PATH=") and f"{tmp_path}/home/current/plugin/launch" in line
    assert "compact --observations --tasks --all-projects" in line
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["current"]


def vixie(command: str, both: bool) -> str:
    """What a cron hands to the shell: a backslash goes before `%`, with some also before another one."""
    handed, rest = "", iter(command)
    for char in rest:
        if char == "\\":
            after = next(rest, "")
            handed += after if after == "%" or (both and after == "\\") else char + after
        elif char == "%":
            break
        else:
            handed += char
    return handed


@given(ODD)
def test_any_word_reaches_the_shell_through_every_cron(word: str) -> None:
    quoted = schedule.escape(word)
    for handed in (quoted, vixie(quoted, both=False), vixie(quoted, both=True)):  # the first is busybox
        assert shlex.split(handed) == [word]


@pytest.mark.parametrize("folder", ["kee per", "100% o'clock", 'a="$HOME"', "back\\slash ü"])
def test_the_line_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: str) -> None:
    home = tmp_path / folder
    line = line_of(capsys, home).split(" ", 5)[5].removesuffix(" >/dev/null")
    words = shlex.split(vixie(line, both=False))
    words = [*words[: words.index("compact")], "status", "--json", *words[-2:]]
    done = subprocess.run(words, env={}, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode in (0, 3), done.stderr
    assert words[-1] == str(home)


@pytest.mark.parametrize("home", ["/tmp/a\nb", "/tmp/\udcff"])
def test_a_path_that_no_crontab_can_hold_is_refused(home: str) -> None:
    with pytest.raises(KeeperError):
        schedule.cron_line(home, {})
