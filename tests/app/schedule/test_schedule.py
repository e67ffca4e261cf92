"""`schedule`: a job of ours in the machine's own scheduler, and nothing of anybody else's changed by that.

Schedulers are other people's programs: stand-ins keep what they are given, and the real ones check it where they are.
"""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import stat
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.app import schedule
from memory_keeper.app.cli import main
from memory_keeper.app.schedule import Job, Machine, When, command_in, cron, launchd, read_weekly, systemd
from memory_keeper.errors import KeeperError
from tests.command import run as run_command

Said = pytest.CaptureFixture[str]
UNITS = ".config/systemd/user"
TIMER = f"{UNITS}/memory-keeper-upkeep.timer"
SERVICE = f"{UNITS}/memory-keeper-upkeep.service"
AGENT = "Library/LaunchAgents/memory-keeper.upkeep.plist"
CRONTAB = """#!/bin/sh
echo "crontab $*" >>"$0.log"
[ -f "$0.broken" ] && { echo "you are not allowed to use this program (crontab)" >&2; exit 1; }
case $1 in
-l) [ -f "$0.kept" ] || { echo "no crontab for me" >&2; exit 1; }; exec /bin/cat "$0.kept" ;;
-r) exec /bin/rm "$0.kept" ;;
-) exec /bin/cat >"$0.kept" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >>"$0.log"
[ -f "$0.broken" ] && { echo "Failed to connect to bus" >&2; exit 1; }
wants=$XDG_CONFIG_HOME/systemd/user/timers.target.wants
case $2 in
enable)
    [ -f "$0.refuses" ] && { echo "Failed to enable unit" >&2; exit 1; }
    /bin/mkdir -p "$wants" && /bin/ln -sf "../$3" "$wants/$3" ;;
restart) /bin/mkdir -p "$XDG_DATA_HOME/systemd/timers" && : >"$XDG_DATA_HOME/systemd/timers/stamp-$3" ;;
disable) /bin/rm -f "$wants/$4"; /bin/rmdir "$wants" 2>/dev/null ;;
esac
exit 0
"""
LAUNCHCTL = """#!/bin/sh
echo "launchctl $*" >>"$0.log"
[ -f "$0.refuses" ] && [ "$1" = bootstrap ] && { echo "Bootstrap failed: 5" >&2; exit 5; }
exit 0
"""
PROGRAMS = {"crontab": CRONTAB, "systemctl": SYSTEMCTL, "launchctl": LAUNCHCTL}


class Box:
    """A machine with stand-ins for some schedulers, and nothing else on its PATH."""

    def __init__(self, root: Path) -> None:
        self.home, self.keeper, self.bin = root / "home", root / "keeper", root / "bin"
        for folder in (self.bin, *(self.home / one for one in (".config", ".local/share", "Library/LaunchAgents"))):
            folder.mkdir(parents=True)
        (self.home / "Library/LaunchAgents/theirs.plist").touch()

    def has(self, *names: str) -> None:
        for name in names:
            path = self.bin / name
            path.write_text(PROGRAMS[name])
            path.chmod(0o755)

    def is_broken(self, name: str, how: str = "broken") -> None:
        (self.bin / f"{name}.{how}").touch()

    def log(self, name: str) -> list[str]:
        path = self.bin / f"{name}.log"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def crontab(self) -> bytes | None:
        path = self.bin / "crontab.kept"
        return path.read_bytes() if path.exists() else None

    @crontab.setter
    def crontab(self, data: bytes) -> None:
        (self.bin / "crontab.kept").write_bytes(data)

    def files(self) -> dict[str, bytes]:
        """What lies in the user's home, folders too."""
        found = sorted(self.home.rglob("*"))
        return {str(path.relative_to(self.home)): path.read_bytes() if path.is_file() else b"" for path in found}


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    made = Box(tmp_path)
    monkeypatch.setenv("PATH", str(made.bin))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return made


def run(*argv: str) -> int:
    return run_command("schedule", *argv)


