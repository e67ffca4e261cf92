"""Pages as somebody who follows them reads them: what is to be typed where, and what is to be seen then.

A block of `sh` is typed into a shell, one of `claude` into Claude Code, and one of `text` says what is then on the
screen: each of its lines, in this order, where `…` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}\S.*\n)+", re.MULTILINE)


class Step(NamedTuple):
    """One block of a page."""

    kind: str  # sh | claude | text
    lines: list[str]


def steps(page: Path) -> Iterator[Step]:
    """The blocks of a page, in order."""
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        yield Step(kind, body.splitlines())


def commands(page: Path) -> list[str]:
    """The commands that stand in indented blocks, without the remarks beside them."""
    lines = "".join(INDENTED.findall(page.read_text(encoding="utf-8"))).splitlines()
    return [re.sub(r"\s+#.*", "", line).strip() for line in lines]


def missing(wanted: list[str], seen: str) -> list[str]:
    """The lines that cannot be found in what was seen, each after the one before."""
    seen, at, lost = " ".join(seen.split()), 0, []
    for line in wanted:
        pattern = ".*?".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        found = re.compile(pattern).search(seen, at)
        if found:
            at = found.end()
        else:
            lost.append(line)
    return lost
