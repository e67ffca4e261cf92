"""The files that are rendered for people, in `.claude/memory/` of their project; each can be made again at any time.

A repository may hold links that lead elsewhere, so every folder on the way is opened without following any.
"""

from __future__ import annotations

import posix

from memory_keeper.errors import KeeperError
from memory_keeper.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Note

FOLDER = (".claude", "memory")
FOLLOWING_NOTHING = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
IGNORE = "# made by Memory Keeper: everything here can be made again\n*\n"


def write_handoff(root: str, note: Note) -> str:
    """A handoff as a file of the project; its path."""
    from time import gmtime, strftime

    stamp = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(max(0.0, min(note.at, 2e11))))
    rows = (("session", note.session), ("note", note.id), ("at", stamp), ("tokens", str(note.tokens)))
    front = "".join(f"{name}: {value}\n" for name, value in rows)
    name = root.rpartition("/")[2]
    about = "Made by rule from what was captured. `memory-keeper show ID` gives the whole of an entry; times are UTC."
    text = f"---\n{front}---\n# Handoff of session {note.session[:8]}, {name}\n\n{about}\n\n{note.text}"
    return write(root, ("handoffs", f"HANDOFF-{note.session}.md"), text)


def remove_all(root: str) -> int:
    """Take away what was rendered into a project, and the folders it leaves empty; how many files that were."""
    fds: list[int] = []
    removed = 0
    try:
        fds.append(posix.open(root, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC))
        for folder in (*FOLDER, "handoffs"):
            fds.append(posix.open(folder, FOLLOWING_NOTHING, dir_fd=fds[-1]))
        for name in posix.listdir(fds[-1]):
            if name.startswith("HANDOFF-") and name.endswith(".md"):
                posix.unlink(name, dir_fd=fds[-1])
                removed += 1
        if _same(fds[-1], ".gitignore", IGNORE.encode(), keep=False):
            posix.unlink(".gitignore", dir_fd=fds[-1])
        posix.rmdir("handoffs", dir_fd=fds[2])
        if _same(fds[2], ".gitignore", IGNORE.encode(), keep=False):
            posix.unlink(".gitignore", dir_fd=fds[2])
        posix.rmdir(FOLDER[1], dir_fd=fds[1])
        posix.rmdir(FOLDER[0], dir_fd=fds[0])
    except OSError:
        pass  # none there, or something of somebody else's
    finally:
        for fd in fds:
            posix.close(fd)
    return removed


def write(root: str, path: tuple[str, ...], text: str) -> str:
    """Make a file below the project's memory folder have this text; its path."""
    *folders, name = path
    fds: list[int] = []
    try:
        fds.append(posix.open(root, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC))
        for folder in (*FOLDER, *folders):
            fds.append(_enter(fds[-1], folder))
            if folder == FOLDER[-1]:
                _put(fds[-1], ".gitignore", IGNORE, keep=True)
        _put(fds[-1], ".gitignore", IGNORE)  # the one above may be somebody else's, and say otherwise
        _put(fds[-1], name, clean(text))
    except OSError as error:
        raise KeeperError(f"{'/'.join((root, *FOLDER, *path))} cannot be written: {error.strerror}") from None
    finally:
        for fd in fds:
            posix.close(fd)
    return "/".join((root, *FOLDER, *path))


def _enter(above: int, name: str) -> int:
    try:
        posix.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:
        pass
    return posix.open(name, FOLLOWING_NOTHING, dir_fd=above)


def _put(folder: int, name: str, text: str, keep: bool = False) -> None:
    """Put a file in its place whole; `keep`: unless there is one."""
    data, own = text.encode("utf-8", "replace"), f".{name}.{posix.urandom(4).hex()}"
    if _same(folder, name, data, keep):
        return
    fd = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        while data:
            data = data[posix.write(fd, data) :]
        posix.replace(own, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        posix.unlink(own, dir_fd=folder)
        raise
    finally:
        posix.close(fd)


def _same(folder: int, name: str, data: bytes, keep: bool) -> bool:
    """Whether it is there as it should be: a file is written only when it changes."""
    try:
        fd = posix.open(name, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    try:
        return keep or posix.read(fd, len(data) + 1) == data
    finally:
        posix.close(fd)
