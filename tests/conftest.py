"""Every test has a machine of its own: a home, a project, and a host that calls our hooks; the real home raises."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.command import run
from tests.machine import Machine

DATA = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
REAL = (str(Path.home() / ".claude"), str(Path(DATA, "memory-keeper")))
XDG = {"DATA": ".local/share", "CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}

OF_THE_HOST = (
    "CLAUDECODE", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID", "TMUX", "COLUMNS",
)  # fmt: skip

# no deadline: the machine may be busy, and how long an example takes says nothing
settings.register_profile("quick", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("quick")


def _guard(event: str, given: tuple[Any, ...]) -> None:
    """Raise when a test reaches for what the person who runs it has kept."""
    if event in ("open", "sqlite3.connect", "os.mkdir", "os.remove", "os.listdir", "os.scandir") and given:
        path = given[0]
        path = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
        path = path.removeprefix("file:").partition("?")[0]
        if path.startswith(REAL) and any(path == real or path.startswith(real + "/") for real in REAL):
            raise RuntimeError(f"a test reached for the real home: {path}")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing that a test does happens in the home of the person who runs it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(tmp_path / "keeper"))
    for name, folder in XDG.items():
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    for name in OF_THE_HOST:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORY_KEEPER_RULES_ENABLED", "false")  # every prompt would be told them; see `rules_on`
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    return home


@pytest.fixture
def rules_on(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts are told the rules, as they are unless somebody switches that off."""
    monkeypatch.delenv("MEMORY_KEEPER_RULES_ENABLED")


@pytest.fixture
def machine(tmp_path: Path, private_home: Path) -> Iterator[Machine]:
    """A machine with one project on it."""
    made = Machine(tmp_path)
    yield made
    made.settle()


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What `COMMAND ARGS --json` answers."""

    def ask(*argv: str, code: int = 0) -> Any:
        capsys.readouterr()
        left = run(*argv, "--json")
        said = capsys.readouterr()
        assert left == code, said.err
        return json.loads(said.out)

    return ask
