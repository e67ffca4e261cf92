"""Shared items in a git remote: a ref for each writer, so that no two ever push the same one.

`refs/memory-keeper/WRITER` is one commit without a parent, and a file for each item: nothing grows but by what is
shared, and what was taken back is gone with the next push. What it has is what its writer's outbox has: whatever others
have put there goes. It is read and written in a repository of our own that lasts for one sync: the user's working tree,
index, hooks and configuration have no part in it. A remote may be hostile: how much is read, how long and how large it
may be is bounded, and each ref and each item is by itself.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2s
from select import select
from signal import SIGKILL
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Protocol

from memory_keeper import config, wire
from memory_keeper.errors import KeeperError
from memory_keeper.model import Item
from memory_keeper.store.home import make_folder
from memory_keeper.team.item import LARGEST, dump, load, says_the_same, version
from memory_keeper.team.transport import Batch, Offline
from memory_keeper.text import clean, one_line

REFS = "refs/memory-keeper/"
NAME = re.compile(r"refs/memory-keeper(?:-own/[0-9a-f]{12}-|/)([0-9a-f]{16})")
HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
MOST_REFS, MOST_ITEMS = 1_000, 2_000  # that are read; of each ref
SPACE, MEMORY = 64 << 20, 2 << 30  # bytes of a file that git writes, and of its memory
SECONDS, IN_ALL = 60, 300  # that one call may take, and all of a sync
READ, FETCHED = 16 << 20, 256 << 20  # bytes of a ref's files that are read, and of all that is fetched
TRIES = 5  # when another machine with this home's name pushes at the same time
PROTOCOLS = "file:git:http:https:ssh"
WRONG = (ValueError, TypeError, RecursionError, OverflowError)  # of a file that is not ours
# what may lead git into the repository that we happen to be in
LOCAL = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_NAMESPACE", "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
)  # fmt: skip
# nobody is there to be asked: a key that an agent does not have is an error at once
NOBODY = {"SSH_ASKPASS": "/bin/false", "SSH_ASKPASS_REQUIRE": "force"}
SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "fetch.fsckObjects": "true",
    "fetch.unpackLimit": "1",  # one file, which has a limit
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "protocol.version": "2",
}


class Codec(Protocol):
    """How items are files."""

    largest: int  # bytes of one
    whole: bool  # a push leaves nothing that was there before

    def files(self, items: Sequence[Item]) -> list[tuple[str, bytes]]:
        """The files of some items, by name."""

    def items(self, name: str, data: bytes) -> list[Item]:
        """The items of a file; ValueError where it is not as we would have written it."""

    def own(self, name: str, data: bytes) -> list[Item]:
        """Those of them that this home has written, and nobody who may push to its ref."""


class Plain:
    """A small file for each, which people can read. It has a seal, by which its writer knows it again."""

    largest, whole = LARGEST, False

    def __init__(self, key: bytes) -> None:
        self.key = key

    def files(self, items: Sequence[Item]) -> list[tuple[str, bytes]]:
        return [(path_of(item), dump(item, self._seal(item))) for item in items]

    def items(self, name: str, data: bytes) -> list[Item]:
        item = load(data)
        if name != path_of(item):
            raise ValueError("lies in another's place")
        return [item]

    def own(self, name: str, data: bytes) -> list[Item]:
        item = self.items(name, data)[0]
        return [item] if data == dump(item, self._seal(item)) else []

    def _seal(self, item: Item) -> str:
        return blake2s(dump(item), key=self.key, digest_size=16).hexdigest()


class Git:
    """One remote; close it."""

    def __init__(
        self, folder: str, address: str, ref: str, root: str, environ: dict[str, str], codec: Codec, refs: str = REFS
    ) -> None:
        self.folder, self.address, self.ref, self.refs, self.codec = folder, address, ref, refs, codec
        self.environ, self.until = environment(environ, root), monotonic() + IN_ALL
        self.problems: list[str] = []
        self._begin()
        self._listed: dict[str, str] | None = None
        self._missing: dict[str, str] = {}  # what could not be fetched

    # --- the contract ------------------------------------------------------------------------------------------------

    def pull(self, cursor: str) -> Batch:
        """The next ref that is not as it was when it was read."""
        seen = {ref: id for ref, id in wire.read_object(cursor).items() if isinstance(id, str)}
        if self._listed is None:
            self._listed = self._list()
            self._fetch([ref for ref, id in self._listed.items() if seen.get(ref) != id])
        seen = {ref: id for ref, id in seen.items() if ref in self._listed}
        ahead = [ref for ref, id in self._listed.items() if id not in (seen.get(ref), self._missing.get(ref))]
        if not ahead:
            return Batch((), wire.dumps(seen), False)
        items = [*self._read(ahead[0])]
        seen[ahead[0]] = self._listed[ahead[0]]
        return Batch(items, wire.dumps(seen), len(ahead) > 1)

    def push(self, items: Sequence[Item]) -> dict[str, str]:
        """Make our ref have all of them, and what else it has."""
        for _ in range(TRIES):
            self._listed = self._list()
            self._fetch([self.ref] if self.ref in self._listed else [])
            files = {name: data for ref in self._listed if ref == self.ref for name, data in self._files(ref)}
            theirs = {item.id: item for name, data in files.items() for item in self._own(name, data)}
            merged = {} if self.codec.whole else dict(theirs)
            merged |= {item.id: newer(item, theirs.get(item.id)) for item in items}
            if not merged:
                return {}
            is_same = merged == theirs if self.codec.whole else dict(self.codec.files([*merged.values()])) == files
            if is_same or self._put(list(merged.values()), self._listed.get(self.ref, "")):
                return {}
        raise KeeperError(f"{self.shown} changes too fast", hint="`memory-keeper sync` tries again")

    def close(self) -> None:
        """Leave nothing of what was fetched."""
        remove(self.folder)

    def _begin(self) -> None:
        """A repository of our own; what a sync that was killed has left in its place goes."""
        remove(self.folder)
        make_folder(self.folder)
        self._must(self._run(["git", "init", "--quiet", "--bare", "--template=", self.folder]), "cannot be read")

    @property
    def shown(self) -> str:
        """The address as it may be shown: without a password."""
        return re.sub(r"(?<=://)[^/@]*@", "", one_line(clean(self.address), 200))

    # --- reading -----------------------------------------------------------------------------------------------------

    def _list(self) -> dict[str, str]:
        """The remote's refs that are ours, and the commit of each."""
        lines = self._lines("ls-remote", "--refs", "--", self.address, self.refs + "*")
        found: dict[str, str] = {}
        for line in lines:
            id, _, ref = line.rstrip(b"\n").decode("utf-8", "replace").partition("\t")
            if NAME.fullmatch(ref) and HASH.fullmatch(id):
                if len(found) == MOST_REFS:
                    self.problems.append(f"more than {MOST_REFS:,} refs: the others are not read")
                    break
                found[ref] = id
        return found

    def _fetch(self, refs: Sequence[str]) -> None:
        """Have some refs here: all at once, or each by itself where one of them cannot be had."""
        wanted = {ref: (self._listed or {})[ref] for ref in refs}
        missing = [ref for ref, id in wanted.items() if self._here(ref) != id]
        if not missing or self._get(missing):
            return
        for ref in missing:
            fits = len(missing) > 1 and _size(self.folder) < FETCHED
            if not (fits and self._get([ref])):
                self.problems.append(f"{ref} cannot be fetched")
                self._missing[ref] = wanted[ref]

    def _get(self, refs: Sequence[str]) -> bool:
        done = self._git(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--force", "--", self.address,
            *(f"{ref}:{ref}" for ref in refs),
        )  # fmt: skip
        return done.returncode == 0

    def _here(self, ref: str) -> str:
        return self._git("rev-parse", "--verify", "--quiet", ref).stdout.decode("ascii", "replace").strip()

    def _read(self, ref: str) -> Iterator[Item]:
        """The items of a ref, each by itself: of its writer, under the name that is theirs."""
        match, left_out = NAME.fullmatch(ref), 0
        for name, data in self._files(ref) if match else ():
            try:
                items = self.codec.items(name, data)
                if any(item.writer != match[1] for item in items if match):
                    raise ValueError("is another's")
            except WRONG:
                left_out += 1
            else:
                yield from items
        if left_out:
            self.problems.append(f"{ref}: {left_out} items are damaged and were left out")

    def _own(self, name: str, data: bytes) -> list[Item]:
        """The items of a file of our ref that this home has written; whoever can push may have put others there."""
        try:
            return [item for item in self.codec.own(name, data) if item.writer == self.ref[-16:]]
        except WRONG:
            return []

    def _files(self, ref: str) -> Iterator[tuple[str, bytes]]:
        if not self._here(ref):
            return
        blobs = [*self._blobs(ref)]
        if len(blobs) > MOST_ITEMS:
            self.problems.append(f"{ref} has more than {MOST_ITEMS:,} items: the others are not read")
        yield from self._contents(blobs[:MOST_ITEMS])

    def _blobs(self, ref: str) -> Iterator[tuple[str, str]]:
        """The names and ids of a ref's files, a few more at most than are read."""
        left = max(READ, self.codec.largest)
        for count, line in enumerate(self._lines("ls-tree", "-r", "-l", "-z", ref, end=b"\0")):
            about, _, name = line.rstrip(b"\0").decode("utf-8", "replace").partition("\t")
            _, kind, id, size = (*about.split(), "", "", "", "")[:4]
            if kind == "blob":
                left -= int(size) if size.isdecimal() else 0
                if not size.isdecimal() or int(size) > self.codec.largest or not HASH.fullmatch(id):
                    self.problems.append(f"{ref}: a file is too large and was left out")
                elif left < 0:
                    self.problems.append(f"{ref} is too large: the rest of it is not read")
                    return
                else:
                    yield name, id
            if count >= MOST_ITEMS:
                return

    def _contents(self, blobs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        if not blobs:
            return
        given = "".join(f"{id}\n" for _, id in blobs).encode()
        data = self._git("cat-file", "--batch", given=given).stdout
        at = 0
        for name, _ in blobs:
            end = data.find(b"\n", at)
            head = data[at:end].split()
            if end < 0 or len(head) != 3 or not head[2].isdigit():
                at = end + 1 if end >= 0 else len(data)
                yield name, b""
                continue
            size = int(head[2])
            yield name, data[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    # --- writing -----------------------------------------------------------------------------------------------------

    def _put(self, items: Sequence[Item], before: str) -> bool:
        """Make one commit of some items and push it in the place of what was there; False when that has changed."""
        made = f"refs/made/{os.getpid()}"
        try:
            self._must(
                self._git(
                    "fast-import",
                    "--quiet",
                    "--force",
                    given=stream(
                        made, self.codec.files(sorted(items, key=path_of)), int(max(item.at for item in items))
                    ),
                ),
                "cannot write",
            )
            sent = self._git(
                "push", "--quiet", "--no-verify", "--porcelain", f"--force-with-lease={self.ref}:{before}", "--",
                self.address, f"+{made}:{self.ref}",
            )  # fmt: skip
        finally:
            self._git("update-ref", "-d", made)
        if sent.returncode and b"stale info" in sent.stdout:
            return False
        self._must(sent, "cannot be pushed to")
        return True

    # --- git itself --------------------------------------------------------------------------------------------------

    def _command(self, words: Iterable[str]) -> list[str]:
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        return ["git", f"--git-dir={self.folder}", *settings, *words]

    def _git(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return self._run(self._command(words), given)

    def _run(self, command: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        with TemporaryFile() as said:
            process = self._start(command, said, subprocess.PIPE)
            try:
                out, _ = process.communicate(given, self._left())
            except subprocess.TimeoutExpired:
                raise self._late() from None
            finally:
                _end(process)
            return subprocess.CompletedProcess(command, process.returncode, out, _beginning(said))

    def _lines(self, *words: str, end: bytes = b"\n") -> Iterator[bytes]:
        """What git prints, as far as anybody reads; it is stopped then."""
        command = self._command(words)
        with TemporaryFile() as said:
            process = self._start(command, said, subprocess.DEVNULL)
            assert process.stdout
            rest, fd = b"", process.stdout.fileno()
            try:
                while True:
                    if not select([fd], [], [], self._left())[0]:
                        raise self._late()
                    if not (data := os.read(fd, 1 << 16)):
                        break
                    *lines, rest = (rest + data).split(end)
                    yield from lines
                    if len(rest) > LARGEST:
                        break
                process.wait(self._left())
            finally:
                _end(process)
            self._must(
                subprocess.CompletedProcess(command, process.returncode, b"", _beginning(said)), "cannot be read"
            )

    def _start(self, command: Sequence[str], said: IO[bytes], given: int) -> subprocess.Popen[bytes]:
        """Git in a group of its own, which ends with it; what it says goes to a file, as that has a limit."""
        try:
            return subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=said, env=self.environ, cwd=self.folder,
                preexec_fn=limited, start_new_session=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise KeeperError(f"git cannot be run: {error}", hint="sharing by git needs git") from None

    def _left(self) -> float:
        """The seconds that what git does now may take."""
        left = self.until - monotonic()
        if left <= 0:
            raise self._late()
        return min(left, SECONDS)

    def _late(self) -> Offline:
        return Offline(f"{self.shown} does not answer", hint="nothing is lost; the next sync tries again")

    def _must(self, done: subprocess.CompletedProcess[bytes], what: str) -> None:
        if done.returncode:
            lines = clean(done.stderr.decode("utf-8", "replace")).strip().split("\n")
            said = [line for line in lines if line.startswith("remote: ")][:3]  # why a host refuses it
            why = "; ".join([*said, next((one for one in lines if "fatal:" in one or "rejected" in one), lines[-1])])
            hint = "nothing is lost; the next sync tries again"
            raise Offline(f"{self.shown} {what}: {one_line(why, 200)}", hint=hint)


def newer(own: Item, there: Item | None) -> Item:
    """What our ref is to say of an item: what this home knows, unless the ref knows a later version: this home may have
    been restored from a backup since."""
    if not there:
        return own
    if says_the_same(own, there):
        return max(own, there, key=version)
    if own.rev >= there.rev or own.at > there.at:
        return own._replace(rev=max(own.rev, there.rev + 1))
    return there


def path_of(item: Item) -> str:
    """The file of an item."""
    return f"{item.kind}/{item.id}.md"


def ref_of(writer: str) -> str:
    """The ref under which a home shares, whatever its user is called."""
    return REFS + writer


def stream(ref: str, files: Sequence[tuple[str, bytes]], at: int) -> bytes:
    """What git's fast-import makes one commit of: the same for the same files."""
    who = f"committer Memory Keeper <> {at} +0000\n"
    parts = [f"commit {ref}\n{who}data 0\n".encode()]
    parts += [b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data) for path, data in files]
    return b"".join([*parts, b"done\n"])


def environment(environ: dict[str, str], root: str) -> dict[str, str]:
    """What git may know: nothing of the repository that we are in, nor what a project's settings say."""
    kept = {name: value for name, value in config.own_environ(environ, root).items() if name not in LOCAL}
    folders = [name for name in kept.get("PATH", "").split(":") if name[:1] == "/"]
    inside = f"{os.path.realpath(root)}/" if root else "\0"
    kept["PATH"] = ":".join(name for name in folders if not f"{os.path.realpath(name)}/".startswith(inside))
    return {**kept, "GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **NOBODY}


def limited() -> None:
    """What git may take, whatever the other side sends."""
    for limit, most in {
        resource.RLIMIT_FSIZE: SPACE,
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_CPU: SECONDS,
    }.items():
        with suppress(ValueError, OSError):
            hard = resource.getrlimit(limit)[1]
            resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _size(folder: str) -> int:
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Have nothing of a process go on, nor of what it has started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
        process.wait()
    if process.stdout:
        process.stdout.close()


def _beginning(said: IO[bytes]) -> bytes:
    said.seek(0)
    return said.read(1 << 12)


def remove(folder: str) -> None:
    """Take a repository of ours away, whatever state it is in."""
    if os.path.lexists(folder):
        shutil.rmtree(folder)


# --- the user's repository, which is only asked -----------------------------------------------------------------------


def ask(root: str, environ: dict[str, str], *words: str) -> str:
    """A word of the configuration that holds in a folder; nothing in it can make this run anything."""
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=", "-C", root, "config", "--get", *words],
            capture_output=True, stdin=subprocess.DEVNULL, env=environment(environ, root), cwd="/", timeout=10,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def author_of(root: str, environ: dict[str, str]) -> str:
    """Who shares, as git knows its user."""
    name, mail = (" ".join(clean(ask(root, environ, f"user.{what}")).split())[:90] for what in ("name", "email"))
    if not name:
        hint = 'git config --global user.name "Your Name"'
        raise KeeperError("git does not know your name, and what is shared bears it", hint=hint)
    return f"{name} <{mail}>" if mail else name


def address_of(root: str, environ: dict[str, str], remote: str) -> str:
    """The address of a remote by its name; an address as it is; KeeperError where it is neither."""
    named = ask(root, environ, f"remote.{remote}.url") if re.fullmatch(r"[\w./-]+", remote) else ""
    address = named or remote
    is_address = "/" in address or ":" in address or os.path.isdir(address)
    scheme = address.partition("://")[0] if "://" in address else ""
    if not is_address:
        raise KeeperError(f"There is no git remote called {clean(remote)}", hint="`git remote -v` lists them")
    if address.startswith("-") or "::" in address or not address.isprintable():
        raise KeeperError(f"{clean(address)} is no address that git is asked for", hint="use https, ssh or a path")
    if scheme and scheme not in PROTOCOLS.split(":"):
        raise KeeperError(f"{clean(address)} is no address that git is asked for", hint="use https, ssh or a path")
    if not scheme and ":" not in address.partition("/")[0]:
        return os.path.normpath(os.path.join(root, address))
    return address
