"""Installing and taking away again: through Claude Code's own commands, and nothing of the user's is lost."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.host import own_command, registration
from tests.command import run
from tests.rows import rows
from tests.transcripts import Transcript

# Claude Code's own commands as far as they edit files: what it takes out leaves an empty shell
CLAUDE = """
import json, os, sys, time
args = sys.argv[2:]
if os.environ.get("SLOW") in args:
    time.sleep(3)
if os.environ.get("REFUSE") in args:
    sys.exit("no such luck")
folder = os.environ["HOME"] + "/.claude"
def edit(path, change):
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read().decode("utf-8-sig", "replace") or "{}")
    except FileNotFoundError:
        value = {}
    change(value)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.environ.get("REPLACES_LINKS") and os.path.islink(path):
        os.unlink(path)
    with open(path, "w") as file:
        json.dump(value, file, indent=2)
user, known = folder + "/settings.json", folder + "/plugins/installed_plugins.json"
scope = args[args.index("--scope") + 1] if "--scope" in args else "user"
root = os.getcwd()
while not os.path.exists(root + "/.git") and root != "/":
    root = os.path.dirname(root)
settings = {"user": user, "project": root + "/.claude/settings.json", "local": root + "/.claude/settings.local.json"}
one = "memory-keeper@memory-keeper"
if args[:2] == ["marketplace", "add"]:
    edit(user, lambda v: v.setdefault("extraKnownMarketplaces", {}).update({"memory-keeper": {"source": args[2]}}))
elif args[:2] == ["marketplace", "remove"]:
    edit(user, lambda v: v.get("extraKnownMarketplaces", {}).pop("memory-keeper", None))
elif args[0] == "install":
    source = os.environ["MEMORY_KEEPER_HOME"] + "/marketplace"
    edit(settings[scope], lambda v: v.setdefault("enabledPlugins", {}).update({one: True}))
    edit(known, lambda v: v.setdefault("plugins", {}).update({one: [{"installPath": source, "scope": scope}]}))
elif args[0] == "uninstall":
    with open(known) as file:
        entry = json.load(file)["plugins"].get(one)
    if not entry or entry[0]["scope"] != scope:
        sys.exit("not installed in this scope")
    edit(settings[scope], lambda v: v["enabledPlugins"].pop(one))
    edit(known, lambda v: v["plugins"].pop(one))
"""


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with Claude Code on it; the folder with its files."""
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable} -IS\n{CLAUDE}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    folder = tmp_path / "home/.claude"
    folder.mkdir()
    return folder


def home() -> Path:
    return Path(os.environ["MEMORY_KEEPER_HOME"])


def settings(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text())
    assert isinstance(value, dict)
    return value


def in_terminal(*argv: str, answer: str) -> str:
    """What a command shows in a terminal in which somebody types an answer."""
    host, terminal = pty.openpty()
    os.write(host, answer.encode() + b"\n")
    start = Path(__file__).resolve().parents[2] / "memory-keeper"
    subprocess.run([sys.executable, start, *argv], stdin=terminal, stdout=terminal, stderr=terminal, timeout=60)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # all of it was read
        while data := os.read(host, 65536):
            shown += data
    os.close(host)
    return " ".join(shown.decode().split())


# --- the user's settings ---


