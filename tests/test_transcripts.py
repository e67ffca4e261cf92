"""The transcripts that other tests are made of are themselves what they should be."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests import transcripts
from tests.data import make_demo
from tests.transcripts import Transcript, big, blocks

CWD = "/home/dev/uploader"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def context(row: dict[str, Any]) -> int:
    usage = row["message"]["usage"]
    return sum(usage[f"{kind}input_tokens"] for kind in ("", "cache_creation_", "cache_read_"))


def everything(version: str = "2.1.325") -> Transcript:
    t = Transcript("s1", CWD, version=version)
    t.summary("Retrying uploads")
    t.snapshot("src/uploader/client.py")
    t.prompt("Add a retry. 재시도를 넣어 주세요.")
    t.reply(
        transcripts.thinking("Where is it sent?"),
        "I look.",
        {"type": "tool_use", "id": "toolu_x", "name": "X", "input": {}},
    )
    t.call("Read", {"file_path": "a.py"}, "one\ntwo", say="Reading.", think="Hm.")
    t.call("Bash", {"command": "false"}, "Exit code 1", is_error=True)
    t.parallel(("Glob", {"pattern": "*"}, "a.py"), ("Read", {"file_path": "b.py"}, "No such file", True))
    t.multi_block("Two at once.", {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}, results=("a.py",))
    t.call("mcp__notes__add", {"text": "x"}, "Added.")
    t.call("Agent", {"description": "look", "prompt": "Look.", "subagent_type": "general-purpose"}, "Nothing there.")
    t.todo([("Write it", "in_progress"), ("Test it", "pending")])
    t.task_create("Write it")
    t.task_update("1", "completed")
    t.queue("Also the README.")
    t.task_notification()
    t.progress("1 of 9")
    t.api_error()
    t.image()
    t.meta("Caveat: the messages below come from the host.")
    t.command("compact", "keep the names", "Compacted")
    t.sidechain("Find callers.", "There are two.")
    t.attachment("hook_additional_context", content=["remember"], hookEvent="UserPromptSubmit")
    t.request()
    t.stop()
    t.compact("Summary: a retry.")
    t.prompt("Go on. \ud800")
    t.reply("Done.")
    return t


@pytest.mark.parametrize("version", ["1.0.98", "2.1.12", "2.1.325"])
def test_lines_hang_together(version: str, tmp_path: Path) -> None:
    rows = read(everything(version).write(tmp_path / "t.jsonl"))
    uuids = [row["uuid"] for row in rows if "uuid" in row]
    assert len(set(uuids)) == len(uuids)
    known = set(uuids) | {None}
    assert all(row["parentUuid"] in known for row in rows if "uuid" in row)
    called, answered = set(), set()
    for row in rows:
        for block in row["message"]["content"] if row["type"] in ("user", "assistant") else ():
            if isinstance(block, dict) and block["type"] == "tool_use":
                called.add(block["id"])
            if isinstance(block, dict) and block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
                assert block["tool_use_id"] in called
    assert called - answered == {"toolu_x"}
    assert all(row["version"] == version for row in rows if "uuid" in row)


def test_one_response_is_one_line_for_each_block_with_one_id_and_one_usage() -> None:
    t = Transcript("s1", CWD)
    t.prompt("Go")
    rows = t.reply("one", "two", "three", usage=50_000)
    assert {row["message"]["id"] for row in rows} == {rows[0]["message"]["id"]}
    assert {context(row) for row in rows} == {50_000}
    outputs = [row["message"]["usage"]["output_tokens"] for row in rows]
    assert outputs == sorted(set(outputs))


def test_results_of_parallel_calls_hang_on_their_own_call() -> None:
    t = Transcript("s1", CWD)
    rows = t.parallel(*(("Read", {"file_path": f"{n}.py"}, str(n)) for n in range(5)))
    calls, results = rows[:5], rows[5:]
    by_id = {row["message"]["content"][0]["id"]: row["uuid"] for row in calls}
    for row in results:
        assert row["parentUuid"] == by_id[row["message"]["content"][0]["tool_use_id"]] == row["sourceToolAssistantUUID"]


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert everything().raw() == everything().raw()
    assert transcripts.session(seed=3).raw() == transcripts.session(seed=3).raw() != transcripts.session(seed=4).raw()


def test_append_writes_what_is_new(tmp_path: Path) -> None:
    t, path = Transcript("s1", CWD), tmp_path / "s1.jsonl"
    t.prompt("one")
    t.append_to(path)
    t.append_to(path)
    t.reply("two")
    t.append_to(path)
    assert path.read_bytes() == t.raw()


def test_a_fork_repeats_the_lines_in_another_session() -> None:
    t = everything()
    fork = t.fork("s2")
    assert [row.get("uuid") for row in fork.lines] == [row.get("uuid") for row in t.lines]
    assert {row["sessionId"] for row in fork.lines if "sessionId" in row} == {"s2"}
    fork.reply("Elsewhere.")
    assert fork.lines[-1]["parentUuid"] == t.lines[-1]["uuid"]
    assert fork.lines[-1]["uuid"] not in {row.get("uuid") for row in t.lines}


def test_a_subagent_has_a_file_of_its_own(tmp_path: Path) -> None:
    t = Transcript("s1", CWD)
    inner = t.subagent("a17f", "Find every caller.")
    inner.call("Grep", {"pattern": "upload_part"}, "client.py:18")
    rows = read(inner.write(tmp_path / inner.name))
    assert inner.name == "s1/subagents/agent-a17f.jsonl"
    assert all(row["isSidechain"] and row["agentId"] == "a17f" and row["sessionId"] == "s1" for row in rows)
    assert t.lines == []


def test_blocks_counts_every_block(tmp_path: Path) -> None:
    t = Transcript("s1", CWD)
    t.prompt("Go")
    t.multi_block("a", {"type": "tool_use", "name": "Bash", "input": {}}, results=("ok",))
    t.summary("Title")
    t.compact("Summary")
    path = t.write(tmp_path / "t.jsonl")
    with path.open("ab") as file:
        file.write(b'\n{"half": \n')
    found = blocks(path)
    assert [kind for _, _, kind in found] == (
        ["text", "text", "tool_use", "tool_result", "summary", "system", "text", "unreadable"]
    )
    assert [number for _, number, _ in found] == [0, 0, 1, 0, 0, 0, 0, 0]
    assert found[0][0] == t.lines[0]["uuid"]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("size", [4096, 5000, 100_000, 3 * transcripts.POOL + 12_345])
def test_big_has_the_size_asked_for_and_ids_of_its_own(size: int, tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    lines = big(path, size)
    rows = read(path)
    assert path.stat().st_size == size
    assert len(rows) == lines
    uuids = Counter(row["uuid"] for row in rows if "uuid" in row)
    assert max(uuids.values()) == 1
    assert rows[-1]["type"] == "assistant"
    assert 0 < context(rows[-1]) < 200_000
    parents = {row["parentUuid"] for row in rows if "uuid" in row} - {None}
    assert len(parents - set(uuids)) == 0


def test_big_is_like_the_real_ones(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    lines = big(path, transcripts.POOL)
    sizes = sorted(map(len, path.read_bytes().split(b"\n")))
    assert 900 < sizes[lines // 2] < 1700
    assert 15_000 < sizes[lines * 99 // 100] < 60_000
    used = [context(row) for row in read(path) if row["type"] == "assistant"]
    assert max(used) < 200_000
    assert any(row.get("subtype") == "compact_boundary" for row in read(path))


def test_big_has_long_lines_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    big(path, 12 << 20, long_line_every=500)
    at = [number for number, line in enumerate(path.read_bytes().split(b"\n")) if len(line) > 1_000_000]
    assert len(at) >= 3
    assert all(400 < later - earlier < 650 for earlier, later in pairwise(at))


def test_the_shipped_demo_is_up_to_date() -> None:
    assert make_demo.DEMO.read_bytes() == make_demo.story().raw(), "run `python tests/data/make_demo.py`"


def test_the_shipped_demo_tells_its_story() -> None:
    rows = read(make_demo.DEMO)
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
