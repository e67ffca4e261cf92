"""Copies of the home: taken while hooks run, checked as soon as they are written, put back whole or not at all.

A backup is one file, `backups/DATE-TIME.tar`: the store as of one moment without its search index, what was written by
hand and not moved yet, settings, and for a full one the archives of raw lines as far as that store knows them. The last
member has the checksum of every other. One is taken every day that something was kept, and the newest few stay.

What is put back is first unpacked and checked beside the home's own files; these move to `before-restore-…`, and stay.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing, nullcontext
from io import BytesIO
from time import localtime, strftime, time
from typing import Any

from memory_keeper import __version__, config
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host.registration import names_of_ours
from memory_keeper.keeper import Keeper, by_hand
from memory_keeper.model import Json, NamedTuple
from memory_keeper.store import archive, open_mirror, open_store
from memory_keeper.store.home import Lock, make_folder

FOLDER, ENDING, MANIFEST = "backups", ".tar", "manifest.json"
COMING, BEFORE = "restoring", "before-restore-"  # folders of the home
MIRROR = "sessions.db"  # transcripts of a bot, for it to resume from: raw, and so only in a full one
READY = "ready"  # in the first one: all of it is there and checked
JOURNAL = ("journal", "journal.key")
REPLACED = ("salt", *JOURNAL)  # files that go as they are; the home's own make room for them
ADDED = ("forgotten", "config.json", "prices.json", MIRROR)  # and those that come back only where there are none
DAY, PATIENCE = 86_400.0, 60.0
CHUNK = 1 << 20


class Backup(NamedTuple):
    """One that was taken."""

    path: str
    at: float
    bytes: int
    full: bool
    events: int
    notes: int


# --- taking one -------------------------------------------------------------------------------------------------------


def take(keeper: Keeper, path: str = "", full: bool = False, locked: bool = False) -> Backup:
    """Take a backup, and check it; what it has. `locked`: the caller sees to it that nobody writes archives again."""
    at = time()
    name = strftime("%Y%m%d-%H%M%S", localtime(at)) + ENDING
    path = os.path.join(path, name) if os.path.isdir(path) else path or f"{keeper.home}/{FOLDER}/{name}"
    above = os.path.dirname(os.path.abspath(path))
    make_folder(above)
    own, copy = f"{path}.part", f"{path}.store"
    mine = own, copy, f"{copy}.sessions"
    with nullcontext() if locked else Lock(keeper.home, PATIENCE, "distil"):  # under which others forget
        try:
            _sweep(*mine)
            keeper.store.copy(copy)
            _write(keeper.home, own, copy, full, at)
            taken = check(own, f"{own}.check")
            config.sync(own)
            os.rename(own, path)
            config.sync(above)
        except OSError as error:
            raise KeeperError(f"{path} cannot be written: {error.strerror}") from None
        finally:
            _sweep(*mine)
    return taken._replace(path=path)


def _write(home: str, path: str, copy: str, full: bool, at: float) -> None:
    with closing(open_store(copy, write=False)) as store:
        counts, members = store.counts(), store.members() if full else []
    sums: dict[str, str] = {}
    with open(path, "xb", opener=_private) as file, tarfile.open(fileobj=file, mode="w") as tar:
        _add(tar, sums, "store.db.z", _packed(copy))
        with Lock(home, PATIENCE):
            beside = {
                name: _whole(f"{home}/{name}")
                for name in (*REPLACED, *ADDED)
                if name != MIRROR and os.path.isfile(f"{home}/{name}")
            }
        for name, data in beside.items():
            _add(tar, sums, name, iter([data]))
        if full and os.path.isfile(f"{home}/{MIRROR}"):
            open_mirror(f"{home}/{MIRROR}").copy(f"{copy}.sessions")
            _add(tar, sums, f"{MIRROR}.z", _packed(f"{copy}.sessions"))
        for name in sorted(os.listdir(f"{home}/spool")) if os.path.isdir(f"{home}/spool") else ():
            with open(f"{home}/spool/{name}", "rb") as record:
                _add(tar, sums, f"spool/{name}", iter([record.read()]))
        ends = {archive.archive_path(home, source): member.start + member.length for source, member in members}
        for one_path, end in ends.items():  # what comes after is of a writer that has not committed it
            if os.path.isfile(one_path):
                _add(tar, sums, f"archive/{os.path.basename(one_path)}", _first(one_path, end))
        about = {"format": "memory-keeper-backup", "version": 1, "by": __version__, "at": at, "full": full}
        about |= {"events": counts["events"], "notes": sum(counts["notes"].values()), "sums": sums}
        _put(tar, MANIFEST, json.dumps(about).encode())


def _whole(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _add(tar: tarfile.TarFile, sums: dict[str, str], name: str, parts: Iterator[bytes]) -> None:
    data = b"".join(parts)
    sums[name] = hashlib.sha256(data).hexdigest()
    _put(tar, name, data)


def _put(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = len(data), 0o600, int(time())
    tar.addfile(member, BytesIO(data))


def _packed(path: str) -> Iterator[bytes]:
    press = zlib.compressobj(6)
    for part in _first(path, os.path.getsize(path)):
        yield press.compress(part)
    yield press.flush()


def _first(path: str, size: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while size > 0 and (part := file.read(min(CHUNK, size))):
            size -= len(part)
            yield part


# --- checking and listing ---------------------------------------------------------------------------------------------


def check(path: str, folder: str, keep: bool = False) -> Backup:
    """Read all of a backup, unpacked into a folder that may stay; KeeperError when it is not as it was written."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder, 0o700)
    try:
        about = _unpack(path, folder)
        with closing(open_store(f"{folder}/store.db", write=False)) as store:
            if problems := store.problems():
                raise _broken(path, problems[0])
    except (OSError, EOFError, tarfile.TarError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise _broken(path, getattr(error, "strerror", None) or str(error) or type(error).__name__) from None
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return Backup(path, about["at"], os.path.getsize(path), about["full"], about["events"], about["notes"])


def _broken(path: str, why: str) -> KeeperError:
    return KeeperError(f"{path} is no whole backup: {why}", hint="`memory-keeper backup --list` names the others")


def _unpack(path: str, folder: str) -> Json:
    """Write what a backup has into a folder; what it says of itself, which is its last member."""
    sums: dict[str, str] = {}
    about: Json = {}
    with tarfile.open(path, "r:") as tar:
        for member in tar:
            above, _, name = member.name.rpartition("/")
            if not member.isreg() or above not in ("", "archive", "spool") or name in ("", ".", ".."):
                raise ValueError(f"it has {member.name!r}")
            file = tar.extractfile(member)
            data = file.read() if file else b""
            if member.name == MANIFEST:
                about = json.loads(data)
                continue
            sums[member.name] = hashlib.sha256(data).hexdigest()
            data = zlib.decompress(data) if member.name.endswith(".db.z") else data
            os.makedirs(f"{folder}/{above}", mode=0o700, exist_ok=True)
            with open(f"{folder}/{member.name.removesuffix('.z')}", "xb", opener=_private) as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
    if about.get("format") != "memory-keeper-backup" or about["sums"] != sums:
        raise ValueError("what is in it is not what was written")
    return about


def known(home: str) -> list[str]:
    """The backups in a home, the newest first."""
    folder = f"{home}/{FOLDER}"
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [f"{folder}/{name}" for name in sorted(names, reverse=True) if name.endswith(ENDING)]


def describe(path: str) -> Backup | None:
    """What a backup says of itself; None when it is none."""
    try:
        with tarfile.open(path, "r:") as tar:
            file = tar.extractfile(tar.getmembers()[-1])
            about: Any = json.loads(file.read() if file else b"")
        return Backup(path, about["at"], os.path.getsize(path), about["full"], about["events"], about["notes"])
    except (OSError, EOFError, tarfile.TarError, ValueError, KeyError, TypeError, IndexError):
        return None


# --- every day --------------------------------------------------------------------------------------------------------


def keep_backed_up(keeper: Keeper, now: float) -> Backup | None:
    """Take a backup when the newest is a day old and something was kept since, and let the oldest go."""
    keep = config.load(keeper.home, "", keeper.environ)[0]["backup.keep"]
    try:
        began, last = keeper.store.began(), keeper.store.counts()["last_look"]
    except NotSetUp:
        return None
    newest = max((os.path.getmtime(path) for path in known(keeper.home)), default=began)
    size = os.path.getsize(keeper.store_path)
    if not keep or not began or now - newest < DAY or last < newest or shutil.disk_usage(keeper.home).free < 3 * size:
        return None
    with keeper.writing(PATIENCE):
        by_hand.keep_settings(keeper)
    taken = take(keeper)
    for path in known(keeper.home)[keep:]:
        os.unlink(path)
    return taken


# --- putting one back -------------------------------------------------------------------------------------------------


def restore(keeper: Keeper, path: str) -> str:
    """Put a backup in the place of what there is, which is kept beside; where."""
    home = keeper.home
    coming = f"{home}/{COMING}"
    with Lock(home, PATIENCE, "distil"):
        check(path, coming, keep=True)
        for name in JOURNAL:  # of a backup that has none, it is begun anew
            with open(f"{coming}/{name}", "ab", opener=_private):
                pass
        aside = BEFORE + strftime("%Y%m%d-%H%M%S", localtime())
        with open(f"{coming}/{READY}", "x", opener=_private) as file:
            file.write(aside)
            file.flush()
            os.fsync(file.fileno())
        config.sync(coming)
        config.sync(home)
        return _put_back(keeper) or aside


def go_on(keeper: Keeper) -> str:
    """Put back what somebody began to; where what there was is; empty when nobody did."""
    if not os.path.exists(f"{keeper.home}/{COMING}/{READY}"):
        return ""
    with Lock(keeper.home, PATIENCE, "distil"):
        return _put_back(keeper)


def _put_back(keeper: Keeper) -> str:
    """Move what is there aside and what comes into its place; whoever is killed, the next one goes on."""
    home, coming = keeper.home, f"{keeper.home}/{COMING}"
    try:
        with open(f"{coming}/{READY}") as file:
            aside = f"{home}/{file.read()}"
    except FileNotFoundError:
        return ""
    with keeper.writing(PATIENCE):
        keeper.close()
        os.makedirs(f"{aside}/archive", mode=0o700, exist_ok=True)
        _spare_archives(home, coming, aside)
        for name in ("store.db", *REPLACED):
            if os.path.exists(f"{coming}/{name}"):
                for old in names_of_ours(home, (name, f"{name}-*") if name == "store.db" else (name,)):
                    os.rename(f"{home}/{old}", _free(f"{aside}/{old}"))
                os.rename(f"{coming}/{name}", f"{home}/{name}")
        _fill_in(home, coming)
        config.sync(home)
        keeper.writer.rebuild_index()
        keeper.close()
        shutil.rmtree(coming)
        config.sync(home)
    return aside


def _spare_archives(home: str, coming: str, aside: str) -> None:
    """Keep the archives that are longer than the store that comes knows, which would write over what it does not, and
    those of which the backup has its own."""
    if not os.path.exists(f"{coming}/store.db") or not os.path.isdir(f"{home}/archive"):
        return
    with closing(open_store(f"{coming}/store.db", write=False)) as store:
        ends = {archive.archive_path(home, source): member.start + member.length for source, member in store.members()}
    for name in os.listdir(f"{home}/archive"):
        path, own = f"{home}/archive/{name}", f"{coming}/archive/{name}"
        if os.path.exists(own) or path not in ends:
            os.rename(path, _free(f"{aside}/archive/{name}"))
        elif os.path.getsize(path) > ends[path]:
            shutil.copy2(path, _free(f"{aside}/archive/{name}"))


def _fill_in(home: str, coming: str) -> None:
    """Put into place what the home lacks: what is there of hooks and settings is newer."""
    names = [*ADDED]
    for folder in ("spool", "archive"):
        if os.path.isdir(f"{coming}/{folder}"):
            make_folder(f"{home}/{folder}")
            names += [f"{folder}/{name}" for name in os.listdir(f"{coming}/{folder}")]
    for name in names:
        if os.path.exists(f"{coming}/{name}") and not os.path.lexists(f"{home}/{name}"):
            os.rename(f"{coming}/{name}", f"{home}/{name}")


def _free(path: str) -> str:
    while os.path.lexists(path):
        path += "-"
    return path


def _sweep(*paths: str) -> None:
    for path in paths:
        for file in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
            if os.path.lexists(file):
                os.unlink(file)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
