"""Records the pictures of the pages, from the real Claude Code with the plugin in it (`./dev docs --pictures`).

A scripted model plays; a screen is captured with its colours and drawn as SVG. Text stays text, so that it can be
searched and copied; blocks and lines become shapes, because no two fonts agree on where those end.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import accumulate, groupby
from pathlib import Path
from threading import Event
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from tests.e2e.cli import Sandbox, install_cli, wait_for
from tests.e2e.conftest import ship
from tests.e2e.model import Model, Reply, Request, Step, call, text
from tests.e2e.net import Net
from tests.e2e.tui import Tui

PICTURES = Path(__file__).resolve().parent / "pictures"

# --- from a capture to cells ------------------------------------------------------------------------------------------

BACK, FRONT = "#16181d", "#d5d8de"
BASIC = (
    *("#33363d", "#e5646e", "#7fc37e", "#e0b45c", "#6ba4e8", "#c08be0", "#5bbfc4", "#c9ccd3"),
    *("#6b7079", "#f0858d", "#9fdc9e", "#f2cd80", "#8fbdf5", "#d5a9ef", "#82d8dc", "#f4f5f7"),
)
STEPS = (0, 95, 135, 175, 215, 255)
ESCAPE = re.compile(r"\x1b\[([\d;:]*)m|\x1b\].*?(?:\x07|\x1b\\)|\x1b\[[\d;?]*[A-Za-z]|\x1b[()].|[\x0e\x0f]", re.DOTALL)


class Style(NamedTuple):
    """How a cell looks; no colour is the terminal's own."""

    front: str = ""
    back: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False

    @property
    def ink(self) -> str:
        """The colour of what is written."""
        return (self.back or BACK) if self.inverse else (self.front or FRONT)

    @property
    def paper(self) -> str:
        """The colour behind it; empty for the terminal's own."""
        return (self.front or FRONT) if self.inverse else self.back


class Cell(NamedTuple):
    """A character, with what combines with it, at its place."""

    column: int
    text: str
    style: Style
    width: int = 1


Row = list[Cell]
SWITCHES = {
    1: (["bold"], True), 2: (["dim"], True), 3: (["italic"], True), 4: (["underline"], True), 7: (["inverse"], True),
    22: (["bold", "dim"], False), 23: (["italic"], False), 24: (["underline"], False), 27: (["inverse"], False),
}  # fmt: skip


def read_screen(captured: str) -> list[Row]:
    """The rows of a capture; a style lasts until it is changed, over the ends of lines too."""
    rows, style = [], Style()
    for line in captured.splitlines():
        row: Row = []
        column, at = 0, 0
        for found in ESCAPE.finditer(line):
            column = _add(row, column, line[at : found.start()], style)
            at = found.end()
            if found[1] is not None:
                style = change_style(style, found[1])
        _add(row, column, line[at:], style)
        rows.append(row)
    return rows


def _add(row: Row, column: int, words: str, style: Style) -> int:
    for char in words:
        if row and (combining(char) or char in "\u200d\ufe0e\ufe0f"):
            row[-1] = row[-1]._replace(text=row[-1].text + char)
            continue
        width = 2 if east_asian_width(char) in "WF" else 1
        row.append(Cell(column, " " if char == "\xa0" else char, style, width))
        column += width
    return column


def change_style(style: Style, codes: str) -> Style:
    """A style after a sequence of SGR codes; those we do not draw are passed over."""
    numbers = iter([int(code or 0) for code in re.split("[;:]", codes)])
    for number in numbers:
        if number == 0:
            style = Style()
        elif number in SWITCHES:
            names, on = SWITCHES[number]
            style = style._replace(**dict.fromkeys(names, on))  # type: ignore[arg-type]  # these are the switches
        elif number in (38, 48):
            colour = _extended(numbers)
            style = style._replace(front=colour) if number == 38 else style._replace(back=colour)
        elif number in (39, 49):
            style = style._replace(front="") if number == 39 else style._replace(back="")
        elif number // 10 in (3, 9):
            style = style._replace(front=palette(number % 10 + 8 * (number >= 90)))
        elif number // 10 in (4, 10):
            style = style._replace(back=palette(number % 10 + 8 * (number >= 100)))
    return style


