"""The page of a month: one file that asks nobody for anything, and in which every name is only a name."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from memory_keeper.briefs.report.html import page, render
from memory_keeper.briefs.report.markdown import cell, show
from memory_keeper.briefs.report.month import Month, find_month
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.dates import month_of
from memory_keeper.notes.usage.breakdown import Share
from memory_keeper.settings import DEFAULTS
from memory_keeper.text import tagless
from tests.briefs.report.month import APRIL, MAY
from tests.briefs.report.month import office as office
from tests.briefs.report.month import utc as utc
from tests.workplace import Workplace

HOSTILE = "<script>alert(1)</script><img src=x onerror=a()>\"'><svg/onload=1> | \x1b]0;t\x07 &lt;b&gt; \u202e"
VOID = ("meta", "br")
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "br", "div", "ul", "li", "b", "code"),
    *("table", "tr", "th", "td"),
}
ATTRIBUTES = {"role", "aria-label", "tabindex", "lang", "charset", "name", "content", "http-equiv", "class"}


class Reader(HTMLParser):
    """Notes which tags there are, and that each is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.said.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def month(office: Workplace) -> Month:
    with office.store() as store:
        return find_month(store, read_prices(str(office.home)), None, month_of(APRIL), DEFAULTS, MAY)


def test_a_page_loads_nothing_and_runs_nothing(month: Month) -> None:
    text = page(month)
    found = read(text)
    assert found.tags <= TAGS
    assert found.attributes.keys() <= ATTRIBUTES
    assert not re.search(r"url\(|@import|https?:|//|\bsrc=|\bhref\b|javascript:", text)
    assert "default-src 'none'" in text


def test_names_are_only_names(month: Month) -> None:
    bad = tuple(row._replace(name=HOSTILE) for row in month.models)
    hostile = month._replace(
        project=HOSTILE,
        names={HOSTILE: HOSTILE},
        models=bad,
        projects=bad,
        tools=(Share(HOSTILE, 5, 1),),
        sessions=tuple(one._replace(session=HOSTILE) for one in month.sessions),
        prices=month.prices._replace(as_of=HOSTILE, currency=HOSTILE),
    )
    found = read(page(hostile))
    assert found.tags <= TAGS
    assert found.attributes.keys() <= ATTRIBUTES
    assert not any("onerror" in value for values in found.attributes.values() for value in values)
    assert any("alert(1)" in words for words in found.said)
    assert not any(char in page(hostile) for char in "\x1b\x07\u202e")
    plain = show(hostile._replace(prices=month.prices))
    assert "<script" not in plain
    assert "<img" not in plain


def test_it_has_what_the_markdown_has(month: Month) -> None:
    text, markdown = page(month), show(month)
    assert re.findall("<h2>(.*?)</h2>", text) == re.findall("^### (.*)$", markdown, re.M)
    assert text.count("<tr>") == len(re.findall(r"^\| (?!---)", markdown, re.M))
    assert '<td class="bar">█' in text
    assert "<td>201,431</td>" in text and "<b>Sessions processed:</b>" in text and "<code>tools</code>" in text


@pytest.mark.parametrize("name", ["a|b", "a\\", "\\|", "a \\\\| b", "<b>", "&amp;"])
def test_cells_are_told_apart_whatever_stands_in_them(name: str) -> None:
    table = "\n".join(render(f"| a | b |\n| --- | --- |\n| {cell(name)} | {cell(name)} |"))
    shown = tagless(name)
    assert [unescape(text) for text in re.findall("<td>(.*?)</td>", table)] == [shown, shown]


def test_a_month_of_nothing_can_be_drawn(month: Month) -> None:
    empty = month._replace(days=(), models=(), projects=(), sessions=(), tools=(), compactions=(), tellings=())
    read(page(empty._replace(total=month.total._replace(input=0, cache_read=0, cache_write=0, output=0, requests=0))))
