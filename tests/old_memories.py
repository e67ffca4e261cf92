"""Memories as other tools write them, made by their formats: what `import` has to bring in."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"  # as a token of GitHub looks
ENTRIES = (
    {"ts": "2026-01-13T11:02:03.123Z", "role": "user", "text": "Move the login to JWT, the auditors want it."},
    {"ts": "2026-01-13T11:02:09.000Z", "role": "assistant", "text": "I read the session store first."},
    {"ts": "2026-01-13T11:02:10.000Z", "role": "tool", "name": "Read", "target": "/app/auth.py", "lines": "1-80"},
    {"ts": "2026-01-13T11:02:20.000Z", "role": "tool", "name": "Bash", "cmd": "pytest -q tests/test_login.py"},
    {"ts": "2026-01-13T11:02:30.000Z", "role": "tool_result", "result": "error", "output": "zebrafish"},
)  # fmt: skip


def section(day: str, clock: str, text: str) -> str:
    return f"\n## {day}_{clock} (local {day[5:]}_{clock})\n{text}\n"


def summary(**more: Any) -> dict[str, Any]:
    """A summary as the predecessor's model wrote it, with what its own description does not name."""
    return {
        "dateRange": {"first": "2026-01-01", "last": "2026-01-13"},
        "sectionCount": 2,
        "themes": [{"name": "Authentication", "summary": "Implemented JWT-based auth.", "sessions": ["2026-01-12"]}],
        "keyDecisions": [{"decision": "Use bcrypt for passwords", "reason": "argon2 is not packaged", "date": ""}],
        "issues": [{"issue": "Login timeout bug", "status": "resolved", "date": "2026-01-13"}],
        "overallSummary": "This period focused on the authentication system.",
        **more,
    }  # fmt: skip


def predecessor(project: Path, root: str = ".claude/memory", rolling: str = "memory") -> dict[str, int]:
    """The memory of the earlier plugin in a project; how much of each kind it holds."""
    folder = project / root
    (folder / "sessions").mkdir(parents=True)
    (folder / "logs").mkdir()
    carried = section("2026-01-12", "1700", "Wrote the migration of the session table.")
    (folder / f"{rolling}_20260113_120000.md").write_text(
        section("2026-01-12", "0900", "Chose JWT over server sessions: the gateway has no store.") + carried
    )
    (folder / f"{rolling}_20260113_120000.summary.json").write_text(json.dumps(summary()))
    quokka = section("2026-01-19", "1000", "Moved the quokka parser.")
    (folder / f"{rolling}_20260120_080000.md").write_text(carried + quokka)  # each begins with what the last ended with
    (folder / f"{rolling}.md").write_text(
        quokka
        + section("2026-02-01", "1727", f"- Rate limits are per tenant.\n- The token is {SECRET}.")
        + section("2026-02-02", "0800", "Fixed the flamingo test on CI.")
    )
    (folder / "memory-index.json").write_text(
        json.dumps(
            {
                "version": 1,
                "current": f"{rolling}.md",
                "rotatedFiles": [{"file": f"{rolling}_20260113_120000.md", "summaryGenerated": True}],
                "stats": {"totalRotations": 2, "lastRotation": None},
                "counter": 7,
                "lastMemoryUpdateTs": "2026-02-02T08:00:00.000Z",
            }
        )
    )
    (folder / "project.md").write_text("# Shop\nA shop for narwhals.\n")
    (folder / "conventions.md").write_text("Always say please to the linter.\n")
    lines = [json.dumps(entry) for entry in ENTRIES]
    (folder / "sessions/2026-01-13_1130.l1.jsonl").write_text("\n".join(lines))
    # a second file of the same session says the first lines again
    (folder / "sessions/2026-01-13_1145_0badcafe.l1.jsonl").write_text("\n".join(lines[:3]))
    return {"section": 5, "archive": 1, "summary": 1, "standing note": 2, "session line": 8}


def claude_mem(path: Path, more: str = "") -> None:
    """A database of claude-mem: 5 observations, a summary and a prompt of the project `app`, and others of `other`."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript((DATA / "claude-mem.sql").read_text(encoding="utf-8") + more)


def continuous_claude(project: Path) -> None:
    """A ledger and two handoffs as Continuous-Claude's skills have them written."""
    ledgers, handoffs = project / "thoughts/ledgers", project / "thoughts/shared/handoffs/auth"
    ledgers.mkdir(parents=True)
    handoffs.mkdir(parents=True)
    (ledgers / "CONTINUITY_CLAUDE-auth.md").write_text(
        "# Session: auth\nUpdated: 2026-01-08T16:30:00Z\n\n## Goal\nLogin by SMS, for the puffin pilot.\n\n"
        "## Key Decisions\n- Codes are hashed: a dump must not help.\n\n## State\n- Done: [x] Phase 1\n"
    )
    (ledgers / "CONTINUITY_TEMPLATE.md").write_text("## Goal\n{goal}\n")
    (handoffs / "2026-01-08_16-30_sms-gateway.yaml").write_text(
        "---\nsession: auth\ndate: 2026-01-08\nstatus: partial\noutcome: PARTIAL_PLUS\n---\n\n"
        "goal: Send codes through the gateway\nnow: Retry on the toucan error\ntest: pytest tests/test_sms.py\n"
        f"worked:\n  - token {SECRET}\n"
    )
    (handoffs / "task-01.md").write_text(
        '---\ndate: "2026-01-09T10:00:00Z"\n---\n# Task\n\n## Next\nMeasure the gecko.\n'
    )
