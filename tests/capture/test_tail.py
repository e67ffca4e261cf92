"""Every whole line is read once, however the bytes arrive; a file that is another one than before is noticed."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.capture import tail
from memory_keeper.model import Source

LINES = st.lists(
    st.binary(max_size=60).filter(lambda line: b"\n" not in line)
    | st.sampled_from([b"", b"{}", b"\xff", b"\0", b"\r", b"x" * 5000, "\u2028\u0085".encode()]),
    max_size=20,
)
DISTINCT = st.lists(
    st.binary(min_size=1, max_size=40).filter(lambda line: b"\n" not in line), min_size=2, max_size=15, unique=True
)


def read_all(source: Source, chunk: int = tail.CHUNK) -> tuple[Source, list[bytes], int]:
    """Everything there is to read: the source after it, the lines, and how often the file was another one."""
    lines: list[bytes] = []
    replaced = 0
    while found := tail.read_new(source, chunk):
        assert found.data.endswith(b"\n")
        assert found.source.offset == found.begin + len(found.data)
        assert found.begin == (0 if found.replaced else source.offset)
        replaced += found.replaced
        lines += found.data.split(b"\n")[:-1]
        source = found.source
    return source, lines, replaced


@given(LINES, st.lists(st.integers(0, 6000), max_size=12), st.booleans(), st.sampled_from([1, 7, 64, tail.CHUNK]))
@example([b"x" * 100, b"y"], [50, 100, 101, 102], True, 7)
def test_any_split_into_appends_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int], ended: bool, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("tail") / "t.jsonl"
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    source, seen, begin = Source(str(path), "s", "p"), [], 0
    for cut in sorted({min(cut, len(data)) for cut in cuts} | {len(data)}):
        with path.open("ab") as file:
            file.write(data[begin:cut])
        source, new, replaced = read_all(source, chunk)
        assert not replaced
        seen += new
        begin = cut
    assert seen == data.split(b"\n")[:-1]


@given(DISTINCT, st.data())
def test_a_file_that_was_changed_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("tail") / "t.jsonl"
    whole = b"".join(line + b"\n" for line in lines)
    path.write_bytes(whole)
    source, _, _ = read_all(Source(str(path), "s", "p"))
    how = data.draw(st.sampled_from(["cut", "rewritten", "rotated", "other bytes"]))
    if how == "cut":
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    elif how == "rewritten":
        path.write_bytes(b"changed\n" + whole)
    elif how == "rotated":
        path.rename(path.with_suffix(".old"))
        path.write_bytes(b"new session\n" * data.draw(st.integers(1, 100)))
    else:
        at = data.draw(st.integers(0, len(whole) - 1))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    _, again, replaced = read_all(source)
    wanted = path.read_bytes().split(b"\n")[:-1]
    assert replaced == bool(wanted)
    assert again == wanted


def test_replaced_with_one_of_equal_size(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"a" * 9999 + b"\n")
    source, _, _ = read_all(Source(str(path), "s", "p"))
    path.unlink()
    path.write_bytes(b"b" * 9999 + b"\n")
    found = tail.read_new(source)
    assert found and found.replaced
    assert found.data == b"b" * 9999 + b"\n"


@pytest.mark.parametrize("place", [10, 4000, 9_900])
def test_rewritten_in_place_near_the_start_or_the_end(tmp_path: Path, place: int) -> None:
    path = tmp_path / "t.jsonl"
    data = b"".join(b"%098d\n" % number for number in range(102))
    path.write_bytes(data[:9900])
    source, _, _ = read_all(Source(str(path), "s", "p"))
    at = min(place, 9_800)
    path.write_bytes(data[:at] + b"X" + data[at + 1 :])
    found = tail.read_new(source)
    assert found and found.replaced


def test_the_head_grows_with_the_file(tmp_path: Path) -> None:
    """A file that was short when it was first seen is known by its first 4 KB later."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"short\n")
    source, _, _ = read_all(Source(str(path), "s", "p"))
    with path.open("ab") as file:
        file.write(b"y" * 50_000 + b"\n")
    source, lines, replaced = read_all(source)
    assert (len(lines), replaced) == (1, 0)
    with path.open("ab") as file:
        file.write(b"z\n")
    source, lines, replaced = read_all(source)
    assert (lines, replaced) == ([b"z"], 0)
    data = bytearray(path.read_bytes())
    data[3000] ^= 1
    path.write_bytes(data + b"more\n")
    found = tail.read_new(source)
    assert found and found.replaced


def test_a_line_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"a\n" + b"x" * 1000 + b"\nb\n" + b"y" * 500)
    source, lines, _ = read_all(Source(str(path), "s", "p"), chunk=16)
    assert lines == [b"a", b"x" * 1000, b"b"]
    assert source.offset == 2 + 1001 + 2


def test_it_says_whether_there_is_more(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"aaaa\nbbbb\ncccc\n")
    source = Source(str(path), "s", "p")
    first = tail.read_new(source, 7)
    assert first and first.more
    rest = tail.read_new(first.source)
    assert rest and not rest.more
    assert rest.data == b"bbbb\ncccc\n"
    assert tail.read_new(rest.source) is None


def test_no_file_is_nothing_new(tmp_path: Path) -> None:
    assert tail.read_new(Source(str(tmp_path / "none.jsonl"), "s", "p")) is None
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"a\n")
    source, _, _ = read_all(Source(str(path), "s", "p"))
    path.unlink()
    assert tail.read_new(source) is None


def test_only_regular_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "real.txt").write_bytes(b"secret\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.txt")
    monkeypatch.chdir(tmp_path)  # the name of a socket may be 107 bytes long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.jsonl")
        for name in ("pipe", "folder", "link", "socket"):
            assert tail.open_regular(str(tmp_path / f"{name}.jsonl")) is None
    for device in ("/dev/zero", "/dev/null", "/dev/tty", ""):
        assert tail.open_regular(device) is None


def test_files_of_somebody_else_are_only_root_s_to_read(tmp_path: Path) -> None:
    path = Path("/etc/passwd")
    if os.geteuid() == 0:
        path = tmp_path / "t.jsonl"
        path.write_bytes(b"a\n")
        os.chown(path, 65534, 65534)
    fd = tail.open_regular(str(path))
    assert (fd is not None) == (os.geteuid() == 0)
    if fd is not None:
        os.close(fd)


def test_a_packed_transcript_is_read_like_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\nc"))
    source, lines, _ = read_all(Source(str(path), "s", "p"))
    assert lines == [b"a", b"b"]
    path.write_bytes(b"\x1f\x8b\x08 this is no gzip")
    assert tail.read_new(source) is None
