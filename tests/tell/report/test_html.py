"""The page of a month: one file that asks nobody for anything, and in which every name is only a name."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from memory_keeper.reduce.usage.breakdown import Share
from memory_keeper.settings import DEFAULTS
from memory_keeper.tell.report.html import page
from memory_keeper.tell.report.markdown import show
from memory_keeper.tell.report.month import Month, find_month
from memory_keeper.tell.report.prices import read_prices
from memory_keeper.tell.spans import month_of
from tests.tell.report.month import APRIL, MAY
from tests.tell.report.month import office as office
from tests.tell.report.month import utc as utc
from tests.workplace import Workplace

HOSTILE = "<script>alert(1)</script><img src=x onerror=a()>\"'><svg/onload=1> | \x1b]0;t\x07 &lt;b&gt; \u202e"
VOID = ("meta", "rect", "line", "br")
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "div", "section", "span"),
    *("b", "small", "svg", "rect", "line", "ul", "li", "dl", "dt", "dd", "details", "summary", "table", "tr", "th"),
    *("td", "footer"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "style", "viewbox", "preserveaspectratio", "role"),
    *("aria-hidden", "x", "y", "x1", "x2", "y1", "y2", "width", "height"),
}


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
    assert any("<script>alert(1)</script>" in words for words in found.said)
    assert not any(char in page(hostile) for char in "\x1b\x07\u202e")
    plain = show(hostile._replace(prices=month.prices))
    assert "<script" not in plain
    assert "<img" not in plain


def test_every_chart_is_there(month: Month) -> None:
    text = page(month)
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert headings == [
        "Tokens per day", "Cost per day", "Largest context of each session", "By model", "By project", "Cost impact",
        "By tool", "What was kept", "In figures",
    ]  # fmt: skip
    for kind in ("output", "input", "write", "read"):
        assert f'<rect class="{kind}"' in text
    assert "2026-04-04, cache read: 201,431" in text
    assert text.count("<svg") > 10


def labels(month: Month) -> list[str]:
    """What stands beneath the contexts of a month."""
    (section,) = re.findall("<h2>Largest context.*?</section>", page(month), re.S)
    return re.findall('<span style="left:.*?>(.*?)</span>', section)


def test_sessions_of_one_day_are_told_apart(month: Month) -> None:
    one = month.sessions[0]
    assert labels(month._replace(sessions=tuple(one._replace(first=APRIL + 3600.0 * hour) for hour in range(3)))) == [
        "00:00", "01:00", "02:00",
    ]  # fmt: skip
    days = (0, 0, 1, 1, 1)
    assert labels(month._replace(sessions=tuple(one._replace(first=APRIL + 86400.0 * day) for day in days))) == [
        "01", "02",
    ]  # fmt: skip


def test_what_is_drawn_lies_in_its_frame(month: Month) -> None:
    for name in ("x", "y", "width", "height", "y1", "y2"):
        for value in read(page(month)).attributes[name]:
            assert 0 <= float(value) <= 100


def test_a_month_of_nothing_can_be_drawn(month: Month) -> None:
    empty = month._replace(days=(), models=(), projects=(), sessions=(), tools=(), compactions=(), tellings=())
    read(page(empty._replace(total=month.total._replace(input=0, cache_read=0, cache_write=0, output=0, requests=0))))


def test_a_page_of_one_project_says_which(month: Month) -> None:
    text = page(month._replace(project="dir:/home/ann/app", names={"dir:/home/ann/app": "/home/ann/app"}))
    assert "<p>/home/ann/app</p>" in text
    assert "<h2>By project</h2>" not in text
