"""Which project a directory belongs to: its git remote, else its first commit, else the directory itself.

Never a slug of the path, which two directories can share. A repository's configuration is read by hand: no git needs
to be there, and nothing in a cloned repository can make us run a program.
"""

from __future__ import annotations

import posix

from memory_keeper.config import find_root
from memory_keeper.model import NamedTuple

LARGEST = 1 << 20
PORTS = {"ssh": ":22", "https": ":443", "http": ":80", "git": ":9418"}  # a port that goes without saying


class Place(NamedTuple):
    """A directory's project, by every name it may be known under; the first is the best."""

    root: str  # of the repository or worktree; outside git, the directory
    keys: tuple[str, ...]  # remote:… or root:…, and always dir:…


def find_place(directory: str) -> Place:
    """The project of a directory."""
    root = find_root(directory)
    inside = _git_dir(root)
    key = (_remote(inside) or _first_commit(root)) if inside else ""
    return Place(root, (key, "dir:" + root) if key else ("dir:" + root,))


def _git_dir(root: str) -> str:
    """The repository's own folder, which all its worktrees share."""
    import os

    git = root + "/.git"
    if os.path.isfile(git):  # a worktree or a submodule: the file says where
        said = _read(git)
        if not said.startswith("gitdir:"):
            return ""
        git = os.path.join(root, said[7:].strip())
    common = _read(git + "/commondir").strip()
    git = os.path.normpath(os.path.join(git, common)) if common else git
    return git if os.path.isfile(git + "/HEAD") else ""


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


def _first_commit(root: str) -> str:
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
    return "root:" + min(said) if said else ""


def branch(root: str) -> str:
    """The branch checked out in a worktree; empty when it is none."""
    import os

    git = root + "/.git"
    if os.path.isfile(git):
        git = os.path.join(root, _read(git)[7:].strip())
    said = _read(git + "/HEAD").strip()
    return said.removeprefix("ref: refs/heads/") if said.startswith("ref: ") else ""


def _read(path: str) -> str:
    """A small regular file, and nothing that would keep us waiting."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        regular = posix.fstat(fd).st_mode & 0o170000 == 0o100000
        return posix.read(fd, LARGEST).decode("utf-8", "replace") if regular else ""
    except OSError:
        return ""
    finally:
        posix.close(fd)
