"""The files that are rendered for people, in `.claude/memory/` of their project; each can be made again at any time.

A repository may hold links that lead elsewhere, so every folder on the way is opened without following any. What we
write bears a mark in its time: the fraction of its second is a checksum of the file's inode, size and second. Whoever
writes to it after us leaves another time, so that one `stat` tells whether a file is still as we left it.
"""

from __future__ import annotations

import posix
import zlib
from time import gmtime, strftime, time

from memory_keeper import config
from memory_keeper.errors import KeeperError
from memory_keeper.model import NamedTuple
from memory_keeper.text import clean, one_line, showable, tagless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memory_keeper.model import Note

FOLDER = (".claude", "memory")
MEMORY, INDEX = "memory.md", "memory-index.json"
ONE_EACH = ("project", "architecture", "conventions")  # kinds of standing notes: a project has one of each, on a page
ACTIVE_RULES, OBSERVATIONS = "ACTIVE_RULES.md", "OBSERVATIONS.md"
LISTED = {ACTIVE_RULES: "rule", OBSERVATIONS: "observation"}  # pages with a section for each note of a kind
EDITED = (MEMORY, *(f"{kind}.md" for kind in ONE_EACH))  # the pages that a start asks about
EXPORTS = ("memory-keeper.md", "memory-keeper.jsonl")
CONTEXT_ARCHIVE, OBSERVATION_ARCHIVE = "CONTEXT_ARCHIVE.md", "OBSERVATION_ARCHIVE.md"
DONE, TASK_ARCHIVE = "DONE.md", "TASK_ARCHIVE.md"
SEALED = (CONTEXT_ARCHIVE, OBSERVATION_ARCHIVE, DONE, TASK_ARCHIVE)  # pages to read: whoever changes one keeps it
REPORTS = "reports"  # a folder: those of the months that are over
ENDINGS = {"handoffs": ".md", "sessions": ".l1.jsonl", REPORTS: ".md"}  # of our files, by their folder
FOLDERS = (*((*FOLDER, name) for name in ENDINGS), FOLDER)  # that we write in; what lies in others first
BEFORE = ".before-memory-keeper"  # ends the name of a file that made room for one of ours
HANDED_OUT = "delta_temp.txt"  # what an agent is to sum up, by the predecessor's name for it
UNANSWERED = 3600.0  # seconds after which nobody answers any more
ABANDONED = 60.0  # seconds after which nobody is still writing a file that was begun
IGNORED = ".gitignore"
FOLLOWING_NOTHING = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
IGNORE = "# made by Memory Keeper: its pages can be made again; a file of yours here needs `git add --force`\n*\n"
STAYING = "# made by Memory Keeper: pages that it left here\n"
LARGEST = 4 << 20  # bytes of a file that is read back: a page of ours has a fortieth of that
TICK = 100  # nanoseconds that every file system of ours can tell apart


class Unwritable(KeeperError):  # noqa: N818  (it reads as what it says)
    """A folder or a file of a project's that is not there for us."""


class Found(NamedTuple):
    """A file as it was read."""

    data: bytes
    inode: int
    at: float  # when it was last written
    ours: bool  # nobody has written to it since we did


