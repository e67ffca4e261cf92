"""The status line in the real terminal: beside the user's own, exact, as wide as there is room, and gone again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox
from tests.e2e.model import Model, text
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e


def keeper(sandbox: Sandbox, checkout: Path, *args: str) -> str:
    done = subprocess.run(
        [checkout / "memory-keeper", *args], env=sandbox.env, cwd=sandbox.project, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_gauge_stands_beside_the_user_s_own(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    path = sandbox.home / ".claude/settings.json"
    own = {"type": "command", "command": "echo 'mine 日本'; cat >/dev/null"}
    path.write_text(json.dumps({**json.loads(path.read_text()), "statusLine": own}, indent=4))
    before = path.read_bytes()
    keeper(sandbox, checkout, "statusline", "--install")
    api.play(text("One.", 139_000), text("Two.", 165_000))
    with Tui(sandbox, "--model", "claude-sonnet-4-6") as tui:
        tui.wait("mine 日本  context: no response yet")
        tui.type("Say one.")
        tui.wait("mine 日本  ▓▓▓▓▓▓▓░│░ 69% · 139k/200k · compacts at 167k · Sonnet 4.6")
        tui.type("Say two.")
        tui.wait("mine 日本  ▓▓▓▓▓▓▓▓│░ 82% · 165k/200k · compacts at 167k · Sonnet 4.6")
    home = sandbox.home / ".local/share/memory-keeper"
    assert (home / "current").readlink() == checkout
    assert not (home / "problems.log").exists()
    (session,) = (home / "spool").iterdir()
    assert '"window":200000,"model":"claude-sonnet-4-6"}' in session.read_text()
    keeper(sandbox, checkout, "statusline", "--remove")
    assert path.read_bytes() == before