@pytest.mark.parametrize(
    "before",
    [
        b'{"model":"opus",  "hooks": {}}',
        b'\xef\xbb\xbf{"model": "opus"}\r\n',
        b'{"note": "caf\xe9"}',
        b"",
        b"{}\n",
        b'{"enabledPlugins": {}, "b": 1}',
        None,
    ],
)
def test_settings_get_their_own_bytes_back(
    claude: Path, before: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = claude / "settings.json"
    if before is not None:
        path.write_bytes(before)
        path.chmod(0o640)
    assert run("install") == 0
    assert settings(path)["enabledPlugins"] == {"memory-keeper@memory-keeper": True}
    assert run("install") == 0  # again: what was there before is still known
    assert run("uninstall") == 0
    assert (path.read_bytes() if path.exists() else None) == before
    if before is not None:
        assert path.stat().st_mode & 0o777 == 0o640
    assert f"{path} is as it was before." in capsys.readouterr().out
    assert not (home() / "marketplace").exists()
    assert not (home() / "changed-settings.json").exists()


def test_without_the_rules_that_come_with_it(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home().mkdir()
    (home() / "config.json").write_text('{"context": {"warnPercent": 60}}')
    assert run("install", "--no-rules") == 0
    assert "ask before deleting" not in capsys.readouterr().out
    assert settings(home() / "config.json") == {"context": {"warnPercent": 60}, "rules": {"shipped": False}}


@pytest.mark.parametrize(("command", "slow"), [("install", "add"), ("uninstall", "uninstall")])
def test_who_waits_for_claude_code_is_told_so(
    claude: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, slow: str
) -> None:
    if command == "uninstall":
        run("install")
    monkeypatch.setenv("SLOW", slow)
    assert run(command) == 0
    assert f" {slow} " in capsys.readouterr().err.partition("waiting for `claude plugin")[2]


def test_what_was_exported_from_here_is_no_older_memory(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = Transcript("0a1b2c3d-0000-4000-8000-000000000001", str(Path.cwd()))
    t.prompt("Build the parser.")
    t.reply("It is built.")
    path = claude / "projects" / "-work" / t.name
    path.parent.mkdir(parents=True)
    t.write(path)
    assert run("import", "transcripts") == 0
    assert run("export", "--format", "seeds") == 0
    assert list(Path(".claude/memory/sessions").iterdir())
    capsys.readouterr()
    assert run("import", "memory-keeper", "--dry-run") == 0
    assert "0 would be added" in (said := capsys.readouterr().out) and "brings it in" not in said
    assert run("install") == 0
    assert "memory-keeper import memory-keeper" not in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "shown"), [("yes", True), ("", False)])
def test_at_a_terminal_the_status_line_is_offered(claude: Path, answer: str, shown: bool) -> None:
    """Asked once: where it is shown already there is nothing to ask."""
    asked = in_terminal("install", answer=answer)
    assert "status line?" in asked and "ask before deleting" in asked
    assert ("statusLine" in settings(claude / "settings.json")) == shown
    again = in_terminal("install", answer="")
    assert ("status line?" in again) != shown


@pytest.mark.parametrize("replaces", ["", "1"])
def test_a_linked_settings_file_stays_a_link(
    claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaces: str
) -> None:
    monkeypatch.setenv("REPLACES_LINKS", replaces)
    behind = tmp_path / "dotfiles/settings.json"
    behind.parent.mkdir()
    behind.write_bytes(b'{"model":"opus"}')
    path = claude / "settings.json"
    path.symlink_to("../../dotfiles/settings.json")
    assert run("install") == 0
    assert run("uninstall") == 0
    assert path.is_symlink()
    assert str(path.readlink()) == "../../dotfiles/settings.json"
    assert behind.read_bytes() == b'{"model":"opus"}'


def test_what_the_user_changed_meanwhile_stays(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = claude / "settings.json"
    path.write_text('{"model":"opus"}')
    run("install")
    path.write_text(json.dumps({**settings(path), "theme": "dark"}))
    assert run("uninstall") == 0
    assert path.read_text() == json.dumps({"model": "opus", "theme": "dark"}, indent=2) + "\n"
    assert f"{path} was changed since" in capsys.readouterr().out


def test_a_shell_that_was_there_before_stays(claude: Path) -> None:
    path = claude / "settings.json"
    path.write_text('{"enabledPlugins": {}}')
    run("install")
    path.write_text(json.dumps({**settings(path), "theme": "dark"}))
    run("uninstall")
    assert settings(path) == {"enabledPlugins": {}, "theme": "dark"}


@pytest.mark.parametrize(("scope", "name"), [("project", "settings.json"), ("local", "settings.local.json")])
def test_a_projects_settings_lie_at_its_root(
    claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, name: str
) -> None:
    root = tmp_path / "work"
    (root / ".git").mkdir()
    (root / ".claude").mkdir()
    path = root / ".claude" / name
    path.write_bytes(b'{ "a" : 1 }')
    deep = root / "src/deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert run("install", "--scope", scope) == 0
    assert "enabledPlugins" in settings(path)
    assert run("uninstall", "--scope", scope) == 0
    assert path.read_bytes() == b'{ "a" : 1 }'
    assert not (deep / ".claude").exists()


# --- and what we change in them ourselves ---


BEFORES = [
    b'{"model":"opus",  "hooks": {}}',
    b'{"statusLine":{"type":"command","command":"echo mine"}, "a":1}',
    b"{}",
    None,
]


@pytest.mark.parametrize("before", BEFORES)
@rows("steps")
def test_everything_changed_comes_back(claude: Path, before: bytes | None, steps: list[str]) -> None:
    path = claude / "settings.json"
    if before is not None:
        path.write_bytes(before)
    for step in steps:
        assert run(*step.split()) == 0
    if not any("--remove" in step for step in steps):
        assert "current/plugin/launch" in settings(path)["statusLine"]["command"]
    assert run("uninstall") == 0
    assert (path.read_bytes() if path.exists() else None) == before
    assert not home().exists()


def test_a_failed_install_leaves_the_status_line(claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = claude / "settings.json"
    path.write_bytes(b'{"model":"opus"}')
    assert run("statusline", "--install") == 0
    after = path.read_bytes()
    monkeypatch.setenv("REFUSE", "install")
    assert run("install") == 1
    assert path.read_bytes() == after
    assert run("statusline", "--remove") == 0
    assert path.read_bytes() == b'{"model":"opus"}'


def test_uninstall_says_what_became_of_the_settings(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = claude / "settings.json"
    run("install", "--statusline")
    capsys.readouterr()
    assert run("uninstall", "--dry-run") == 0
    would = capsys.readouterr().out
    assert all(str(home() / name) in would for name in ("current", "changed-settings.json", "marketplace"))
    assert f"\n  our entries in {path}\n" in would and f"\n  our statusLine in {path}\n" in would
    assert run("uninstall", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert {one["key"]: one["did"] for one in said["settings"]} == {"statusLine": "restored"}
    assert not path.exists()


def test_what_stays_is_told_last_and_how_it_goes_without_our_command(
    claude: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install", "--statusline")
    run("note", "add", "fact", "The suite takes a minute.")
    capsys.readouterr()
    assert run("uninstall") == 0
    first, *_, before, last = capsys.readouterr().out.splitlines()
    assert first == "Unregistered." and before.endswith(" is gone.")
    assert last.startswith(f"What was kept is still in {home()}")
    assert "`memory-keeper uninstall --purge` deletes both" in last and "or delete that folder" in last


def test_what_ran_from_the_home_is_gone_and_so_another_way_to_delete_the_rest_is_told(claude: Path) -> None:
    run("install")
    run("note", "add", "fact", "The suite takes a minute.")
    done = subprocess.run([own_command.place(), "uninstall"], capture_output=True, text=True, timeout=60)
    assert "In a checkout, `./memory-keeper uninstall --purge` deletes both" in done.stdout, done


def test_a_package_stays_and_says_who_takes_it_away(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("install")
    monkeypatch.setattr("memory_keeper.host.registration.is_package", lambda: True)
    capsys.readouterr()
    assert run("uninstall", "--purge", "--yes") == 0
    assert (
        capsys.readouterr().out.splitlines()[-1].startswith("This program stays until `pipx uninstall memory-keeper`")
    )


def test_a_script_that_somebody_changed_is_told_of(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install")
    script = Path(own_command.place())
    script.write_text(script.read_text().replace("exec ", "export MINE=1\nexec ", 1))
    capsys.readouterr()
    assert run("uninstall") == 0
    assert f"{script} stays, as somebody has changed it; what it runs is gone." in capsys.readouterr().out


def test_settings_that_cannot_be_given_back_are_told_of(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = claude / "settings.json"
    run("statusline", "--install")
    after = path.read_bytes()
    path.write_text("{broken")
    assert run("uninstall") == 5
    assert "what is ours in it is still there" in capsys.readouterr().err
    assert run("uninstall", "--purge", "--yes") == 5
    assert "nothing was deleted" in capsys.readouterr().err
    path.write_bytes(after)
    assert run("uninstall", "--purge", "--yes") == 0
    assert "statusLine" not in settings(path)
    assert not home().exists()


def test_install_where_nobody_knows_what_was_there_before(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who cannot write down what stands in the settings now must not change them."""
    home().mkdir()
    (home() / "changed-settings.json").write_text("{broken")
    assert run("install", "--statusline") == 1
    assert "changed-settings.json is damaged" in capsys.readouterr().err
    assert not (claude / "settings.json").exists()


# --- not everything goes as it should ---


@pytest.mark.parametrize("known", [False, True])
def test_two_who_install_at_once(claude: Path, known: bool) -> None:
    if known:
        run("install")
    start = Path(__file__).resolve().parents[2] / "memory-keeper"
    both = [subprocess.Popen([sys.executable, start, "install"], stdin=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(60) for one in both] == [0, 0]
    assert subprocess.run([own_command.place(), "--version"], timeout=60).returncode == 0
    assert not list(home().glob("marketplace.*"))


@pytest.mark.parametrize("command", ["install", "uninstall", "uninstall --purge --yes"])
@pytest.mark.parametrize("stuck", [False, True])
def test_nothing_is_changed_while_the_home_is_not_ours(
    claude: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, stuck: bool
) -> None:
    """Somebody else installs, or nothing can be written."""
    run("install")
    before = [path.read_bytes() for path in sorted(claude.rglob("*.json"))]
    monkeypatch.setattr(registration, "PATIENCE", 0.1)
    lock = home() / registration.LOCK
    with contextlib.ExitStack() as other:
        if stuck:
            lock.unlink()
            lock.mkdir()  # what makes it fail for root too, who may write everywhere
        else:
            other.enter_context(registration.alone(str(home())))
        assert run(*command.split()) == (1 if stuck else 4)
    assert "nothing was changed" in capsys.readouterr().err
    assert [path.read_bytes() for path in sorted(claude.rglob("*.json"))] == before
    assert (home() / "marketplace/plugin").is_dir() and Path(own_command.place()).exists()


def test_a_home_that_goes_while_somebody_waits_for_it(claude: Path) -> None:
    """Whose lock lay in it has it no more."""
    start = Path(__file__).resolve().parents[2] / "memory-keeper"
    with registration.alone(str(home())):
        waiting = subprocess.Popen([sys.executable, start, "install"], stdin=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        registration.drop_unused(str(home()))
    assert waiting.wait(60) == 0
    assert (home() / registration.LOCK).exists() and (home() / "marketplace/plugin").is_dir()


def test_the_program_that_sessions_run_is_never_there_in_pieces(claude: Path) -> None:
    deleted: list[str] = []
    armed = [True]
    sys.addaudithook(lambda event, given: deleted.append(str(given[0])) if event == "shutil.rmtree" and armed else None)
    for _ in range(2):
        assert run("install") == 0
    armed.clear()
    assert str(home() / "marketplace") not in deleted
    assert deleted and not list(home().glob("marketplace.*"))


@pytest.mark.parametrize("step", ["add", "install"])
def test_a_failed_install_leaves_nothing_behind(claude: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    (claude / "settings.json").write_bytes(b'{"model":"opus"}')
    monkeypatch.setenv("REFUSE", step)
    assert run("install") == 1
    assert not home().exists()
    assert (claude / "settings.json").read_bytes() == b'{"model":"opus"}'


def test_install_without_claude(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert run("install") == 3
    assert "not on the PATH" in capsys.readouterr().err
    assert not home().exists()


def test_install_for_a_project_that_is_not_there(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("install", "uninstall"):
        assert run(command, "--project", "/nonexist") == 1
        assert "/nonexist: No such file or directory" in capsys.readouterr().err
    assert not home().exists()


def test_install_says_that_hooks_use_the_usual_home(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", "--home", str(tmp_path / "other")) == 1
    said = capsys.readouterr().err
    assert f"would keep everything in {home()}, not in {tmp_path / 'other'}" in said
    assert "MEMORY_KEEPER_HOME" in said
    assert not (tmp_path / "other").exists()


def test_uninstall_without_claude_takes_our_own_things_away(
    claude: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    monkeypatch.setenv("PATH", "/nowhere")
    assert run("uninstall") == 5
    assert "its registration of the plugin could not be touched" in capsys.readouterr().err
    assert not (home() / "marketplace").exists()
    assert (home() / "changed-settings.json").exists()  # for when Claude Code is back
    assert run("uninstall", "--purge", "--yes") == 5
    assert not home().exists()


@pytest.mark.parametrize("name", ["thesis.txt", ""])
def test_uninstall_leaves_a_folder_alone_that_is_no_home(claude: Path, tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    if name:
        (other / name).touch()
    assert run("uninstall", "--home", str(other)) == 0
    assert [path.name for path in other.iterdir()] == [name] * bool(name)


def test_uninstall_says_when_nothing_was_registered(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("uninstall") == 0
    assert "was not registered" in capsys.readouterr().out


def test_uninstall_in_the_wrong_scope(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install")
    assert run("uninstall", "--scope", "local") == 5
    assert "another --scope" in capsys.readouterr().err


# --- purge ---


def fill(folder: Path) -> None:
    """A home with one of everything that we write, and the user's own."""
    for name in ("store.db", "store.db-wal", "salt", "writer.lock", "problems.log", "problems.log.old", "crash.log"):
        (folder / name).write_text("x")
    for name in ("archive/s.1.jsonl.gz", "spool/s.spool", "damaged-20260101-000000/store.db", "marketplace/plugin/a"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("x")
    (folder / "config.json").write_text("{}")
    for name in ("watch.lock", "install.lock", "changed-settings.lock"):
        (folder / name).touch()


def test_purge_takes_the_home_when_all_in_it_is_ours(claude: Path) -> None:
    home().mkdir()
    fill(home())
    assert run("uninstall", "--purge", "--yes") == 0
    assert not home().exists()


def test_purge_leaves_what_is_not_ours(claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home().mkdir()
    fill(home())
    (home() / "thesis.txt").write_text("years of work")
    (home() / "store.dbx").write_text("x")
    (home() / "salted.txt").write_text("x")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("x")
    (home() / "damaged-2").symlink_to(elsewhere)
    assert run("uninstall", "--purge", "--yes") == 0
    assert sorted(path.name for path in home().iterdir()) == ["salted.txt", "store.dbx", "thesis.txt"]
    assert (elsewhere / "precious").exists()
    assert "thesis.txt" in capsys.readouterr().out


def test_purge_refuses_what_is_no_home_of_ours(
    claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    stranger, linked = tmp_path / "photos", tmp_path / "linked"
    (stranger / "archive").mkdir(parents=True)
    linked.symlink_to(home())
    for folder in (claude.parent, Path.cwd()):
        (folder / "salt").write_text("x")
    before = sorted(tmp_path.rglob("*"))
    for folder in (stranger, tmp_path / "nowhere", Path("/"), claude.parent, Path.cwd(), tmp_path, linked):
        assert run("uninstall", "--purge", "--yes", "--home", str(folder)) == 1, folder
    assert f"{linked} is a link to {home()}" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
    assert "enabledPlugins" in settings(claude / "settings.json")


def test_purge_asks_first(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home().mkdir()
    fill(home())
    assert run("uninstall", "--purge", "--dry-run") == 0
    assert str(home() / "store.db-wal") in capsys.readouterr().out
    assert run("uninstall", "--purge") == 1
    assert (home() / "store.db").exists()