class Folder:
    """A folder of the project's, opened without following a link; close it."""

    def __init__(self, root: str, path: Sequence[str] = FOLDER, make: bool = False) -> None:
        self.path = "/".join((root, *path))
        self.fd = -1
        try:
            self.fd = posix.open(root, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
            for depth, name in enumerate(path, 1):
                above, self.fd = self.fd, _enter(self.fd, name, make)
                posix.close(above)
                if make and tuple(path[:2]) == FOLDER and depth > 1:
                    # in the last one it is ours: those above may be somebody else's, and say otherwise
                    if depth == len(path) and self.is_theirs(".gitignore"):
                        self.set_aside(".gitignore")
                    _put(self.fd, ".gitignore", IGNORE, keep=depth < len(path))
        except OSError as error:
            self.close()
            link = ", and a link is not followed" if isinstance(error, NotADirectoryError) else ""
            raise Unwritable(f"{self.path} cannot be opened: {error.strerror}{link}") from None

    def close(self) -> None:
        """Give it back."""
        if self.fd >= 0:
            posix.close(self.fd)
        self.fd = -1

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """What lies in it."""
        return sorted(posix.listdir(self.fd))

    def sweep(self, now: float, alone: bool = True) -> None:
        """Take away what somebody who was killed had begun to write, and what no agent answered; where others may be
        at it, what was begun long ago."""
        for name in self.names():
            if self._is_begun(name, now, alone) or (name == HANDED_OUT and self._is_unanswered(now)):
                try:
                    posix.unlink(name, dir_fd=self.fd)
                except OSError:
                    pass  # a folder, which nobody of us has made

    def _is_old(self, name: str, now: float, seconds: float) -> bool:
        try:
            return now - posix.lstat(name, dir_fd=self.fd).st_mtime > seconds
        except OSError:
            return False

    def _is_begun(self, name: str, now: float, alone: bool) -> bool:
        own = _begun(name)
        page, others = is_rendered(own), (IGNORED, ENDINGS.get(self.path.rpartition("/")[2], IGNORED))
        return (page and alone) or ((page or own.endswith(others)) and self._is_old(name, now, ABANDONED))

    def _is_unanswered(self, now: float) -> bool:
        return self.is_ours(HANDED_OUT) and self._is_old(HANDED_OUT, now, UNANSWERED)

    def is_there(self, name: str) -> bool:
        """Whether anything has this name."""
        try:
            posix.lstat(name, dir_fd=self.fd)
        except OSError:
            return False
        return True

    def is_ours(self, name: str) -> bool:
        """Whether a file is as we left it."""
        try:
            return _is_marked(posix.lstat(name, dir_fd=self.fd))
        except OSError:
            return False

    def read(self, name: str) -> Found | None:
        """A regular file, whole; None when there is none, or one too large to be a page."""
        fd = _open(self.fd, name)
        if fd is None:
            return None
        try:
            about = posix.fstat(fd)
            data = b""
            while about.st_size <= LARGEST and (more := posix.read(fd, about.st_size + 1)):
                data += more
                if len(data) > LARGEST:
                    return None
            if about.st_size > LARGEST:
                return None
            return Found(data, about.st_ino, about.st_mtime, _is_marked(about))
        except OSError:
            return None
        finally:
            posix.close(fd)

    def obstacle(self, name: str) -> str:
        """Why a file is not read, in words; empty when it is, or is not there."""
        try:
            kind = posix.lstat(name, dir_fd=self.fd).st_mode & 0o170000
        except OSError:
            return ""
        if kind == 0o120000:
            return "a link"
        if kind != 0o100000:
            return "no file"
        return "" if self.read(name) else f"larger than {LARGEST >> 20} MB, or closed to you"

    def put(self, name: str, text: str, before: Found | None) -> bool:
        """Make a file have this text, if it still is as it was `before`; whether it now has it."""
        own = _prepare(self.fd, name, [text.encode("utf-8", "replace")])
        try:
            if not self._is_still(name, before):
                return False
            posix.replace(own, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            own = ""
            return True
        finally:
            if own:
                posix.unlink(own, dir_fd=self.fd)

    def pour(self, name: str, lines: Iterable[str]) -> int:
        """Make a file have these lines, whatever is there now; its size."""
        _replace(self.fd, _prepare(self.fd, name, (line.encode("utf-8", "replace") for line in lines)), name)
        return posix.lstat(name, dir_fd=self.fd).st_size

    def keep(self, name: str, before: Found) -> bool:
        """A file that has the right text is taken for ours from now on; whether it still has it."""
        fd = _open(self.fd, name)
        if fd is None:
            return False
        try:
            if posix.read(fd, len(before.data) + 1) != before.data:
                return False
            _mark(fd)
            return True
        finally:
            posix.close(fd)

    def remove(self, name: str, before: Found) -> bool:
        """Take a file away, if it still is as it was `before`."""
        if not self._is_still(name, before):
            return False
        posix.unlink(name, dir_fd=self.fd)
        return True

    def is_theirs(self, name: str) -> bool:
        """Whether a file says what we did not write: no mark of ours is on it."""
        found = self.read(name)
        return bool(found and found.data.strip() and not found.ours and found.data != IGNORE.encode())

    def set_aside(self, name: str) -> str:
        """A second name for a file that is about to be replaced; the name."""
        number = 0
        while True:
            other = f"{name}{BEFORE}" + (f".{number}" if number else "")
            try:
                posix.link(name, other, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
                return other
            except FileExistsError:
                number += 1
            except PermissionError:  # of a file system without links, or of a folder, which is no file to read
                found = self.read(name)
                if not found:
                    raise
                while self.is_there(other):
                    number += 1
                    other = f"{name}.before-memory-keeper.{number}"
                _replace(self.fd, _prepare(self.fd, other, [found.data]), other)
                return other

    def _is_still(self, name: str, before: Found | None) -> bool:
        """Whether nobody has saved it meanwhile, in place or as another file."""
        now = self.read(name)
        if not before or not now:
            return not before and not self.is_there(name)
        return (now.data, now.inode) == (before.data, before.inode)


def is_there(root: str) -> bool:
    """Whether a project has a folder of ours."""
    return posix.access("/".join((root, *FOLDER)), posix.F_OK)


def changed(root: str) -> bool:
    """Whether somebody has written to a page of ours since we did; of the archives only who renders asks that."""
    try:
        with Folder(root) as folder:
            return any(folder.is_there(name) and _is_changed(folder, name) for name in EDITED)
    except Unwritable:
        return False


def _is_changed(folder: Folder, name: str) -> bool:
    if folder.is_ours(name) or (fd := _open(folder.fd, name)) is None:
        return False
    try:
        return posix.read(fd, 200).lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<!-- memory-keeper ")
    finally:
        posix.close(fd)


def write_handoff(root: str, note: Note) -> str:
    """A handoff as a file of the project; its path."""
    return write(root, ("handoffs", f"HANDOFF-{note.session}.md"), handoff_page(root.rpartition("/")[2], note))


def handoff_page(name: str, note: Note) -> str:
    """A handoff as people read it, of the project or thread of this name."""
    stamp = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(showable(note.at)))
    rows = (("session", note.session), ("note", note.id), ("at", stamp), ("tokens", str(note.tokens)))
    front = "".join(f"{name}: {value}\n" for name, value in rows)
    name = tagless(one_line(clean(name), 100))
    about = "Made by rule from what was captured. `memory-keeper show ID` gives the whole of an entry; times are UTC."
    return f"---\n{front}---\n# Handoff of session {note.session[:8]}, {name}\n\n{about}\n\n{note.text}"


def is_page(name: str) -> bool:
    """Whether a file with such a name tells people of the memory, and is kept in step with it."""
    return name in (*EDITED, *LISTED, INDEX) or (name.startswith("memory_") and name.endswith((".md", ".summary.json")))


def is_rendered(name: str) -> bool:
    """Whether we give a file such a name, in the folder of the memory."""
    return is_page(name) or name in (*EXPORTS, *SEALED, HANDED_OUT)


def is_hosts(root: str, environ: dict[str, str]) -> bool:
    """Whether a project's folder would be the host's own, which is not ours to write in."""
    return f"{root}/.claude" == config.claude_folder(environ)


def removable(root: str) -> list[str]:
    """The files that `remove_all` would take away."""
    found: list[str] = []
    for path in FOLDERS:
        try:
            with Folder(root, path) as folder:
                found += ["/".join((root, *path, name)) for name in folder.names() if _may_go(folder, path[-1], name)]
        except (OSError, Unwritable):
            pass  # none there, or something of somebody else's
    return sorted(found)


def changed_pages(root: str) -> list[str]:
    """The files of the memory's folder that `remove_all` leaves: with names of ours, and words of somebody else."""
    try:
        with Folder(root) as folder:
            names = [name for name in folder.names() if is_rendered(name) and not folder.is_ours(name)]
            return ["/".join((folder.path, name)) for name in names]
    except Unwritable:
        return []


def put_back(root: str, dry_run: bool = False, going: Collection[str] = ()) -> list[str]:
    """Give the files that made room for ours their names again, where nothing is in the way but what is `going`."""
    found: list[str] = []
    for path in set_aside(root):
        above, _, other = path.rpartition("/")
        name = other.removesuffix(BEFORE)
        with Folder(root, above.removeprefix(root + "/").split("/")) as folder:
            if name == other or (f"{above}/{name}" not in going and folder.is_there(name)):
                continue
            if not dry_run:
                posix.link(other, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd, follow_symlinks=False)
                posix.unlink(other, dir_fd=folder.fd)
            found.append(f"{above}/{name}")
    return found


def set_aside(root: str) -> list[str]:
    """The files that made room for ours."""
    found: list[str] = []
    for path in FOLDERS:
        try:
            with Folder(root, path) as folder:
                found += ["/".join((root, *path, name)) for name in folder.names() if BEFORE in name]
        except (OSError, Unwritable):
            pass  # none there, or something of somebody else's
    return sorted(found)


def remove_all(root: str, keep: Collection[str] = ()) -> int:
    """Take away what was rendered into a project but for some paths, and the folders that leaves empty; how many files.

    A page that somebody has written to since stays: it may say what nothing else does.
    """
    removed = sum(_remove_from(root, path, keep) for path in FOLDERS)
    try:
        with Folder(root, FOLDER[:1]) as folder:
            posix.rmdir(FOLDER[1], dir_fd=folder.fd)
        with Folder(root, ()) as folder:
            posix.rmdir(FOLDER[0], dir_fd=folder.fd)
    except (OSError, Unwritable):
        pass  # none there, or something of somebody else's
    return removed


def _remove_from(root: str, path: tuple[str, ...], keep: Collection[str]) -> int:
    """Take away our files of one folder, and it if that leaves it empty and it is one of ours alone."""
    removed = 0
    try:
        with Folder(root, path) as folder:
            for name in folder.names():
                if _may_go(folder, path[-1], name) and "/".join((root, *path, name)) not in keep:
                    posix.unlink(name, dir_fd=folder.fd)
                    removed += 1
            left = [name for name in folder.names() if is_rendered(name)]  # and stay out of commits, alone
            if folder.is_there(IGNORED) and not folder.is_theirs(IGNORED):
                if left:
                    _put(folder.fd, IGNORED, STAYING + "".join(f"/{name}\n" for name in (IGNORED, *left)))
                else:
                    posix.unlink(IGNORED, dir_fd=folder.fd)
        if path != FOLDER:
            with Folder(root, path[:-1]) as above:
                posix.rmdir(path[-1], dir_fd=above.fd)
    except (OSError, Unwritable):
        pass  # none there, or something of somebody else's
    return removed


def _may_go(folder: Folder, above: str, name: str) -> bool:
    own = _begun(name) or name
    rendered = is_rendered(own) if above == FOLDER[-1] else own.endswith(ENDINGS[above])
    return rendered and (own != name or folder.is_ours(name))


def _begun(name: str) -> str:
    """The name that a file was to have which `_prepare` began; empty when it is none."""
    dot, _, rest = name.partition(".")
    own, _, number = rest.rpartition(".")
    return own if not dot and len(number) == 8 and set(number) <= set("0123456789abcdef") else ""


def write(root: str, path: tuple[str, ...], text: str) -> str:
    """Make a file below the project's memory folder have this text; its path. One that somebody has edited is kept
    beside it."""
    *folders, name = path
    whole = "/".join((root, *FOLDER, *path))
    try:
        with Folder(root, (*FOLDER, *folders), make=True) as folder:
            data, before = clean(text).encode("utf-8", "replace"), folder.read(name)
            if before and before.data == data:
                return whole
            folder.sweep(time(), alone=False)
            own = _prepare(folder.fd, name, [data])
            # where the times are too coarse for our mark, nobody can say who wrote it
            if before and before.data.strip() and not before.ours and folder.is_ours(own):
                folder.set_aside(name)
            _replace(folder.fd, own, name)
    except OSError as error:
        raise Unwritable(f"{whole} cannot be written: {error.strerror}") from None
    except Unwritable as error:
        raise Unwritable(f"{whole} cannot be written: {error}") from None
    return whole


def _enter(above: int, name: str, make: bool) -> int:
    try:
        if make:
            posix.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:
        pass
    return posix.open(name, FOLLOWING_NOTHING, dir_fd=above)


def _put(folder: int, name: str, text: str, keep: bool = False) -> None:
    """Put a file in its place whole; `keep`: unless there is one."""
    data = text.encode("utf-8", "replace")
    if _same(folder, name, data, keep):
        return
    _replace(folder, _prepare(folder, name, [data]), name)


def _replace(folder: int, own: str, name: str) -> None:
    """Put a file that was prepared in its place; nothing of it is left where that cannot be."""
    try:
        posix.replace(own, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        posix.unlink(own, dir_fd=folder)
        raise


def _prepare(folder: int, name: str, parts: Iterable[bytes]) -> str:
    """Write a file under a name of its own, marked as ours; the name."""
    own = f".{name}.{posix.urandom(4).hex()}"
    fd = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        for data in parts:
            while data:
                data = data[posix.write(fd, data) :]
        _mark(fd)
    except BaseException:
        posix.unlink(own, dir_fd=folder)
        raise
    finally:
        posix.close(fd)
    return own


def _same(folder: int, name: str, data: bytes, keep: bool) -> bool:
    """Whether it is there as it should be: a file is written only when it changes."""
    fd = _open(folder, name, any=keep)
    if fd is None:
        return False
    try:
        return keep or posix.read(fd, len(data) + 1) == data
    finally:
        posix.close(fd)


def _open(folder: int, name: str, any: bool = False) -> int | None:
    """A descriptor of a regular file, never of a link or a pipe; None when it is none."""
    try:
        fd = posix.open(name, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    if any or posix.fstat(fd).st_mode & 0o170000 == 0o100000:
        return fd
    posix.close(fd)
    return None


def _mark(fd: int) -> None:
    about, second = posix.fstat(fd), int(time())
    at = second * 1_000_000_000 + _checksum(about.st_ino, about.st_size, second)
    try:
        posix.utime(fd, ns=(at, at))
    except OSError:
        pass  # not every file system has such times: then every file seems to be somebody's


def _is_marked(about: posix.stat_result) -> bool:
    second, fraction = divmod(about.st_mtime_ns, 1_000_000_000)
    regular = about.st_mode & 0o170000 == 0o100000
    return regular and fraction == _checksum(about.st_ino, about.st_size, second)


def _checksum(inode: int, size: int, second: int) -> int:
    return zlib.crc32(f"{inode} {size} {second}".encode()) % (1_000_000_000 // TICK) * TICK
