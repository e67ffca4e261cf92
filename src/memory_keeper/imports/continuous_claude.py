"""Continuous-Claude's files: a ledger for each line of work, and the handoffs of its sessions, Markdown or YAML.

They stand in the project: `thoughts/ledgers/CONTINUITY_*.md`, `thoughts/shared/handoffs/NAME/DATE_what.yaml`. A ledger
is written over as the work goes on, so each wording that is imported is a note of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from memory_keeper.briefs.memory import plain
from memory_keeper.imports import Entry, Where
from memory_keeper.imports.files import dated, pieces, read_text, walk

FOLDERS = {"thoughts/ledgers": "ledger", "thoughts/shared/handoffs": "handoff", "thoughts/handoffs": "handoff"}
ENDINGS = (".md", ".yaml", ".yml")
LEDGER = "CONTINUITY_"
TEMPLATE = "template"


def find(where: Where) -> list[str]:
    """The ledgers and handoffs of a project, or of folders that are given."""
    roots = [(where.root, folder) for folder in FOLDERS]
    if where.paths:
        given = [os.path.abspath(path) for path in where.paths]
        roots = [(path, folder) for path in given for folder in (*FOLDERS, "") if folder or "thoughts" in path]
    found = dict.fromkeys(path for root, folder in roots for path in walk(root, folder, ENDINGS))
    return [path for path in found if _label(path) and TEMPLATE not in os.path.basename(path).lower()]


def _label(path: str) -> str:
    """What a file is; empty: nothing of theirs."""
    if os.path.basename(path).startswith(LEDGER):
        return "ledger"
    return "handoff" if "/handoffs/" in path else ""


def read(
    where: Where, files: Sequence[str], complain: Callable[[str], None], progress: Callable[[int], None]
) -> Iterator[Entry]:
    """Each as a note under the time that it names, behind a line that says what it is."""
    for path in files:
        try:
            text = read_text(path)
        except (OSError, ValueError) as error:
            complain(f"{path}: {error}")
            continue
        progress(len(text))
        label, at = _label(path), dated(text, path)
        of = os.path.basename(path).removeprefix(LEDGER).rpartition(".")[0].removeprefix("CLAUDE-")
        above = os.path.basename(os.path.dirname(path))
        opening = f"Ledger {of}" if label == "ledger" else f"Handoff {of} of {above}"
        body = plain(text)
        yield from (Entry(label, "session", at, f"{opening}\n\n{piece}", path) for piece in pieces(body))
