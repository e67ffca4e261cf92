"""What every story with the real CLI starts from: a model, a home, and our plugin installed in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import pytest

from memory_keeper.host.hooks_module import have_loaded
from tests.e2e.cli import OLD, VERSION, Sandbox, find_cli, install_cli
from tests.e2e.model import Model
from tests.e2e.net import Net

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = (".claude-plugin", "bin", "plugin", "src", "memory-keeper", "README.md", "LICENSE")


@pytest.fixture(scope="session")
def cli() -> Path:
    """The CLI under test."""
    return have(VERSION)


@pytest.fixture(scope="session")
def old_cli() -> Path:
    """A CLI from before hooks modules."""
    return have(OLD)


def have(version: str) -> Path:
    """A CLI, or a reason to skip."""
    found = install_cli(version) if os.environ.get("MEMORY_KEEPER_TEST_ALL") else find_cli(version)
    if found is None:
        pytest.skip(f"no Claude Code CLI {version}: `./dev test --all` fetches it")
    return found


@pytest.fixture(scope="session")
def net() -> Iterator[Net]:
    """A network without the world in it."""
    made = Net()
    yield made
    made.close()


@pytest.fixture
def api(net: Net) -> Iterator[Model]:
    """The scripted model."""
    model = Model(net.listen())
    yield model
    model.close()


@pytest.fixture
def bare(cli: Path, net: Net, api: Model) -> Iterator[Sandbox]:
    """A home in which nothing is installed."""
    made = Sandbox(cli, net, api.url)
    yield made
    made.close()


def ship(to: Path) -> Path:
    """A copy of what users get."""
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", ".python*"))
        elif source.exists():
            shutil.copy2(source, to)
    assert have_loaded(str(to))  # as it is once somebody has had a context cleared
    return to


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, where a path can be at its worst."""
    return ship(tmp_path_factory.mktemp("check out é"))


@pytest.fixture(scope="session")
def installed(cli: Path, net: Net, checkout: Path) -> Iterator[Sandbox]:
    """A home with our plugin installed from a checkout, which others begin as."""
    yield from install(cli, net, checkout)


@pytest.fixture(scope="session")
def old_installed(old_cli: Path, net: Net, checkout: Path) -> Iterator[Sandbox]:
    """The same by the older CLI."""
    yield from install(old_cli, net, checkout)


def install(cli: Path, net: Net, checkout: Path) -> Iterator[Sandbox]:
    """Have a CLI install our plugin, and compile it as its first session would."""
    made = Sandbox(cli, net, "http://127.0.0.1:9")
    made.plugin("marketplace", "add", str(checkout))
    made.plugin("install", "memory-keeper@memory-keeper")
    compile_dir(made.home / ".claude/plugins/cache", quiet=1)
    yield made
    made.close()


@pytest.fixture
def sandbox(bare: Sandbox, installed: Sandbox) -> Sandbox:
    """A home with our plugin installed from a checkout."""
    bare.begin_as(installed)
    return bare


@pytest.fixture
def old(old_cli: Path, net: Net, api: Model, old_installed: Sandbox) -> Iterator[Sandbox]:
    """The same with the older CLI."""
    made = Sandbox(old_cli, net, api.url)
    made.begin_as(old_installed)
    yield made
    made.close()
