"""The door of every command: its help in groups, what is mistyped, and hints that can be typed as they stand."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memory_keeper.cli.aliases import ALIASES
from memory_keeper.cli.commands import serve
from memory_keeper.cli.main import COMMANDS, GROUPS, main
from memory_keeper.errors import NotSetUp
from memory_keeper.terminal import as_called
from tests.command import typed
from tests.machine import START, Machine
from tests.rows import rows

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


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_says_so_and_what_stands_for_it(capsys: pytest.CaptureFixture[str], alias: str) -> None:
    said, now = unwrapped(told(capsys, alias, "--help")), ALIASES[alias].now
    assert f"`{alias}` is an alias of `{now}`" in said if now else "Nothing to do: " in said
    assert not now or alias in unwrapped(told(capsys, now.split()[0], "--help")).partition("Also: ")[2]


def unwrapped(help: str) -> str:
    return " ".join(help.replace("-\n", "-").split()).replace("- ", "-")


@rows("line", "meant")
def test_what_was_meant_is_suggested(capsys: pytest.CaptureFixture[str], line: str, meant: str) -> None:
    assert f"did you mean {meant}?" in " ".join(told(capsys, *line.split(), code=2).split())


def test_options_may_come_before_a_verb(capsys: pytest.CaptureFixture[str], machine: Machine) -> None:
    assert told(capsys, "rule", "--json", "list", "--home", str(machine.home)).startswith("[")
    assert told(capsys, "rule", "--json", "--home", str(machine.home)).startswith("[")


@pytest.mark.parametrize(("typed", "meant"), [("serach", "search"), ("timline", "timeline"), ("Status", "status")])
def test_a_mistyped_command(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    said = told(capsys, typed, "retry", code=2)
    assert f"there is no command {typed}; did you mean {meant}" in said
    assert len(said.splitlines()) == 2 and "hook" not in said


def test_only_what_is_required_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "required: NAME\n" in told(capsys, "brief", code=2)
    assert "required: WHAT\n" in told(capsys, "import", code=2)


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("rule",), ("rule", "add")):
        assert told(capsys, "help", *words) == told(capsys, *words, "--help")
    assert "there is no command xyzzy" in told(capsys, "help", "xyzzy", code=2)


@pytest.mark.parametrize("option", ["--project", "--home=/nope", "--json"])
def test_an_option_in_front_of_the_command_is_told_where_it_goes(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    said = told(capsys, option, "/nope", "status", code=2)
    assert f"{option} goes after the command: memory-keeper status {option} …" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("note set project --file /nope", "/nope: No such file or directory"),
        ("export --to /dev/null", "/dev/null is not a directory"),
        ("export --to /dev/null/x", "/dev/null/x is not a directory"),
        ("show ''", "The id is empty"),
        ("session show ''", "the ID is empty"),
        ("config get nope", "there is no setting nope"),
    ],
)
def test_a_typo_is_none_of_the_stores_troubles(machine: Machine, words: str, said: str) -> None:
    assert typed(machine.project, "note", "set", "project", "A shop.").returncode == 0
    done = typed(machine.project, *shlex.split(words))
    assert done.returncode in (1, 2) and said in done.stderr
    assert "doctor" not in done.stderr and "compaction.mode" not in done.stderr and not done.stdout


def test_a_damaged_home_is_for_doctor(machine: Machine) -> None:
    (machine.home / "store.db").mkdir(parents=True)
    done = typed(machine.project, "status")
    assert done.returncode == 1 and "doctor" in done.stderr


def test_a_command_that_is_like_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`memory-keeper --help` names them all" in told(capsys, "xyzzy", code=2)


def test_a_verb_has_its_own_example_and_no_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    add, every = told(capsys, "rule", "add", "--help"), told(capsys, "rule", "--help")
    assert "example: memory-keeper rule add " in add and "rule sync" not in add
    assert "--user" in add and "\n  --remove" not in add
    assert "\n  --remove" in every and "rule sync" in every and "rule adopt" in every


@pytest.mark.parametrize("words", [["status"], ["search", "x"], ["doctor"]])
def test_a_folder_that_was_deleted_is_named(machine: Machine, words: list[str]) -> None:
    gone = machine.project / "gone"
    lose = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"'
    command = ["/bin/sh", "-c", lose, str(gone), sys.executable, "-I", "-S", str(START), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    said = (
        f"memory-keeper: {gone} is not there any more\n  hint: change to another folder, or name one with --project\n"
    )
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert all(len(line) <= 80 for line in told(capsys, name, "--help").splitlines())


@pytest.mark.parametrize("name", ["fixes", "usage", "config"])
def test_every_help_fits_by_whatever_name_it_was_called(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [program := "/home/somebody/src/memory-keeper/memory-keeper"])
    said = told(capsys, name, "--help")
    assert said.startswith(f"usage: {program} {name}") and f"example: {program} " in said
    assert all(len(line) <= 80 for line in said.splitlines())


def test_a_brief_needs_a_name_and_no_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "brief", code=2).endswith("error: the following arguments are required: NAME\n")


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


def redirected(machine: Machine, words: str, where: str) -> subprocess.CompletedProcess[str]:
    """A command typed with something after it that leads its output elsewhere."""
    command = f"{sys.executable} -I -S {START} {words} {where}"
    return subprocess.run(command, shell=True, cwd=machine.project, capture_output=True, text=True, timeout=60)


@pytest.fixture
def worked(machine: Machine) -> Machine:
    """A machine on which something is kept."""
    machine.session().turn("Build the parser.", "It is built.")
    machine.catch_up()
    return machine


SCREENS = ("status", "search parser", "search --help", "status --help", "--help", "--version", "", "timeline --json")


@pytest.mark.parametrize("words", SCREENS)
def test_nobody_has_to_listen(worked: Machine, words: str) -> None:
    for where in (">&-", "2>&-", ">&- 2>&- <&-"):
        done = redirected(worked, words, where)
        assert (done.returncode, done.stderr) == (0, ""), where
        assert bool(done.stdout) == (where == "2>&-")


@pytest.mark.parametrize("words", SCREENS)
def test_an_answer_that_cannot_be_written(worked: Machine, words: str) -> None:
    done = redirected(worked, words, ">/dev/full")
    assert (done.returncode, done.stderr) == (1, "memory-keeper: stdout: No space left on device\n")


def test_a_mistake_that_nobody_can_be_told_of(machine: Machine) -> None:
    for where in ("2>&-", "2>/dev/full", ">/dev/full 2>/dev/full"):
        assert redirected(machine, "status", where).returncode == 3
        assert redirected(machine, "status --nope", where).returncode == 2
    assert not (machine.home / "crash.log").exists()


def test_who_has_no_hub_is_told_so_whether_or_not_its_extra_is_there(machine: Machine) -> None:
    done = typed(machine.project, "team", "members")
    assert done.returncode == 3 and "shared by no hub" in done.stderr


@pytest.mark.parametrize("words", ["search ''", "search ' '", "generate-l3 nosuch.md"])
def test_what_is_empty_or_not_there_is_refused(machine: Machine, words: str) -> None:
    assert typed(machine.project, *shlex.split(words)).returncode == 2


def test_what_installs_an_extra_names_the_checkout_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "NEEDED", ("not_there", "nor_there"))
    with pytest.raises(NotSetUp, match="not_there, nor_there, which are not installed") as refused:
        serve.check()
    assert f"'{Path(__file__).resolve().parents[2]}[dashboard]'" in refused.value.hint
