"""Files of another tool: found without following a link, read within bounds, times taken from what they say."""

from __future__ import annotations

import os
import re
from calendar import timegm
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import takewhile

from memory_keeper.briefs.files import Folder, Unwritable
from memory_keeper.briefs.memory import NEVER, OPENING, decode, is_text, parse, plain, said
from memory_keeper.capture.tail import open_regular
from memory_keeper.imports import Entry
from memory_keeper.model import DAY, LATEST
from memory_keeper.text import clean

LARGEST = 4 << 20  # bytes of a file that is read whole
LONGEST = 20_000  # characters of a note: a longer section becomes several
LONG_LINE = 1 << 20  # bytes
MOST = 10_000  # files of a folder
HEAD = 12  # lines that may say when a file was written
DATE = re.compile(r"^(?:date|updated|last_updated|created)\s*:\s*[\"']?([^\n\"']{4,40})", re.M | re.I)
STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_ -]?(\d\d)[:-]?(\d\d)[:-]?(\d\d)?)?(?!\d)")


def names_in(root: str, *path: str) -> list[str]:
    """What lies in a folder below a root, which no link leads to; nothing where there is none."""
    try:
        with Folder(root, path) as folder:
            return folder.names()[:MOST]
    except (OSError, Unwritable):
        return []


def walk(root: str, below: str, endings: tuple[str, ...]) -> list[str]:
    """The files below a folder with one of these endings, by their names; no link is followed, none of what is hidden
    or installed is looked at."""
    top = os.path.join(root, below) if below else root
    parts = below.split("/") if below else []
    if any(os.path.islink("/".join((root, *parts[: number + 1]))) for number in range(len(parts))):
        return []
    found: list[str] = []
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        found += [f"{folder}/{name}" for name in sorted(names) if name.lower().endswith(endings)]
        if len(found) > MOST:
            break
    return found[:MOST]


def dated(text: str, path: str) -> float:
    """When a file was written, by its front matter or the lines that it begins with, its name, or the file system."""
    at, text = stamped(os.path.basename(path), modified(path)), text.lstrip("\ufeff")
    matter = text.partition("\n---")[0] if text.startswith("---") else "\n".join(text.split("\n", HEAD)[:HEAD])
    named = next((named for value in DATE.findall(matter) if (named := stamped(value, 0.0))), at)
    return at if named <= at < named + DAY else named  # the name may say the hour as well


def read_text(path: str) -> str:
    """A file's text. ValueError says why it is not read."""
    fd = open_regular(path) if not path.endswith(".gz") else None
    if fd is None:
        raise ValueError("it is no file of yours that can be read")
    with os.fdopen(fd, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST >> 20} MB")
    if not is_text(data):
        raise ValueError("it is no text")
    return decode(data)


def lines_of(path: str, progress: Callable[[int], None]) -> Iterator[bytes]:
    """The lines of a file, however large; in the place of one that is too long, an empty one without its end."""
    fd = open_regular(path)
    if fd is None:
        raise ValueError("it is no file of yours that can be read")
    with os.fdopen(fd, "rb") as file:
        while line := file.readline(LONG_LINE):
            progress(len(line))
            whole = len(line) < LONG_LINE or line.endswith(b"\n")
            while not whole and (more := file.readline(LONG_LINE)):
                progress(len(more))
                whole, line = more.endswith(b"\n"), b""
            yield line


def is_ours(text: str) -> bool:
    """Whether a page was written by us: what stands on it is in the store of whoever has it."""
    return text.lstrip("\ufeff \r\n\t").startswith(OPENING)


def sections(text: str, label: str, file: str, otherwise: float) -> list[Entry]:
    """The sections of a page, each as a note under its time or, where it has none, under that of its neighbours."""
    found, at = [], NEVER
    parts = [
        part if part.at != NEVER else part._replace(at=stamped(part.heading, NEVER)) for part in parse(text).sections
    ]
    begun = next((part.at for part in parts if part.at != NEVER), otherwise)
    for part in parts:
        at = part.at if part.at != NEVER else at if at != NEVER else begun
        key = str(int(part.at)) if part.at != NEVER else ""
        texts = pieces(plain(said(part))) if not _is_title(part.body) or part.heading else ()
        found += [Entry(label, "session", time_of(at, otherwise), text, file, key) for text in texts]
    return found


def _is_title(body: str) -> bool:
    """Whether a section has a heading and nothing beneath it."""
    return all(line.startswith("#") for line in body.split("\n") if line.strip())


def pieces(text: str) -> Iterator[str]:
    """A text in parts that are notes, cut between lines where there are any."""
    text = text.strip("\n")
    while len(text) > LONGEST:
        cut = text.rfind("\n", LONGEST // 2, LONGEST) + 1 or LONGEST
        yield text[:cut].strip("\n")
        text = text[cut:].strip("\n")
    if text.strip():
        yield text


def time_of(value: object, otherwise: float) -> float:
    """A moment from what a tool wrote as one: seconds, milliseconds, or a date."""
    if isinstance(value, str):
        return stamped(value, otherwise)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return otherwise
    at = value / 1000 if value > 1e11 else float(value)
    return at if 0 < at < LATEST else otherwise


def stamped(text: str, otherwise: float) -> float:
    """The first date in a text, which is UTC unless it says otherwise."""
    try:
        at = datetime.fromisoformat(text.strip())
        moment = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        match = STAMP.search(text)
        try:
            numbers = [int(number) for number in takewhile(bool, match.groups())] if match else []
            moment = float(timegm(datetime(*numbers, tzinfo=UTC).timetuple())) if numbers else otherwise  # type: ignore[arg-type,misc]
        except (ValueError, OverflowError):
            moment = otherwise
    return moment if 0 < moment < LATEST else otherwise


def modified(path: str) -> float:
    """When a file was last written."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def words(value: object, most: int) -> str:
    """A value as text of so many characters; empty when it is none."""
    return clean(value).strip()[:most] if isinstance(value, str) else ""
