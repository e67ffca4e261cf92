"""The launcher, on its own: which Python it takes, which it refuses, and what it does where there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = Path(getattr(sys, "_base_executable", sys.executable))
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]
START = "import json, sys; print(json.dumps([sys.executable, sys.flags.isolated, sys.flags.no_site, sys.argv]))"
# what a script may be tempted to call
TRAPS = ["awk", "basename", "cat", "cp", "cut", "dirname", "env", "grep", "head", "ls", "mkdir", "mktemp", "mv"]
TRAPS += ["printf", "readlink", "realpath", "rm", "sed", "tr", "uname", "which"]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return put_plugin(tmp_path / "plug in é")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A folder for PATH whose `python3` is a shim before the real one, and which writes down that it was asked."""
    return put_python(tmp_path / "good", "python3")


def put_plugin(folder: Path) -> Path:
    """The launcher and a stand-in for what it starts."""
    (folder / "plugin").mkdir(parents=True)
    shutil.copy2(ROOT / "plugin/launch", folder / "plugin")
    start = folder / "src/memory_keeper/hooks/start.py"
    start.parent.mkdir(parents=True)
    start.write_text(START)
    return folder


def put_program(folder: Path, name: str, body: str) -> Path:
    """A folder with a program that also writes down its name and where it was asked."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho {name} ${{PYENV_VERSION-}} $PWD >>'{folder}/asked'\n{body}\n")
    program.chmod(0o755)
    return folder


def put_python(folder: Path, *names: str) -> Path:
    for name in names:
        put_program(folder, name, f'exec "{sys.executable}" "$@"')
    return folder


def asked(folder: Path) -> list[str]:
    log = folder / "asked"
    return log.read_text().splitlines() if log.exists() else []


def launch(plugin: Path, path: object, *args: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run the launcher with nothing in its environment but PATH."""
    env = {"PATH": str(path), **how.pop("env", {})}
    command = how.pop("command", [plugin / "plugin/launch"])
    how = {"cwd": plugin.parent, "input": "", **how}
    return subprocess.run([*command, *args], env=env, text=True, capture_output=True, **how)


def started(done: subprocess.CompletedProcess[str]) -> Path:
    """The interpreter that was started, as it should be started."""
    assert (done.returncode, done.stderr) == (0, "")
    executable, isolated, no_site, argv = json.loads(done.stdout)
    assert (isolated, no_site, argv[1:]) == (1, 1, ["hook", "Stop"])
    return Path(executable)


def cached(plugin: Path) -> str:
    return (plugin / "plugin/.python").read_text()


def test_it_keeps_the_real_python_behind_a_shim_and_asks_only_once(plugin: Path, good: Path) -> None:
    for _ in range(2):
        assert started(launch(plugin, good, "hook", "Stop")) == REAL
    assert cached(plugin) == f"{REAL}\n"
    assert len(asked(good)) == 1


def test_it_takes_the_newest_that_works(plugin: Path, tmp_path: Path) -> None:
    put_python(tmp_path / "second", "python3.12")
    put_python(tmp_path / "first", "python3", "python3.11")
    put_program(tmp_path / "first", "python3.13", "exit 1")
    assert started(launch(plugin, f"{tmp_path}/first:{tmp_path}/second", "hook", "Stop"))
    names = [line.split()[0] for line in asked(tmp_path / "first") + asked(tmp_path / "second")]
    assert names == ["python3.13", "python3.12"]


