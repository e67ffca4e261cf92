"""Every test has a machine of its own: a home, a project, and a host that calls our hooks; the real home raises."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.command import run
from tests.machine import Machine

DATA = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
REAL = (str(Path.home() / ".claude"), str(Path(DATA, "memory-keeper")))
XDG = {"DATA": ".local/share", "CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}

# program -> the markers of tests that may start it, each of them a row of KINDS in `dev`
NEEDED = {
    "git": {"git", "e2e"},
    "tmux": {"tmux", "e2e"},
    "screen": {"screen", "e2e"},
    "zsh": {"shells"},
    "fish": {"shells"},
    "cc": {"faults"},
    "gcc": {"faults"},
    "ip": {"e2e"},
    "initdb": {"postgres"},
    "postgres": {"postgres"},
    "strace": {"e2e"},
    "nsenter": {"e2e", "faults"},
    "unshare": {"e2e", "faults"},
}

SLOW = ("e2e", "faults")
OF_THE_HOST = (
    "CLAUDECODE", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID", "TMUX", "COLUMNS",
)  # fmt: skip

# who starts us in the background may have had these ignored, and what we start would ignore them too
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

NUMBERS = itertools.count()

# Properties are tried on the same examples every time, so that nobody is refused for what another change broke; who
# wants new ones hunts: `HUNT=2000 ./dev test FOLDER` tries so many others. No deadline: the machine may be busy.
HUNT = int(os.environ.get("HUNT") or 0)
settings.register_profile(
    "ours",
    max_examples=HUNT or 40,
    derandomize=not HUNT,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("ours")


def _guard(event: str, given: tuple[Any, ...]) -> None:
    """Raise when a test reaches for what the person who runs it has kept."""
    if event in ("open", "sqlite3.connect", "os.mkdir", "os.remove", "os.listdir", "os.scandir") and given:
        path = given[0]
        path = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
        path = path.removeprefix("file:").partition("?")[0]
        if path.startswith(REAL) and any(path == real or path.startswith(real + "/") for real in REAL):
            raise RuntimeError(f"a test reached for the real home: {path}")


class Programs:
    """Notices when a test starts a program that not every machine has and that no marker of the test speaks of."""

    def __init__(self) -> None:
        self.markers: set[str] = set()  # of the test that runs
        self.undeclared: set[str] = set()

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn") and given:
            words = given[1] if event == "subprocess.Popen" and not isinstance(given[1], str) else ()
            names = {Path(os.fsdecode(word)).name for word in (given[0], *words[:1]) if word}
            self.undeclared |= {name for name in names & NEEDED.keys() if not NEEDED[name] & self.markers}


programs = Programs()
sys.addaudithook(_guard)
sys.addaudithook(programs)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow kinds first, or no worker would have anything to do beside the last of them; or as SHUFFLE says."""
    if seed := os.environ.get("SHUFFLE"):
        Random(seed).shuffle(items)
    else:
        items.sort(key=lambda item: next((0 for mark in item.iter_markers() if mark.name in SLOW), 1))


def pytest_runtest_setup(item: pytest.Item) -> None:
    programs.markers = {mark.name for mark in item.iter_markers()}


@pytest.fixture(autouse=True)
def declared_programs() -> Iterator[None]:
    """A test that needs a program says so, or it would fail where that is not installed."""
    programs.undeclared.clear()
    yield
    assert not programs.undeclared, f"needs a marker: {programs.undeclared}"


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own. pytest's looks through those of all tests before it for a number that is free."""
    made = tmp_path_factory.getbasetemp() / f"{request.function.__name__[:30]}{next(NUMBERS)}"
    made.mkdir(mode=0o700)
    return made


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