def _extended(numbers: Iterator[int]) -> str:
    kind = next(numbers, 0)
    if kind == 5:
        return palette(next(numbers, 0))
    return _hex(*(next(numbers, 0) for _ in range(3))) if kind == 2 else ""


def palette(number: int) -> str:
    """One of the 256 colours."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return _hex(*[8 + 10 * (number - 232)] * 3)
    number -= 16
    return _hex(STEPS[number // 36], STEPS[number // 6 % 6], STEPS[number % 6])


def _hex(*parts: int) -> str:
    return "#" + "".join(f"{part & 255:02x}" for part in parts)


class Shot(NamedTuple):
    """A screen before it is drawn; those of one name are a film."""

    name: str
    title: str
    rows: list[Row]


# --- from cells to SVG ------------------------------------------------------------------------------------------------

WIDE, HIGH, SIZE, BASE = 9, 20, 15, 15  # a cell and the letters in it: whole pixels, so that shapes meet
PAD, BAR, GAP = 18, 38, 6
FONTS = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
QUARTERS = {  # a cell's upper left, upper right, lower left, lower right
    "▘": "a", "▝": "b", "▖": "c", "▗": "d", "▀": "ab", "▐": "bd", "▚": "ad", "▞": "bc", "▛": "abc", "▜": "abd",
    "▙": "acd", "▟": "bcd",
}  # fmt: skip
SIGNS = {  # that many fonts lack
    "⏵": (((1, 5), (8, 10), (1, 15)),),
    "⏸": (((2, 5), (4, 5), (4, 15), (2, 15)), ((5, 5), (7, 5), (7, 15), (5, 15))),
}
DIM = 0.7
SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
ARMS = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "urd", "┤": "uld", "┬": "lrd", "┴": "lru",
    "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu",
    "⎿": "ru",
}  # fmt: skip


STYLE = "text{white-space:pre}"  # browsers go by this, other programs by xml:space
SHOWN = 6  # seconds for which a film shows each screen


def draw(rows: list[Row], columns: int, title: str) -> str:
    """A terminal's window with these rows."""
    return _window(columns, len(rows), title, STYLE, _screen(rows, columns, title))


def draw_film(shots: list[Shot], columns: int) -> str:
    """A window that shows one screen after the other, for ever; what knows no animation shows the first."""
    style = (
        f"{STYLE}.screen{{visibility:hidden;animation:show {SHOWN * len(shots)}s step-end infinite}}"
        f"@keyframes show{{0%{{visibility:visible}}{100 / len(shots):g}%,100%{{visibility:hidden}}}}"
        ".first{visibility:visible}@media(prefers-reduced-motion:reduce){.screen{animation:none}}"
    )
    lines: list[str] = []
    for number, shot in enumerate(shots):
        late = f' style="animation-delay:{number * SHOWN}s"' if number else ""
        lines.append(f'<g class="screen{"" if number else " first"}"{late}>')
        lines += [*_screen(shot.rows, columns, f"{number + 1}/{len(shots)}  {shot.title}"), "</g>"]
    return _window(columns, max(len(shot.rows) for shot in shots), shots[0].title, style, lines)


def _window(columns: int, rows: int, title: str, style: str, inside: list[str]) -> str:
    width, height = columns * WIDE + 2 * PAD, BAR + GAP + rows * HIGH + PAD
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONTS}" font-size="{SIZE}">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9" fill="{BACK}" stroke="#3a3e47"/>',
        *(f'<circle cx="{x}" cy="{BAR // 2}" r="6" fill="{BASIC[dot]}"/>' for x, dot in ((22, 1), (42, 3), (62, 2))),
        *inside,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _screen(rows: list[Row], columns: int, title: str) -> list[str]:
    place = f'x="{(columns * WIDE + 2 * PAD) // 2}" y="{BAR // 2 + 5}" text-anchor="middle"'
    return [
        f'<text {place} font-size="13" fill="#8b909a">{escape(title)}</text>',
        f'<g transform="translate({PAD} {BAR + GAP})" fill="{FRONT}">',
        *(line for number, row in enumerate(rows) for line in draw_row(row, number * HIGH)),
        "</g>",
    ]


