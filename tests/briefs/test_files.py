"""Files for people are put in their place whole, written only when they change, and never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.briefs.files import HANDED_OUT, Folder, changed, removable, remove_all, write, write_handoff
from memory_keeper.errors import KeeperError
from memory_keeper.model import Note

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


def test_an_edited_handoff_is_kept_beside_the_new_one(root: Path) -> None:
    path = Path(write_handoff(str(root), NOTE))
    mine = path.read_text() + "\nAsk Kim about the ports.\n"
    path.write_text(mine)
    assert write_handoff(str(root), NOTE._replace(text="## Asked last\n- Ship it. [a2]\n")) == str(path)
    assert "Ship it." in path.read_text()
    aside = path.with_name(f"{path.name}.before-memory-keeper")
    assert aside.read_text() == mine
    assert removable(str(root)) == [str(path)], "a purge takes away only what we wrote"
    write_handoff(str(root), NOTE)
    assert not path.with_name(f"{aside.name}.1").exists(), "what we wrote ourselves is not kept"
    path.write_text(mine)
    assert removable(str(root)) == []


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
    handoffs = root / ".claude/memory/handoffs"
    (handoffs / "mine.md").write_text("mine")
    assert removable(str(root)) == sorted(str(path) for path in handoffs.glob("HANDOFF-*.md"))
    (handoffs / "mine.md").unlink()
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


# --- pages that people edit ------------------------------------------------------------------------------------------


def test_a_file_of_ours_is_known_by_its_time(root: Path) -> None:
    with Folder(str(root), make=True) as folder:
        assert folder.put("memory.md", "text", None)
        path = root / ".claude/memory/memory.md"
        assert folder.is_ours("memory.md")
        path.write_text("test")
        assert not folder.is_ours("memory.md"), "not by its size alone"
        found = folder.read("memory.md")
        assert found and folder.keep("memory.md", found)
        assert folder.is_ours("memory.md")
        (root / "copy").write_text("text")
        (root / "copy").replace(path)
        assert not folder.is_ours("memory.md"), "nor is one that was moved there"
        assert not folder.is_ours("none.md")


def test_a_file_is_replaced_only_as_it_was_read(root: Path) -> None:
    with Folder(str(root), make=True) as folder:
        path = root / ".claude/memory/memory.md"
        assert folder.put("memory.md", "one", None)
        assert not folder.put("memory.md", "two", None), "somebody made one meanwhile"
        found = folder.read("memory.md")
        assert found
        path.write_text("saved")
        assert not folder.put("memory.md", "two", found)
        assert not folder.remove("memory.md", found)
        assert not folder.keep("memory.md", found)
        (root / "other").write_text("one")
        (root / "other").replace(path)
        assert not folder.put("memory.md", "two", found), "the same words, in another file"
        path.unlink()
        assert not folder.put("memory.md", "two", found)
    assert names(root) == [".claude/memory/.gitignore"], "nothing half-made is left"


def test_what_is_replaced_may_be_set_aside(root: Path) -> None:
    with Folder(str(root), make=True) as folder:
        for text in ("one", "two"):
            (root / ".claude/memory/a.md").write_text(text)
            folder.set_aside("a.md")
            (root / ".claude/memory/a.md").unlink()
    kept = sorted((root / ".claude/memory").glob("a.md.before-memory-keeper*"))
    assert [path.read_text() for path in kept] == ["one", "two"]


def test_only_a_page_of_ours_can_be_changed(root: Path) -> None:
    folder = root / ".claude/memory"
    assert not changed(str(root))
    with Folder(str(root), make=True) as made:
        made.put("memory.md", "<!-- memory-keeper a..b 0123456789abcdef -->\n", None)
    assert not changed(str(root))
    (folder / "project.md").write_text("a repository's")
    assert not changed(str(root))
    text = (folder / "memory.md").read_text()
    (folder / "memory.md").write_text("\ufeff\r\n" + text)
    assert changed(str(root))


def test_what_was_exported_goes_too(root: Path) -> None:
    with Folder(str(root), (".claude", "memory", "sessions"), make=True) as folder:
        folder.pour("2026-01-13_1200_s1.l1.jsonl", ["{}\n", "{}\n"])
        folder.pour("2026-01-13_1200_s2.l1.jsonl", [])
    with Folder(str(root), make=True) as folder:
        folder.pour("memory-keeper.jsonl", ["{}\n"])
    (root / ".claude/memory/sessions/2025-01-01_0900.l1.jsonl").write_text("a predecessor's")
    assert remove_all(str(root)) == 3
    assert names(root) == [".claude/memory/sessions/2025-01-01_0900.l1.jsonl"]


def test_what_somebody_began_who_was_killed_is_swept_away(root: Path) -> None:
    with Folder(str(root), make=True) as folder:
        for name in (
            ".memory.md.0123abcd",
            ".memory_20260113_120000.md.0123abcd",
            ".mine.md.0123abcd",
            ".memory.md.swp",
        ):
            (root / ".claude/memory" / name).write_text("half")
        folder.sweep(time())
        assert folder.names() == [".gitignore", ".memory.md.swp", ".mine.md.0123abcd"]


def test_a_write_that_fails_leaves_what_was_there(root: Path) -> None:
    def lines() -> Iterator[str]:
        yield "half"
        raise ValueError("full")

    with Folder(str(root), make=True) as folder:
        folder.pour("a.jsonl", ["whole"])
        with pytest.raises(ValueError, match="full"):
            folder.pour("a.jsonl", lines())
    assert names(root) == [".claude/memory/.gitignore", ".claude/memory/a.jsonl"]
    assert (root / ".claude/memory/a.jsonl").read_text() == "whole"
    (root / ".claude/memory/b.jsonl").mkdir()
    with Folder(str(root), make=True) as folder, pytest.raises(OSError):
        folder.pour("b.jsonl", ["whole"])
    assert names(root) == [".claude/memory/.gitignore", ".claude/memory/a.jsonl"], "nothing half-made is left"


def test_what_was_handed_to_an_agent_goes_too(root: Path) -> None:
    """It quotes what was captured: it must not be left behind, least of all without the file that hides it from git."""
    write(str(root), (HANDED_OUT,), "talk")
    assert remove_all(str(root)) == 1
    assert list(root.iterdir()) == []
    path = Path(write(str(root), (HANDED_OUT,), "talk"))
    path.write_text("changed")
    assert remove_all(str(root)) == 0
    assert (path.parent / ".gitignore").exists()


def test_what_no_agent_answered_is_swept_away_when_it_is_old(root: Path) -> None:
    path = Path(write(str(root), (HANDED_OUT,), "talk"))
    with Folder(str(root)) as folder:
        folder.sweep(time())
        assert path.exists()
        folder.sweep(time() + 7200)
        assert not path.exists()
        path.write_text("somebody's own")
        folder.sweep(time() + 7200)
        assert path.exists()


def test_what_is_replaced_is_set_aside_where_there_are_no_links(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as exFAT says

    monkeypatch.setattr("posix.link", refuse)
    with Folder(str(root), make=True) as folder:
        for text in ("one", "two"):
            (root / ".claude/memory/a.md").write_text(text)
            folder.set_aside("a.md")
    kept = sorted((root / ".claude/memory").glob("a.md.before-memory-keeper*"))
    assert [path.read_text() for path in kept] == ["one", "two"]
