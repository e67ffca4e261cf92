"""The gauge is what the plainest reading says, whatever a file ends in; limits are what the host was seen to do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.capture.gauge import BLOCK, COUNTS, find_limits, known_window, read_gauge
from memory_keeper.request import Gauge, Limits
from tests.rows import rows
from tests.transcripts import MODEL, Row, Transcript, dump

OPUS, SONNET, OLDER, PLAIN = "claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-8", "claude-sonnet-4-5"
NEW, OLD = "2.1.325", "2.1.197"
OTHER = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s1.jsonl"


def grown() -> Transcript:
    """A session whose last response was given 50,000 tokens."""
    t = Transcript("s1", "/p")
    t.prompt("Make the parser strict.")
    t.reply("I look.", usage=40_000)
    t.call("Read", {"file_path": "/p/a.py"}, "x = 1")
    t.reply("Done.", usage=50_000)
    return t


def tokens(path: Path, data: bytes | Transcript) -> int | None:
    path.write_bytes(data.raw() if isinstance(data, Transcript) else data)
    gauge = read_gauge(str(path))
    return gauge.tokens if gauge else None


def plainly(data: bytes) -> int | None:
    """The gauge, read forwards and whole."""
    found = None
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if not isinstance(row, dict) or row.get("isSidechain"):
            continue
        if row["type"] == "system" and row.get("subtype") == "compact_boundary":
            found = row["compactMetadata"].get("postTokens")
        if row["type"] == "assistant" and row["message"]["model"] != "<synthetic>":
            found = sum(row["message"]["usage"].get(name, 0) for name in COUNTS) or found
    return found


def response(usage: Any, **fields: Any) -> bytes:
    """An assistant row of which something is odd."""
    message = {"model": fields.pop("model", MODEL), "role": "assistant", "content": [], "usage": usage}
    return dump({"type": "assistant", "isSidechain": False, "message": message, **fields})


# --- the gauge --------------------------------------------------------------------------------------------------------


def test_it_is_what_the_newest_response_was_given(path: Path) -> None:
    counts = {"input_tokens": 3, "cache_read_input_tokens": 40_000, "cache_creation_input_tokens": 500}
    t = grown()
    t.reply("More.", usage={**counts, "output_tokens": 7_000})
    assert tokens(path, t) == 40_503
    row = t.lines[-1]
    assert read_gauge(str(path)) == Gauge(40_503, MODEL, row["timestamp"], NEW, False)


def test_every_row_of_a_response_says_the_same(path: Path) -> None:
    t = grown()
    t.reply("One.", "Two.", "Three.", usage=61_000)
    assert tokens(path, t) == 61_000


@pytest.mark.parametrize("kind", ["sidechain", "synthetic", "error", "zero", "none", "words", "no model"])
def test_rows_that_do_not_count(path: Path, kind: str) -> None:
    t = grown()
    counts = {"input_tokens": 199_999}
    if kind == "sidechain":
        t.sidechain("Look around.", "Nothing.")
    if kind == "error":
        t.api_error()
    odd = {
        "synthetic": response(counts, model="<synthetic>"),
        "zero": response(dict.fromkeys(COUNTS, 0)),
        "none": response(None) + response([1]) + response({}),
        "words": response({"input_tokens": "199999", "cache_read_input_tokens": True}) + response({COUNTS[0]: -5}),
        "no model": response(counts, model=None),
    }
    assert tokens(path, t.raw() + odd.get(kind, b"")) == 50_000


def test_rows_of_every_other_kind_are_passed_over(path: Path) -> None:
    t = grown()
    t.queue("And then?")
    t.attachment("hook_success", content="usage assistant compact_boundary")
    t.request()
    t.snapshot("/p/a.py")
    t.stop()
    assert tokens(path, t) == 50_000


@pytest.mark.parametrize(
    "end",
    [
        b'{"type":"assistant","message":{"model":"x","usage":{"input_tokens":199',
        b"\n\n\n",
        b"\xff\xfe\x00\x01 not text \xc3\x28\n",
        b'"usage" "assistant" "compact_boundary"\n',
        b'{"type":"assistant","usage":{"input_tokens":5}}\n',
        b'["usage","assistant","compact_boundary"]\n',
        b'{"type":"system","subtype":"compact_boundary"\n',
        b'{"a":' * 100_000 + b'"usage","assistant"\n',
        b"\r\n",
    ],
    ids=["torn", "blank", "not UTF-8", "not JSON", "no message", "list", "torn boundary", "deep", "CRLF"],
)
def test_a_broken_end_costs_only_itself(path: Path, end: bytes) -> None:
    assert tokens(path, grown().raw() + end) == 50_000


def test_the_last_line_need_not_end(path: Path) -> None:
    assert tokens(path, grown().raw().rstrip(b"\n")) == 50_000


def test_a_response_with_bytes_that_are_no_text_still_counts(path: Path) -> None:
    t = grown()
    t.reply("It says XYZ.", usage=60_000)
    assert tokens(path, t.raw().replace(b"XYZ", b"\xff\xfe\xc3")) == 60_000


@pytest.mark.parametrize("size", [1 << 20, 20 << 20])
@pytest.mark.parametrize("last", ["result", "response", "torn"])
def test_huge_lines_at_the_end(path: Path, size: int, last: str) -> None:
    t = grown()
    if last == "result":
        t.call("Bash", {"command": "cat big"}, "usage " * (size // 6))
    if last == "response":
        t.reply("word " * (size // 5), usage=60_000)
    data = t.raw() + (b'{"type":"user","x":"' + b"y" * size if last == "torn" else b"")
    assert tokens(path, data) == plainly(data)


FAKE = json.loads(response({"input_tokens": 199_999}))
CLAIM = '"usage":{"input_tokens":199999}'


@pytest.mark.parametrize("result", [CLAIM, dump(FAKE).decode(), f"\n{dump(FAKE).decode()}\n"])
def test_no_text_of_a_tool_s_is_taken_for_a_response(path: Path, result: str) -> None:
    t = grown()
    for tool in ("Bash", "mcp__x__y"):
        t.call(tool, {"command": result}, result)
    t.prompt(result)
    assert tokens(path, t) == plainly(t.raw()) != 199_999


def test_no_object_of_a_tool_s_is_taken_for_a_response(path: Path) -> None:
    t = grown()
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"postTokens": 7}}
    for row in t.call("mcp__x__y", {"like": FAKE, "message": FAKE["message"], "or": boundary}, "ok"):
        if row["type"] == "user":
            row["toolUseResult"] = {**FAKE, "inner": [FAKE, boundary]}
    t.attachment(
        "hook_success", **{"usage": FAKE["message"]["usage"], "as": "assistant", "subtype": "compact_boundary"}
    )
    assert tokens(path, t) == plainly(t.raw()) != 199_999


def test_a_response_that_speaks_of_a_boundary_is_a_response(path: Path) -> None:
    t = grown()
    t.call("Grep", {"pattern": "compact_boundary"}, "no matches")
    assert tokens(path, t) == plainly(t.raw()) != 50_000


# --- compactions ------------------------------------------------------------------------------------------------------


def test_after_a_compaction_it_is_what_that_left(path: Path) -> None:
    t = grown()
    t.compact("The parser is strict.", post=9_000)
    assert tokens(path, t) == 9_000
    found = read_gauge(str(path))
    assert found and (found.compacted, found.model, found.version) == (True, MODEL, NEW)


def test_the_next_response_counts_again(path: Path) -> None:
    t = grown()
    t.compact("The parser is strict.", post=9_000)
    t.prompt("Go on.")
    t.reply("Yes.", usage=12_000)
    assert tokens(path, t) == 12_000
    found = read_gauge(str(path))
    assert found and not found.compacted


@pytest.mark.parametrize("metadata", [{"trigger": "auto"}, {"postTokens": "9000"}, {"postTokens": 0}, None, []])
def test_a_compaction_that_does_not_say_what_it_left(path: Path, metadata: Any) -> None:
    t = grown()
    t.compact("The parser is strict.")[0]["compactMetadata"] = metadata
    assert tokens(path, t) is None
    t.reply("Yes.", usage=12_000)
    assert tokens(path, t) == 12_000


def test_a_boundary_of_a_subagent_s_is_not_ours(path: Path) -> None:
    t = grown()
    for row in t.compact("The agent's own."):
        row["isSidechain"] = True
    assert tokens(path, t) == 50_000


def test_two_compactions_in_a_row(path: Path) -> None:
    t = grown()
    t.compact("First.", post=9_000)
    t.compact("Second.", post=4_000)
    assert tokens(path, t) == 4_000


def test_a_file_that_begins_with_a_compaction(path: Path) -> None:
    t = Transcript("s1", "/p")
    t.compact("Of another file.", post=9_000)
    assert tokens(path, t) == 9_000
    assert read_gauge(str(path)) == Gauge(9_000, "", "", "", True)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n", b"\n" * (BLOCK + 1), b"x" * (3 * BLOCK)])
def test_a_file_that_says_nothing(path: Path, data: bytes) -> None:
    assert tokens(path, data) is None


def test_what_is_no_file_of_ours(tmp_path: Path, path: Path) -> None:
    grown().write(tmp_path / "real.jsonl")
    path.symlink_to(tmp_path / "real.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("missing.jsonl", "s1.jsonl", "pipe.jsonl", "", "real.jsonl/x"):
        assert read_gauge(str(tmp_path / name)) is None
    assert read_gauge(str(tmp_path)) is None
    assert read_gauge("/dev/zero") is None


# --- any transcript ---------------------------------------------------------------------------------------------------

TOKENS = st.integers(10_000, 10**6)
MOVES = st.one_of(
    st.tuples(st.just("reply"), TOKENS),
    st.tuples(st.just("compact"), st.none() | TOKENS),
    st.tuples(st.just("side compact"), TOKENS),
    st.tuples(st.just("call"), st.sampled_from(["ok", CLAIM, "compact_boundary", dump(FAKE).decode()])),
    st.tuples(st.just("call"), st.sampled_from([BLOCK - 900, BLOCK, 3 * BLOCK]).map(lambda size: "x" * size)),
    st.tuples(st.sampled_from(["prompt", "sidechain", "error", "stop"]), st.just("usage")),
)


def move(t: Transcript, kind: str, what: Any) -> None:
    if kind == "reply":
        t.reply("Yes.", usage=what)
    elif kind == "compact":
        row = t.compact("So far so good.", post=what)[0]
        if what is None:
            del row["compactMetadata"]["postTokens"]
    elif kind == "side compact":
        t.compact("Not ours.", post=what)[0]["isSidechain"] = True
    elif kind == "call":
        t.call("Bash", {"command": what}, what)
    elif kind == "prompt":
        t.prompt(what)
    elif kind == "sidechain":
        t.sidechain(what, what)
    elif kind == "error":
        t.api_error()
    else:
        t.stop()


@given(st.lists(MOVES, max_size=12), st.integers(0, 400))
@example([("reply", 50_000), ("compact", None), ("prompt", "usage")], 0)
@example([("reply", 50_000), ("compact", 9_000), ("compact", None)], 3)
def test_any_transcript_cut_anywhere(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, Any]], lost: int
) -> None:
    t = Transcript("s1", "/p")
    for kind, what in moves:
        move(t, kind, what)
    data = t.raw()
    data = data[: len(data) - lost] if lost < len(data) else data
    assert tokens(tmp_path_factory.mktemp("t") / "s1.jsonl", data) == plainly(data)


# --- windows and where they end ---------------------------------------------------------------------------------------

ONE, TWO, UNSAID = 1_000_000, 200_000, 0
WINDOWS = [  # model, new host, old host, old host at another address
    (OPUS, ONE, TWO, TWO),
    ("claude-haiku-5-5", ONE, TWO, TWO),
    ("claude-fable-9", ONE, TWO, TWO),
    ("some-proxy-model", ONE, TWO, TWO),
    (SONNET, ONE, ONE, TWO),
    (OLDER, ONE, ONE, TWO),
    ("claude-opus-4-7", ONE, ONE, TWO),
    *((f"claude-{name}", TWO, TWO, TWO) for name in ("opus-4-6", "sonnet-4-6", "sonnet-4-5", "haiku-4-5")),
    *((f"claude-{name}", TWO, TWO, TWO) for name in ("sonnet-4-20250514", "opus-4-1", "3-7-sonnet-20250219")),
    *((f"claude-{name}[1m]", ONE, ONE, ONE) for name in ("sonnet-4-5", "opus-4-6", "opus-5-5")),
    ("", UNSAID, UNSAID, UNSAID),
]


@pytest.mark.parametrize(("model", "new", "old", "elsewhere"), WINDOWS)
def test_the_window_of_a_model(model: str, new: int, old: int, elsewhere: int) -> None:
    assert known_window(model, NEW, {}) == known_window(model, NEW, OTHER) == new
    assert known_window(model, OLD, {}) == known_window(model, OLD, {"ANTHROPIC_BASE_URL": ""}) == old
    assert known_window(model, OLD, OTHER) == elsewhere
    assert known_window(model, NEW, {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}) == TWO
    assert known_window(model, NEW, {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "0"}) == new


@pytest.mark.parametrize("version", ["2.1.250", "", "unknown", "2"])
def test_between_two_measured_hosts_a_window_that_changed_is_not_known(version: str) -> None:
    if version != "2":  # older than both
        assert find_limits(0, OPUS, version, 5_000, [], {}) == Limits()
    assert known_window(PLAIN, version, {}) == TWO


W, MOST, PERCENT = "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
USER, PROJECT = "/home/me/.claude/settings.json", "/p/.claude/settings.json"


def own(window: Any, model: str = OPUS) -> Row:
    return {"modelSettings": {model: {"autoCompactWindow": window}}}


POINTS: list[tuple[str, str, dict[str, str], list[tuple[str, Row]], int]] = [
    # model, host, environment, settings, where it compacts
    (OPUS, NEW, {}, [], 967_000),
    (SONNET, NEW, {}, [], 967_000),
    ("claude-fable-9", NEW, {}, [], 967_000),
    (OPUS, NEW, {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, [], 167_000),
    (OPUS, NEW, {W: "100000"}, [], 67_000),
    (OPUS, NEW, {W: "50000"}, [], 67_000),
    (OPUS, NEW, {W: "200000"}, [], 167_000),
    (OPUS, NEW, {W: "500000"}, [], 467_000),
    (OPUS, NEW, {W: "9000000"}, [], 967_000),
    (OPUS, NEW, {W: "auto"}, [], 967_000),
    (OPUS, NEW, {MOST: "8000"}, [], 979_000),
    (OPUS, NEW, {MOST: "64000"}, [], 967_000),
    (OPUS, NEW, {PERCENT: "50"}, [], 490_000),
    (OPUS, NEW, {PERCENT: "100"}, [], 967_000),
    (OPUS, NEW, {PERCENT: "0"}, [], 967_000),
    (OPUS, NEW, {PERCENT: "150"}, [], 967_000),
    (OPUS, NEW, {PERCENT: "50", W: "200000"}, [], 90_000),
    (OPUS, NEW, {}, [(USER, {"autoCompactWindow": 300_000})], 267_000),
    (OPUS, NEW, {}, [(USER, {"autoCompactWindow": "auto"})], 967_000),
    (OPUS, NEW, {}, [(USER, {"autoCompactWindow": 50_000})], 967_000),
    (OPUS, NEW, {W: "200000"}, [(USER, {"autoCompactWindow": 300_000})], 167_000),
    (OPUS, NEW, {}, [(USER, {"autoCompactWindow": 300_000}), (PROJECT, {"autoCompactWindow": 400_000})], 367_000),
    (OPUS, NEW, {}, [(USER, {"autoCompactWindow": 300_000, **own(500_000)})], 467_000),
    (OPUS, NEW, {}, [(USER, own(500_000)), (PROJECT, {"autoCompactWindow": 400_000})], 367_000),
    (OPUS, NEW, {}, [(USER, own(500_000, PLAIN))], 967_000),
    (OPUS, NEW, {}, [(USER, {"modelSettings": [], "autoCompactEnabled": "no"})], 967_000),
    (PLAIN, NEW, {}, [], 200_000),  # it goes on until the model refuses
    (PLAIN, NEW, {PERCENT: "50"}, [], 200_000),
    (PLAIN, NEW, {W: "200000"}, [], 167_000),
    (PLAIN, NEW, {W: "500000"}, [], 167_000),
    ("claude-haiku-4-5", NEW, {}, [], 200_000),
    (f"{PLAIN}[1m]", NEW, {}, [], 1_000_000),
    ("claude-opus-4-6", NEW, {}, [], 167_000),
    ("claude-sonnet-4-6", OLD, {}, [], 167_000),
    (PLAIN, OLD, {}, [], 200_000),
    (OPUS, OLD, {}, [], 200_000),
    (OLDER, OLD, {}, [], 1_000_000),
    (SONNET, OLD, {}, [], 934_000),
    (SONNET, OLD, OTHER, [], 167_000),
    (PLAIN, OLD, {}, [(USER, {"autoCompactWindow": 150_000})], 117_000),
    (PLAIN, OLD, {}, [(USER, own(150_000, PLAIN))], 200_000),  # it does not know them yet
]


@pytest.mark.parametrize(("model", "version", "environ", "hosts", "at"), POINTS)
def test_where_it_compacts(
    model: str, version: str, environ: dict[str, str], hosts: list[tuple[str, Row]], at: int
) -> None:
    found = find_limits(0, model, version, 5_000, hosts, environ)
    assert (found.compacts_at, found.refuses_at) == (at, 0)
    assert found.window == known_window(model, version, environ)


@pytest.mark.parametrize(
    ("model", "environ", "hosts", "at"),
    [
        (PLAIN, {"DISABLE_AUTO_COMPACT": "1"}, [], 177_000),
        (PLAIN, {"DISABLE_COMPACT": "true"}, [], 177_000),
        (OPUS, {"DISABLE_COMPACT": "1"}, [], 977_000),
        (OPUS, {}, [(USER, {"autoCompactEnabled": False})], 977_000),
        (OPUS, {}, [(USER, {"autoCompactEnabled": True}), (PROJECT, {"autoCompactEnabled": False})], 977_000),
        (OPUS, {"DISABLE_COMPACT": "1"}, [(PROJECT, {"autoCompactEnabled": True})], 977_000),
        (OPUS, {}, [(PROJECT, {"autoCompactEnabled": False, "autoCompactWindow": 300_000})], 977_000),
        (PLAIN, {"DISABLE_COMPACT": "1", MOST: "8000"}, [], 189_000),
    ],
)
def test_where_it_refuses_when_it_does_not_compact(
    model: str, environ: dict[str, str], hosts: list[tuple[str, Row]], at: int
) -> None:
    found = find_limits(0, model, NEW, 5_000, hosts, environ)
    assert (found.compacts_at, found.refuses_at) == (0, at)


@pytest.mark.parametrize(
    ("environ", "hosts"),
    [
        ({"DISABLE_AUTO_COMPACT": "0", "DISABLE_COMPACT": ""}, []),
        ({}, [(USER, {"autoCompactEnabled": False}), (PROJECT, {"autoCompactEnabled": True})]),
    ],
)
def test_it_compacts_all_the_same(environ: dict[str, str], hosts: list[tuple[str, Row]]) -> None:
    assert find_limits(0, OPUS, NEW, 5_000, hosts, environ).compacts_at == 967_000


def test_what_the_host_says_itself_counts() -> None:
    assert find_limits(200_000, OPUS, NEW, 5_000, [], {}) == Limits(200_000, 167_000)
    assert find_limits(500_000, "", "", 5_000, [], {}).window == 500_000


def test_tokens_that_are_there_are_there_whatever_a_table_says() -> None:
    assert find_limits(0, PLAIN, NEW, 200_001, [], {}).window == ONE
    assert find_limits(0, PLAIN, NEW, 200_000, [], {}).window == TWO
    assert find_limits(0, OPUS, NEW, 1_000_001, [], {}) == Limits()
    assert find_limits(0, OPUS, "2.1.250", 300_000, [], {}) == Limits(), "larger than small is not yet large"


def test_what_the_host_s_settings_put_into_the_environment_counts() -> None:
    hosts: list[tuple[str, Any]] = [("user", {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000"}})]
    process = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
    assert find_limits(1_000_000, "claude-opus-5-5", "2.1.325", 0, hosts, process).compacts_at == 267_000
    hosts = [("user", {"env": "nonsense"}), ("project", {"env": {"DISABLE_AUTO_COMPACT": 1}})]
    assert find_limits(200_000, "claude-opus-4-6", "2.1.325", 0, hosts, {}).refuses_at == 177_000


@rows("name", "value", "compacts", "refuses")
def test_variables_are_read_as_the_host_reads_them(name: str, value: str, compacts: int, refuses: int) -> None:
    found = find_limits(200_000, "claude-sonnet-4-6", "2.1.325", 0, [], {name: value})
    assert found == Limits(200_000, compacts, refuses)
