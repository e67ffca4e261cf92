"""Which project a directory belongs to: its git remote, else its first commit, else itself; and how its paths are said.

Never a slug of the path, which two directories can share. What a folder says of itself is no proof: one that claims a
remote which is known already is of that project only if they share their first commit, or the user says so; else
neither hears of the other. A repository's configuration is read by hand: no git needs
to be there, and nothing in a cloned repository can make us run a program.
"""

from __future__ import annotations

import posix

from memory_keeper.config import find_root, link_beneath, read_small, real_path
from memory_keeper.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Aliases(Protocol):
        """Who knows projects by their keys: a store does."""

        def project(self, key: str) -> str: ...
        def first_commits(self, project: str) -> Sequence[str]: ...
        def roots(self, project: str) -> Sequence[str]: ...


YOURS = "yours:"  # before a folder that the user has said is of a project
RANK = {"dir": 0, "root": 1, "remote": 2}  # of keys: how well they tell a project from others
PACK_INDEX = b"\xfftOc\0\0\0\2"  # how the index of a pack begins
ELSEWHERE = "refs/heads/.invalid"  # what HEAD says where git keeps its references in tables
WORKTREES = ("/.claude/worktrees/", "/.worktrees/")  # where worktrees lie that lie within their project
PORTS = {"ssh": ":22", "https": ":443", "http": ":80", "git": ":9418"}  # a port that goes without saying


class Place(NamedTuple):
    """A directory's project, by every name it may be known under; the first is the best."""

    root: str  # of the repository or worktree; outside git, the directory
    keys: tuple[str, ...]  # remote:… or root:…, and always dir:…


def find_place(directory: str) -> Place:
    """The project of a directory; of a worktree that is gone, the project in whose folder it was."""
    for folder in WORKTREES:
        main, below, _ = directory.partition(folder)
        if below and main and not posix.access(directory, posix.F_OK):
            place = find_place(main)
            return Place(place.root, (*place.keys, "dir:" + directory))
    root = find_root(directory)
    inside = _git_dir(root)
    key = (_remote(inside) or first_commit(root)) if inside else ""
    return Place(root, (key, "dir:" + root) if key else ("dir:" + root,))


def choose(place: Place, known: Aliases) -> str:
    """The project of a place: by its best key, else as this directory was known when it had only a lesser one."""
    best, here = place.keys[0], place.keys[-1]
    before = known.project(here)
    if project := known.project(best):
        first = before == project and not known.first_commits(project)  # and there was nothing yet to know it by
        if first or not best.startswith("remote:") or is_of(place.root, project, known):
            return project
        own = first_commit(place.root)
        return before if before not in ("", project) else known.project(own) or own or here
    lesser = before and RANK[before.partition(":")[0]] < RANK[best.partition(":")[0]]
    if lesser and holds(place.root, before, known):
        return before
    renamed = before.startswith("remote:") and best.startswith("remote:")
    if renamed and any(has_commit(place.root, commit) for commit in known.first_commits(before)):
        return before
    return best


def is_of(root: str, project: str, known: Aliases) -> bool:
    """Whether a repository that claims a project's remote is of it: they share a first commit, or the user says so."""
    if known.project(YOURS + root) == project:
        return True
    if any(has_commit(root, commit) for commit in (*known.first_commits(project), project.removeprefix("root:"))):
        return True
    first = first_commit(root).removeprefix("root:")
    return bool(first) and any(has_commit(one, first) for one in known.roots(project) if one != root)


def claimed(place: Place, project: str, known: Aliases) -> str:
    """The project that a place says it is of and is not; empty where it claims none."""
    claim = known.project(place.keys[0])
    return claim if claim != project else ""


def from_root(path: str, roots: Sequence[str]) -> str:
    """A path as seen from the project; empty when it lies elsewhere. The roots are the deepest first."""
    if path.startswith("/"):
        path = next((path[len(root) + 1 :] for root in roots if root and path.startswith(root + "/")), "")
    inside = _without_worktree(path.removeprefix("./")).lstrip("/")
    return "" if ".." in inside.split("/") or "\0" in inside else inside


def short_path(path: str, roots: Sequence[str]) -> str:
    """A path as seen from the project; one that lies elsewhere as it is."""
    return from_root(path, roots) or path


def _without_worktree(path: str) -> str:
    """The files of a worktree below the project that is gone are the project's."""
    for folder in WORKTREES:
        if path.startswith(folder[1:]):
            name, _, rest = path[len(folder) - 1 :].partition("/")
            return rest if name and rest else path
    return path


def _git_dir(root: str) -> str:
    """The repository's own folder, which all its worktrees share."""
    if link_beneath(root, "/.git"):
        return ""
    git = _worktree(root)
    common = _read(git + "/commondir").strip()
    if common if git == root + "/.git" else not _knows(git, root, bool(common)):
        return ""  # it is somebody else's
    git = _below(git, common) if common else git
    return git if _read(git + "/HEAD") else ""


def _knows(git: str, root: str, worktree: bool) -> bool:
    """Whether the folder that a worktree or a submodule says is its own says the same of it."""
    if worktree:
        return real_path(_below(git, _read(git + "/gitdir").strip())) == root + "/.git"
    lines = (line.partition("=") for line in _read(git + "/config").splitlines())
    named = [value.strip() for name, _, value in lines if name.strip().lower() == "worktree"]
    return any(real_path(_below(git, one)) == root for one in named)


def _worktree(root: str) -> str:
    """The folder that git keeps for a worktree; in a worktree that was added, and in a submodule, a file says where."""
    text = _read(root + "/.git")
    return _below(root, text[7:].strip()) if text.startswith("gitdir:") else root + "/.git"


