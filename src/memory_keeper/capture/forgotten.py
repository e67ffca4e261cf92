"""What was forgotten on request, as keyed hashes only: reading the same lines again does not bring it back.

The file `forgotten` of a home has a line for each: of a transcript's line its id, of a text its length and hash, of a
session or a project until when it is forgotten. The host's own transcripts still have all of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2s
from typing import Any

from memory_keeper import config, wire
from memory_keeper.capture.claude_code import read_line
from memory_keeper.model import Event, NamedTuple, Source

FILE = "/forgotten"
MARK = "[forgotten]"
LEAST = 20  # characters of a text that is known again by itself
ATOM = re.compile(r"\w+")


class Stone(NamedTuple):
    """One thing that was forgotten."""

    kind: str  # line, text, words, session, project
    hash: str
    since: float = 0.0  # of a session or a project: what happened in this time
    until: float = 0.0
    lead: int = 0  # of words: characters before the first letter or digit, and characters in all
    size: int = 0


class Forgotten:
    """All that was forgotten in a home."""

    def __init__(self, home: str, salt: bytes) -> None:
        self.home, self.salt = home, salt
        self.hashes: dict[str, set[str]] = {"line": set(), "text": set()}
        self.spans: dict[str, list[Stone]] = {}
        self.words: dict[tuple[int, int], set[str]] = {}
        for stone in _read(home):
            self._put(stone)

    def _put(self, stone: Stone) -> None:
        if stone.kind in self.hashes:
            self.hashes[stone.kind].add(stone.hash)
        elif stone.kind == "words":
            self.words.setdefault((stone.lead, stone.size), set()).add(stone.hash)
        else:
            self.spans.setdefault(stone.hash, []).append(stone)

    def stone(self, kind: str, value: str, **about: Any) -> Stone:
        """What is kept of something in its place."""
        if kind == "words":
            first = ATOM.search(value)
            about = {"lead": first.start() if first else 0, "size": len(value)}
        return Stone(kind, self._hash(kind, value), **about)

    def add(self, stones: Iterable[Stone]) -> None:
        """Keep them, so that they survive a power cut; twice is once."""
        known = {*_read(self.home)}
        new = [stone for stone in dict.fromkeys(stones) if stone not in known]
        if not new:
            return
        lines = b"".join(wire.dumps([*stone]).encode() + b"\n" for stone in new)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.home + FILE, flags, 0o600)
        try:
            size = os.fstat(fd).st_size
            torn = size and os.pread(fd, 1, size - 1) != b"\n"
            os.write(fd, b"\n" * bool(torn) + lines)
            os.fsync(fd)
        finally:
            os.close(fd)
        config.sync(self.home)
        for stone in new:
            self._put(stone)

    def has(self, event: Event) -> bool:
        """Whether an event was forgotten."""
        return (
            self._hash("line", event.id.rpartition(":")[0]) in self.hashes["line"]
            or (len(event.text) >= LEAST and self._hash("text", event.text) in self.hashes["text"])
            or self._in_span("session", event.session, event.at)
            or self._in_span("project", event.project, event.at)
        )

    def has_note(self, id: str) -> bool:
        """Whether a note was forgotten: another machine may still have it."""
        return self._hash("line", id) in self.hashes["line"]

    def leave(self, lines: Iterable[bytes], source: Source, place: int, at: float) -> Iterator[bytes]:
        """Redacted lines, the first of which stands at this place, without what was forgotten."""
        for line in lines:
            line = mask_line(line, self.mask) if self.words else line
            read = read_line(line, source, place, at)
            if read and any(map(self.has, read.events)):
                continue
            at = read.events[-1].at if read and read.events else at
            yield line
            place += len(line) + 1

    def _in_span(self, kind: str, value: str, at: float) -> bool:
        return any(stone.since <= at < stone.until for stone in self.spans.get(self._hash(kind, value), ()))

    def mask(self, text: str) -> str:
        """A text without the words that were forgotten."""
        if not self.words or len(text) < min(size for _, size in self.words):
            return text
        spans = [
            (begin, begin + size)
            for atom in ATOM.finditer(text)
            for (lead, size), hashes in self.words.items()
            if (begin := atom.start() - lead) >= 0
            and begin + size <= len(text)
            and self._hash("words", text[begin : begin + size]) in hashes
        ]
        done, parts = 0, []
        for begin, end in spans:
            if begin >= done:
                parts += [text[done:begin], MARK]
                done = end
        return "".join([*parts, text[done:]]) if spans else text

    def _hash(self, kind: str, value: str) -> str:
        said = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return blake2s(said, key=self.salt, digest_size=16).hexdigest()


def _read(home: str) -> Iterator[Stone]:
    try:
        with open(home + FILE, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield Stone(*wire.loads(line.decode("ascii")))
        except (ValueError, TypeError):
            continue  # a write that was cut short


def mask_line(line: bytes, mask: Callable[[str], str]) -> bytes:
    """A raw JSON line with each of its strings masked; byte for byte as it was where nothing is."""
    try:
        value = wire.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        text = line.decode("utf-8", "surrogateescape")
        return mask(text).encode("utf-8", "surrogateescape")
    new = mask_value(value, mask)
    return line if new == value else wire.dumps(new).encode("utf-8", "surrogatepass")


def mask_value(value: Any, mask: Callable[[str], str]) -> Any:
    """What JSON says, with each of its strings masked."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [mask_value(one, mask) for one in value]
    if isinstance(value, dict):
        return {mask(name): mask_value(one, mask) for name, one in value.items()}
    return value


def mask_text(text: str, mask: Callable[[str], str]) -> str:
    """A text, or JSON as a text, masked."""
    new = mask(text)
    if text[:1] not in ("{", "["):
        return new
    return mask_line(new.encode("utf-8", "surrogatepass"), mask).decode("utf-8", "surrogatepass")