@pytest.fixture
def asked(asked: Any) -> Any:
    """What `schedule ARGS --json` answers."""
    return partial(asked, "schedule")


# --- when ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("Sun 00:00", When(0, 0, 0)),
        ("monday 7:05", When(1, 7, 5)),
        ("03:30", When(-1, 3, 30)),
        ("daily 23:59", When(-1, 23, 59)),
        (" SATURDAY  09:00 ", When(6, 9, 0)),
    ],
)
def test_a_moment_of_the_week(said: str, when: When) -> None:
    assert read_weekly(said) == when
    assert read_weekly(str(when)) == when


@pytest.mark.parametrize("said", ["", "Sun", "24:00", "12:60", "Someday 10:00", "1:2:3", "-1:00", "Sun 00:00; rm"])
def test_no_moment_of_the_week(said: str) -> None:
    with pytest.raises(KeeperError):
        read_weekly(said)


# --- each scheduler ---------------------------------------------------------------------------------------------------


def test_systemd_gets_a_timer(box: Box, asked: Any) -> None:
    box.has("systemctl", "crontab")
    before = box.files()
    told = asked("install", "--at", "Mon 04:30", "--yes")
    assert (told["did"], told["with"], told["at"]) == ("installed", "systemd", "Mon 04:30")
    assert "OnCalendar=Mon *-*-* 04:30:00\n" in (box.home / TIMER).read_text()
    assert "compact" in (box.home / SERVICE).read_text()
    assert (box.home / UNITS / "timers.target.wants/memory-keeper-upkeep.timer").is_symlink()
    assert box.log("systemctl")[-3:] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable memory-keeper-upkeep.timer",
        "systemctl --user restart memory-keeper-upkeep.timer",
    ]
    assert box.crontab is None
    assert [one["at"] for one in asked("status")["installed"]] == ["Mon 04:30"]
    asked("remove", "--yes")
    assert box.files() == before
    assert asked("status")["installed"] == []


def test_a_timer_goes_where_no_manager_runs_any_more(box: Box, asked: Any) -> None:
    box.has("systemctl")
    before = box.files()
    asked("install", "--yes")
    box.is_broken("systemctl")
    assert asked("remove", "--yes")["did"] == "removed"
    assert box.files() == before


def test_other_units_stay(box: Box, asked: Any) -> None:
    box.has("systemctl")
    other = box.home / UNITS / "other.timer"
    other.parent.mkdir(parents=True)
    other.write_text("[Timer]\n")
    before = box.files()
    asked("install", "--yes")
    asked("remove", "--yes")
    assert box.files() == before


@pytest.mark.parametrize("place", [TIMER, SERVICE])
def test_a_unit_of_the_user_s_own_is_not_replaced(box: Box, capsys: Said, place: str) -> None:
    box.has("systemctl")
    mine = box.home / place
    mine.parent.mkdir(parents=True)
    mine.write_text("[Unit]\nDescription=mine\n")
    wants = box.home / UNITS / "timers.target.wants"
    wants.mkdir()
    (wants / "memory-keeper-upkeep.timer").symlink_to("../memory-keeper-upkeep.timer")
    before = box.files()
    assert run("install", "--yes") == 1
    assert "is not ours" in capsys.readouterr().err
    assert box.files() == before
    assert run("remove", "--yes") == 0
    assert box.files() == before


def test_nothing_stays_of_a_timer_that_systemd_refuses(box: Box, capsys: Said) -> None:
    box.has("systemctl")
    box.is_broken("systemctl", "refuses")
    before = box.files()
    assert run("install", "--yes") == 1
    assert "Failed to enable unit" in capsys.readouterr().err
    assert box.files() == before


