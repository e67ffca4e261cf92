"""What was kept of a session, held against the transcripts that Claude Code itself wrote."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_keeper.store.context import MARKS
from tests.e2e.cli import Sandbox, wait_for

OURS = frozenset(MARKS)  # what hooks leave, which no transcript has


def store(sandbox: Sandbox) -> Path:
    """Where the store of a sandbox lies when nobody says otherwise."""
    return sandbox.home / ".local/share/memory-keeper/store.db"


def keeper(sandbox: Sandbox, checkout: Path, *args: str) -> Any:
    """What `memory-keeper ARGS --json` answers."""
    done = sandbox.net.run([str(checkout / "memory-keeper"), *args, "--json"], env=sandbox.env, cwd=sandbox.project)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def blocks(transcript: Path) -> Iterator[str]:
    """The id that each block of a transcript must be kept under; `-` for a block of a line that has no uuid."""
    for line in transcript.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        message = entry.get("message") if entry["type"] in ("user", "assistant") else None
        content = message["content"] if message else ""
        for number in range(len(content) if isinstance(content, list) else 1):
            yield f"{entry['uuid']}:{number}" if "uuid" in entry else "-"


def rows(sandbox: Sandbox, query: str, *given: str) -> list[tuple[str, ...]]:
    """Rows of the store, which is only read."""
    db = sqlite3.connect(f"{store(sandbox).as_uri()}?mode=ro", uri=True)
    try:
        return db.execute(query, given).fetchall()
    except sqlite3.OperationalError:  # the writer has not come by yet
        return []
    finally:
        db.close()


def kept(sandbox: Sandbox, session: str) -> Counter[str]:
    """How often each block of a session was kept."""
    found = rows(sandbox, "select id, kind from event where session = ?", session)
    return Counter("-" if id.startswith("h-") else id for id, kind in found if kind not in OURS)


def written(sandbox: Sandbox, session: str) -> Counter[str]:
    """How often each block stands in the transcripts of a session and its subagents."""
    files = [path for path in sandbox.transcripts() if session in str(path)]
    return Counter(block for path in files for block in blocks(path))


def assert_all_kept_once(sandbox: Sandbox, session: str) -> None:
    """Every block is in the store, once, and nothing else is."""
    try:
        wait_for(lambda: kept(sandbox, session) >= written(sandbox, session), "every block", patience=20)
    except TimeoutError:
        pass  # the comparison says more
    assert kept(sandbox, session) == written(sandbox, session)