def test_a_virtual_environment_is_seen_through(plugin: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    assert started(launch(plugin, tmp_path / "venv/bin", "hook", "Stop")).resolve() == REAL.resolve()
    assert str(tmp_path) not in cached(plugin)


@pytest.mark.parametrize("kept", ["/nowhere/python3\n", "bin/python3\n", "", "\n", "/\n"])
def test_what_it_kept_and_is_gone_or_odd_is_found_again(plugin: Path, good: Path, kept: str) -> None:
    (plugin / "plugin/.python").write_text(kept)
    assert started(launch(plugin, good, "hook", "Stop")) == REAL
    assert cached(plugin) == f"{REAL}\n"


def test_it_does_without_a_cache_where_it_cannot_write_one(plugin: Path, good: Path) -> None:
    (plugin / "plugin/.python").mkdir()  # root may write anywhere, but not this
    for _ in range(2):
        assert started(launch(plugin, good, "hook", "Stop")) == REAL
    assert sorted(path.name for path in (plugin / "plugin").iterdir()) == [".python", "launch"]


def test_many_at_once(plugin: Path, good: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        several = [threads.submit(launch, plugin, good, "hook", "Stop") for _ in range(8)]
    assert {started(one.result()) for one in several} == {REAL}
    assert cached(plugin) == f"{REAL}\n"
    assert sorted(path.name for path in (plugin / "plugin").iterdir()) == [".python", "launch"]


@pytest.mark.parametrize("how", ["absolute", "relative", "beside"])
@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_and_every_way_to_name_it(plugin: Path, good: Path, shell: str, how: str) -> None:
    words = [str(shutil.which(shell)), *(["sh"] if shell == "busybox" else [])]
    where, name = {
        "absolute": (plugin.parent, str(plugin / "plugin/launch")),
        "relative": (plugin, "plugin/launch"),
        "beside": (plugin / "plugin", "launch"),
    }[how]
    for _ in range(2):  # finding, and remembering
        assert started(launch(plugin, good, "hook", "Stop", command=[*words, name], cwd=where)) == REAL


@pytest.mark.parametrize("name", ["it's", "-x", "$(touch trap)", "a\nb", "new\\n*", "日本"])
def test_any_name_of_a_folder(tmp_path: Path, good: Path, name: str) -> None:
    plugin = put_plugin(tmp_path / name)
    for _ in range(2):
        assert started(launch(plugin, good, "hook", "Stop")) == REAL
    assert not (tmp_path / "trap").exists()


# --- what a project may not do ----------------------------------------------------------------------------------------


def trap(folder: Path) -> Path:
    """Programs that a project would like us to run."""
    for name in ("python3.19", "python3.13", "python3", "python", *TRAPS):
        put_program(folder, name, f'exec "{sys.executable}" "$@"')
    return folder


@pytest.mark.parametrize("path", ["bin", ".:bin", "./bin::", ""])
def test_a_relative_path_is_refused(plugin: Path, tmp_path: Path, path: str) -> None:
    project = tmp_path / "project"
    trap(project)
    trap(project / "bin")
    done = launch(plugin, path, "hook", "Stop", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert asked(project) == asked(project / "bin") == []


def test_a_python_of_the_project_is_refused(plugin: Path, tmp_path: Path, good: Path) -> None:
    project = tmp_path / "project"
    trap(project / "bin")
    (tmp_path / "link").symlink_to(project)
    ways = [project / "bin", tmp_path / "link/bin", tmp_path / "good/../project/bin"]
    path = ":".join(map(str, [*ways, good]))
    for named in (project, tmp_path / "link"):
        env = {"CLAUDE_PROJECT_DIR": str(named)}
        assert started(launch(plugin, path, "hook", "Stop", env=env, cwd=project)) == REAL
        (plugin / "plugin/.python").unlink()
    assert asked(project / "bin") == []


def test_the_home_folder_may_be_the_project(tmp_path: Path) -> None:
    plugin = put_plugin(tmp_path / ".claude/plugins/cache/memory-keeper")
    own = put_python(tmp_path / ".pyenv/shims", "python3")
    assert started(launch(plugin, own, "hook", "Stop", env={"CLAUDE_PROJECT_DIR": str(tmp_path)})) == REAL


def test_a_shim_does_not_ask_the_project_which_python_to_be(plugin: Path, good: Path, tmp_path: Path) -> None:
    assert started(launch(plugin, good, "hook", "Stop", env={"PYENV_VERSION": "evil"}, cwd=tmp_path)) == REAL
    assert asked(good) == ["python3 /"]


def test_it_calls_no_other_program(plugin: Path, good: Path, tmp_path: Path) -> None:
    traps = trap(tmp_path / "traps")
    for name in ("python3.19", "python3.13", "python3", "python"):
        (traps / name).unlink()
    for path in (f"{traps}:{good}", traps):  # finding, and remembering
        assert started(launch(plugin, path, "hook", "Stop")) == REAL
    assert asked(traps) == []


# --- where there is no Python -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Stop", ""])
def test_without_a_python_a_hook_says_so_once_and_is_silent_otherwise(plugin: Path, tmp_path: Path, event: str) -> None:
    old = put_program(tmp_path / "old", "python3", "exit 1")
    done = launch(plugin, old, "hook", event, input='{"session_id": "s"}')
    assert (done.returncode, done.stderr) == (0, "")
    if event == "SessionStart":
        assert "needs Python 3.11 or newer" in json.loads(done.stdout)["systemMessage"]
    else:
        assert done.stdout == ""
    assert not (plugin / "plugin/.python").exists()


def test_without_a_python_the_server_answers_nothing_to_everything(plugin: Path) -> None:
    questions = [
        {"jsonrpc": "2.0", "id": "probe-1", "method": "server/discover", "params": {}},
        {"method": "initialize", "params": {"protocolVersion": "2025-11-25"}, "jsonrpc": "2.0", "id": 0},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"method": "tools/list", "jsonrpc": "2.0", "id": 1},
        {"method": "tools/call", "params": {"arguments": {"prompt": '"id":9,"method":"x" \\ %s \n é'}}, "id": 2},
    ]
    said = "".join(json.dumps(question, ensure_ascii=False, separators=(",", ":")) + "\n" for question in questions)
    done = launch(plugin, "", "mcp", input=said)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "needs Python 3.11 or newer" in done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["probe-1", 0, 1, 2]
    assert answers[0]["error"]["code"] == -32601
    assert answers[2]["result"] == {"tools": []}
    assert answers[3]["result"] == {"content": [{"type": "text", "text": "{}"}]}


def test_a_plugin_in_pieces_lets_the_session_go_on(plugin: Path, good: Path) -> None:
    shutil.rmtree(plugin / "src")
    for event, said in (("SessionStart", "install the plugin again"), ("Stop", "")):
        done = launch(plugin, good, "hook", event)
        assert done.returncode == 0
        assert said in done.stdout


def test_it_is_shipped_executable() -> None:
    assert os.access(ROOT / "plugin/launch", os.X_OK)
