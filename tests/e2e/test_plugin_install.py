"""The plugin is installed as users install it, from a git host, and lives on without the checkout it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.conftest import ROOT, ship
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


MANIFESTS = (".", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json")


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_manifests_are_valid(bare: Sandbox, checkout: Path, manifest: str) -> None:
    said = bare.plugin("validate", "--strict", str(checkout / manifest))
    assert "Validation passed" in said and "warning" not in said


@pytest.mark.parametrize("manifest", MANIFESTS[:2])  # a marketplace is not submitted
def test_the_plugin_directory_would_take_it(bare: Sandbox, checkout: Path, manifest: str) -> None:
    said = bare.plugin("validate", "--profile", "directory", "--strict", str(checkout / manifest))
    assert "These checks found nothing to report" in said and "Validation passed" in said


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_an_older_cli_finds_them_valid_too(old: Sandbox, checkout: Path, manifest: str) -> None:
    said = old.plugin("validate", "--strict", str(checkout / manifest))
    assert "Validation passed" in said and "warning" not in said


@pytest.mark.parametrize("box", ["sandbox", "old"])
def test_every_session_pays_little(box: str, request: pytest.FixtureRequest) -> None:
    """By the host's own count, which knows no tool of a server; it counts commands that no model is told of."""
    sandbox: Sandbox = request.getfixturevalue(box)
    said = sandbox.plugin("details", "memory-keeper")
    (cost,) = re.findall(r"Always-on: +~(\d+) tok", said)
    assert 0 < int(cost) <= 300
    assert said.startswith("Memory Keeper (memory-keeper) ")


@pytest.mark.parametrize("which", ["cli", "old_cli"])
def test_the_host_knows_every_event_that_we_listen_to(which: str, request: pytest.FixtureRequest) -> None:
    cli: Path = request.getfixturevalue(which)
    with cli.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as program:
        named = re.search(rb'\["PreToolUse","PostToolUse",["A-Za-z,]*"SessionEnd"["A-Za-z,]*\]', program)
        assert named, "the list of events is not where it was"
        known = json.loads(named[0])
    assert set(json.loads((ROOT / "plugin/hooks/hooks.json").read_text())["hooks"]) <= set(known)


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
