"""The screen that `run` looks at: the same as tmux shows for the same bytes, however they are split."""

from __future__ import annotations

import os
import pty
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.app.watch.vt import Screen

ROWS, COLUMNS = 9, 24
PATIENCE = 60.0
FRESH = b"\x18\x1b[?1049l\x1bc\x1b7\x1b[?1049h\x1b[?1049l"  # the cursors that tmux has saved, too

# reads the names of files, and writes what is in them to the terminal as it is
WRITER = """
import os, sys, tty
tty.setraw(0)
for line in open(sys.argv[1]):
    data = open(line.strip(), "rb").read()
    while data:
        data = data[os.write(1, data):]
"""


class Tmux:
    """A real terminal to compare with: a pane in a tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0
        os.mkfifo(folder / "names")
        (folder / "writer.py").write_text(WRITER)
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        writer = shlex.join([sys.executable, "-I", "-S", str(folder / "writer.py"), str(folder / "names")])
        # no history: nothing comes back when the screen grows
        options = ["set", "-g", "history-limit", "0", ";", "set", "-g", "status", "off", ";"]
        self._tmux("-u", *options, "new-session", "-d", *size, writer)
        self._names = (folder / "names").open("w")

    def _tmux(self, *args: str) -> str:
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/sh"}
        words = ["tmux", "-S", str(self._folder / "socket"), "-f", "/dev/null", *args]
        return subprocess.run(words, env=env, capture_output=True, check=True, encoding="utf-8").stdout

    def show(self, data: bytes) -> str:
        """What it shows for some bytes, on a fresh screen."""
        self._number += 1
        path, mark = self._folder / str(self._number), f"shown {self._number}"
        # the title says that everything before it is on the screen
        path.write_bytes(FRESH + data + b"\x18\x1b]2;%s\x07" % mark.encode())
        self._names.write(f"{path}\n")
        self._names.flush()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            title, _, screen = self._tmux("display", "-p", "#{pane_title}", ";", "capture-pane", "-p").partition("\n")
            if title == mark:
                path.unlink()
                return screen.removesuffix("\n")
        raise TimeoutError(f"tmux never showed {data!r}")

    def resize(self, rows: int, columns: int) -> str:
        """What it shows in another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))
        return self._tmux("capture-pane", "-p").removesuffix("\n")

    def close(self) -> None:
        self._tmux("kill-server")
        self._names.close()


@pytest.fixture(scope="module")
def tmux() -> Iterator[Tmux]:
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:  # short: the path of a socket may have 100 characters
        made = Tmux(Path(folder))
        yield made
        made.close()


def shown(data: bytes, rows: int = ROWS, columns: int = COLUMNS) -> str:
    screen = Screen(rows, columns)
    screen.feed(data)
    return screen.text()


# --- as tmux does -----------------------------------------------------------------------------------------------------

numbers = st.integers(0, 30)
text = st.text("abcdefgh xyz.,─│●é", min_size=1, max_size=40)
escapes = st.one_of(
    st.sampled_from(["\r", "\n", "\r\n", "\r\n", "\t", "x\b", "\v", "\x07", "\x0e", "\x0f", "\x7f", "\x00"]),
    st.sampled_from(
        ["\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1b#8", "\x1b=", "\x1b>", "\x1b(B", "\x1b)0"]
    ),
    st.builds("\x1b[{}{}".format, st.one_of(st.just(""), numbers), st.sampled_from("ABCDEFGJKPSTXZ`gm")),
    # outside of what scrolls tmux moves lines all the same
    st.builds("\x1b[2;7r\x1b[{};5H\x1b[{}{}".format, st.integers(2, 7), numbers, st.sampled_from("LM")),
    st.builds("\x1b[r\x1b[{};5H\x1b[{}{}".format, numbers, st.integers(0, 3), st.sampled_from("LM")),
    st.builds("\r\x1b[5C\x1b[{}d".format, numbers),
    st.builds("\x1b[{};{}{}".format, numbers, numbers, st.sampled_from("HHHHf")),
    st.builds("\x1b[{};{}r".format, numbers, st.integers(1, 30)),  # 0 is the last line, but not for tmux
    st.builds("q\x1b[{}b".format, numbers),
    st.sampled_from(["\x1b[s", "\x1b[u", "\x1b[H", "\x1b[r", "\r\x1b[4hin─\x1b[4l", "\x1b[@"]),
    st.builds("\r\x1b[?{}{}".format, st.sampled_from([6, 7, 25, 47, 1047, 1049, 2004, 2026]), st.sampled_from("hl")),
)
skipped = st.sampled_from(
    [
        "\x1b]0;a title\x07",
        "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
        "\x1bPq#0;2;0\x1b\\",
        "\x1b_Gf=24;AAAA\x1b\\",
        "\x1b^private\x1b\\",
        "\x1b[38;2;1;2;3m",
        "\x1b[4:3m",
        "\x1b[>4;1m",
        "\x1b[?1u",
        "\x1b[1;2;3;4y",
        "\x1b[12\x18",
        "\x1b[12\x1b[1mx",
        "\x1b[3\r4C",
        "\x1b[1 q",
        "\x1b[!p",
        "\x1b]52;c;" + "QUJD" * 99 + "\x07",
    ]
)


