"""Pictures of terminals: what stood on the screen stands in the picture, and nothing else is in it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.record import (
    BACK,
    BASIC,
    FRONT,
    HIGH,
    PICTURES,
    WIDE,
    Shot,
    Style,
    change_style,
    draw,
    draw_film,
    draw_shape,
    palette,
    plain,
    read_screen,
    replace,
    squeeze,
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


@pytest.mark.parametrize(
    ("sgr", "style"),
    [
        ("31", Style(front=BASIC[1])),
        ("92;44", Style(front=BASIC[10], back=BASIC[4])),
        ("103", Style(back=BASIC[11])),
        ("38;5;174", Style(front="#d78787")),
        ("48;5;237", Style(back="#3a3a3a")),
        ("38;2;1;2;255;1", Style(front="#0102ff", bold=True)),
        ("38:5:9", Style(front=BASIC[9])),
        ("1;2;3;4;7", Style(bold=True, dim=True, italic=True, underline=True, inverse=True)),
        ("1;2;22", Style()),
        ("31;41;39;49", Style()),
        ("31;0", Style()),
        ("31;", Style()),
        ("53;38", Style()),
    ],
)
def test_sequences_change_the_style(sgr: str, style: Style) -> None:
    assert change_style(Style(), sgr) == style


def test_the_256_colours_are_xterms() -> None:
    assert [palette(number) for number in (16, 21, 196, 231, 232, 255)] == [
        "#000000", "#0000ff", "#ff0000", "#ffffff", "#080808", "#eeeeee",
    ]  # fmt: skip


def test_inverse_swaps_what_the_terminal_itself_has() -> None:
    assert (Style(inverse=True).ink, Style(inverse=True).paper) == (BACK, FRONT)


def test_a_style_lasts_over_the_end_of_a_line() -> None:
    first, second = read_screen("\x1b[31mred\nstill \x1b[39mplain")
    assert {cell.style.front for cell in first} == {BASIC[1]}
    assert [cell.style.front for cell in second] == [BASIC[1]] * 6 + [""] * 5


def test_wide_characters_take_two_cells_and_marks_none() -> None:
    (row,) = read_screen("a語e\u0301b")
    assert [(cell.column, cell.text) for cell in row] == [(0, "a"), (1, "語"), (3, "e\u0301"), (4, "b")]


def test_other_escapes_are_passed_over() -> None:
    (row,) = read_screen("\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x07 \x1b(B\x0fend\x1b[2K")
    assert plain(row) == "link end"


@given(st.lists(lines, max_size=5))
def test_whatever_is_on_the_screen_can_be_read_in_the_picture(screen: list[str]) -> None:
    rows = read_screen("\n".join(screen))
    shown = "".join(cell.text for row in rows for cell in row if not draw_shape(cell.text, 0, WIDE, 0))
    assert "".join("".join(written(drawn("\n".join(screen)))).split()) == "".join(shown.split())


def test_blanks_between_words_and_before_them_are_kept() -> None:
    assert written(drawn("  a  \x1b[1mb\x1b[0m   c   \n\n ● d")) == ["  a  b   c", " ● d"]


def test_every_run_is_held_to_its_columns_and_a_rare_sign_stands_alone() -> None:
    (row,) = drawn("ab \x1b[32mcd\x1b[0m ❯ e").iterfind(f"{SVG}g/{SVG}text")
    assert [(run.get("x"), run.get("textLength"), run.get("fill"), run.text) for run in row] == [
        ("0", "18", None, "ab"),
        ("18", "27", BASIC[2], " cd"),
        ("45", None, None, " "),
        ("54", None, None, "❯"),
        ("63", "18", None, " e"),
    ]


def test_a_rule_is_one_line_and_a_bar_is_one_box() -> None:
    rule, full, rest = drawn("─" * 50 + "\n████░░").iterfind(f"{SVG}g/{SVG}path")
    assert rule.get("d") == f"M0 {HIGH // 2 + 0.5}H{50 * WIDE}"
    assert full.get("d") == f"M0 {HIGH}H{4 * WIDE}V{2 * HIGH}H0z"
    assert (rest.get("d"), rest.get("fill-opacity")) == (
        f"M{4 * WIDE} {HIGH}H{6 * WIDE}V{2 * HIGH}H{4 * WIDE}z",
        "0.25",
    )


@pytest.mark.parametrize("char", "▀▁▅█▉▏▐▘▚▟░▓─│┌┼╭╯⎿⏵⏸")
def test_shapes_stay_in_their_cell(char: str) -> None:
    path = re.sub(r"[MLQz]", " ", draw_shape(char, 9 * WIDE, 10 * WIDE, 7 * HIGH))
    across = [float(x) for x in re.findall(r"H([\d.]+)", path)]
    down = [float(y) for y in re.findall(r"V([\d.]+)", path)]
    pairs = re.sub(r"[HV][\d.]+", " ", path).split()
    assert all(9 * WIDE <= x <= 10 * WIDE for x in [*across, *map(float, pairs[::2])])
    assert all(7 * HIGH <= y <= 8 * HIGH for y in [*down, *map(float, pairs[1::2])])


def test_letters_are_no_shapes() -> None:
    assert not [char for char in "a .❯●✻·…→" if draw_shape(char, 0, WIDE, 0)]


def test_replacing_keeps_the_style_and_moves_the_rest() -> None:
    (row,) = read_screen("in \x1b[31m/tmp/x\x1b[0m/lexer.py")
    changed = replace(row, "/tmp/x", "~")
    assert plain(changed) == "in ~/lexer.py"
    assert [cell.column for cell in changed] == list(range(13))
    assert changed[3].style.front == BASIC[1]
    assert replace(row, "nowhere", "~") == row


def test_squeezing_leaves_no_two_empty_rows() -> None:
    assert [plain(row) for row in squeeze(read_screen("\n\na\n\n\n  \nb\nc\n\n"))] == ["a", "", "b", "c"]


def test_a_film_shows_each_screen_for_its_share_and_the_first_where_nothing_moves() -> None:
    shots = [Shot("film", title, read_screen(title * 3)) for title in ("one", "two", "three", "four")]
    film = ElementTree.fromstring(draw_film(shots, 80))
    style = film.findtext(f"{SVG}style") or ""
    screens = film.findall(f"{SVG}g")
    assert ["".join(screen.itertext()).split() for screen in screens[:2]] == [
        ["1/4", "one", "oneoneone"],
        ["2/4", "two", "twotwotwo"],
    ]
    assert [screen.get("class") for screen in screens] == ["screen first", *["screen"] * 3]
    assert [screen.get("style") for screen in screens] == [None, *(f"animation-delay:{late}s" for late in (6, 12, 18))]
    assert "show 24s" in style and "25%,100%{visibility:hidden}" in style


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
