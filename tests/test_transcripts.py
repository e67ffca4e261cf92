"""The transcripts that other tests are made of are themselves what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests import transcripts
from tests.transcripts import big

CWD = "/home/dev/uploader"
DEMO = Path(__file__).parents[1] / "src/memory_keeper/data/demo.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def context(row: dict[str, Any]) -> int:
    usage = row["message"]["usage"]
    return sum(usage[f"{kind}input_tokens"] for kind in ("", "cache_creation_", "cache_read_"))


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert transcripts.session(seed=3).raw() == transcripts.session(seed=3).raw() != transcripts.session(seed=4).raw()


def test_big_is_like_the_real_ones(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    lines = big(path, transcripts.POOL)
    sizes = sorted(map(len, path.read_bytes().split(b"\n")))
    assert 900 < sizes[lines // 2] < 1700
    assert 15_000 < sizes[lines * 99 // 100] < 60_000
    used = [context(row) for row in read(path) if row["type"] == "assistant"]
    assert max(used) < 200_000
    assert any(row.get("subtype") == "compact_boundary" for row in read(path))


def test_the_shipped_demo_tells_its_story() -> None:
    rows = read(DEMO)
    assert 60 <= len(rows) <= 90
    assert all(row["cwd"] == CWD for row in rows if "cwd" in row)
    used = [context(row) for row in rows if row["type"] == "assistant"]
    (boundary,) = [row["compactMetadata"] for row in rows if row.get("subtype") == "compact_boundary"]
    assert boundary["trigger"] == "auto"
    assert max(used) < boundary["preTokens"] == 168_112
    top = used.index(max(used))
    assert used[: top + 1] == sorted(used[: top + 1])
    assert used[top + 1] < 20_000
    assert any("is_error" in str(row) and "1 failed" in str(row) for row in rows)
    (summary,) = [row for row in rows if row.get("isCompactSummary")]
    assert "tenacity" not in str(summary)  # the reason is lost in the summary: what we are for
