"""Pictures of terminals: what stood on the screen stands in the picture, and nothing else is in it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.record import (
    PICTURES,
    WIDE,
    draw,
    draw_shape,
    read_screen,
)

SVG = "{http://www.w3.org/2000/svg}"
BY_HAND = ("icon", "tree", "survival")
DRAWN = sorted(path for path in PICTURES.glob("*.svg") if path.stem not in BY_HAND)
words = st.text(
    st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="\xa0\u2028\u2029"), max_size=30
)
codes = st.lists(st.integers(0, 110), min_size=1, max_size=6).map(lambda some: ";".join(map(str, some)))
lines = st.lists(st.tuples(codes, words), max_size=6).map(
    lambda parts: "".join(f"\x1b[{sgr}m{said}" for sgr, said in parts)
)


def drawn(captured: str, columns: int = 80) -> ElementTree.Element:
    return ElementTree.fromstring(draw(read_screen(captured), columns, "a <title>"))


def written(picture: ElementTree.Element) -> list[str]:
    """The rows of text, without the window's title."""
    return ["".join(row.itertext()) for row in picture.iterfind(f"{SVG}g/{SVG}text")]


@given(st.lists(lines, max_size=5))
def test_whatever_is_on_the_screen_can_be_read_in_the_picture(screen: list[str]) -> None:
    rows = read_screen("\n".join(screen))
    shown = "".join(cell.text for row in rows for cell in row if not draw_shape(cell.text, 0, WIDE, 0))
    assert "".join("".join(written(drawn("\n".join(screen)))).split()) == "".join(shown.split())


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.name)
def test_a_picture_is_small_and_stands_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    picture = ElementTree.fromstring(text)
    assert len(text.encode()) < 60_000
    assert {str(part.tag).removeprefix(SVG) for part in picture.iter()} <= {
        "svg", "title", "style", "rect", "circle", "g", "path", "text", "tspan",
    }  # fmt: skip
    assert not re.search(r"url\(|@import|href|/tmp|/home|/root|mk-|\x1b", text)


def test_the_pages_have_their_pictures() -> None:
    assert {path.stem for path in DRAWN} == {
        "clear-after", "clear-before", "context", "film", "statusline", "warning",
    }  # fmt: skip
