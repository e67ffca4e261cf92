"""Turns docs/features.toml into a page: what was wanted, how it is done here, and the tests that prove it.

`python docs/features.py` follows tests that were moved to another file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent / "features.toml"
ROOT = TABLE.parents[1]
BAR = r"\|"  # a bar that ends no cell
Row = dict[str, Any]


def read() -> tuple[list[Row], list[Row]]:
    """The features and the defects, in the order in which they are written down."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return table["feature"], table["defect"]


def page() -> str:
    """A table for each area, then one of the defects."""
    features, defects = read()
    lines: list[str] = []
    for area in dict.fromkeys(row["area"] for row in features):
        rows = [row for row in features if row["area"] == area]
        lines += [f"## {area}", "", "| there | here | proved by | from |", "|---|---|---|---|"]
        lines += [line(row["feature"], row["here"], tests(row), row["from"]) for row in rows] + [""]
    lines += ["## What went wrong there", "", "| no. | there | here | proved by |", "|---|---|---|---|"]
    lines += [line(row["id"], row["defect"], row["here"], tests(row)) for row in defects]
    return "\n".join(lines)


def line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def tests(row: Row) -> str:
    """The tests of a row, each with a link to its file."""
    links = (f"[`{id.removeprefix('tests/')}`](../../{id.partition('::')[0]})" for id in row["tests"])
    return "<br>".join(links)


def places() -> dict[str, list[str]]:
    """Every test by its name, with the files that have one of that name."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def follow(text: str, found: dict[str, list[str]]) -> str:
    """The table with each test where it is now; one that is nowhere, or in several files, is left as it is."""

    def mended(match: re.Match[str]) -> str:
        there = found.get(match[2], [])
        return f"{there[0]}::{match[2]}" if len(there) == 1 else match[0]

    return re.sub(r"(tests/[\w/]+\.py)::(test_\w+)", mended, text)


if __name__ == "__main__":
    TABLE.write_text(follow(TABLE.read_text(encoding="utf-8"), places()), encoding="utf-8")
