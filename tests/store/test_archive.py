"""An archive is an ordinary .gz of what counts; damage is named, and what a dead writer left is written over."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Member, Source
from memory_keeper.store import archive

SOURCE = Source("/t/s1.jsonl", "s1", "dir:/p", seq=7)
PARTS = (b'{"a":1}\n{"b":2}\n', b"", b"x" * 100_000 + b"\n", os.urandom(5000) + b"\n")


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "keeper")


def fill(home: str, parts: tuple[bytes, ...] = PARTS) -> list[Member]:
    members: list[Member] = []
    for part in parts:
        last = members[-1] if members else None
        members.append(archive.append(home, SOURCE, last, len(part), archive.compress(part)))
    return members


def file_of(home: str) -> Path:
    return Path(archive.archive_path(home, SOURCE))


def test_it_unpacks_to_the_whole(home: str) -> None:
    members = fill(home)
    assert gzip.decompress(file_of(home).read_bytes()) == b"".join(PARTS)
    assert [archive.read(home, SOURCE, member) for member in members] == list(PARTS)
    assert [member.offset for member in members] == [0, 16, 16, 100_017]
    assert members[-1].start + members[-1].length == file_of(home).stat().st_size


def test_zcat_gives_the_whole(home: str) -> None:
    fill(home)
    zcat = shutil.which("zcat")
    if not zcat:
        pytest.skip("no zcat")
    assert subprocess.run([zcat, str(file_of(home))], capture_output=True, check=True).stdout == b"".join(PARTS)


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=6))
def test_any_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    members = fill(home, tuple(parts))
    assert [archive.read(home, SOURCE, member) for member in members] == parts


@given(st.data())
def test_damage_is_named_and_costs_one_member(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    members = fill(home)
    hit = members[2]
    place = data.draw(st.integers(0, hit.length - 1))
    packed = bytearray(file_of(home).read_bytes())
    packed[hit.start + place] ^= 1 << data.draw(st.integers(0, 7))
    file_of(home).write_bytes(packed)
    try:  # some bits say nothing about the content
        assert archive.read(home, SOURCE, hit) == PARTS[2]
    except ValueError as damage:
        assert f"damaged at byte {hit.start}" in str(damage)
    assert archive.read(home, SOURCE, members[1]) == PARTS[1]
    assert archive.read(home, SOURCE, members[3]) == PARTS[3]


def test_a_changed_content_is_damage(home: str) -> None:
    members = fill(home)
    packed = bytearray(file_of(home).read_bytes())
    packed[members[3].start + 2500] ^= 4  # random bytes are stored as they are
    file_of(home).write_bytes(packed)
    with pytest.raises(ValueError, match=f"damaged at byte {members[3].start}"):
        archive.read(home, SOURCE, members[3])


def test_a_cut_archive_is_damaged(home: str) -> None:
    members = fill(home)
    os.truncate(file_of(home), members[-1].start + 10)
    with pytest.raises(ValueError, match="damaged"):
        archive.read(home, SOURCE, members[-1])
    assert archive.read(home, SOURCE, members[0]) == PARTS[0]


def test_a_member_of_another_size_is_damaged(home: str) -> None:
    (member,) = fill(home, (b"hello\n",))
    with pytest.raises(ValueError, match="6 bytes instead of 7"):
        archive.read(home, SOURCE, member._replace(size=7))


@pytest.mark.parametrize("left", [b"half a member", archive.compress(b"whole, but nobody said it counts\n") * 3])
def test_what_a_dead_writer_left_is_written_over(home: str, left: bytes) -> None:
    members = fill(home, PARTS[:2])
    with file_of(home).open("ab") as file:
        file.write(left)
    archive.append(home, SOURCE, members[-1], 5, archive.compress(b"next\n"))
    assert gzip.decompress(file_of(home).read_bytes()) == PARTS[0] + PARTS[1] + b"next\n"


def test_a_first_member_that_never_counted_is_written_over(home: str) -> None:
    fill(home)
    fill(home, (b"again\n",))
    assert gzip.decompress(file_of(home).read_bytes()) == b"again\n"


def test_each_file_has_an_archive_of_its_own(home: str) -> None:
    paths = {
        archive.archive_path(home, source)
        for source in (SOURCE, SOURCE._replace(seq=8), SOURCE._replace(agent="a1"), SOURCE._replace(session="s2"))
    }
    assert len(paths) == 4
    assert all(Path(path).parent == Path(home, "archive") for path in paths)


def test_it_is_private_whatever_the_umask(home: str) -> None:
    before = os.umask(0)
    try:
        fill(home)
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path(home, "archive").stat().st_mode) == 0o700
    assert stat.S_IMODE(file_of(home).stat().st_mode) == 0o600


def test_a_link_is_not_followed(home: str, tmp_path: Path) -> None:
    fill(home)
    target = tmp_path / "bashrc"
    target.write_text("untouched")
    file_of(home).unlink()
    file_of(home).symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        fill(home)
    assert target.read_text() == "untouched"


def test_lines_are_read_out_each_once(home: str) -> None:
    first, second = fill(home, (b"one\ntwo\n", b"three\n"))
    places = [(SOURCE, second, 0), None, (SOURCE, first, 4), (SOURCE, first, 4), (SOURCE, first, 0)]
    assert list(archive.lines(home, places)) == [b"three", b"two", b"one"]