def draw_row(row: Row, top: int) -> Iterator[str]:
    """What is behind, then shapes, then words."""
    for paper, cells in groupby(row, lambda cell: cell.style.paper):
        if paper:
            begin, end = _span(list(cells))
            yield f'<path fill="{paper}" shape-rendering="crispEdges" d="{_box(begin, top, end, top + HIGH)}"/>'
    for (char, style), same in groupby(row, lambda cell: (cell.text, cell.style)):
        if shape := draw_shape(char, *_span(list(same)), top):
            yield f'<path {_paint(style, char)} d="{shape}"/>'
    if words := "".join(_words(row)):
        yield f'<text y="{top + BASE}" xml:space="preserve">{words}</text>'


def _span(cells: Row) -> tuple[int, int]:
    return cells[0].column * WIDE, (cells[-1].column + cells[-1].width) * WIDE


def _paint(style: Style, char: str) -> str:
    if char in ARMS:
        return f'fill="none" stroke="{style.ink}"' + (f' stroke-opacity="{DIM}"' if style.dim else "")
    opacity = SHADES.get(char, 1) * (DIM if style.dim else 1)
    return f'fill="{style.ink}"' + (f' fill-opacity="{opacity:g}"' if opacity < 1 else ' shape-rendering="crispEdges"')


def draw_shape(char: str, begin: int, end: int, top: int) -> str:
    """The path of a block or a line, repeated from `begin` to `end`; empty for a letter."""
    bottom, code = top + HIGH, ord(char[0])
    if char in SHADES:
        return _box(begin, top, end, bottom)
    if "▁" <= char <= "█":
        return _box(begin, bottom - (code - 0x2580) * HIGH / 8, end, bottom)
    places = range(begin, end, WIDE)
    if "▉" <= char <= "▏":
        return "".join(_box(x, top, x + (0x2590 - code) * WIDE / 8, bottom) for x in places)
    if char in QUARTERS:
        return "".join(_quarter(name, x, top) for x in places for name in QUARTERS[char])
    if char in SIGNS:
        return "".join(_polygon(points, x, top) for x in places for points in SIGNS[char])
    if char == "─":
        return f"M{begin} {top + HIGH // 2 + 0.5:g}H{end}"
    return "".join(_arms(ARMS[char], x, top, round=char in "╭╮╰╯") for x in places) if char in ARMS else ""


def _box(left: float, top: float, right: float, bottom: float) -> str:
    return f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}z"


def _polygon(points: tuple[tuple[int, int], ...], left: int, top: int) -> str:
    return "M" + "L".join(f"{left + x} {top + y}" for x, y in points) + "z"


def _quarter(name: str, left: int, top: int) -> str:
    x, y = left + (name in "bd") * WIDE / 2, top + (name in "cd") * HIGH / 2
    return _box(x, y, x + WIDE / 2, y + HIGH / 2)


def _arms(names: str, left: int, top: int, round: bool) -> str:
    x, y = f"{left + WIDE / 2:g}", f"{top + HIGH // 2 + 0.5:g}"
    ends = {"l": f"{left} {y}", "r": f"{left + WIDE} {y}", "u": f"{x} {top}", "d": f"{x} {top + HIGH}"}
    if round:
        return f"M{ends[names[0]]}Q{x} {y} {ends[names[1]]}"
    return "".join(f"M{x} {y}L{ends[name]}" for name in names)


def _words(row: Row) -> Iterator[str]:
    """The letters of a row, in runs of one style, each held to its place and its width whatever the font."""
    for run in runs(row):
        words, style = "".join(cell.text for cell in run), run[0].style
        begin, end = _span(run)
        look = f' x="{begin}"' + (f' textLength="{end - begin}"' if len(run) > 1 else "")
        look += f' fill="{style.ink}"' if style.ink != FRONT else ""
        look += f' fill-opacity="{DIM}"' if style.dim else ""
        look += ' font-weight="bold"' if style.bold else ""
        look += ' font-style="italic"' if style.italic else ""
        look += ' text-decoration="underline"' if style.underline else ""
        yield f"<tspan{look}>{escape(words, quote=False)}</tspan>"


