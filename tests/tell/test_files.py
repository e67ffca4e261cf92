"""Files for people are put in their place whole, written only when they change, and never through a link."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.errors import KeeperError
from memory_keeper.model import Note
from memory_keeper.tell.files import remove_all, write, write_handoff

NOTE = Note("handoff-1", 1_700_000_000.0, "handoff", 0, "dir:/p", "## Asked last\n- Build it. [a1]\n", "s1", 12, "{}")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_a_handoff(root: Path) -> None:
    path = write_handoff(str(root), NOTE)
    assert path == f"{root}/.claude/memory/handoffs/HANDOFF-s1.md"
    assert Path(path).read_text() == (
        "---\nsession: s1\nnote: handoff-1\nat: 2023-11-14T22:13:20Z\ntokens: 12\n---\n"
        "# Handoff of session s1, project\n\n"
        "Made by rule from what was captured. `memory-keeper show ID` gives the whole of an entry; times are UTC.\n\n"
        "## Asked last\n- Build it. [a1]\n"
    )
    ignored = [".claude/memory/.gitignore", ".claude/memory/handoffs/.gitignore"]
    assert names(root) == [*ignored, ".claude/memory/handoffs/HANDOFF-s1.md"]


def test_a_repository_s_own_rules_do_not_make_it_committable(root: Path) -> None:
    (root / ".claude/memory").mkdir(parents=True)
    (root / ".claude/memory/.gitignore").write_text("!*\n")
    for _ in range(2):
        write_handoff(str(root), NOTE)
        assert (root / ".claude/memory/.gitignore").read_text() == "!*\n"
        assert (root / ".claude/memory/handoffs/.gitignore").read_text().endswith("\n*\n")
        (root / ".claude/memory/handoffs/.gitignore").write_text("!*\n")


@pytest.mark.parametrize("at", [-1e18, 0.0, 1e30, float("inf")])
def test_a_time_that_cannot_be(root: Path, at: float) -> None:
    assert Path(write_handoff(str(root), NOTE._replace(at=at))).exists()


def test_it_is_private(root: Path) -> None:
    path = Path(write(str(root), ("a.md",), "x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_did_not_change_is_not_written(root: Path) -> None:
    path = Path(write(str(root), ("a.md",), "one"))
    before = path.stat()
    write(str(root), ("a.md",), "one")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    write(str(root), ("a.md",), "one more")
    assert path.read_text() == "one more"
    write(str(root), ("a.md",), "one")
    assert path.read_text() == "one"


@given(st.text(max_size=60))
def test_any_text_can_be_written(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = Path(write(str(tmp_path_factory.mktemp("p")), ("a.md",), text))
    assert path.read_bytes().decode().count("\x1b") == 0


@pytest.mark.parametrize("link", [".claude", ".claude/memory", ".claude/memory/handoffs"])
def test_no_folder_is_a_link(root: Path, tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeeperError, match="cannot be written"):
        write_handoff(str(root), NOTE)
    assert names(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("place", ["folder", "pipe", "link", "dangling"])
def test_what_lies_in_its_place(root: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "victim").write_text("mine")
    path = root / ".claude/memory/a.md"
    path.parent.mkdir(parents=True)
    if place == "folder":
        path.mkdir()
    elif place == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / ("victim" if place == "link" else "none"))
    if place == "folder":
        with pytest.raises(KeeperError):
            write(str(root), ("a.md",), "x")
    else:
        write(str(root), ("a.md",), "x")
        assert path.read_text() == "x"
        assert not path.is_symlink()
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "none").exists()
    assert [name for name in names(root) if "a.md." in name] == [], "nothing half-made is left"


def test_a_project_that_is_none(root: Path) -> None:
    (root / ".claude").write_text("a file")
    for place in (root, root / "none", root / ".claude"):
        with pytest.raises(KeeperError):
            write(str(place), ("a.md",), "x")
    assert (root / ".claude").read_text() == "a file"


def test_no_descriptor_is_left(root: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    (root / ".claude/memory/a.md").mkdir(parents=True)
    for name in ("a.md", "b.md"):
        try:
            write(str(root), (name,), "x")
        except KeeperError:
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_many_at_once_leave_one_whole_file(root: Path) -> None:
    """A server has threads."""
    texts = [f"{number}\n" * 20_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda text: write(str(root), ("a.md",), text), texts))
    (path,) = paths
    assert Path(path).read_text() in texts
    assert names(root) == [".claude/memory/.gitignore", ".claude/memory/a.md"]


def test_what_was_rendered_can_be_taken_away_again(root: Path) -> None:
    write_handoff(str(root), NOTE)
    write_handoff(str(root), NOTE._replace(session="s2"))
    assert remove_all(str(root)) == 2
    assert list(root.iterdir()) == []
    assert remove_all(str(root)) == 0


def test_what_is_somebody_else_s_stays(root: Path) -> None:
    write_handoff(str(root), NOTE)
    memory = root / ".claude/memory"
    (memory / "handoffs/mine.md").write_text("mine")
    (memory / ".gitignore").write_text("mine too")
    assert remove_all(str(root)) == 1
    assert names(root) == [".claude/memory/.gitignore", ".claude/memory/handoffs/mine.md"]


def test_nothing_is_taken_away_where_a_link_leads(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "handoffs").mkdir(parents=True)
    (elsewhere / "handoffs/HANDOFF-x.md").write_text("theirs")
    (root / ".claude").mkdir()
    (root / ".claude/memory").symlink_to(elsewhere)
    assert remove_all(str(root)) == 0
    assert (elsewhere / "handoffs/HANDOFF-x.md").exists()
