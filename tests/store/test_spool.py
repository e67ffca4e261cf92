"""Records are kept whole and once, whoever is killed and however many write at the same moment."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.store import spool

SRC = Path(spool.__file__).parents[2]
RECORDS = st.dictionaries(st.text(max_size=8), st.text(max_size=40) | st.integers() | st.none(), max_size=5)


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "keeper")


def file_of(home: str, session: str = "s1") -> Path:
    return Path(home, "spool", f"{session}.spool")


def read(home: str, session: str = "s1") -> list[dict[str, Any]]:
    return list(spool.records(file_of(home, session).read_bytes()))


@given(st.lists(RECORDS, max_size=12))
def test_what_was_appended_is_read(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    for record in records:
        spool.append(home, "s1", record)
    assert not records or read(home) == records


@given(st.lists(RECORDS, min_size=1, max_size=6), st.data())
def test_a_cut_write_costs_only_itself(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], data: st.DataObject
) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    for record in records:
        spool.append(home, "s1", record)
    size = file_of(home).stat().st_size
    last = len(file_of(home).read_bytes().splitlines(keepends=True)[-1])
    os.truncate(file_of(home), size - data.draw(st.integers(1, last)))
    spool.append(home, "s1", {"after": True})
    found = read(home)
    assert found[-1] == {"after": True}
    assert found[:-1] in (records, records[:-1]), "all before it, and itself when only its newline was lost"


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, garbage: bytes) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    spool.append(home, "s1", {"a": 1})
    with file_of(home).open("ab") as file:
        file.write(garbage)
    spool.append(home, "s1", {"b": 2})
    known = [{"a": 1}, {"b": 2}]
    assert [record for record in read(home) if record in known] == known


@pytest.mark.parametrize("body", [b' {"a":1,}', b' {"a":\xff}', b' {"a":' + b"[" * 100_000])
def test_what_is_no_record_costs_only_itself(home: str, body: bytes) -> None:
    """Framed as it should be, by whom ever."""
    spool.append(home, "s1", {"event": "Stop", "at": 1.0})
    with file_of(home).open("ab") as file:
        file.write(b"%08x %08x%b\n" % (len(body) - 1, zlib.crc32(body[1:]), body))
    spool.append(home, "s1", {"event": "Stop", "at": 2.0})
    assert [record["at"] for record in read(home)] == [1.0, 2.0]


def test_a_changed_byte_is_noticed(home: str) -> None:
    for number in range(3):
        spool.append(home, "s1", {"number": number, "text": "abc"})
    data = file_of(home).read_bytes()
    file_of(home).write_bytes(data.replace(b'"number":1,"text":"abc"', b'"number":1,"text":"abd"'))
    assert [record["number"] for record in read(home)] == [0, 2]


def test_it_says_when_another_page_is_full(home: str) -> None:
    told, pages = 0, 0
    for _ in range(100):
        told += spool.append(home, "s1", {"text": "x" * 1000})
        pages = file_of(home).stat().st_size // spool.PAGE
        assert told == pages
    assert pages > 3


def test_sessions_are_apart(home: str) -> None:
    assert spool.names(home) == []
    spool.append(home, "b", {"n": 1})
    spool.append(home, "a", {"n": 2})
    assert spool.names(home) == ["a", "b"]
    assert read(home, "a") == [{"n": 2}]


def test_it_is_private_whatever_the_umask(home: str) -> None:
    before = os.umask(0)
    try:
        spool.append(home, "s1", {"n": 1})
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (Path(home), Path(home, "spool"), file_of(home))]
    assert modes == [0o700, 0o700, 0o600]


def test_a_link_is_not_followed(home: str, tmp_path: Path) -> None:
    spool.append(home, "s1", {"n": 1})
    target = tmp_path / "bashrc"
    target.write_text("untouched")
    file_of(home).unlink()
    file_of(home).symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        spool.append(home, "s1", {"n": 2})
    assert target.read_text() == "untouched"


def test_it_goes_only_when_all_of_it_was_moved(home: str) -> None:
    spool.append(home, "s1", {"n": 1})
    size = file_of(home).stat().st_size
    spool.append(home, "s1", {"n": 2})
    assert not spool.remove(home, "s1", size)
    assert read(home) == [{"n": 1}, {"n": 2}]
    assert spool.remove(home, "s1", file_of(home).stat().st_size)
    assert spool.names(home) == []
    assert not spool.remove(home, "s1", 0)
    spool.append(home, "s1", {"n": 3})
    assert read(home) == [{"n": 3}]


def test_it_stays_while_somebody_writes(home: str) -> None:
    spool.append(home, "s1", {"n": 1})
    writer = spool._open(home, "s1")
    try:
        assert not spool.remove(home, "s1", file_of(home).stat().st_size)
    finally:
        os.close(writer)
    assert spool.remove(home, "s1", file_of(home).stat().st_size)


def test_many_writers_at_once_lose_nothing_while_one_takes_away(home: str) -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from memory_keeper.store import spool
for number in range(60):
    spool.append(sys.argv[2], "s1", {"who": sys.argv[3], "number": number, "text": "x" * 500})
"""
    writers = [subprocess.Popen([sys.executable, "-I", "-c", code, str(SRC), home, str(who)]) for who in range(6)]
    seen: list[dict[str, Any]] = []
    while any(writer.poll() is None for writer in writers):
        try:
            data = file_of(home).read_bytes()
        except FileNotFoundError:
            continue
        if spool.remove(home, "s1", len(data)):
            seen += spool.records(data)
    if file_of(home).exists():
        seen += read(home)
    assert [writer.wait(30) for writer in writers] == [0] * 6
    for who in map(str, range(6)):
        assert [record["number"] for record in seen if record["who"] == who] == list(range(60))
