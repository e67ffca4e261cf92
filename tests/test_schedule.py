"""`schedule`: a crontab line that runs, and what older versions installed goes without a trace of it or of us."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper import schedule
from memory_keeper.cli.main import main
from memory_keeper.errors import KeeperError

UNITS = ".config/systemd/user"
OLD = f"# {schedule.MARK}\n"
THEIRS = b"MAILTO=me\n# mine\n*/5 * * * * ./run 'a%b' \xff\r\n\n0 0 * * * no-end-of-line"
CRONTAB = """#!/bin/sh
echo "crontab $*" >>"$0.log"
[ -f "$0.broken" ] && [ "$1" != -l ] && exit 1
case $1 in
-l) [ -f "$0.kept" ] || { echo "no crontab for me" >&2; exit 1; }; exec /bin/cat "$0.kept" ;;
-r) exec /bin/rm "$0.kept" ;;
-) exec /bin/cat >"$0.kept" ;;
esac
"""
OTHER = """#!/bin/sh
echo "$*" >>"$0.log"
"""
ODD = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=20)


class Box:
    """A machine with stand-ins for the schedulers, and nothing else on its PATH."""

    def __init__(self, root: Path) -> None:
        self.home, self.keeper, self.bin = root / "home", root / "keeper", root / "bin"
        for folder in (self.bin, self.home / UNITS, self.home / "Library/LaunchAgents"):
            folder.mkdir(parents=True)
        (self.home / UNITS / "theirs.service").touch()
        for name in ("crontab", "systemctl", "launchctl"):
            (self.bin / name).write_text(CRONTAB if name == "crontab" else OTHER)
            (self.bin / name).chmod(0o755)
        self.crontab = self.bin / "crontab.kept"

    def log(self, name: str) -> str:
        path = self.bin / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*"))

    def install_as_before(self) -> None:
        """Everything that older versions wrote, which ran this home."""
        launch = f"{self.keeper}/current/plugin/launch"
        block = f"# memory-keeper begin: {schedule.MARK}\n0 0 * * 0 /bin/sh {launch} compact\n# memory-keeper end\n"
        self.crontab.write_bytes(block.encode() + THEIRS)
        units = self.home / UNITS
        (units / "memory-keeper-upkeep.service").write_text(f'{OLD}ExecStart="/bin/sh" "{launch}"\n')
        (units / "memory-keeper-upkeep.timer").write_text(f"{OLD}OnCalendar=Sun *-*-* 00:00:00\n")
        (units / "timers.target.wants").mkdir()
        (units / "timers.target.wants/memory-keeper-upkeep.timer").symlink_to("../memory-keeper-upkeep.timer")
        agent = self.home / "Library/LaunchAgents/memory-keeper.upkeep.plist"
        agent.write_text(f"<!-- {schedule.MARK} -->\n<string>{launch}</string>\n")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    made = Box(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("PATH", str(made.bin))
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(made.keeper))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return made


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as leave:
        main(["schedule", *argv])
    return int(leave.value.code or 0)


def test_it_shows_a_line_and_writes_nothing(box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    before = box.files()
    assert run() == 0
    assert "compact --observations --tasks --all-projects" in capsys.readouterr().out
    assert run("--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["line"].startswith("0 0 * * 0 /usr/bin/env PATH=") and shown["installed"] == []
    assert f"{box.keeper}/current/plugin/launch" in shown["line"]
    assert box.files() == before and not box.crontab.exists()
    assert set(box.log("crontab").split("\n")) == {"crontab -l", ""}


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
def test_the_line_runs(box: Box, capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: str) -> None:
    home = tmp_path / folder
    assert run("--json", "--home", str(home)) == 0
    line = json.loads(capsys.readouterr().out)["line"].split(" ", 5)[5].removesuffix(" >/dev/null")
    words = shlex.split(vixie(line, both=False))
    words = [*words[: words.index("compact")], "status", "--json", *words[-2:]]
    done = subprocess.run(words, env={}, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode in (0, 3), done.stderr
    assert words[-1] == str(home)


@pytest.mark.parametrize("home", ["/tmp/a\nb", "/tmp/\udcff"])
def test_a_path_that_no_crontab_can_hold_is_refused(home: str) -> None:
    with pytest.raises(KeeperError):
        schedule.cron_line(home, {})


def test_what_an_older_version_installed_goes(box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    before = box.files()
    box.install_as_before()
    assert run() == 0
    assert capsys.readouterr().out.count("memory-keeper schedule remove") == 4
    full = box.files()
    assert run("remove", "--dry-run") == 0
    assert box.files() == full and box.crontab.read_bytes() != THEIRS
    assert run("remove", "--yes") == 0
    assert box.files() == before
    assert box.crontab.read_bytes() == THEIRS, "to the byte"
    assert "disable --now memory-keeper-upkeep.timer" in box.log("systemctl")
    assert "bootout" in box.log("launchctl")
    assert not (box.keeper / "current").exists()
    assert run("remove", "--yes") == 0
    assert "Nothing was installed" in capsys.readouterr().out


def test_a_crontab_that_was_only_ours_goes_whole(box: Box) -> None:
    box.install_as_before()
    box.crontab.write_bytes(box.crontab.read_bytes().removesuffix(THEIRS))
    assert run("remove", "--yes") == 0
    assert not box.crontab.exists()


def test_what_bears_no_mark_or_no_end_stays(box: Box) -> None:
    unit = box.home / UNITS / "memory-keeper-upkeep.service"
    unit.write_text("[Service]\nExecStart=/bin/mine\n")
    damaged = f"# memory-keeper begin: {schedule.MARK}\n0 0 * * 0 ours\n0 0 * * * theirs\n".encode()
    box.crontab.write_bytes(damaged)
    assert run("remove", "--yes") == 0
    assert box.crontab.read_bytes() == damaged and unit.exists()


def test_what_cannot_be_taken_away_is_said(box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    box.install_as_before()
    (box.bin / "crontab.broken").touch()
    assert run("remove", "--yes") == 1
    assert "crontab could not be taken away" in capsys.readouterr().err


def test_a_program_of_the_projects_is_not_run(box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "crontab").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (project / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}:{box.bin}")
    monkeypatch.chdir(project)
    assert run() == 0
    assert not (tmp_path / "ran").exists()


def test_uninstall_takes_the_job_of_its_home_away(
    box: Box, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    box.install_as_before()
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(box.home / "other"))
    with pytest.raises(SystemExit):
        main(["uninstall"])
    assert box.crontab.read_bytes() != THEIRS
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(box.keeper))
    told: list[Any] = []
    for command in (["uninstall", "--dry-run", "--json"], ["uninstall", "--json"]):
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main(command)
        told.append(json.loads(capsys.readouterr().out))
    assert "crontab" in told[0]["would_remove"] and "crontab" in told[1]["unscheduled"]
    assert box.crontab.read_bytes() == THEIRS