def _below(folder: str, path: str) -> str:
    """A path as seen from a folder; what `os` would say, without the milliseconds that it costs a start."""
    return path if path.startswith("/") else f"{folder}/{path}"


def _remote(git: str) -> str:
    """The address of `origin`, else of the first remote; without protocol, user and .git, so that all forms are one."""
    remotes: dict[str, str] = {}
    name = ""
    for line in _read(git + "/config").splitlines():
        line = line.strip()
        if line.startswith("["):
            name = line.split('"')[1] if line.lower().startswith('[remote "') and line.count('"') >= 2 else ""
        elif name and line.partition("=")[0].strip().lower() == "url":
            remotes.setdefault(name, line.partition("=")[2].strip())
    address = remotes.get("origin") or next(iter(remotes.values()), "")
    if address and address[0] != "/" and ":" not in address.partition("/")[0]:
        import os

        address = os.path.normpath(f"{git}/../{address}")  # a path, and seen from the repository
    return "remote:" + plain_address(address) if address else ""


def plain_address(address: str) -> str:
    """`git@host:owner/repo.git` and `https://user:secret@host/owner/repo` are the same place."""
    address = address.partition("?")[0].partition("#")[0]  # where tokens stand
    scheme, found, rest = address.partition("://")
    if not found:
        address = address.rpartition("@")[2]
        host, colon, path = address.partition(":")
        rest = f"{host}/{path.lstrip('/')}" if colon and "/" not in host else address
    elif scheme == "file":
        return rest.rstrip("/").removesuffix(".git")
    host, slash, path = rest.partition("/")
    host = host.rpartition("@")[2].lower().removesuffix(PORTS.get(scheme, ":"))
    return (host + slash + path).rstrip("/").removesuffix(".git")


def first_commit(root: str) -> str:
    """The oldest commit, told by git if it is there; a repository cannot configure this call to run anything."""
    import os
    import subprocess

    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # else a partial clone fetches what is missing, with whatever program its configuration names
    environ |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    # a PATH that a project's settings lead into the project must not find its git there
    folders = [os.path.realpath(name) for name in environ.get("PATH", "").split(":") if name[:1] == "/"]
    folders = [name for name in folders if not f"{name}/".startswith(os.path.realpath(root) + "/")]
    environ["PATH"] = ":".join(folders)
    command = ["git", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "--no-optional-locks", "-C", root]
    try:
        said = subprocess.run(
            [*command, "rev-list", "--max-parents=0", "HEAD"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, errors="replace",
            timeout=2, check=True, env=environ, cwd="/",
        ).stdout.split()  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    # not what it borrows of another repository, by links or as alternates
    return "root:" + min(said) if said and has_commit(root, min(said)) else ""


def holds(root: str, project: str, known: Aliases) -> bool:
    """Whether a directory can still be of the project it was: another repository may lie in its place by now. Who is
    in doubt asks `find_place`, which may have to ask git."""
    kind, _, name = project.partition(":")
    git = _git_dir(root) if kind in ("remote", "root") else ""
    if not git:
        return True
    if kind == "root":
        return has_commit(root, name)
    return _remote(git) == project and (not known.first_commits(project) or is_of(root, project, known))


def has_commit(root: str, commit: str) -> bool:
    """Whether a directory's repository has a commit."""
    git = _git_dir(root)
    own = bool(git) and not link_beneath(git, f"/objects/{commit[:2]}/{commit[2:]}")
    return own and not link_beneath(git, "/objects/pack") and _is_hash(commit) and _has(git + "/objects", commit)


def _has(objects: str, id: str) -> bool:
    """Whether a repository has an object, as a file or in a pack; of another repository's that it borrows, no."""
    if posix.access(f"{objects}/{id[:2]}/{id[2:]}", posix.F_OK):
        return True
    try:
        packs = [name for name in posix.listdir(objects + "/pack") if name.endswith(".idx")]
        return any(_lists(f"{objects}/pack/{name}", bytes.fromhex(id)) for name in packs)
    except OSError:
        return False


def _lists(index: str, id: bytes) -> bool:
    """Whether the index of a pack lists an object: 256 counts, by first byte, then the ids in order."""
    fd = posix.open(index, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    try:
        counts = posix.pread(fd, 8 + 1024, 0)
        if counts[:8] != PACK_INDEX:
            return False
        low, high = (int.from_bytes(counts[4 + 4 * number : 8 + 4 * number], "big") for number in (id[0], id[0] + 1))
        low = low if id[0] else 0
        while low < high:
            middle = (low + high) // 2
            found = posix.pread(fd, len(id), len(counts) + middle * len(id))
            low, high = (middle + 1, high) if found < id else (low, middle if found > id else -1)
        return high < 0
    finally:
        posix.close(fd)


def head(root: str) -> tuple[str, str]:
    """The branch and the commit checked out in a worktree; empty where it is none, or nothing was committed."""
    git = _worktree(root)
    text = _read(git + "/HEAD").strip()
    if not text.startswith("ref: "):
        return "", text if _is_hash(text) else ""
    name = text[5:].strip()
    if ".." in name or not name.isprintable() or name == ELSEWHERE:
        return "", ""
    shared = _git_dir(root)
    commit = _read(f"{shared}/{name}").strip() or _packed(shared, name)
    return name.removeprefix("refs/heads/"), commit if _is_hash(commit) else ""


def _packed(git: str, name: str) -> str:
    """The commit of a reference that git has put in one file with others."""
    found = [line.partition(" ")[0] for line in _read(git + "/packed-refs").splitlines() if line.endswith(" " + name)]
    return found[-1] if found else ""


def _is_hash(text: str) -> bool:
    return len(text) in (40, 64) and all(char in "0123456789abcdef" for char in text)


def _read(path: str) -> str:
    """A small regular file, and nothing that would keep us waiting."""
    return read_small(path, links=True) or ""
