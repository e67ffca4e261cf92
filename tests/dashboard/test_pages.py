"""Every page over a store that hooks filled, one where nothing was kept, and what was captured to do harm."""

from __future__ import annotations

import gc
import hashlib
import re
import tomllib
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

import memory_keeper.dashboard
from memory_keeper.dashboard.app import BENEATH, PAGES, PARTS
from tests.dashboard.conftest import SUMMARY, Browser
from tests.machine import Machine, Session, another_host

STATIC = Path(memory_keeper.dashboard.__file__).parent / "static"
LARGEST = 200_000  # bytes of a page
PAGE_KEEPS = 256  # bytes that the interpreter's own caches may take for a page
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> <svg onload=alert(1)> [a](javascript:alert(1)) `'\"><b>"
    " \x1b[31mred\x1b[0m \x1b]0;title\x07 \u202egnp.exe {{ 7 * 7 }} {% raw %} hx-get=/x & &amp; "
)


class Elements(HTMLParser):
    """The elements of a page, and the names and values of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def addresses(id: str) -> list[str]:
    return [*PAGES, *(path.replace("{id}", id).replace("{number:int}", "0") for path in (*BENEATH, *PARTS))]


def test_every_page_answers(browser: Browser, worked: Session) -> None:
    for path in addresses(worked.id):
        if not path.startswith("show/"):
            assert len(browser.get(path).encode()) < LARGEST, path


def test_now_leads_to_a_session(browser: Browser, worked: Session) -> None:
    assert "No session runs" in browser.get() and f"session/{worked.id}" in browser.get("part/recent")
    page = browser.get(f"session/{worked.id}")
    assert "Why not tenacity?" in page and "upload_part" not in page.partition("Conversation")[0]
    assert f"part/survival/{worked.id}" in page


def test_a_running_session_is_followed(machine: Machine) -> None:
    """How full it is, how long that lasts, and what was said since the page was opened; until it ends."""
    browser = Browser(machine).enter()
    session = machine.session()
    with another_host():
        session.start()
        session.turn("Build the parser.", "It is built.")
        session.fill(150_000)
        session.write()
        page = browser.get("part/live")
        assert "Build the parser." in page or session.id[:8] in page
        assert "<meter" in page and "tokens" in page and "until the limit" in page

        page = browser.get(f"session/{session.id}")
        assert "<meter" in page and "It is built." in page
        gauge, rest = re.findall(r'hx-get="[^"]*/(part/[^"]+)" hx-trigger="every 5s" hx-swap="outerHTML"', page)
        before = browser.get(gauge)
        assert "It is built." not in browser.get(rest) and "what is said next shows here" in browser.get(rest)
        session.turn("Now the printer.", "It prints.")
        session.fill(165_000)
        session.write()
        after = browser.get(rest)
        assert "It prints." in after and "It is built." not in after
        (more,) = re.findall(r'hx-get="[^"]*/(part/said/[^"]+)"', after)
        assert "It prints." not in browser.get(more)
        values = [re.findall(r'<meter[^>]* value="(\d+)"', part) for part in (before, browser.get(gauge))]
        assert values[0] < values[1]
        session.end()
    assert "No session runs" in browser.get("part/live")
    assert "hx-get" not in browser.get(gauge) and "hx-get" not in browser.get(more)


def test_what_survived_opens_what_it_rests_on(browser: Browser, worked: Session) -> None:
    picture = browser.get(f"part/survival/{worked.id}")
    assert "<svg" in picture and "retry a failed chunk five times" in picture
    link = re.search(r'href="[^"]*/(show/[^"]+)"', picture)
    assert link and "five times" in browser.get(link[1])


def test_a_search_finds_and_marks(browser: Browser) -> None:
    page = browser.get("search?q=tenacity")
    assert "<mark>tenacity</mark>" in page and "Nothing was found" not in page
    assert "Nothing was found" in browser.get("search?q=zeppelin")


def test_a_compaction_shows_summary_and_handoff_side_by_side(browser: Browser, worked: Session) -> None:
    assert f"compaction/{worked.id}/0" in browser.get("part/compactions")
    page = browser.get(f"compaction/{worked.id}/0")
    assert SUMMARY in page and "Kept by the summary (" in page


def test_from_a_note_to_its_events_to_their_line(browser: Browser) -> None:
    note = re.search(r'href="[^"]*/(show/[^"]+)">session up to', browser.get("memory"))
    assert note
    page = browser.get(note[1])
    event = re.search(r"<h2>Covers .*?/(show/[^\"?]+)", page, re.S)
    assert event
    assert "parentUuid" in browser.get(f"{event[1]}?raw=1")


def test_asking_again_and_again_takes_no_memory(browser: Browser, worked: Session) -> None:
    paths = [path for path in addresses(worked.id) if not path.startswith("show/")]

    def ask(times: int) -> int:
        for path in paths * times:
            browser.get(path)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = ask(3)
        assert ask(6) - before < PAGE_KEEPS * 6 * len(paths)
    finally:
        tracemalloc.stop()


def test_nothing_kept_says_what_to_do(machine: Machine) -> None:
    browser = Browser(machine).enter()
    for path in addresses("x"):
        page = browser.get(path)
        assert "memory-keeper install" in page or "part/" in path, path


def test_what_is_not_there_is_said(browser: Browser) -> None:
    assert "No session is called nobody" in browser.get("session/nobody", 404)
    assert "Nothing is called nothing" in browser.get("show/nothing", 404)
    browser.get("nowhere", 404)


def test_what_was_captured_is_inert(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.turn(f"Decision: {HOSTILE}", f"Done: {HOSTILE}")
    session.call("Bash", {"command": HOSTILE, "description": HOSTILE}, HOSTILE * 3, failed=True)
    session.turn("And " + HOSTILE, "x" * 1_000_000 + HOSTILE)
    session.transcript.compact(HOSTILE * 5)
    session.write()
    session.turn(HOSTILE, HOSTILE)
    session.end()
    machine.settle()
    machine.catch_up()
    browser = Browser(machine).enter()
    shown = set(re.findall(r"/(show/[^\"?#]+)", browser.get(f"session/{session.id}")))
    assert shown
    for path in (
        *addresses(session.id),
        *shown,
        "search?q=alert",
        f"search?q={quote(HOSTILE)}",
        "report?month=<script>",
    ):
        if path == f"show/{session.id}":
            continue
        page = browser.get(path)
        found = Elements(page)
        assert len(page.encode()) < LARGEST, path
        assert not {"img", "b", "iframe", "object"} & {*found.tags} or path in ("part/month",), path
        assert found.tags.count("script") <= 1 and "alert(1)</script>" not in page, path
        for name, value in found.attributes:
            assert not name.startswith("on") and not value.lower().startswith("javascript:"), path
        assert not {"\x1b", "\u202e", "\x07"} & {*page}, path
        assert "49" not in re.findall(r"\{\{.*?\}\}", page)


@pytest.mark.parametrize("name", [path.name for path in STATIC.glob("*.js")])
def test_what_is_not_ours_is_what_its_makers_published(name: str) -> None:
    vendored = tomllib.loads((STATIC / "vendored.toml").read_text(encoding="utf-8"))
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == vendored[name]["sha256"]
    assert (STATIC / vendored[name]["licence"]).is_file()
