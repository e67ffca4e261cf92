"""The plugin is installed as users install it, from a git host, and lives on without the checkout it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.conftest import ship
from tests.e2e.gitserver import GitServer, git
from tests.e2e.model import Model, text
from tests.e2e.net import Net

pytestmark = pytest.mark.e2e


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A checkout with one commit."""
    folder = ship(tmp_path / "checkout")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def host(work: Path, tmp_path: Path, net: Net, bare: Sandbox) -> Iterator[Path]:
    """The repository `someone/memory-keeper` on a host that the sandbox takes for GitHub."""
    repository = tmp_path / "host/someone/memory-keeper.git"
    git(tmp_path, "clone", "-q", "--bare", str(work), str(repository))
    server = GitServer(tmp_path / "host", net.listen())
    (bare.home / ".gitconfig").write_text(f'[url "{server.url}/"]\n\tinsteadOf = https://github.com/\n')
    yield repository
    server.close()


def test_the_manifests_are_valid(bare: Sandbox, checkout: Path) -> None:
    assert "Validation passed" in bare.plugin("validate", str(checkout))


def test_install_from_a_git_host_and_update(bare: Sandbox, api: Model, work: Path, host: Path, tmp_path: Path) -> None:
    bare.plugin("marketplace", "add", "someone/memory-keeper")
    bare.plugin("install", "memory-keeper@memory-keeper")
    moved = work.rename(tmp_path / "moved")
    ask_one(bare, api, "Where does the plugin live now?")
    assert installed(bare).name == json.loads((moved / ".claude-plugin/plugin.json").read_text())["version"]

    raise_version(moved, "99.0.0")
    git(moved, "push", "-q", str(host), "main")
    bare.plugin("marketplace", "update", "memory-keeper")
    bare.plugin("update", "memory-keeper@memory-keeper")
    assert installed(bare).name == "99.0.0"
    ask_one(bare, api, "And after the update?")
    assert api.of("main")[-1].saw("Where does the plugin live now?")  # from the first session's memory

    bare.plugin("uninstall", "memory-keeper@memory-keeper")
    assert "memory-keeper@memory-keeper" not in (bare.home / ".claude/settings.json").read_text()


def installed(sandbox: Sandbox) -> Path:
    """The folder from which the plugin is run."""
    known = json.loads((sandbox.home / ".claude/plugins/installed_plugins.json").read_text())
    return Path(known["plugins"]["memory-keeper@memory-keeper"][0]["installPath"])


def raise_version(folder: Path, version: str) -> None:
    manifest = folder / ".claude-plugin/plugin.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": version}))
    git(folder, "commit", "-q", "-a", "-m", f"version {version}")


def ask_one(sandbox: Sandbox, api: Model, prompt: str) -> None:
    """A session of one turn, in which our server answers and nothing goes wrong."""
    api.play(text("I see."))
    with Session(sandbox) as session:
        told = session.ask(prompt)
    (init,) = [event for event in told if event.get("subtype") == "init"]
    assert [(server["name"], server["status"]) for server in init["mcp_servers"]] == [
        ("plugin:memory-keeper:keeper", "connected")
    ]
    assert not [event for event in told if "error" in json.dumps(event.get("stderr", ""))]
