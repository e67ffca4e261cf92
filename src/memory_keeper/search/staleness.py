"""Whether what an answer rests on still holds: its files as they were then, against the files as they are now.

Capture keeps a hash of a file wherever a transcript says all of its content. Without one, a file that nobody wrote to
since is the same, and of any other nothing is said. Only regular files inside the project are looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from memory_keeper import wire
from memory_keeper.capture.claude_code import fingerprint
from memory_keeper.capture.project import from_root, head
from memory_keeper.model import Event, NamedTuple
from memory_keeper.store.calls import files_left
from memory_keeper.store.events import marks
from memory_keeper.store.store import Store

LARGEST = 4 << 20  # bytes of a file that is read
MOST = 50  # files of one answer that are looked at


class State(NamedTuple):
    """A file that an answer rests on, and what became of it."""

    path: str  # as seen from the project
    status: str  # same | changed | deleted
    at: float  # when it was last known


def changed(root: str, events: Iterable[Event], roots: Sequence[str] = ()) -> list[State]:
    """What became of the files that some events wrote, edited or read; those of which nothing is known are left out.

    `root` is the project's folder now; `roots` are those it was seen in, which may be gone or another worktree.
    """
    known: dict[str, tuple[float, str]] = {}
    for event in sorted(events, key=lambda event: event.at):
        path, digest = file_of(event)
        inside = from_root(path, (root, *roots))
        if inside:
            known[inside] = event.at, digest
    states = (State(path, _status(root, path, *known[path]), known[path][0]) for path in list(known)[:MOST])
    return [state for state in states if state.status]


def of_files(store: Store, root: str, session: str, until: str, files: Sequence[str]) -> list[State]:
    """What became of files since an event of a session, or the result of a call, left them as they were then."""
    wanted = set(files)
    left = [event for event in files_left(store, session, until) if file_of(event)[0] in wanted]
    return changed(root, left, store.roots(store.project_of(session)))


def file_of(event: Event) -> tuple[str, str]:
    """The file that an event is about, and the hash of what it held; empty where that is not known."""
    left = wire.read_object(event.extra) if event.kind == "result" else {}
    path, digest = left.get("file"), left.get("hash")
    if isinstance(path, str) and isinstance(digest, str):
        return path, digest
    return event.path if event.kind == "call" else "", ""


def _status(root: str, path: str, at: float, digest: str) -> str:
    """What became of a file; empty when nobody can tell."""
    try:
        whole, top = os.path.realpath(f"{root}/{path}"), os.path.realpath(root)
        if not whole.startswith(top + "/"):
            return ""  # a link leads out of the project
        fd = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return "deleted" if os.path.isdir(root) else ""
    except (OSError, ValueError):
        return ""
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            return ""
        if not digest:
            return "same" if about.st_mtime <= at else ""
        text = os.read(fd, LARGEST + 1).decode("utf-8", "replace")
        return "same" if fingerprint(text) == digest else "changed"
    except OSError:
        return ""
    finally:
        os.close(fd)


def say(states: Sequence[State]) -> str:
    """What a reader has to know of an answer's files: `3 of 4 files changed since`; empty when nothing has changed."""
    gone = [state.path for state in states if state.status == "deleted"]
    other = [state.path for state in states if state.status == "changed"]
    parts = []
    if other:
        what = f"{other[0]} has" if len(states) == 1 else f"{len(other)} of {len(states)} files have"
        parts.append(f"{what} changed since")
    if gone:
        parts.append(f"{gone[0]} was deleted since" if len(gone) == 1 else f"{len(gone)} files were deleted since")
    return ", ".join(parts)


def moved_on(store: Store, session: str, root: str) -> str:
    """That the project is at another commit than when a session ended; empty when it is not, or not known."""
    then, now = commit_of(store, session), head(root)[1]
    return f"then at {then[:9]}, now at {now[:9]}" if then and now and then != now else ""


def commit_of(store: Store, session: str) -> str:
    """The commit that a session ended on; empty when nobody noted it."""
    for extra in reversed(marks(store, session)):
        place = wire.read_object(extra).get("place")
        if isinstance(place, list) and len(place) == 2 and isinstance(place[1], str) and place[1]:
            return place[1]
    return ""
