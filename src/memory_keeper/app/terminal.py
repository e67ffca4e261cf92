"""What people see: plain text when piped, colour on a terminal, a bar for anything that takes long."""

from __future__ import annotations

import sys
from time import localtime, monotonic, strftime

from memory_keeper.text import how_long

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
SELDOM = 10.0  # seconds between two lines about progress, where no bar can be drawn


def print_json(value: Any) -> None:
    """One JSON document on stdout, nothing else."""
    import json

    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Colour, where somebody looks at it and did not ask for none."""
    stream = stream or sys.stdout
    if not stream.isatty():
        return text
    import os

    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


def width(stream: TextIO | None = None) -> int:
    """The columns that a line may have: those of the terminal, and more than enough where there is none."""
    if not (stream or sys.stdout).isatty():
        return 400
    import shutil

    return shutil.get_terminal_size().columns


def moment(at: float) -> str:
    """A time for people, in their zone."""
    return strftime("%Y-%m-%d %H:%M", localtime(at)) if at else "never"


def age(at: float, now: float) -> str:
    """How long ago."""
    return f"{how_long(now - at)} ago" if now - at >= 60 else "just now"


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
