"""The dashboard in a real browser: every page over the demo's recorded session, as a person would go through it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, sync_playwright

from memory_keeper.dashboard.app import PAGES

START = "from memory_keeper.cli.main import main; main()"
SRC = Path(__file__).parents[2] / "src"
AXE = files("axe_playwright_python") / "axe.min.js"
# colours, and columns of the window
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (1280, 390)
WAITS = "[hx-trigger=load] > p > a"  # what stands where a part of a page is still asked for


class Tab:
    """A page of the browser, and what it should not have said or asked for."""

    def __init__(self, page: Page, link: str) -> None:
        self.page, self.wrong = page, list[str]()
        self.home = re.sub(r"/[^/]+/enter.*", "", link)
        page.on("console", lambda said: self.note(said.type in ("error", "warning"), said.text))
        page.on("pageerror", lambda error: self.note(True, str(error)))
        page.on("request", lambda asked: self.note(not asked.url.startswith(self.home), asked.url))
        page.goto(link)
        page.wait_for_selector("nav")
        self.base = page.url.rstrip("/")

    def note(self, is_wrong: bool, what: str) -> None:
        self.wrong += [what] * is_wrong

    def open(self, path: str) -> None:
        """Go to a page, all of it."""
        self.page.goto(f"{self.base}/{path}")
        self.page.wait_for_selector(WAITS, state="detached")

    def check(self, where: str) -> None:
        """Nobody is left out, nothing sticks out, and nothing was said or asked for that should not have been."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run()")["violations"]
        assert not [(one["id"], one["nodes"][0]["html"]) for one in found], where
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0 and not self.wrong, (where, wide, self.wrong)


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    """What `demo --serve` prints; it is stopped as a person stops it, and leaves nothing behind."""
    environ = {**os.environ, "PYTHONPATH": str(SRC), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", START, "demo", "--serve"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout
        yield next(found[0] for line in serving.stdout if (found := re.search(r"http://127\S+", line)))
        serving.send_signal(signal.SIGINT)
        assert serving.wait(20) == 0
    assert not [*tmp_path.glob("memory-keeper-demo-*")]


@pytest.mark.browser
def test_a_person_looks_through_all_of_it(link: str, tmp_path: Path) -> None:
    """In both colours, on a wide and on a narrow screen; the pictures lie in the folder of the test."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = Tab(browser.new_page(), link)
        page = tab.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.click("main a:has-text('tenacity')")
        session = page.url.removeprefix(tab.base + "/")
        tab.open("compactions")
        page.click("main a >> nth=0")
        compaction = page.url.removeprefix(tab.base + "/")
        page.click("main ul a >> nth=0")
        shown = page.url.removeprefix(tab.base + "/")
        for colours, width in product(COLOURS, WIDTHS):
            page.emulate_media(color_scheme=colours)
            page.set_viewport_size({"width": width, "height": 900})
            for path in (*PAGES, session, compaction, shown, "search?q=tenacity"):
                tab.open(path)
                tab.check(f"{path}, {colours}, {width} wide")
                name = re.sub(r"\W+", "-", path)[:20] or "now"
                shot = page.screenshot(path=tmp_path / f"{name}-{colours}-{width}.png", full_page=True)
                assert len(shot) > 5_000, path
        browser.close()


@pytest.mark.browser
def test_a_fact_of_the_picture_opens_and_an_observation_is_confirmed(link: str) -> None:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = Tab(browser.new_page(), link)
        page = tab.page
        page.click("main a:has-text('tenacity')")
        page.click("svg g.thread a >> nth=0")
        assert "/show/" in page.url
        tab.open("rules")
        page.click("text=Right once more")
        assert "2 confirmations" in page.inner_text("main") and not tab.wrong
        browser.close()