@pytest.mark.tmux
@given(st.lists(st.one_of(text, escapes, escapes, skipped), max_size=40).map("".join))
@example("x" * COLUMNS + "\x1b[K\x1b[1A\x1b[CZ")
@example("\x1b[3;6r\x1b[6;1Hbottom\r\nnext\x1b[2L\x1b[1;1Hout")
@example("\x1b[?6h\x1b[3;5r\x1b[2;2Hin\x1b[9;1Hlast")
@example("\x1b[?7l" + "abc" * 20 + "\x1b[?7hdef")
@example("one\x1b[?1049htwo\x1b[2Jthree\x1b[?1049lfour")
@example("\x1b[2K\x1b[1A" * 5 + "\x1b[G" + "● a\x1b[39m\x1b[K\r\n" * 5)
def test_what_programs_send_looks_as_in_tmux(tmux: Tmux, data: str) -> None:
    assert shown(data.encode()) == tmux.show(data.encode())


# tmux leaves halves of wide characters behind when something is written over them: here nothing is
wide = st.one_of(
    st.text("ab漢字かな한국어🙂🚀ñ─", min_size=1, max_size=30),
    st.sampled_from(
        ["e\u0301", "a\u0308\u0323", "字\u3099", "\r\n", "\x1b[2J\r", "\x1b[2L\r\x1b[2K", "\x1bM\r\x1b[2K"]
    ),
    st.builds("\x1b[{};1H\x1b[2K".format, numbers),
    st.builds("\x1b[{}{}\r\x1b[2K".format, st.integers(0, 3), st.sampled_from("ABST")),
)


@pytest.mark.tmux
@given(st.lists(wide, max_size=30).map("".join))
@example("a" * (COLUMNS - 1) + "漢" + "b\x1b[1;24HX")
@example("\x1b[?7l" + "漢" * COLUMNS)
@example("\u0301e")
def test_wide_and_combining_characters_look_as_in_tmux(tmux: Tmux, data: str) -> None:
    assert shown(data.encode()) == tmux.show(data.encode())


CURSES = """
import curses, locale
locale.setlocale(locale.LC_ALL, "")
def main(screen):
    screen.border()
    screen.addstr(1, 2, "Grüße, 漢字!")
    screen.addstr(3, 2, "-" * 15, curses.A_BOLD)
    screen.refresh()
    pane = curses.newwin(4, 12, 4, 5)
    pane.scrollok(True)
    for number in range(20):
        pane.addstr(f"line {number}\\n")
        pane.refresh()
    screen.move(1, 2)
    screen.insstr("<")
    screen.move(3, 4)
    screen.clrtoeol()
    screen.insertln()
    screen.refresh()
    pane.touchwin()
    pane.refresh()
curses.wrapper(main)
"""


@pytest.mark.tmux
@pytest.mark.parametrize("name", ["xterm", "xterm-256color", "screen", "vt100", "linux"])
def test_a_program_that_uses_curses_looks_as_in_tmux(tmux: Tmux, name: str) -> None:
    data = record([sys.executable, "-c", CURSES], {"TERM": name, "LANG": "C.UTF-8", "NCURSES_NO_UTF8_ACS": "1"})
    data = data.partition(b"\x1b[?1049l")[0]  # then the shell's screen would be seen again
    assert "line 19" in shown(data)
    assert shown(data) == tmux.show(data)


def record(argv: list[str], env: dict[str, str]) -> bytes:
    """What a program writes to a terminal of our size."""
    pid, master = pty.fork()
    if not pid:
        ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execve(argv[0], argv, env)
    data = b""
    while True:
        try:
            data += os.read(master, 1 << 16)
        except OSError:  # it has left
            break
    os.close(master)
    os.waitpid(pid, 0)
    return data


