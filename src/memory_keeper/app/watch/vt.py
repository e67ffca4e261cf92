"""What a terminal shows: a program's bytes go in, the text on its screen comes out.

It knows what shells and programs that redraw parts of the screen send, passes over colours and over what it does not
know, and answers nothing. Where terminals differ it does as tmux does, which the tests compare it with.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

MOST = 1000  # rows or columns, whatever size a terminal claims to have
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# what most of the output is made of, taken at once: a colour, text, a sequence
PLAIN = re.compile(rf"(?:{COLOUR.pattern})?([^\x00-\x1f\x7f-\x9f]*)(?:\x1b\[(\??[0-9;]{{0,90}})([@-~]))?")
MIDDLE = re.compile(r"[ -?]+")  # what stands between the start of a control sequence and its last letter
PARTS = re.compile(r"([\x1b<=>?]?)([0-9;]*)([ -/]*)")  # of what stands there: a sign, numbers, more signs
TITLE_END, STRING_END = re.compile(r"[\x07\x18\x1a\x1b]"), re.compile(r"[\x18\x1a\x1b]")
ODD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # what a flood of lines has none of, once it has no colours
Row = list[str]  # a string per column: "" to the right of a wide character, combining characters with theirs


class Screen:
    """A screen and its cursor."""

    def __init__(self, rows: int, columns: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._read: Callable[[str, int], int] = self._plain  # who reads what comes next
        self._body = ""  # of the sequence that is being read
        self._size(rows, columns)
        self._reset()

    def feed(self, data: bytes) -> None:
        """Show some more; characters and sequences may go on in the next call."""
        text, at = self._skip(self._decoder.decode(data)), 0
        while at < len(text):
            at = self._read(text, at)

    def text(self) -> str:
        """What is to be seen, line by line, without the blanks at their ends."""
        return "\n".join("".join(row).rstrip(" ") for row in self._lines)

    def resize(self, rows: int, columns: int) -> None:
        """Take another size; what has no room is cut, below the cursor first, then at the top."""
        self._size(rows, columns)
        gone = max(0, self._y + 1 - self.rows)
        for lines in filter(None, (self._lines, self._hidden)):
            lines[:] = lines[gone : gone + self.rows]
            lines += self._blank(self.rows - len(lines))
            for row in lines:
                row[self.columns :] = [" "] * (self.columns - len(row))
                _mend(row, self.columns)
        self._go(self._x, self._y - gone)

    def _size(self, rows: int, columns: int) -> None:
        self.rows, self.columns = max(1, min(rows, MOST)), max(1, min(columns, MOST))
        self._top, self._bottom = 0, self.rows - 1  # what scrolls
        self._tabs = set(range(8, self.columns, 8))

    def _reset(self) -> None:
        self._size(self.rows, self.columns)
        self._lines = self._blank(self.rows)
        self._hidden: list[Row] = []  # the lines behind the alternate screen
        self._x, self._y = 0, 0  # x == columns: the line is full, and the next character begins another
        self._saved, self._outer = (0, 0, False), (0, 0)  # cursors to come back to
        self._wraps, self._inserts, self._origin = True, False, False
        self._last = ""  # the character that can be repeated

    def _blank(self, count: int) -> list[Row]:
        return [[" "] * self.columns for _ in range(count)]

    def _skip(self, text: str) -> str:
        """Leave out lines that scroll away before the text ends: a flood costs no more than what stays of it."""
        part = self._read != self._plain or (self._top, self._bottom) != (0, self.rows - 1)
        if part or text.count("\n") <= 2 * self.rows or ODD.search(bare := COLOUR.sub("", text)):
            return text
        gone, *kept = bare.rsplit("\n", self.rows + 1)
        if gone.count("\n") < self.rows or not gone.endswith("\r"):
            return text
        self._lines, self._x, self._y = self._blank(self.rows), 0, self.rows - 1
        return "\n".join(kept)

    # --- reading: each takes some of the text, and says where to go on ------------------------------------------------

    def _plain(self, text: str, at: int) -> int:
        run = PLAIN.match(text, at)
        if not run or not run[0]:
            return self._control(text[at], at)
        shown, body, final = run.groups()
        if shown:
            self._put(shown)
        if final:
            self._do(body, final)
        return run.end()

    def _control(self, char: str, at: int) -> int:
        self._last = self._last if char == "\x1b" else ""
        if char == "\r":
            self._x = 0
        elif char in "\n\v\f":
            self._feed()
        elif char == "\b":
            self._x = max(0, self._x - 1)
        elif char == "\t":
            self._x = min((tab for tab in self._tabs if tab > self._x), default=max(self._x, self.columns - 1))
        elif char == "\x1b":
            self._read, self._body = self._escape, ""
        elif char in "\x18\x1a":
            self._read = self._plain
        return at + 1

    def _escape(self, text: str, at: int) -> int:
        char = text[at]
        if not " " <= char <= "~":
            return self._control(char, at)
        if char <= "/":
            self._body = (self._body + char)[:9]
        elif char in "[]PX^_k" and not self._body:
            self._read = {"[": self._sequence, "]": self._title}.get(char, self._string)
        else:
            self._read = self._plain
            self._do("\x1b" + self._body, char)
        return at + 1

    def _sequence(self, text: str, at: int) -> int:
        if run := MIDDLE.match(text, at):
            self._body = (self._body + run[0])[:99]
            return run.end()
        if not "@" <= text[at] <= "~":
            return self._control(text[at], at)
        self._read = self._plain
        self._do(self._body, text[at])
        return at + 1

    def _string(self, text: str, at: int, end: re.Pattern[str] = STRING_END) -> int:
        found = end.search(text, at)
        if not found:
            return len(text)
        self._read = self._plain
        return self._control(found[0], found.start())

    def _title(self, text: str, at: int) -> int:
        return self._string(text, at, TITLE_END)

    # --- writing ------------------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        self._last = text[-1]
        if not text.isascii() and {*map(_width, text)} != {1}:
            for char in text:
                self._put_one(char, _width(char))
            return
        at = 0
        while at < len(text):
            if self._x == self.columns:
                self._feed()
                self._x = 0
            part = text[at : at + self.columns - self._x]
            at += len(part)
            if at < len(text) and not self._wraps:  # all that follows goes into the last column
                part, at = part[:-1] + text[-1], len(text)
            self._write(part)

    def _put_one(self, char: str, width: int) -> None:
        row = self._lines[self._y]
        if width == 0:
            at = next((at for at in range(self._x - 1, -1, -1) if row[at]), 0)
            row[at] += char if self._x and len(row[at]) < 9 else ""
            return
        if self._x > self.columns - width and self._wraps:
            self._feed()
            self._x = 0
        if self._x <= self.columns - width:
            self._write([char, ""][:width])

    def _write(self, cells: Sequence[str]) -> None:
        start, end = self._x, self._x + len(cells)
        self._change(start, start if self._inserts else end, cells)
        self._x = end if self._wraps else min(end, self.columns - 1)

    def _change(self, start: int, end: int, cells: Sequence[str]) -> None:
        """Put cells in the place of others; the line stays as long as it is, and nothing is half a wide character."""
        row = self._lines[self._y]
        row[start:end] = cells
        if len(row) != self.columns:
            row[self.columns :] = [" "] * (self.columns - len(row))
            _mend(row, self.columns)
        _mend(row, start)
        _mend(row, min(start + len(cells), self.columns))

    def _erase(self, start: int, end: int) -> None:
        self._change(start, end, [" "] * (min(end, self.columns) - start))

    # --- moving -------------------------------------------------------------------------------------------------------

    def _go(self, x: int, y: int) -> None:
        self._x, self._y = max(0, min(x, self.columns - 1)), max(0, min(y, self.rows - 1))

    def _go_to(self, x: int, y: int) -> None:
        """Go where a program says, which may count from the first line that scrolls."""
        self._go(x, min(self._top + y, self._bottom) if self._origin else y)

    def _climb(self, count: int) -> None:
        """Go up or down, but not out of what scrolls."""
        top = self._top if self._y >= self._top else 0
        bottom = self._bottom if self._y <= self._bottom else self.rows - 1
        self._go(self._x, max(top, min(self._y + count, bottom)))

    def _feed(self, count: int = 1) -> None:
        """Go to the next line, or back to the one before; at the edge of what scrolls, scroll."""
        if self._y == (self._bottom if count > 0 else self._top):
            self._scroll(self._top, count)
        else:
            self._y = max(0, min(self._y + count, self.rows - 1))

    def _scroll(self, top: int, count: int) -> None:
        """Move lines, from one to the last that scrolls: up, or down when the count is negative."""
        end = self._bottom + 1
        new = self._blank(min(abs(count), end - top))
        rest = self._lines[top + len(new) : end] if count > 0 else self._lines[top : end - len(new)]
        self._lines[top:end] = rest + new if count > 0 else new + rest

    def _switch(self, mode: str, on: bool) -> None:
        if mode == "4":
            self._inserts = on
        elif mode == "?6":
            self._origin = on
            self._go_to(0, 0)
        elif mode == "?7":
            self._wraps = on
            self._x = min(self._x, self.columns - 1)
        elif mode in ("?47", "?1047", "?1049"):
            here = (self._x, self._y)
            if on and not self._hidden:
                self._hidden, self._lines = self._lines, self._blank(self.rows)
                self._outer = here if mode == "?1049" else self._outer
            elif not on:
                self._lines, self._hidden = self._hidden or self._lines, []
                self._go(*(self._outer if mode == "?1049" else here))

    def _do(self, body: str, final: str) -> None:
        """Obey one sequence."""
        signs, numbers = _parse(body)
        what, x, y, given = signs + final, self._x, self._y, numbers[0]
        n, m = max(given, 1), max(numbers[1], 1)
        match what:
            case "m":
                pass
            case "A" | "F":
                self._climb(-n)
            case "B" | "e" | "E":
                self._climb(n)
            case "C" | "a":
                self._go(x + n, y)
            case "D":
                self._go(x - n, y)
            case "G" | "`":
                self._go(n - 1, y)
            case "H" | "f":
                self._go_to(m - 1, n - 1)
            case "d":
                self._go_to(x, n - 1)
            case "J" | "K" if given < 3:
                self._erase(0 if given else x, x + 1 if given == 1 else self.columns)
                if what == "J":
                    for at in (range(y + 1, self.rows), range(y), range(self.rows))[given]:
                        self._lines[at] = [" "] * self.columns
            case "X":
                self._erase(x, x + n)
            case "@":
                self._change(x, x, [" "] * min(n, self.columns - x))
            case "P":
                self._change(x, x + n, "")
            case "L" | "M" if self._top <= y <= self._bottom:
                self._scroll(y, n if what == "M" else -n)
            case "S" | "T":
                self._scroll(self._top, n if what == "S" else -n)
            case "Z":
                for _ in range(min(n, self.columns)):
                    self._x = max((tab for tab in self._tabs if tab < self._x), default=0)
            case "b" if self._last and x < self.columns:
                self._put(self._last * min(n, self.columns - x))
            case "g":
                self._tabs -= {0: {x}, 3: self._tabs}.get(given, set())
            case "h" | "l" | "?h" | "?l":
                for number in numbers:
                    self._switch(f"{what[:-1]}{number}", what[-1] == "h")
            case "r":
                bottom = min(numbers[1] or self.rows, self.rows)
                if n < bottom:
                    self._top, self._bottom = n - 1, bottom - 1
                    self._go(0, 0)
            case "s" | "\x1b7":
                self._saved = x, y, self._origin
            case "u" | "\x1b8":
                x, y, self._origin = self._saved
                self._go(x, y)
            case "\x1bD" | "\x1bE":
                self._feed()
            case "\x1bM":
                self._feed(-1)
            case "\x1bH":
                self._tabs.add(x)
            case "\x1bc":
                self._reset()
            case "\x1b#8":  # by which people once adjusted their screens
                self._size(self.rows, self.columns)
                self._lines = [["E"] * self.columns for _ in range(self.rows)]
                self._go(0, 0)
        if what in ("E", "F", "\x1bE"):
            self._x = 0


@lru_cache(1024)
def _parse(body: str) -> tuple[str, tuple[int, ...]]:
    """The signs of a sequence, which make it what it is, and its numbers, two at least; what is odd does nothing."""
    parts = PARTS.fullmatch(body)
    if not parts or len(body) >= 99:
        return "odd", (0, 0)
    return parts[1] + parts[3], (*(int(number or 0) for number in parts[2].split(";")), 0, 0)


@lru_cache(8192)
def _width(char: str) -> int:
    """How many columns a character takes; a joiner or an accent takes none."""
    if (unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\xad") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _mend(row: Row, at: int) -> None:
    """See that the cells on both sides of a border are one wide character, or no half of any."""
    wide = at > 0 and row[at - 1] != "" and _width(row[at - 1][0]) == 2
    if wide and (at == len(row) or row[at]):
        row[at - 1] = " "
    elif not wide and at < len(row) and not row[at]:
        row[at] = " "
