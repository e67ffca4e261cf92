"""A project is known by its remote, else its first commit, else its directory; a repository can do nothing to us."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_keeper.capture.project import find_place, head, plain_address
from memory_keeper.config import find_root
from memory_keeper.keeper import Keeper
from tests.rows import rows

pytestmark = pytest.mark.git
Forge = Callable[[Path, Path], None]
IDENTITY = ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false")


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, "-C", str(folder), *args], check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip()


def repository(folder: Path, remote: str = "", commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if commit:
        (folder / "a.txt").write_text(folder.name)
        git(folder, "add", "a.txt")
        git(folder, "commit", "-q", "-m", f"first of {folder}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def cloned(repo: Path, folder: Path, remote: str) -> Path:
    git(repo.parent, "clone", "-q", str(repo), str(folder))
    git(folder, "remote", "set-url", "origin", remote)
    return folder


def key(folder: Path) -> str:
    return find_place(str(folder)).keys[0]


# --- names ------------------------------------------------------------------------------------------------------------


@rows("address")
def test_all_forms_of_an_address_are_one(address: str) -> None:
    assert plain_address(address) == "github.com/owner/repo"


def test_other_addresses_are_others() -> None:
    addresses = (
        "https://github.com/owner/repo",
        "https://github.com/owner/other",
        "https://gitlab.com/owner/repo",
        "https://github.com:8443/owner/repo",
        "/srv/git/repo.git",
        "file:///srv/git/other.git",
    )
    assert len({plain_address(address) for address in addresses}) == len(addresses)


def test_a_secret_in_an_address_is_not_kept() -> None:
    assert "secret" not in plain_address("https://user:secret@host/o/r")
    assert "secret" not in plain_address("https://user:sec@ret:secret@host/o/r")


def test_a_local_remote(tmp_path: Path) -> None:
    assert plain_address("file:///srv/git/repo.git") == plain_address("/srv/git/repo.git") == "/srv/git/repo"


# --- places -----------------------------------------------------------------------------------------------------------


def test_without_git_it_is_the_directory(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    place = find_place(str(folder))
    assert place == (str(folder), (f"dir:{folder}",))


def test_a_folder_inside_is_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a", "git@host:o/r.git")
    (repo / "src/deep").mkdir(parents=True)
    assert (
        find_place(str(repo / "src/deep")) == find_place(str(repo)) == (str(repo), ("remote:host/o/r", f"dir:{repo}"))
    )


def test_a_link_to_a_project_is_the_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    (tmp_path / "link").symlink_to(repo)
    assert find_place(str(tmp_path / "link")) == find_place(str(repo))


def test_a_repository_without_remote_is_its_first_commit(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    first = git(repo, "rev-parse", "HEAD")
    assert key(repo) == f"root:{first}"
    (repo / "b.txt").write_text("b")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "second")
    assert key(repo) == f"root:{first}"


def test_a_repository_without_commit_is_its_directory(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a", commit=False)
    assert find_place(str(repo)).keys == (f"dir:{repo}",)


def test_a_clone_of_the_same_remote_is_the_same(tmp_path: Path) -> None:
    one = repository(tmp_path / "one", "git@host:o/r.git")
    two = repository(tmp_path / "two", "https://host/o/r")
    assert key(one) == key(two) == "remote:host/o/r"


def test_origin_counts_before_other_remotes(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    git(repo, "remote", "add", "upstream", "https://host/up/r")
    assert key(repo) == "remote:host/up/r"
    git(repo, "remote", "add", "origin", "https://host/o/r")
    assert key(repo) == "remote:host/o/r"


def test_the_same_relative_remote_of_two_repositories_is_not_the_same(tmp_path: Path) -> None:
    one = repository(tmp_path / "x/one", "../upstream.git")
    two = repository(tmp_path / "y/two", "../upstream.git")
    near = repository(tmp_path / "x/near", "../upstream.git")
    assert key(one) != key(two)
    assert key(one) == key(near)


def test_a_worktree_is_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a", "git@host:o/r.git")
    git(repo, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "tree"))
    place = find_place(str(tmp_path / "tree"))
    assert place.keys[0] == key(repo)
    assert place.root == str(tmp_path / "tree")
    assert head(str(tmp_path / "tree"))[0] == "feature"
    assert head(str(repo))[0] == "main"


def test_a_worktree_without_remote_is_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    git(repo, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "tree"))
    assert key(tmp_path / "tree") == key(repo)


def test_two_directories_with_one_slug_are_two_projects(tmp_path: Path) -> None:
    """Claude Code calls both `-…-a-b-c`; R17b: taking one for the other gives away another project's text."""
    (tmp_path / "a-b/c").mkdir(parents=True)
    (tmp_path / "a/b-c").mkdir(parents=True)
    assert key(tmp_path / "a-b/c") != key(tmp_path / "a/b-c")


