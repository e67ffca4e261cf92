"""Each hostile line costs only itself: its neighbours are kept, the raw bytes too, and memory stays bounded."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

import memory_keeper
from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
from memory_keeper.store.events import session_events
from tests.transcripts import Transcript

SRC = Path(memory_keeper.__file__).parents[1]
MOST = 256 << 10  # KB of memory

LINES: dict[str, bytes] = {
    "spaces": b"   ",
    "nul bytes": b'{"type":"user","a":"x\0y"}',
    "nul escaped": b'{"type":"user","message":{"content":"a\\u0000b"}}',
    "half a pair escaped": b'{"type":"user","message":{"content":"\\ud83d"}}',
    "half a pair in utf-8": b'{"type":"user","message":{"content":"\xed\xa0\xbd"}}',
    "invalid utf-8": b'{"type":"user","message":{"content":"\xff\xfe"}}',
    "overlong utf-8": b'{"t":"\xc0\xaf"}',
    "byte order mark": b'\xef\xbb\xbf{"type":"user"}',
    "utf-16": '{"type":"user"}'.encode("utf-16"),
    "cut": b'{"type":"assistant","message":{"con',
    "two objects": b'{"a":1}{"b":2}',
    "array": b"[1,2,3]",
    "empty array": b"[]",
    "number": b"42",
    "null": b"null",
    "true": b"true",
    "string": b'"x"',
    "not a number": b'{"usage":{"input_tokens":NaN}}',
    "5000 digits": b'{"n":' + b"9" * 5000 + b"}",
    "float overflow": b'{"n":1e999}',
    "negative tokens": b'{"type":"assistant","message":{"id":"m","usage":{"input_tokens":-5}}}',
    "string tokens": b'{"type":"assistant","message":{"id":"m","usage":{"input_tokens":"many"}}}',
    "infinite tokens": b'{"type":"assistant","message":{"id":"m","usage":{"input_tokens":Infinity}}}',
    "repeated keys": b'{"type":"user","type":"assistant"}',
    "deep arrays": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "less deep objects": b'{"a":' * 900 + b"1" + b"}" * 900,
    "deep input": b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"x","input":'
    + b'{"a":' * 700
    + b"1"
    + b"}" * 700
    + b"}]}}",
    "message is text": b'{"type":"assistant","message":"hi"}',
    "content is null": b'{"type":"user","message":{"role":"user","content":null}}',
    "content is a number": b'{"type":"user","message":{"role":"user","content":7}}',
    "content is nested": b'{"type":"user","message":{"content":[[["x"]]]}}',
    "block is null": b'{"type":"user","message":{"content":[null,{"type":null}]}}',
    "id goes up": b'{"type":"user","uuid":"../../../etc/passwd","sessionId":"../../x","message":{"content":"x"}}',
    "id is huge": b'{"type":"user","uuid":"' + b"u" * 100_000 + b'","message":{"content":"x"}}',
    "session with nul": b'{"sessionId":"a\\u0000b"}',
    "session with newline": b'{"sessionId":"a\\nb; rm -rf /"}',
    "time is garbage": b'{"timestamp":"yesterday"}',
    "time is far away": b'{"timestamp":"9999-12-31T23:59:59.999Z"}',
    "time is a number": b'{"timestamp":1700000000}',
    "carriage return": b'{"a":1}\r{"b":2}',
    "line separators": '{"t":"a\u2028b\u0085c"}'.encode(),
    "escape sequences": b'{"type":"user","message":{"content":"\\u001b]0;pwn\\u0007 \\u202Eevil"}}',
    "prototype": b'{"__proto__":{"x":1},"constructor":1}',
    "only quotes": b'"' * 50_000,
    "only backslashes": b'{"a":"' + b"\\" * 50_001 + b'"}',
    "a megabyte": b'{"type":"user","message":{"content":"' + b"word " * 210_000 + b'"}}',
}
# each of these takes seconds or a lot of memory when it is read carelessly
BIG: dict[str, str] = {
    "half a million keys": 'b"{" + b",".join(b\'"k%d":%d\' % (n, n) for n in range(500_000)) + b"}"',
    "a long array": 'b"[" + b"0," * 10**6 + b"0]"',
    "50 MB in one string": 'b\'{"type":"user","text":"\' + b"x" * 50_000_000 + b\'"}\'',
    "escapes": 'b\'{"type":"user","message":{"content":"\' + b"\\\\u00e9" * 1_700_000 + b\'"}}\'',
}


def neighbours(count: int) -> list[bytes]:
    t = Transcript("s1", "/p")
    for number in range(count):
        t.prompt(f"neighbour {number}")
    return t.raw().split(b"\n")[:-1]


def test_each_costs_only_itself(tmp_path: Path) -> None:
    """R33, and every other way in which a line can be no line."""
    good = neighbours(len(LINES) + 1)
    path = tmp_path / "s1.jsonl"
    mixed = [good[0]]
    for line, after in zip(LINES.values(), good[1:], strict=True):
        mixed += [line, b"", after]
    path.write_bytes(b"".join(line + b"\n" for line in mixed))
    with Keeper(str(tmp_path / "keeper"), {}) as keeper:
        added = keeper.catch_up([Source(str(path), "s1", "dir:/p")])
        assert added.finished
        events = session_events(keeper.store, "s1")
        assert [event.text for event in events if event.text.startswith("neighbour")] == [
            f"neighbour {number}" for number in range(len(good))
        ]
        assert added.lines == len(good) + len(LINES) - 1, "the blank ones say nothing"
        assert keeper.catch_up([Source(str(path), "s1", "dir:/p")]).events == 0
        assert keeper.store.problems() == []
    (archived,) = (tmp_path / "keeper/archive").iterdir()
    kept = gzip.decompress(archived.read_bytes()).split(b"\n")
    assert len(kept) == len(mixed) + 1
    assert [line for line in kept if b'"neighbour' in line] == good


@pytest.mark.parametrize("name", LINES)
def test_each_by_itself(tmp_path: Path, name: str) -> None:
    """Where a line is alone in its stretch, too."""
    path = tmp_path / "s1.jsonl"
    before, after = neighbours(2)
    source = Source(str(path), "s1", "dir:/p")
    with Keeper(str(tmp_path / "keeper"), {}) as keeper:
        for line in (before, LINES[name], after):
            with path.open("ab") as file:
                file.write(line + b"\n")
            keeper.catch_up([source])
        texts = [event.text for event in session_events(keeper.store, "s1") if event.text.startswith("neighbour")]
        assert texts == ["neighbour 0", "neighbour 1"]
        for event in session_events(keeper.store, "s1"):
            assert "\0" not in event.text
            json.dumps(event)


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
with Keeper(sys.argv[2], {}) as keeper:
    added = keeper.catch_up([Source(sys.argv[3], "s1", "dir:/p")])
(most,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(added.lines, added.finished, most)
"""


@pytest.mark.parametrize("name", BIG)
def test_memory_stays_bounded(tmp_path: Path, name: str) -> None:
    before, after = neighbours(2)
    path = tmp_path / "s1.jsonl"
    # made in the child's child: what this process holds must not count
    path.write_bytes(before + b"\n")
    code = f"import sys; file = open(sys.argv[1], 'ab'); file.write({BIG[name]}); file.write(b'\\n')"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
    with path.open("ab") as file:
        file.write(after + b"\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHILD, str(SRC), str(tmp_path / "keeper"), str(path)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stderr == ""
    lines, finished, memory = done.stdout.split()
    assert (lines, finished) == ("3", "True")

    assert int(memory) < MOST, f"{int(memory) >> 10} MB"
    with Keeper(str(tmp_path / "keeper"), {}) as keeper:
        events = session_events(keeper.store, "s1")
    assert [event.text for event in events if event.text.startswith("neighbour")] == ["neighbour 0", "neighbour 1"]
