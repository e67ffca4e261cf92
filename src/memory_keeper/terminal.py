"""What people see: plain text when piped, colour on a terminal, a bar for anything that takes long."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from shutil import which
from time import monotonic
from typing import Any, TextIO

from memory_keeper.text import local_moment, one_line
from memory_keeper.width import columns

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
SELDOM = 10.0  # seconds between two lines about progress, where no bar can be drawn
NAME = "memory-keeper"
USUAL = 0.6  # how like a name another one is that may have been meant: the share of the letters


def print_json(value: Any) -> None:
    """One JSON document on stdout, nothing else."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Colour, where somebody looks at it and did not ask for none."""
    stream = stream or sys.stdout
    if not stream.isatty():
        return text

    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


def width(stream: TextIO | None = None) -> int:
    """The columns that a line may have: those of the terminal, and more than enough where there is none."""
    if not (stream or sys.stdout).isatty():
        return 400

    return shutil.get_terminal_size().columns


def say(text: str = "", first: str = "", rest: str = "", style: str = "") -> None:
    """Print a text so that it fits the terminal, its first line indented so, the others so."""
    lines = wrapped(text, first, rest)
    print(paint(lines, style) if style else lines)


def wrapped(text: str, first: str = "", rest: str = "", room: int = 0, whole: bool = False) -> str:
    """A text in rows of so many columns, by default the terminal's; not wrapped where there is none.

    The lines that it has stay its lines, each goes on beneath its own beginning, and colours take no room. A word that
    is longer than a row is broken, unless words are to stay `whole`: then the terminal breaks it, and a path in it can
    be copied.
    """
    room = room or (width() if sys.stdout.isatty() else 0)
    lines = text.split("\n")
    rows = [
        row for number, line in enumerate(lines) for row in _rows(line, rest if number else first, rest, room, whole)
    ]
    return "\n".join(rows)


def _rows(line: str, first: str, rest: str, room: int, whole: bool) -> list[str]:
    if not room or _cells(first + line) <= room:
        return [first + line if line else ""]

    beginning = re.match(r" *(?:[-*>|] |\d+\. )?", line)
    rest += " " * (beginning.end() if beginning else 0)
    rest = rest if len(rest) < room // 2 else ""
    rows, row, bare = [], first, True
    for gap, word in re.findall(r"( *)([^ ]+)", line):
        if not bare and _cells(row + gap + word) > room:
            rows.append(row)
            row, gap = rest, ""
        row, bare = row + gap + word, False
        while not whole and _cells(row) > room:
            head, tail = _split(row, room)
            rows.append(head)
            row = rest + tail
    return [*rows, row]


def _split(row: str, room: int) -> tuple[str, str]:
    """As much as so many columns hold, and what is left."""
    head = ""
    for part in re.findall(r"\x1b\[[0-9;]*m|.", row):
        if _cells(head + part) > room:
            break
        head += part
    return head, row[len(head) :]


def fitting(text: str, room: int) -> str:
    """As much of a text as so many columns of one line hold."""
    shown, most = one_line(text, room), room
    while _cells(shown) > room and most > 1:  # some characters take two
        most -= -(-(_cells(shown) - room) // 2)
        shown = one_line(text, most)
    return shown


def _cells(text: str) -> int:
    if "\x1b" in text:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return columns(text)


def near(name: str, known: Iterable[str], otherwise: str, alike: float = USUAL) -> str:
    """What somebody may have meant by a name that there is not."""
    names = get_close_matches(name.lower(), dict.fromkeys(known), 2, alike)
    return f"did you mean {' or '.join(names)}?" if names else otherwise


def hint(text: str) -> None:
    """Say what to do next, by the name that our command was called by."""
    remark(f"  hint: {as_called(text)}")


def say_problem(text: object, what_to_do: str = "") -> None:
    """Say what went wrong beside the answer, and what to do about it."""
    remark(f"{NAME}: {text}")
    if what_to_do:
        hint(what_to_do)


def remark(text: str) -> None:
    """Say something beside the answer: on stderr, so that it fits the terminal there and a path can be copied."""
    room = width(sys.stderr) if sys.stderr.isatty() else 0
    try:
        sys.stderr.write((wrapped(text, "", "  ", room, whole=True) if room else text) + "\n")
    except OSError:
        pass  # nobody can be told


def from_here(path: str) -> str:
    """A path as it can be typed where we are: short if it lies beneath."""
    return path.removeprefix(os.path.join(os.getcwd(), ""))


def called() -> str:
    """The name that our command was called by, where a shell would find no other."""
    typed = sys.argv[0]
    if "/" not in typed or typed.rpartition("/")[2] != NAME:
        return NAME

    return NAME if which(NAME) else typed


def as_called(text: str) -> str:
    """A text for people in which our command has the name that it was called by."""
    typed = called()
    if typed == NAME:
        return text

    return re.sub(rf"(?<![\w./~<-]){NAME}(?= [a-zA-Z[-])", lambda _: typed, text)


def format_time(at: float) -> str:
    """A time for people, in their zone."""
    return local_moment(at) if at else "never"


def size(number: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"


def bar(share: float, width: int, mark: float | None = None) -> str:
    """A bar that is so full; with a mark where something happens."""
    filled = round(max(0.0, min(share, 1.0)) * width)
    cells = ["█"] * filled + ["░"] * (width - filled)
    if mark is not None and 0 < mark <= 1:
        cells[min(width - 1, int(mark * width))] = "│"
    return "".join(cells)


class Bar:
    """A progress bar on stderr, once something has taken a second; a line now and then where there is no terminal."""

    def __init__(self, label: str, total: int, bytes: bool = True) -> None:
        self.label, self.total, self.done, self.bytes = label, max(1, total), 0, bytes
        self.begun = self.drawn = monotonic()
        self.shown = sys.stderr.isatty()

    def advance(self, amount: int) -> None:
        """So much more is done."""
        self.done += amount
        now = monotonic()
        if now - self.begun > 1 and now - self.drawn > (0.1 if self.shown else SELDOM):
            self.drawn = now
            self._draw()

    def _draw(self) -> None:
        share = min(1.0, self.done / self.total)
        rate = f"{size(self.done / (monotonic() - self.begun))}/s" if self.bytes else f"{self.done} of {self.total}"
        drawn = f"\r{self.label} {bar(share, 30)} {share:4.0%} {rate} "
        sys.stderr.write(drawn if self.shown else f"{self.label}: {share:.0%}, {rate}\n")
        sys.stderr.flush()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown and monotonic() - self.begun > 1:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()
