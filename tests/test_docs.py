"""What the pages say is there: every link leads somewhere, and every command they name exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_keeper.app.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLANS = (ROOT / "docs" / "explanation", ROOT / "docs" / "decisions")  # where what is planned may stand, if it says so

FENCED = re.compile(r"^(```+)[^\n]*\n(.*?)^\1`*\s*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*\n|\n)+")
INLINE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
CALL = re.compile(r"(?:^|[\s/])memory-keeper[ \t]+([a-z][a-z-]*)", re.MULTILINE)


def code(text: str) -> Iterator[str]:
    """The code blocks and the inline code of a page, with the sentence around the latter left out."""
    text = COMMENT.sub("", text)
    yield from (match[2] for match in FENCED.finditer(text))
    rest = FENCED.sub("\n", text)
    yield from (re.sub(r"^(?: {4}|\t)", "", match[0], flags=re.MULTILINE) for match in INDENTED.finditer(rest))
    yield from (match[2] for match in INLINE.finditer(INDENTED.sub("\n", rest)))


def links(text: str) -> list[str]:
    for pattern in (COMMENT, FENCED, INDENTED, INLINE):
        text = pattern.sub("\n", text)
    return [match[1] or match[2] for match in LINK.finditer(text)]


def calls(text: str) -> list[str]:
    """What follows `memory-keeper` where a command would stand; not comments, nor what Claude Code is told."""
    lines = [line.partition(" #")[0] for part in code(text) for line in part.splitlines()]
    return [
        match[1]
        for line in lines
        if not re.match(r"\s*(?:/|claude |pipx? )", line) and not line.lstrip().startswith("|")
        for match in CALL.finditer(line)
    ]


def anchors(text: str) -> set[str]:
    """The headings as GitHub names them in addresses."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", FENCED.sub("\n", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_relative_to(ROOT) and target.exists()
        if not inside or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    unknown = sorted({word for word in calls(text) if word not in COMMANDS})
    if any(page.is_relative_to(folder) for folder in PLANS):
        unmarked = [word for word in unknown if not planned(text, word)]
        assert not unmarked, "say in the same line that it is planned"
    else:
        assert not unknown


def planned(text: str, word: str) -> bool:
    """Whether every line that names the command says that it is yet to come."""
    return all("planned" in line.lower() for line in text.splitlines() if f"memory-keeper {word}" in line)


def test_the_patterns_see_what_they_should() -> None:
    page = (
        "# A page\n\nRun `memory-keeper search x`, and memory-keeper remembers.\n\n"
        "    ./memory-keeper install     # memory-keeper does it\n\n"
        "```\n$ memory-keeper show ID\n/plugin disable memory-keeper\n[no](link.md)\n```\n\n"
        "[one](a.md), [two](b/c.md#d) and `[three](x.md)`\n\n[four]: d.md\n"
    )
    assert sorted(calls(page)) == ["install", "search", "show"]
    assert links(page) == ["a.md", "b/c.md#d", "d.md"]
    assert anchors(page) == {"a-page"}