@pytest.mark.tmux
@pytest.mark.parametrize("size", [(9, 40), (5, 24), (14, 24), (9, 12), (3, 60), (20, 30)])
def test_another_size_looks_as_in_tmux(tmux: Tmux, size: tuple[int, int]) -> None:
    data = b"".join(b"line %d\r\n" % number for number in range(7)) + b"> "
    screen = Screen(ROWS, COLUMNS)
    screen.feed(data)
    assert screen.text() == tmux.show(data)
    screen.resize(*size)
    try:
        assert screen.text() == tmux.resize(*size)
    finally:
        tmux.resize(ROWS, COLUMNS)


# --- for any bytes ----------------------------------------------------------------------------------------------------

pieces = st.one_of(
    st.binary(max_size=20),
    st.one_of(text, escapes, skipped, wide, st.text(max_size=10)).map(lambda piece: piece.encode("utf-8", "replace")),
)
anything = st.lists(pieces, max_size=40).map(b"".join)


@given(anything, st.lists(st.integers(0, 400)))
@example("\n\n\n\n\x1b[\u0663Ax".encode(), [8])  # a digit, but not one of ours
@example(b"abc\x1b[" + b"1;" * 47 + b"1Dx\x1b[" + b"1;" * 60 + b"1Dy", [50])
def test_any_split_of_any_bytes_gives_the_same_screen(data: bytes, cuts: list[int]) -> None:
    screen, start = Screen(ROWS, COLUMNS), 0
    for end in [*sorted(cuts), len(data)]:
        screen.feed(data[start:end])
        start = max(start, end)
    single = Screen(ROWS, COLUMNS)
    for at in range(len(data)):
        single.feed(data[at : at + 1])
    assert shown(data) == screen.text() == single.text()


@given(st.lists(st.one_of(anything, st.tuples(st.integers(-1, 40), st.integers(-1, 40))), max_size=8))
def test_every_line_is_as_wide_as_the_screen(steps: list[bytes | tuple[int, int]]) -> None:
    screen = Screen(ROWS, COLUMNS)
    for step in steps:
        screen.resize(*step) if isinstance(step, tuple) else screen.feed(step)
        lines = screen.text().split("\n")
        assert len(lines) == screen.rows
        assert all(columns(line) <= screen.columns for line in lines)
        # a cell for each column, and none is half a character
        screen.feed(b"\x18\x1b[?6l\x1b[?7h\x1b[4l\x1b7")
        for row in range(1, screen.rows + 1):
            screen.feed(b"\x1b[%d;%dHX\x1b[1;1H" % (row, screen.columns))
        assert all(columns(line) == screen.columns for line in screen.text().split("\n"))
        screen.feed(b"\x1b8")


def columns(line: str) -> int:
    bare = [char for char in line if unicodedata.category(char) not in ("Mn", "Me", "Cf") or char == "\xad"]
    bare = [char for char in bare if not "\u1160" <= char <= "\u11ff"]
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in bare)


lines = st.lists(
    st.tuples(st.one_of(text, wide.filter(str.isprintable), st.just("\x1b[1mbold\x1b[m\ttab")), st.integers(1, 9))
)


@given(
    st.sampled_from(["", "\x1b[5;7H", "\x1b[2;4r", "\x1b[?1049h", "x" * COLUMNS]),
    lines,
    st.sampled_from(["", "\n", "end"]),
)
def test_a_flood_leaves_what_it_would_line_by_line(before: str, flood: list[tuple[str, int]], after: str) -> None:
    data = before + "".join(f"{line}\r\n" * count for line, count in flood * 6) + after
    slow = Screen(ROWS, COLUMNS)
    for line in data.encode().splitlines(keepends=True):
        slow.feed(line)
    assert shown(data.encode()) == slow.text()


def test_its_memory_has_bounds() -> None:
    screen = Screen(100_000, 100_000)
    for piece in (
        b"e" + "\u0301".encode() * 9999,
        b"\x1b[" + b"1;" * 9999,
        b"\x18\x1b]0;" + b"x" * 9999,
        b"\x1b" + b"(" * 9999,
    ):
        for _ in range(20):
            screen.feed(piece)
    assert len(screen.text()) < 1_100_000


def test_what_cannot_be_decoded_takes_a_column() -> None:
    assert shown(b"a\xff\xfeb\xe6\xbc", 1, 10) == "a\ufffd\ufffdb"


def test_lines_move_only_where_the_screen_scrolls() -> None:
    before = "\x1b[2;3rone\r\ntwo\r\nthree\r\nfour"
    assert shown(f"{before}\x1b[1;1H\x1b[1L\x1b[4;1H\x1b[1M".encode(), 4, 10) == shown(before.encode(), 4, 10)
