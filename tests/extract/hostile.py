"""Texts that make careless expressions backtrack: one piece, over and over."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

SIZE = 40_000  # characters; enough for what is quadratic to take longer than that
SECONDS = 3.0  # of the processor, however slow it is; what backtracks takes far more
PIECES = (
    *"aA0_-./:@+*`'\"#<>|[](){}=~\n\t\r\\$%&,;!?…。한中é\u200b\u202e\x1b\0 ",
    "**", "__", "**a", "__a", "** ", " **", "__a__ ", "a_", "aA", "Aa", "A_", "a/", "./", "~/", "a.", "a. ", "(a",
    "[a](", "[a](/", "`a", "` a. ",
    "- ", "1. ", "# ", "| ", "| a |", "|a|\n", "| - ", "+-", "|:", "-=", "```\n", "```sh\n",
    "a:\n", "-- ", "e.g. ", "because ", "git commit -m \"", "git commit -m '", 'git commit -m "\\', "<<EOF\n",
    "<<'A'\nx\n", '-m "', '--body="\\\\', "<result>", "http://", "https://a.", "https://a/pull/", "0a", "f0", "#1",
    "AB-", "1 passed ", "ok a", "FAIL a\n", "\n\n", "  \n", "func (", "func(\n", "export ", "public static ", "pub(",
    "def ", "--- FAIL: ", "✕ ", "test a ... ", "cd a && ", "A=1 ", "so, ", "now just also ", "let me ", "[ ] ",
    "- [ ] ", "\u2800", "│", "→", "[main 1a2b3c4] ", "1a2b3c4 (", "don't ", "before ", "import (", "at a",
)  # fmt: skip
PROSE = "Some words that are prose, and more of them, for a line has to look like words. " * 30


def long(piece: str, size: int = SIZE) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def texts(piece: str, size: int = SIZE) -> tuple[str, ...]:
    """The piece over and over: alone, behind prose, before an end that does not fit, and in two sizes of lines."""
    many = long(piece, size)
    return many, PROSE + many + "x", f"{many}\n!", PROSE + " ".join((long(piece, 2000),) * (size // 800))


def seconds(work: Callable[[], object]) -> float:
    """What something takes of the processor."""
    begin = process_time()
    work()
    return process_time() - begin
