"""Turns what the program knows about itself into pages; cog calls it from the pages themselves (`./dev docs`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent
EXAMPLES = DOCS / "examples"


def example(name: str) -> str:
    """Something that was recorded, as a block of code."""
    return f"```text\n{(EXAMPLES / name).read_text(encoding='utf-8').rstrip()}\n```"


def decisions() -> str:
    """One line for each decision: its number, and what it says in one sentence."""
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    heads = (page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(": ") for page in pages)
    rows = [(number, f"[{title}]({page.name})") for page, (number, _, title) in zip(pages, heads, strict=True)]
    return "\n".join(table(("", "decision"), rows))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; none where there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines] if lines else []
