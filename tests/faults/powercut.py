"""A disk after the power went: every state that it may be in, by the operations that were done and what was synced.

Of a file only what was synced is sure; of what was written since none is there, or all, or some of it, the last of it
torn. Syncing a file makes the names that were given before sure as well, as on ext4, xfs and btrfs.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

SECTOR = 512
HOWS = ("nothing", "everything", "some", "other")  # of what was not synced


class Done(NamedTuple):
    """An operation that was done: create, write, truncate, rename, link, unlink or sync."""

    what: str
    path: str
    to: str
    at: int
    data: bytes


class File:
    """What a name leads to."""

    def __init__(self, data: bytes = b"") -> None:
        self.sure, self.since = data, list[Done]()

    def after(self, those: list[Done]) -> bytes:
        data = self.sure
        for one in those:
            data = applied(data, one)
        return data


def applied(data: bytes, one: Done) -> bytes:
    if one.what == "t":
        return data[: one.at].ljust(one.at, b"\0")
    return data[: one.at].ljust(one.at, b"\0") + one.data + data[one.at + len(one.data) :]


def read_log(path: Path) -> list[Done]:
    """The operations that `faultpoint.c` has logged."""
    return list(_read(path.read_bytes())) if path.is_file() else []


def _read(log: bytes) -> Iterator[Done]:
    place, head = 0, struct.Struct("=cIIqq")
    while place < len(log):
        what, first, second, at, size = head.unpack_from(log, place)
        place += head.size
        path, to = os.fsdecode(log[place : place + first]), os.fsdecode(log[place + first : place + first + second])
        place += first + second
        data = log[place : place + size] if what == b"w" else b""
        place += len(data)
        if not path.endswith(" (deleted)"):
            yield Done(what.decode(), path, to, at, data)


def files_below(folder: Path) -> dict[str, bytes]:
    """All that is there."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def disk(before: dict[str, bytes], done: list[Done], how: str, random: Random) -> dict[str, bytes]:
    """What the disk may have after these operations."""
    sure = {path: File(data) for path, data in before.items()}
    names, named = dict(sure), list[tuple[Done, File | None]]()
    for one in done:
        if one.what == "s":
            if one.path in names:
                file = names[one.path]
                file.sure, file.since = file.after(file.since), []
            sure, named = dict(names), []
        elif one.what in "wt":
            if one.path not in names:  # it was there before us
                names[one.path] = sure[one.path] = File()
            names[one.path].since.append(one)
        else:
            _name(names, one, File())
            named.append((one, names.get(one.path)))
    kept = {"nothing": 0, "everything": len(named)}.get(how, random.randrange(len(named) + 1))
    for one, made in named[:kept]:
        _name(sure, one, made)
    return {path: _left(file, how, random) for path, file in sure.items()}


def _name(names: dict[str, File], one: Done, made: File | None) -> None:
    """Give a name, take it away, or pass it on."""
    if one.what == "c" and made:
        names.setdefault(one.path, made)
    elif one.what == "u":
        names.pop(one.path, None)
    elif one.what in "rl" and one.path in names:
        names[one.to] = names[one.path]
        if one.what == "r":
            del names[one.path]


def _left(file: File, how: str, random: Random) -> bytes:
    if how in ("nothing", "everything"):
        return file.after(file.since if how == "everything" else [])
    those = [one for one in file.since if random.random() < 0.5]
    if those and len(those[-1].data) > SECTOR:
        whole = random.randrange(1, len(those[-1].data) // SECTOR + 1) * SECTOR
        those[-1] = those[-1]._replace(data=those[-1].data[:whole])
    return file.after(those)


def lay_out(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold just these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    for name, data in files.items():
        path = Path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o600)
