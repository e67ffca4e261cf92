"""`pipx install .` and `uv tool install .` in a checkout: a package of its own, which registers the plugin and goes."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.conftest import ROOT
from tests.e2e.model import Model, text

pytestmark = pytest.mark.e2e

HOME = pwd.getpwuid(os.getuid()).pw_dir  # where pip and uv are told where packages come from


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pipx and uv."""
    folder = tmp_path_factory.mktemp("tools")
    pythons = [sys.executable, getattr(sys, "_base_executable", sys.executable)]
    having = [python for python in pythons if not subprocess.run([python, "-c", "import pip"]).returncode]
    run([having[0], "-m", "pip", "install", "--quiet", "--target", str(folder), "pipx", "uv"], {})
    return folder


def run(command: list[str], env: dict[str, str]) -> None:
    """Run what fetches packages, which goes by the machine's own settings."""
    away = ("VIRTUAL_ENV", "PYTHONPATH", "XDG_CONFIG_HOME")
    environ = {name: value for name, value in os.environ.items() if name not in away} | {"HOME": HOME, **env}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["pipx", "uv"])
def test_a_package_registers_the_plugin_and_is_named_when_it_goes(
    how: str, tools: Path, bare: Sandbox, api: Model, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    if how == "pipx":
        places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(programs), "PYTHONPATH": str(tools)}
        run([sys.executable, "-m", "pipx", "install", "."], places)
    else:
        places = {"UV_TOOL_DIR": str(tmp_path / "uv"), "UV_TOOL_BIN_DIR": str(programs)}
        run([str(tools / "bin/uv"), "tool", "install", "--python", sys.executable, "."], places)
    assert sorted(path.name for path in programs.iterdir()) == ["compress-context", "memory-keeper"]
    bare.env["PATH"] = f"{programs}:{Path(bare.cli).parent}:{bare.env['PATH']}"

    def typed(*argv: str) -> str:
        done = bare.net.run(["memory-keeper", *argv], env=bare.env, cwd=bare.project)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = typed("install")
    assert f"The command in your terminal is memory-keeper ({programs}/memory-keeper)." in said
    assert not (bare.home / ".local/bin").exists()
    assert typed("doctor").rstrip().endswith("all is well")
    assert typed("docs", "tutorial").startswith("# Tutorial")
    api.play(text("It is built."))
    with Session(bare) as session:
        session.ask("Build the parser.")
    wait_for(lambda: "1 prompt" in typed("status"), "what was kept")
    last = typed("uninstall", "--purge", "--yes").splitlines()[-1]
    assert last.startswith("This program stays until `pipx uninstall memory-keeper`")
    assert not (bare.home / ".local/share/memory-keeper").exists()
