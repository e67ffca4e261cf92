"""Sharing by git: what is shared arrives, nothing else leaves, and whatever a remote does stays bounded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory_keeper.team.git import REFS, newer, path_of
from memory_keeper.team.item import dump
from memory_keeper.team.outbox import outbox, writer_of
from memory_keeper.team.transport import Offline
from tests.team.members import Member, git, remote
from tests.team.test_item import ITEM

pytestmark = pytest.mark.git


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return remote(tmp_path)


@pytest.fixture
def ann(tmp_path: Path, bare: Path) -> Member:
    return Member(tmp_path, bare, "ann")


@pytest.fixture
def ben(tmp_path: Path, bare: Path) -> Member:
    return Member(tmp_path, bare, "ben")


def everything(bare: Path) -> str:
    """All that a remote has, of any ref."""
    ids = git(bare, "rev-list", "--all", "--objects").split("\n")
    return "\n".join(git(bare, "cat-file", "-p", line.split(" ")[0]) for line in ids if line)


def push_tree(bare: Path, ref: str, blobs: dict[str, str], base: str = "") -> None:
    """Have a ref be a commit with these files, beside those of another."""
    index = str(bare / "an-index")
    if base:
        git(bare, "read-tree", base, GIT_INDEX_FILE=index)
    lines = "".join(f"100644 {id}\t{path}\n" for path, id in blobs.items())
    git(bare, "update-index", "--add", "--index-info", given=lines.encode(), GIT_INDEX_FILE=index)
    tree = git(bare, "write-tree", GIT_INDEX_FILE=index)
    commit = git(bare, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", tree, "-m", "x")
    git(bare, "update-ref", ref, commit)
    (bare / "an-index").unlink()


def test_what_is_shared_arrives_and_nothing_else_leaves(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.rule("Always use pathlib."), ann.note("We use Postgres."))
    ann.note("My private thought.")
    ann.sync()
    assert ben.sync().received.new == 2
    assert ben.has() == {(ann.author, "Always use pathlib."), (ann.author, "We use Postgres.")}
    assert "private" not in everything(bare)


def test_a_second_sync_changes_nothing(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.note("We use Postgres."))
    ann.sync()
    refs = git(bare, "show-ref")
    ben.sync()
    assert ann.sync().received[:3] == (0, 0, 0)
    assert ben.sync().received[:3] == (0, 0, 0)
    assert git(bare, "show-ref") == refs


def test_another_wording_takes_the_place_of_the_first(ann: Member, ben: Member) -> None:
    note = ann.note("We use Postgres.")
    ann.share(note)
    ann.sync()
    ben.sync()
    ann.keeper.reword(note, "We use SQLite.")
    ann.sync()
    assert ben.sync().received.changed == 1
    assert ben.has() == {(ann.author, "We use SQLite.")}


def test_what_is_taken_back_goes_everywhere(ann: Member, ben: Member, bare: Path) -> None:
    note = ann.note("We use Postgres.")
    ann.share(note)
    ann.sync()
    ben.sync()
    ann.unshare(note)
    ann.sync()
    assert ben.sync().received.withdrawn == 1
    assert ben.has() == set()
    assert "Postgres" not in everything(bare)
    ann.share(note)
    ann.sync()
    ben.sync()
    assert ben.has() == {(ann.author, "We use Postgres.")}


def test_secrets_that_became_known_do_not_leave(ann: Member, bare: Path) -> None:
    note = ann.note("The staging door opens with hunter2-Sesame-open.")
    ann.share(note)
    (ann.folder / ".env").write_text("DOOR_PASSWORD=hunter2-Sesame-open\n")
    ann.sync()
    assert "Sesame" not in everything(bare)


def test_nobody_is_in_the_way_of_the_work_tree(ann: Member, bare: Path) -> None:
    ann.share(ann.note("We use Postgres."))
    before = git(ann.folder, "status", "--porcelain"), git(ann.folder, "for-each-ref")
    ann.sync()
    assert (git(ann.folder, "status", "--porcelain"), git(ann.folder, "for-each-ref")) == before
    assert [line.split("\t")[1] for line in git(bare, "ls-remote", ".", "refs/heads/*").split("\n")] == [
        "refs/heads/main"
    ]
    assert not [*(ann.home / "team").glob("*.git")]


def test_offline_nothing_is_lost(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.note("We use Postgres."))
    away = bare.rename(bare.with_name("away.git"))
    with pytest.raises(Offline):
        ann.sync()
    away.rename(bare)
    ann.sync()
    ben.sync()
    assert len(ben.has()) == 1


def test_a_ref_that_was_pushed_over_or_deleted_comes_back(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.note("We use Postgres."))
    ann.sync()
    ben.sync()
    (ref,) = git(bare, "for-each-ref", "--format=%(refname)", REFS).split("\n")
    for damage in (["update-ref", ref, "refs/heads/main"], ["update-ref", "-d", ref]):
        git(bare, *damage)
        ben.sync()
        assert len(ben.has()) == 1
        ann.sync()
        assert "Postgres" in everything(bare)


def test_a_damaged_item_keeps_nobody_from_the_rest(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.note("We use Postgres."), ann.note("We ship on Fridays."))
    ann.sync()
    (ref,) = git(bare, "for-each-ref", "--format=%(refname)", REFS).split("\n")
    lines = git(bare, "ls-tree", "-r", ref).split("\n")
    broken = git(bare, "hash-object", "-w", "--stdin", given=b"\xff\x00 not an item")
    path = lines[0].split("\t")[1]
    push_tree(bare, ref, {path: broken}, ref)
    done = ben.sync()
    assert done.received.new == 1
    assert any("damaged" in problem for problem in done.problems)
    ann.sync()
    ben.sync()
    assert len(ben.has()) == 2


def test_a_home_from_a_backup_takes_nothing_back(ann: Member, ben: Member, tmp_path: Path) -> None:
    first = ann.note("We use Postgres.")
    ann.share(first)
    ann.keeper.close()
    shutil.copytree(ann.home, tmp_path / "backup")
    second = ann.note("We ship on Fridays.")
    ann.share(second)
    ann.keeper.reword(first, "We use SQLite.")
    ann.sync()
    ann.keeper.close()
    shutil.rmtree(ann.home)
    shutil.copytree(tmp_path / "backup", ann.home)
    ann.sync()
    ben.sync()
    assert ben.has() == {(ann.author, "We use SQLite."), (ann.author, "We ship on Fridays.")}
    ann.unshare(first)  # which is meant, although the remote knows a later version
    ann.sync()
    ben.sync()
    assert ben.has() == {(ann.author, "We ship on Fridays.")}


def test_of_two_versions_the_one_meant_later_holds() -> None:
    older, newest = ITEM, ITEM._replace(text="Other.", rev=5, at=ITEM.at + 10)
    assert newer(older, newest) == newest
    assert newer(newest, older) == newest
    gone = ITEM._replace(text="", gone=True, rev=3, at=ITEM.at + 20)
    assert newer(gone, newest) == gone._replace(rev=6)


def test_what_is_forgotten_is_taken_back_everywhere(ann: Member, ben: Member, bare: Path) -> None:
    gone, masked = ann.note("We use Postgres at db.internal."), ann.note("The door code is Wombat-Sesame.")
    ann.share(gone, masked)
    ann.sync()
    ben.sync()
    assert ann.typed("forget", gone.id, "--yes").returncode == 0
    assert ann.typed("forget", "--text", "Wombat-Sesame", "--yes").returncode == 0
    ann.sync()
    ben.sync()
    assert ben.has() == {(ann.author, "The door code is [forgotten].")}
    assert not [word for word in ("Postgres", "Wombat") if word in everything(bare)]
    kept = [path for path in ben.home.rglob("*") if path.is_file() and b"Postgres" in path.read_bytes()]
    assert kept == []


def test_all_of_a_project_can_be_forgotten_and_taken_back(ann: Member, ben: Member, bare: Path) -> None:
    ann.share(ann.rule("Always use pathlib."), ann.note("We use Postgres."))
    ann.sync()
    ben.sync()
    assert ann.typed("forget", "--everything", "--yes").returncode == 0
    ann.sync()
    ben.sync()
    assert ben.has() == set()
    assert "pathlib" not in everything(bare)


def test_who_changes_their_name_keeps_their_ref(ann: Member, ben: Member, bare: Path) -> None:
    note = ann.note("We use Postgres.")
    ann.share(note)
    ann.sync()
    git(ann.folder, "config", "user.name", "Ann Smith")
    ann.unshare(note)
    ann.sync()
    assert "Postgres" not in everything(bare)
    assert len(git(bare, "for-each-ref", REFS).split("\n")) == 1


def test_who_pushes_in_another_s_name_is_overwritten(ann: Member, ben: Member, bare: Path) -> None:
    note = ann.note("We use Postgres.")
    ann.share(note)
    ann.sync()
    writer = writer_of(ann.keeper)
    forged = ITEM._replace(id=note.id, kind="decision", writer=writer, author=ann.author, rev=(1 << 31) - 1)
    more = forged._replace(id="note-ffffffffffff", text="Injected.")
    files = {path_of(item): git(bare, "hash-object", "-w", "--stdin", given=dump(item)) for item in (forged, more)}
    push_tree(bare, f"{REFS}{writer}", files)
    ben.sync()
    ann.sync()
    ben.sync()
    assert {text for _, text in ben.has() if text != "Injected."} == {"We use Postgres."}
    assert "Injected." not in everything(bare) and "pathlib" not in everything(bare)
    assert [item.text for item in outbox(ann.keeper, ann.project)] == ["We use Postgres."]
    ann.unshare(note)
    ann.sync()
    ben.sync()
    assert "Postgres" not in {text for _, text in ben.has()}


def test_an_older_wording_is_nowhere_once_there_is_a_newer(ann: Member, ben: Member) -> None:
    note = ann.note("The door code is Wombat-Sesame.")
    ann.share(note)
    ann.sync()
    ben.sync()
    assert ann.typed("forget", "--text", "Wombat-Sesame", "--yes").returncode == 0
    ann.sync()
    ben.sync()
    assert ben.has() == {(ann.author, "The door code is [forgotten].")}
    assert not [path for path in ben.home.rglob("*") if path.is_file() and b"Wombat" in path.read_bytes()]


def test_who_only_reads_needs_no_name(ann: Member, ben: Member) -> None:
    ann.share(ann.note("We use Postgres."))
    ann.sync()
    git(ben.folder, "config", "--unset", "user.name")
    assert ben.sync().received.new == 1
