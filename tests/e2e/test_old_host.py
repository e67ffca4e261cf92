"""A host without hooks modules: the context is cleared by keys, through tmux."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, wait_for
from tests.e2e.model import Model, text
from tests.e2e.test_clear import MODEL, cleared, has_handoff, set_mode, slowly
from tests.e2e.tui import SIGN, Tui

pytestmark = pytest.mark.e2e


@contextmanager
def watching(sandbox: Sandbox, checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """`memory-keeper watch`, somewhere else."""
    watcher = sandbox.net.start(
        [str(checkout / "memory-keeper"), "watch"], env=sandbox.env, cwd=sandbox.root, stdout=subprocess.PIPE
    )
    try:
        yield watcher
    finally:
        watcher.terminate()
        watcher.communicate()


def begin(tui: Tui) -> None:
    """Wait for the prompt, and until the server is connected: this host does not wait for it."""
    tui.wait(SIGN)
    time.sleep(2)


def goes_on(tui: Tui, sandbox: Sandbox, api: Model, draft: str) -> None:
    """A clear comes after the turn, the draft stays, and the next context begins with the handoff."""
    tui.type("Build the parser in parser.py.")
    tui.draft(draft)
    wait_for(lambda: cleared(sandbox), "a clear")
    wait_for(lambda: tui.box() == draft, "the draft")
    assert len(api.of("main")) == 1
    api.play(text("I go on.", 20_000))
    tui._tmux("send-keys", "Enter")
    wait_for(lambda: len(api.of("main")) == 2, "the next request")
    assert api.of("main")[1].saw(draft)
    assert has_handoff(api.of("main")[1], "Build the parser in parser.py.")


def test_watch_clears_through_tmux(old: Sandbox, api: Model, checkout: Path) -> None:
    set_mode(old, "clear")
    api.play(slowly(text("Built.", 131_000)))
    with watching(old, checkout), Tui(old, *MODEL) as tui:
        tui.beside("cat")  # what runs beside it gets no key
        begin(tui)
        goes_on(tui, old, api, "and then the lexer")
        assert tui.other().strip() == ""


def test_run_clears_in_tmux(old: Sandbox, api: Model, checkout: Path) -> None:
    set_mode(old, "clear")
    api.play(slowly(text("Built.", 131_000)))
    with Tui(old, *MODEL, under=(str(checkout / "memory-keeper"), "run", "--")) as tui:
        begin(tui)
        tui.resize(120, 40)
        goes_on(tui, old, api, "그리고 렉서도")
