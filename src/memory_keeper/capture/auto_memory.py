"""What the host itself remembers of a project: files of its own, read as they are and never changed.

Claude Code lets the model keep notes in a folder beside the transcripts, and tells them to each session. They change
and go; what they said is kept as events. A file is read only when the system says that it is another than before.
"""

from __future__ import annotations

import posix

from memory_keeper import config, wire
from memory_keeper.model import NamedTuple, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER, FIRST, SETTING = "memory", "MEMORY.md", "autoMemoryDirectory"
FILES, LARGEST = 32, 64 << 10  # that are read, and characters of each that are kept
LONGEST_WORD = 8 << 10  # characters
LONGEST_NAME = 200  # of a folder of the host's: a longer path it names otherwise
OPENING = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_NOFOLLOW | posix.O_CLOEXEC


class Remembered(NamedTuple):
    """A file of the host's memory that is another than when it was last read."""

    source: Source  # as it stands now
    text: str  # twice what is kept of it, so that a secret at the cut is seen whole
    at: float  # when it was written


def find_folders(transcript: str, root: str, environ: dict[str, str]) -> list[str]:
    """Where the host keeps its memory of a session's project: where the user's settings say, else beside the session's
    transcript, or beside those of the repository's root."""
    given = _setting(config.own_environ(environ, root))
    if given:
        return [given]
    beside = transcript.rpartition("/")[0]
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in root)
    folders = [beside, f"{beside.rpartition('/')[0]}/{name}" if len(name) < LONGEST_NAME else beside]
    return [f"{folder}/{FOLDER}" for folder in dict.fromkeys(folders)]


def _setting(environ: dict[str, str]) -> str:
    """The folder that the user chose; a project may not choose one."""
    path = config.claude_folder(environ) + "/settings.json" if environ else ""
    said = (config.read_small(path, links=True) or "") if path else ""
    if SETTING not in said:
        return ""
    try:
        given = wire.loads(said).get(SETTING)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""
    path = given if isinstance(given, str) else ""
    if path.startswith("~/"):
        path = environ.get("HOME", "") + path[1:]
    plain = path.startswith("/") and "/../" not in path + "/" and not path.startswith(config.UNREAL)
    return path.rstrip("/") if plain else ""


def read_changed(folder: str, known: Callable[[str], Source | None]) -> Iterator[Remembered]:
    """The files of a folder that are others than `known` says, at most so many: never a link, nor one behind it."""
    try:
        above = posix.open(folder, OPENING | posix.O_DIRECTORY)
    except (OSError, ValueError):
        return
    try:
        for name in _names(above):
            found = _read(above, name, f"{folder}/{name}", known)
            if found:
                yield found
    finally:
        posix.close(above)


def _names(above: int) -> list[str]:
    """The Markdown files there: the one that the host always tells comes first."""
    names = sorted(name for name in posix.listdir(above) if name.endswith(".md"))
    return sorted(names, key=lambda name: name != FIRST)[:FILES]


def _read(above: int, name: str, path: str, known: Callable[[str], Source | None]) -> Remembered | None:
    try:
        about = posix.stat(name, dir_fd=above, follow_symlinks=False)
        source = known(path) or Source(path, "", "")
        now = source._replace(offset=about.st_size, inode=about.st_ino, head=str(about.st_mtime_ns))
        if now == source or not about.st_size or about.st_mode & 0o170000 != 0o100000:
            return None
        if about.st_uid != posix.geteuid() and posix.geteuid() != 0:
            return None
        fd = posix.open(name, OPENING, dir_fd=above)
    except (OSError, ValueError):
        return None
    try:
        if posix.fstat(fd).st_ino != about.st_ino:
            return None  # it was replaced this very moment: the next look has the new one
        data = posix.read(fd, 2 * LARGEST)
    except OSError:
        return None
    finally:
        posix.close(fd)
    whole = len(data) == about.st_size
    text = data.decode("utf-8", "replace")
    return Remembered(now, text if whole else _without_last_word(text), about.st_mtime)


def _without_last_word(text: str) -> str:
    """A text that goes on: half a secret is not known for one, and what is redacted before it may move it into what is
    kept. No word is as long as a text without blanks."""
    least = end = max(0, len(text) - LONGEST_WORD)
    words = text[least:].rsplit(None, 1)
    return text[: end + len(words[0])] if len(words) > 1 else text[:least]