def test_a_model_cannot_have_it_installed(box: Box, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("crontab")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("install", "--yes") == 1
    assert "Only you can have the upkeep run by the clock" in capsys.readouterr().err
    assert box.crontab is None
    assert run("install", "--dry-run") == 0


def test_what_would_be_written_is_shown_without_the_scheduler(box: Box, capsys: Said) -> None:
    assert run("install", "--dry-run", "--with", "systemd") == 0
    assert "OnCalendar=Sun" in capsys.readouterr().out
    assert run("install", "--dry-run") == 3


def test_launchd_gets_an_agent(box: Box, asked: Any) -> None:
    box.has("launchctl", "crontab")
    before = box.files()
    told = asked("install", "--yes")
    assert told["with"] == "launchd"
    agent = plistlib.loads((box.home / AGENT).read_bytes())
    assert agent["StartCalendarInterval"] == {"Weekday": 0, "Hour": 0, "Minute": 0}
    assert agent["ProgramArguments"][-2:] == ["--home", str(box.keeper)]
    assert box.log("launchctl")[-1].startswith("launchctl bootstrap gui/")
    assert [one["at"] for one in asked("status")["installed"]] == ["Sun 00:00"]
    asked("remove", "--yes")
    assert box.files() == before
    assert box.log("launchctl")[-1].endswith("/memory-keeper.upkeep")


def test_nothing_stays_of_an_agent_that_launchd_refuses(box: Box, capsys: Said) -> None:
    box.has("launchctl")
    box.is_broken("launchctl", "refuses")
    before = box.files()
    assert run("install", "--yes") == 1
    assert box.files() == before


@pytest.mark.parametrize(
    "theirs",
    [
        None,
        b"MAILTO=me\n# mine\n*/5 * * * * ./run 'a%b' \xff\r\n",
        b"\n\n0 0 * * * no-end-of-line",
        b"# memory-keeper\n0 1 * * * memory-keeper status\n",
    ],
)
def test_a_crontab_keeps_every_byte(box: Box, asked: Any, theirs: bytes | None) -> None:
    box.has("crontab")
    if theirs is not None:
        box.crontab = theirs
    told = asked("install", "--at", "03:30", "--yes")
    assert told["with"] == "cron"
    assert box.crontab and box.crontab.endswith(theirs or b"")
    assert b"\n30 3 * * * " in box.crontab
    assert [one["at"] for one in asked("status")["installed"]] == ["daily 03:30"]
    asked("install", "--at", "Sun 00:00", "--yes")
    assert box.crontab.count(b"memory-keeper begin") == 1
    asked("remove", "--yes")
    assert box.crontab == theirs


def test_a_crontab_that_cannot_be_read_is_not_written(box: Box, capsys: Said) -> None:
    box.has("crontab")
    box.crontab = b"0 0 * * * theirs\n"
    box.is_broken("crontab")
    assert run("install", "--yes") == 3
    assert "you are not allowed" in capsys.readouterr().err
    assert box.crontab == b"0 0 * * * theirs\n"
    assert {line.split()[1] for line in box.log("crontab")} == {"-l"}


def test_lines_of_ours_without_an_end_are_refused(box: Box, capsys: Said) -> None:
    box.has("crontab")
    run("install", "--yes")
    assert box.crontab
    damaged = box.crontab.replace(b"# memory-keeper end\n", b"0 0 * * * theirs\n")
    box.crontab = damaged
    assert run("install", "--yes") == 1
    assert "damaged" in capsys.readouterr().err
    assert run("remove", "--yes") == 0
    assert box.crontab == damaged


# --- asking, twice, elsewhere -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["systemctl", "launchctl", "crontab"])
def test_twice_is_once(box: Box, asked: Any, name: str) -> None:
    box.has(name)
    asked("install", "--yes")
    before = box.files(), box.crontab
    assert asked("install", "--yes")["did"] == "unchanged"
    assert (box.files(), box.crontab) == before
    assert asked("remove", "--yes")["did"] == "removed"
    assert asked("remove", "--yes")["did"] == "nothing"


@pytest.mark.parametrize("name", ["systemctl", "launchctl", "crontab"])
def test_a_dry_run_says_all_and_changes_nothing(box: Box, asked: Any, name: str) -> None:
    box.has(name)
    bare = box.files()
    told = asked("install", "--dry-run")
    assert (box.files(), box.crontab) == (bare, None)
    assert not box.keeper.exists()
    asked("install", "--yes")
    (known,) = asked("status")["installed"]
    assert known["texts"] == told["texts"]
    before = box.files(), box.crontab
    assert asked("remove", "--dry-run")["was"] == [known]
    assert (box.files(), box.crontab) == before


def test_nobody_at_the_terminal_says_no(box: Box, capsys: Said) -> None:
    box.has("crontab")
    assert run("install") == 1
    assert "--yes" in capsys.readouterr().err
    assert box.crontab is None


def test_another_scheduler_takes_the_place_of_the_first(box: Box, asked: Any) -> None:
    box.has("crontab", "systemctl")
    asked("install", "--with", "cron", "--yes")
    asked("install", "--with", "systemd", "--yes")
    assert [one["with"] for one in asked("status")["installed"]] == ["systemd"]
    assert box.crontab is None


def test_a_machine_without_any_says_so(box: Box, capsys: Said) -> None:
    assert run("install", "--yes") == 3
    assert "cron: there is no crontab" in capsys.readouterr().err
    assert run() == 0
    assert "no scheduler" in capsys.readouterr().out
    box.has("systemctl")
    box.is_broken("systemctl")
    assert run("install", "--with", "systemd", "--yes") == 3
    assert "no manager" in capsys.readouterr().err


def test_a_program_of_the_project_s_is_not_run(box: Box, asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project = box.home.parent / "work"
    (project / ".git").mkdir()
    for name, text in PROGRAMS.items():
        (project / name).write_text(text)
        (project / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}:{box.bin}")
    assert run("install", "--yes") == 3
    assert not list(project.glob("*.log"))
    box.has("crontab")
    assert asked("install", "--yes")["with"] == "cron"
    assert not list(project.glob("*.log"))


def test_a_project_s_settings_choose_neither_program_nor_home(
    box: Box, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code has put the variables there that a cloned repository's settings name."""
    project, theirs = box.home.parent / "work", box.home.parent / "theirs"
    (project / ".git").mkdir()
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"env": {"PATH": "x", "CLAUDE_CONFIG_DIR": "x"}}))
    theirs.mkdir()
    (theirs / "crontab").write_text(CRONTAB)
    (theirs / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", str(theirs))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(theirs))
    machine = schedule.machine_at(str(project), dict(os.environ))
    assert str(theirs) not in machine.environ["PATH"]
    assert not any("CLAUDE_CONFIG_DIR" in word for word in command_in(str(box.keeper), machine.environ))


# --- what is run ------------------------------------------------------------------------------------------------------

ODD = st.text(st.characters(min_codepoint=32, codec="utf-8"), min_size=1, max_size=20)
NOWHERE = Machine({"HOME": "/nowhere", "PATH": ""}, "")


def read_systemd(text: str) -> list[str]:
    """The words of a command as systemd reads them: systemd.service(5), COMMAND LINES."""
    (line,) = (line for line in text.split("\n") if line.startswith("ExecStart="))
    return [
        word.replace("%%", "%").replace("$$", "$").replace("\0", "\\")
        for word in shlex.split(line.removeprefix("ExecStart=").replace("\\\\", "\0"))
    ]


@given(ODD)
def test_any_word_reaches_launchd_whole(word: str) -> None:
    texts = launchd.texts(NOWHERE, Job(("/bin/echo", word), When(0, 0, 0)))
    assert plistlib.loads("".join(texts.values()).encode())["ProgramArguments"][1] == word
    assert launchd.escaped(word) in "".join(texts.values())


@given(ODD)
def test_any_word_reaches_systemd_whole(word: str) -> None:
    texts = systemd.texts(NOWHERE, Job(("/bin/echo", word), When(0, 0, 0)))
    assert read_systemd("".join(texts.values()))[1] == word
    assert "%" not in word or "%%" in "".join(texts.values())


def vixie(command: str, both: bool) -> str:
    """What a cron hands to the shell: a backslash goes before `%`, with some also before another one."""
    said, rest = "", iter(command)
    for char in rest:
        if char == "\\":
            after = next(rest, "")
            said += after if after == "%" or (both and after == "\\") else char + after
        elif char == "%":
            break
        else:
            said += char
    return said


@given(ODD)
def test_any_word_reaches_the_shell_through_every_cron(word: str) -> None:
    quoted = cron.escaped(word)
    for said in (quoted, vixie(quoted, both=False), vixie(quoted, both=True)):  # the first is busybox
        assert shlex.split(said) == [word]


def test_a_path_that_no_scheduler_can_be_given(box: Box) -> None:
    for home in ("/tmp/a\nb", "/tmp/\udcff"):
        with pytest.raises(KeeperError):
            command_in(home, {})


@pytest.mark.parametrize("folder", ["kee per", "100% sure", "it's", 'a"b', "a=b", "$HOME", "back\\slash", "ü"])
def test_what_is_installed_runs(box: Box, asked: Any, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """The job as each of the three has it, run by what runs it there."""
    box.has("crontab")
    home = box.keeper.parent / folder
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(home))
    asked("install", "--yes")
    assert box.crontab
    line = box.crontab.decode().splitlines()[1].split(" ", 5)[5].removesuffix(" >/dev/null")
    for command in ("--version",), ("status", "--json", "--home", str(home)):
        words = [*shlex.split(vixie(line, both=False))]
        words = [*words[: words.index("compact")], *command]
        done = subprocess.run(words, env={}, capture_output=True, text=True, timeout=60, cwd="/")
        assert done.returncode in (0, 3), done.stderr
        assert "memory-keeper" in done.stdout + done.stderr


def test_it_outlives_an_update(box: Box, asked: Any) -> None:
    box.has("crontab")
    asked("install", "--yes")
    assert box.crontab
    assert f"{box.keeper}/current/plugin/launch".encode() in box.crontab
    assert (box.keeper / "current/plugin/launch").stat().st_mode & stat.S_IXUSR


def test_a_status_line_that_goes_leaves_the_link(box: Box, asked: Any, capsys: Said) -> None:
    box.has("crontab")
    link = box.keeper / "current"
    for left, right in (
        ("statusline --remove", "schedule remove --yes"),
        ("schedule remove --yes", "statusline --remove"),
    ):
        for command in ("statusline --install", "schedule install --yes", left):
            with pytest.raises(SystemExit):
                main(command.split())
            assert link.is_symlink(), command
        with pytest.raises(SystemExit):
            main(right.split())
        assert not link.is_symlink()


def test_uninstall_takes_it_away(box: Box, capsys: Said) -> None:
    box.has("crontab")
    box.crontab = b"0 0 * * * theirs\n"
    run("install", "--yes")
    for command in (["uninstall", "--dry-run", "--json"], ["uninstall", "--json"]):
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main(command)
        told = json.loads(capsys.readouterr().out)
        assert "crontab" in told.get("would_remove", []) or told.get("unscheduled") == ["cron"]
    assert box.crontab == b"0 0 * * * theirs\n"


def test_uninstall_leaves_the_job_of_another_home(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("crontab")
    run("install", "--yes")
    before = box.crontab
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(box.home / "other"))
    with pytest.raises(SystemExit):
        main(["uninstall"])
    assert box.crontab == before


# --- the real ones ----------------------------------------------------------------------------------------------------

VERIFY = shutil.which("systemd-analyze")


@pytest.mark.skipif(not VERIFY, reason="needs systemd-analyze")
@pytest.mark.parametrize("folder", ["keeper", '100% o\'clock "$x" \\n'])
def test_systemd_itself_takes_the_units(tmp_path: Path, folder: str) -> None:
    assert VERIFY
    job = Job(command_in(f"{tmp_path}/{folder}", {}), When(0, 0, 0))
    for path, text in systemd.texts(Machine({"HOME": str(tmp_path)}, ""), job).items():
        (tmp_path / Path(path).name).write_text(text)
    timer = tmp_path / "memory-keeper-upkeep.timer"
    environ = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [VERIFY, "--user", "verify", "--man=no", str(timer)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