def test_two_copies_without_git_are_two_projects(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "app").mkdir(parents=True)
    assert key(tmp_path / "one/app") != key(tmp_path / "two/app")


def test_a_branch_name_is_only_a_name(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    (repo / ".git/HEAD").write_text("ref: refs/heads/$(touch pwned)\n")
    assert head(str(repo))[0] == "$(touch pwned)"
    (repo / ".git/HEAD").write_text("a" * 40)
    assert head(str(repo))[0] == ""


# --- what the store knows ---------------------------------------------------------------------------------------------


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(str(tmp_path / "keeper"), {})


def test_a_remote_added_later_keeps_the_project(tmp_path: Path, keeper: Keeper) -> None:
    repo = repository(tmp_path / "a")
    before = keeper.project(str(repo), change=True)
    git(repo, "remote", "add", "origin", "git@host:o/r.git")
    assert keeper.project(str(repo), change=True) == before
    assert keeper.project(str(repo)) == before
    clone = cloned(repo, tmp_path / "clone", "https://host/o/r")
    assert keeper.project(str(clone), change=True) == before, "and a clone of it finds the same"
    keeper.close()


def test_git_init_later_keeps_the_project(tmp_path: Path, keeper: Keeper) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    before = keeper.project(str(folder), change=True)
    assert before == f"dir:{folder}"
    repository(folder)
    assert keeper.project(str(folder), change=True) == before
    keeper.close()


def test_another_repository_in_the_same_directory_is_another_project(tmp_path: Path, keeper: Keeper) -> None:
    repo = repository(tmp_path / "a", "git@host:o/one.git")
    before = keeper.project(str(repo), change=True)
    shutil.rmtree(repo / ".git")
    repository(tmp_path / "a", "git@host:o/two.git", commit=False)
    git(repo, "commit", "-q", "--allow-empty", "-m", "another first")
    after = keeper.project(str(repo), change=True)
    assert after != before
    assert keeper.project(str(repo)) == after
    keeper.close()


def test_the_same_repository_under_another_address_is_the_same_project(tmp_path: Path, keeper: Keeper) -> None:
    repo = repository(tmp_path / "a", "git@host:o/one.git")
    before = keeper.project(str(repo), change=True)
    git(repo, "remote", "set-url", "origin", "git@host:o/renamed.git")
    assert keeper.project(str(repo), change=True) == before
    assert keeper.project(str(repo)) == before
    clone = cloned(repo, tmp_path / "b", "git@host:o/renamed.git")
    assert keeper.project(str(clone), change=True) == before
    fork = tmp_path / "c"
    git(tmp_path, "clone", "-q", str(repo), str(fork))
    git(fork, "remote", "set-url", "origin", "git@host:me/one.git")
    assert keeper.project(str(fork), change=True) != before, "a fork begins with the same commit"
    keeper.close()


def test_who_asks_again_is_answered_at_once_until_something_is_written(tmp_path: Path, keeper: Keeper) -> None:
    """A start asks half a dozen times, and each time git's files would be read."""
    keeper.project(str(repository(tmp_path / "known")), change=True)
    repo = repository(tmp_path / "a")
    before = keeper.project(str(repo))
    git(repo, "remote", "add", "origin", "git@host:o/r.git")
    assert keeper.project(str(repo)) == before
    after = keeper.project(str(repo), change=True)
    assert keeper.project(str(repo)) == after != before
    keeper.close()


def test_asking_writes_nothing(tmp_path: Path, keeper: Keeper) -> None:
    known = repository(tmp_path / "known")
    keeper.project(str(known), change=True)
    fresh = repository(tmp_path / "fresh")
    assert keeper.project(str(fresh)) == key(fresh)
    assert keeper.store.project(f"dir:{fresh}") == ""
    keeper.close()


# --- what a folder says of itself is no proof -------------------------------------------------------------------------

REMOTE = "git@host:me/private.git"


def forged_remote(folder: Path, own: Path) -> None:
    """A repository with another history that says it has the same remote."""
    repository(folder, REMOTE)


def forged_config(folder: Path, own: Path) -> None:
    """Not even a history."""
    (folder / ".git").mkdir(parents=True)
    shutil.copy(own / ".git/config", folder / ".git/config")
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")


def forged_file(folder: Path, own: Path) -> None:
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {own / '.git'}\n")


def forged_worktree(folder: Path, own: Path) -> None:
    """A worktree that the repository knows nothing of."""
    git(own, "worktree", "add", "-q", str(folder.parent / "real"))
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {own / '.git/worktrees/real'}\n")


def forged_common(folder: Path, own: Path) -> None:
    repository(folder)
    (folder / ".git/commondir").write_text(f"{own / '.git'}\n")


def forged_link(folder: Path, own: Path) -> None:
    folder.mkdir()
    (folder / ".git").symlink_to(own / ".git")


def forged_objects(folder: Path, own: Path) -> None:
    """Its own refs, and the other's objects."""
    repository(folder, REMOTE)
    shutil.rmtree(folder / ".git/objects")
    (folder / ".git/objects").symlink_to(own / ".git/objects")


def forged_history(folder: Path, own: Path) -> None:
    """What the other has committed, without having it: its references, and its objects as alternates."""
    repository(folder, REMOTE, commit=False)
    (folder / ".git/refs/heads/main").symlink_to(own / ".git/refs/heads/main")
    (folder / ".git/objects/info/alternates").write_text(f"{own / '.git/objects'}\n")


def forged_submodule(folder: Path, own: Path) -> None:
    folder.mkdir()
    (folder / "modules").mkdir()
    (folder / "modules/commondir").write_text(f"{own / '.git'}\n")
    (folder / "modules/gitdir").write_text(f"{own}/.git\n")
    (folder / ".git").write_text("gitdir: modules\n")


FORGERIES = (
    *(forged_remote, forged_config, forged_file, forged_worktree, forged_common, forged_link, forged_objects),
    *(forged_history, forged_submodule),
)


@pytest.mark.parametrize("forge", FORGERIES)
@pytest.mark.parametrize("first", ["own", "forged"])
def test_who_only_claims_a_remote_is_another_project(tmp_path: Path, keeper: Keeper, forge: Forge, first: str) -> None:
    """In neither direction: whichever of them was there first, also where the folder of one is taken by the other."""
    own, folder = repository(tmp_path / "own", REMOTE), tmp_path / "forged"
    forge(folder, own)
    places = [own, folder] if first == "own" else [folder, own]
    projects = [keeper.project(str(place), change=True) for place in places]
    assert projects[0] != projects[1]
    keeper._found.clear()
    assert [keeper.project(str(place)) for place in places] == projects, "and who asks again hears the same"
    assert [keeper.project(str(place), change=True) for place in places] == projects
    clone = cloned(own, tmp_path / "clone", REMOTE)
    assert keeper.project(str(clone), change=True) == projects[places.index(own)]
    keeper.close()


def test_a_folder_that_was_the_project_s_and_is_another_repository_now(tmp_path: Path, keeper: Keeper) -> None:
    own = repository(tmp_path / "own", REMOTE)
    before = keeper.project(str(own), change=True)
    shutil.rmtree(own)
    repository(own, REMOTE, commit=False)
    git(own, "commit", "-q", "--allow-empty", "-m", "another first")
    assert keeper.project(str(own)) != before
    keeper.close()


def test_a_shallow_clone_shares_a_commit(tmp_path: Path, keeper: Keeper) -> None:
    own = repository(tmp_path / "own", REMOTE)
    git(own, "commit", "-q", "--allow-empty", "-m", "second")
    before = keeper.project(str(own), change=True)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{own}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", REMOTE)
    assert keeper.project(str(tmp_path / "shallow"), change=True) == before
    shutil.rmtree(own)
    assert keeper.project(str(tmp_path / "shallow"), change=True) == before
    keeper.close()


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    module, own = repository(tmp_path / "module"), repository(tmp_path / "own")
    git(own, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(module), "lib")
    assert key(own / "lib") == f"remote:{module}"


# --- hostile repositories ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"gitdir: /etc",
        b"gitdir: /dev/zero",
        b"gitdir: ../../../..",
        b"gitdir:",
        b"gitdir: \0",
        b"\xff" * 100,
        b"gitdir: " + b"x" * 100_000,
    ],
    ids=lambda content: ascii(content[:20]),
)
def test_a_hostile_git_file(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    place = find_place(str(folder))
    assert place.root == str(folder)
    assert place.keys == (f"dir:{folder}",)
    head(str(folder))


def test_a_git_that_is_no_file(tmp_path: Path) -> None:
    for name in ("pipe", "device", "loop", "folder"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe/.git")
    (tmp_path / "device/.git").symlink_to("/dev/zero")
    (tmp_path / "loop/.git").symlink_to(tmp_path / "loop/.git")
    (tmp_path / "folder/.git").mkdir()
    for name in ("pipe", "device", "loop", "folder"):
        assert find_place(str(tmp_path / name)).keys == (f"dir:{tmp_path / name}",)
        assert head(str(tmp_path / name)) == ("", "")


@pytest.mark.parametrize("name", ["config", "commondir", "HEAD"])
def test_a_pipe_inside_a_git_folder_does_not_block(tmp_path: Path, name: str) -> None:
    repo = repository(tmp_path / "a", "git@host:o/r.git")
    (repo / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(repo / ".git" / name)
    find_place(str(repo))
    head(str(repo))


def test_a_hostile_config_is_only_text(tmp_path: Path) -> None:
    repo = repository(tmp_path / "a")
    config = repo / ".git/config"
    plain = config.read_bytes()
    for hostile in (
        b'[remote "x"',
        b'[remote "x"]\nurl',
        b'[remote "x"]\nurl =',
        b"[remote ]\nurl = x",
        b'[remote "origin"]\nurl = ' + b"x" * 2_000_000,
        b"\xff\xfe\0" * 100,
        b"[include]\npath = /dev/zero",
    ):
        config.write_bytes(plain + hostile)
        find_place(str(repo))


def test_no_program_of_the_repository_runs(tmp_path: Path) -> None:
    """Whatever its configuration says: monitors, hooks, pagers, and what a missing object is fetched with."""
    repo = repository(tmp_path / "a")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    program.chmod(0o755)
    hostile = f"""
[core]
    fsmonitor = {program}
    hooksPath = {tmp_path}
    pager = {program}
    sshCommand = {program}
    gitProxy = {program}
    alternateRefsCommand = {program}
[uploadpack]
    packObjectsHook = {program}
[diff]
    external = {program}
[gpg]
    program = {program}
[log]
    showSignature = true
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[extensions]
    partialClone = evil
[remote "evil"]
    promisor = true
    uploadpack = {program}
    url = """
    with (repo / ".git/config").open("a") as file:
        file.write("[include]\n\tpath = more\n")  # where only git itself will look
    (repo / ".git/refs/heads/main").write_text("0123456789" * 4 + "\n")  # not there: a partial clone fetches it
    for url in (f"ext::{program}", str(tmp_path), f"ssh://host/{tmp_path}", "git://127.0.0.1:1/x"):
        (repo / ".git/more").write_text(hostile + url + "\n")
        assert key(repo) == f"dir:{repo}"
    assert not (tmp_path / "pwned").exists()


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    assert find_root(str(tmp_path / "gone/deep")) == str(tmp_path / "gone/deep")
    assert find_place(str(tmp_path / "gone")).keys == (f"dir:{tmp_path / 'gone'}",)


def test_a_worktree_that_is_gone_is_of_the_project_it_lay_in(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", "https://example.org/shop.git")
    for folder in (repo / ".worktrees/4", repo / ".worktrees/alex/feature", repo / ".claude/worktrees/fox"):
        place = find_place(str(folder))
        assert place.keys == (*find_place(str(repo)).keys, f"dir:{folder}")
    gone = tmp_path / "gone"
    assert find_place(f"{gone}/.worktrees/4").keys == (f"dir:{gone}", f"dir:{gone}/.worktrees/4")
    there = tmp_path / "there/.worktrees/4"
    there.mkdir(parents=True)
    assert find_place(str(there)).keys == (f"dir:{there}",)