def runs(row: Row) -> list[Row]:
    """Letters that can be written in one go: of one look, each with the blanks before it. A sign that the font may not
    have stands alone: another font's is of another width."""
    found: list[Row] = []
    for cell in _lead(row):
        last = found[-1][-1] if found else None
        joins = last and last.column + last.width == cell.column and _look(last) == _look(cell)
        if joins and not _alone(cell) and last and not _alone(last):
            found[-1].append(cell)
        else:
            found.append([cell])
    return found


def _lead(row: Row) -> Row:
    """A row without its shapes and the blanks at its end; other blanks look like the letter that follows."""
    lead: Row = []
    for cell in reversed(row):
        if cell.text != " " or cell.style.underline:
            lead.append(cell)
        elif lead:
            lead.append(cell._replace(style=lead[-1].style))
    return [cell for cell in reversed(lead) if not draw_shape(cell.text, 0, WIDE, 0)]


def _look(cell: Cell) -> Style:
    """A style as far as letters show it."""
    return cell.style._replace(front=cell.style.ink, back="", inverse=False)


def _alone(cell: Cell) -> bool:
    return cell.width > 1 or len(cell.text) > 1 or cell.text > "\u2100"


# --- the stage --------------------------------------------------------------------------------------------------------

COLUMNS = 100
SESSION = "5b0c9d1e-6a3f-4f27-9c58-7e1d20a4b6c3"  # given, so that the same scene makes the same picture
# a terminal that is nothing special, though it is tmux
TERMINAL = ("-u", "TMUX", "-u", "TMUX_PANE", "-u", "TERM_PROGRAM", "TERM=xterm-256color", "COLORTERM=truecolor")
SEARCH = "mcp__plugin_memory-keeper_keeper__search"
MODEL = ("--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", SEARCH)
WINDOW = "~/parser — claude"
HINT = "/effort"  # goes away some seconds after the start
STEADY = (  # what differs from one recording to the next
    (r" · ← for agents", ""),
    (r"\S \w+… \(.*\)", "✽ Working… (41s · ↓ 1.2k tokens)"),
    (r"\S [A-Z]\S+ for \d+s · done \d+:\d\d [AP]M", "✻ Worked for 52s · done 2:15 PM"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-03-02 14:15"),
)
RULE = "─" * COLUMNS


class Stage(NamedTuple):
    """A home with the plugin in it, and the model that plays there."""

    sandbox: Sandbox
    api: Model
    claude: str

    def show(self, *command: str, rows: int) -> Tui:
        """A program in a terminal."""
        self.sandbox.cli = "env"
        return Tui(self.sandbox, *TERMINAL, *command, columns=COLUMNS, rows=rows)

    def start(self, rows: int = 40, session: str = SESSION) -> Tui:
        """Claude Code in a terminal."""
        return self.show(self.claude, *MODEL, "--session-id", session, rows=rows)

    def run(self, command: str, sign: str, rows: int) -> list[Row]:
        """The screen after a command of ours, once there is a sign on it."""
        typed = rf"printf '\033[32m$\033[0m {command}\n'; {command}; sleep 60"
        with self.show("sh", "-c", typed, rows=rows) as tui:
            tui.wait(sign)
            be_still(tui)
            return self.shoot(tui)

    def tool(self, name: str, tokens: int, file: str = "", **given: str) -> Reply:
        """The model calls a tool, for a file of the project, with so much in its window."""
        path = {"file_path": str(self.sandbox.project / file)} if file else {}
        return call(name, **path, **given)._replace(tokens=tokens)

    def turn(self, tui: Tui, prompt: str, *replies: Reply) -> None:
        """A turn, from the prompt until nothing moves any more."""
        due = len(self.api.of("main")) + len(replies)
        self.api.play(*replies)
        tui.type(prompt)
        wait_for(lambda: len(self.api.of("main")) >= due, f"the end of {prompt!r}")
        be_still(tui)

    def shoot(self, tui: Tui, sign: str = "") -> list[Row]:
        """The screen, once there is a sign on it, as anybody's: without the paths of this machine, nor the time."""
        rows = wait_for(lambda: self._look(tui, sign), f"a screen with {sign!r}")
        for pattern, words in ((re.escape(str(self.sandbox.home)), "~"), *STEADY):
            rows = [replace(row, pattern, words) for row in rows]
        return squeeze(rows)

    def _look(self, tui: Tui, sign: str) -> list[Row]:
        rows = read_screen(tui.picture())
        said = "\n".join(map(plain, rows))
        return rows if sign in said and HINT not in said else []


def replace(row: Row, pattern: str, words: str) -> Row:
    """A row that says something else where a pattern is found; the rest moves up."""
    found = re.search(pattern, "".join(cell.text[0] for cell in row))
    if not found:
        return row
    said = [Cell(0, char, row[found.start()].style) for char in words]
    cells = [*row[: found.start()], *said, *row[found.end() :]]
    places = accumulate((cell.width for cell in cells), initial=0)
    return [cell._replace(column=column) for cell, column in zip(cells, places, strict=False)]


def squeeze(rows: list[Row]) -> list[Row]:
    """Rows as in a terminal that is just high enough: no two empty ones in a row, none at the ends."""
    words = [plain(row) for row in rows]
    kept = [row for row, here, before in zip(rows, words, ["", *words], strict=False) if here or before]
    return kept[:-1] if kept and not plain(kept[-1]) else kept


def plain(row: Row) -> str:
    """What a row says."""
    return "".join(cell.text for cell in row).strip()


@contextmanager
def home(checkout: Path, folder: str) -> Iterator[tuple[Sandbox, Model]]:
    """A home with the plugin in it, whose project is ~/FOLDER, and the model that plays there."""
    net = Net()
    api = Model(net.listen())
    sandbox = Sandbox(install_cli(), net, api.url)
    try:
        known = json.loads((sandbox.home / ".claude.json").read_text())
        sandbox.project = sandbox.home / folder
        sandbox.project.mkdir()
        known["projects"] = dict.fromkeys([str(sandbox.project)], *known["projects"].values())
        (sandbox.home / ".claude.json").write_text(json.dumps(known))
        sandbox.plugin("marketplace", "add", str(checkout))
        sandbox.plugin("install", "memory-keeper@memory-keeper")
        sandbox.env["PATH"] = f"{checkout / 'bin'}:{sandbox.env['PATH']}"
        yield sandbox, api
    finally:
        sandbox.close()
        api.close()
        net.close()


@contextmanager
def stage(checkout: Path, mode: str) -> Iterator[Stage]:
    """Where a scene is played: its project is ~/parser."""
    with home(checkout, "parser") as (sandbox, api):
        write_project(sandbox.project)
        for words in (["statusline", "--install"], ["config", "set", "compaction.mode", mode]):
            sandbox.net.run(["memory-keeper", *words], env=sandbox.env, cwd=sandbox.project)
        yield Stage(sandbox, api, sandbox.cli)


def write_project(folder: Path) -> None:
    """Something to work on, about as large as the model is said to find it."""
    kinds = [f"{kind}_{number}" for kind in ("name", "number", "string", "sign") for number in range(120)]
    named = {
        "grammar.ebnf": '{0} = "(", {{ value }}, ")" ;\n',
        "lexer.py": 'def read_{0}(source: str, at: int) -> Token:\n    """A {0}."""\n\n\n',
        "test_lexer.py": "def test_{0}():\n    assert read_{0}(SOURCE, 7).text\n\n\n",
    }
    files = {name: "".join(map(shape.format, kinds)) for name, shape in named.items()} | {
        "parser.py": f"def expect(self, sign):\n    if self.ahead.text != sign:\n{BEFORE}\n    return self.advance()\n",
        "check": "#!/bin/sh\nsleep 0.5\ngrep -o 'test_.*' test_lexer.py | sed 's/$/ PASSED/'\necho 480 passed\n",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "check").chmod(0o755)


# --- the scenes -------------------------------------------------------------------------------------------------------

BEFORE = '        raise ParseError(f"expected {sign!r}")'
AFTER = '        raise ParseError(self.ahead.line, self.ahead.column, f"expected {sign!r}")'
DECIDED = (
    "I decided against a parser generator, because its errors cannot say line and column. "
    "parser.py now parses every rule of grammar.ebnf by hand."
)
ERRORS = "# Errors\n\nAn error says where: `3:14: expected ')'` is line 3, column 14.\n"
GOES_ON = "The next step of the handoff is done: errors.md says how to read an error."
REASON = "Because its errors cannot say line and column. That was decided when parser.py was written."
NEXT_DAY = "8d41f2a6-0c7b-4e95-b1d3-52f6a9e07c18"
BRACKETS = """def test_an_unclosed_bracket_is_named():
    with raises(ParseError, match="1:3: expected"):
        parse("(a")
"""


def fill_up(scene: Stage, tui: Tui) -> None:
    """Some turns, until the context is so full that the user is told."""
    tool = scene.tool
    scene.turn(
        tui,
        "Write a parser for grammar.ebnf.",
        tool("Read", 19_400, "grammar.ebnf"),
        tool("Read", 28_600, "lexer.py"),
        tool("Read", 51_200, "test_lexer.py"),
        tool("Edit", 70_700, "parser.py", old_string="sign)", new_string="sign: str) -> Token"),
        tool("Bash", 71_400, command="./check"),
        tool("Read", 77_700, "lexer.py"),
        tool("Read", 100_300, "test_lexer.py"),
        tool("Bash", 119_800, command="./check"),
        text(DECIDED, 126_100),
    )
    scene.turn(
        tui,
        "Empty input should parse too.",
        tool("Edit", 126_400, "parser.py", old_string="advance()", new_string="advance() if self.ahead else END"),
        tool("Bash", 127_100, command="./check"),
        text("An empty input is the end token now.", 133_400),
    )
    scene.turn(
        tui,
        "Let the errors say line and column.",
        tool("Read", 133_700, "parser.py"),
        tool("Edit", 134_200, "parser.py", old_string=BEFORE, new_string=AFTER),
        tool("Bash", 135_000, command="./check"),
        text("Errors now say where: `3:14: expected ')'`. All 480 tests pass.", 141_300),
    )
    scene.turn(
        tui,
        "Add a test for unclosed brackets.",
        tool("Write", 141_900, "test_brackets.py", content=BRACKETS),
        tool("Bash", 142_500, command="./check"),
        text("`test_an_unclosed_bracket_is_named` passes, and so do the other 480. Next: a page on errors.", 148_800),
    )


def warning(scene: Stage) -> Iterator[Shot]:
    """The context fills up over some turns; the user is told, and asks what ate it."""
    with scene.start(rows=28) as tui:
        fill_up(scene, tui)
        yield Shot("warning", WINDOW, scene.shoot(tui))
    yield Shot("context", "~/parser", scene.run("memory-keeper context", "Largest results", rows=50))


def days(scene: Stage) -> Iterator[Shot]:
    """What the README shows: a warning, a clear, the next session, and what that one was told."""
    with scene.start(rows=28) as tui:
        fill_up(scene, tui)
        yield Shot("film", "the context fills up: you are warned, and the handoff is written", scene.shoot(tui))
        tui.type("/clear")
        scene.turn(
            tui,
            "Go on.",
            scene.tool("Write", 17_900, "errors.md", content=ERRORS),
            text(GOES_ON, 18_400),
        )
        yield Shot("film", "/clear: the new context is empty, and goes on from the handoff", scene.shoot(tui))
        tui.leave()
    with scene.start(rows=25, session=NEXT_DAY) as tui:
        found = call(SEARCH, query="parser generator")._replace(tokens=16_800)
        scene.turn(tui, "Why did we not take a parser generator?", found, text(REASON, 17_300))
        yield Shot("film", "the next day: a new session knows what was decided, and why", scene.shoot(tui))
        tui.leave()
    command = f"memory-keeper why --session {NEXT_DAY[:8]}"
    told = scene.run(command, "What Memory Keeper took", rows=140)
    yield Shot("film", "every line that was told, where it came from, what it cost", told[:19])


def clearing(scene: Stage) -> Iterator[Shot]:
    """Mode clear: a long turn passes the threshold and comes to its end; the next context goes on from the handoff."""
    tool, seen = scene.tool, Event()
    answer = "Errors now say where: `3:14: expected ')'`. All 480 tests pass. Next: a test for unclosed brackets."
    scene.api.play(
        tool("Read", 98_200, "lexer.py"),
        tool("Read", 127_600, "parser.py"),
        tool("Edit", 138_600, "parser.py", old_string=BEFORE, new_string=AFTER),  # not yet at the first level
        tool("Bash", 144_700, command="./check"),
        after(seen, text(answer, 146_300)),
    )
    with scene.start() as tui:
        tui.type("Let the errors say line and column.")
        tui.wait("Bash says")
        tui.wait("72%")
        yield Shot("clear-before", WINDOW, scene.shoot(tui, "● Running"))  # the dot blinks
        seen.set()
        tui.wait("Memory Keeper cleared the context")
        scene.turn(
            tui,
            "Go on.",
            tool("Write", 21_400, "test_brackets.py", content=BRACKETS),
            tool("Bash", 22_100, command="./check"),
            text("The next step of the handoff is done: unclosed brackets are tested, all 481 tests pass.", 22_900),
        )
        yield Shot("clear-after", WINDOW, scene.shoot(tui))


def levels(scene: Stage) -> Iterator[Shot]:
    """The status line, from green to red."""
    rows: list[Row] = []
    with scene.start() as tui:
        for tokens in (52_400, 146_200, 161_700):
            scene.turn(tui, "Go on.", text("Done.", tokens))
            tui.wait(f"{tokens // 2000}%")
            screen = scene.shoot(tui)
            rule = max(number for number, row in enumerate(screen) if plain(row) == RULE)
            rows += [*screen[rule - 2 : rule + 2], []]
    yield Shot("statusline", WINDOW, rows[:-1])


def after(seen: Event, reply: Reply) -> Step:
    """A reply that comes when something has been seen."""

    def answer(request: Request) -> Reply:
        seen.wait(60)
        return reply

    return answer


def be_still(tui: Tui) -> None:
    """Wait until nothing moves any more."""
    seen: list[str] = []

    def look() -> bool:
        time.sleep(0.4)
        seen.append(tui.picture())
        return len(seen) > 3 and len(set(seen[-4:])) == 1

    wait_for(look, "a screen that is still")


SCENES: dict[str, tuple[str, Callable[[Stage], Iterator[Shot]]]] = {
    "days": ("supplement", days),
    "warning": ("supplement", warning),
    "clearing": ("clear", clearing),
    "levels": ("supplement", levels),
}


def draw_survival(checkout: Path) -> None:
    """What survived the compaction of the demo's session, as `report` draws it."""
    program = str(checkout / "memory-keeper")
    played = json.loads(subprocess.run([program, "demo", "--keep", "--json"], capture_output=True, check=True).stdout)
    where = ["--home", f"{played['kept']}/home", "--project", f"{played['kept']}/uploader"]
    words = ["report", "--session", "11111111", "--format", "svg", "--out", str(PICTURES / "survival.svg"), "--force"]
    subprocess.run([program, *words, *where], check=True)
    shutil.rmtree(played["kept"])


def main(names: list[str]) -> int:
    """Play scenes, all of them unless some are named, and draw what was seen."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        checkout = ship(Path(folder))
        if not names or "survival" in names:
            draw_survival(checkout)
        names = [name for name in names or SCENES if name != "survival"]
        for mode, scene in [SCENES[name] for name in names]:
            with stage(checkout, mode) as played:
                for name, same in groupby(scene(played), lambda shot: shot.name):
                    shots, drawn = list(same), PICTURES / f"{name}.svg"
                    only = draw(shots[0].rows, COLUMNS, shots[0].title)
                    drawn.write_text(draw_film(shots, COLUMNS) if len(shots) > 1 else only, encoding="utf-8")
                    print(drawn.relative_to(PICTURES.parent.parent), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
