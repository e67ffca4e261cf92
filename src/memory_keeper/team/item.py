"""A shared item as a small file: lines that say whose it is and of when, then its text.

What comes in may be anybody's: an item that is not just what we would write is refused, and the others are read.
"""

from __future__ import annotations

import re
from hashlib import blake2s
from time import time

from memory_keeper import wire
from memory_keeper.model import DAY, Item
from memory_keeper.text import clean, storable

KINDS = ("rule", "decision", "issue", "fact", "project", "architecture", "conventions", "note", "handoff", "session")
LONGEST, FIELD = 40_000, 200  # characters of a text, and of what stands above it
LARGEST = 4 * LONGEST + 4096  # bytes of a file
ID = re.compile(r"[a-z][a-z0-9-]{2,80}")
WRITER = re.compile(r"[0-9a-f]{16}")
LINE = re.compile(r"([a-z]+): (.*)")


def version(item: Item) -> tuple[int, float, str]:
    """What tells which of two of the same writer and id holds: the greater."""
    return item.rev, item.at, digest(item)


def digest(item: Item) -> str:
    """A hash of all that an item says."""
    return blake2s(wire.dumps([*item]).encode(), digest_size=16).hexdigest()


def says_the_same(item: Item, other: Item) -> bool:
    """Whether two versions differ in nothing that anybody is told."""
    return item._replace(rev=0, at=0.0) == other._replace(rev=0, at=0.0)


def dump(item: Item, seal: str = "") -> bytes:
    """The file of an item; with a seal, by which its writer knows it again."""
    about = {name: value for name, value in item._asdict().items() if name != "text" and value not in ("", False)}
    about |= {"seal": seal} if seal else {}
    about = {
        name: " ".join(value.split()) if isinstance(value, str) else wire.dumps(value) for name, value in about.items()
    }
    lines = (f"{name}: {value}\n" for name, value in about.items())
    return f"---\n{''.join(lines)}---\n{item.text}\n".encode()


def load(data: bytes) -> Item:
    """The item of a file; ValueError where it is not what `dump` would have written."""
    if len(data) > LARGEST:
        raise ValueError("is too large")
    head, found, text = data.decode().partition("---\n")[2].partition("\n---\n")
    if not found or not data.startswith(b"---\n"):
        raise ValueError("has no heading")
    fields = {match[1]: match[2] for line in head.split("\n") if (match := LINE.fullmatch(line))}
    try:
        item = Item(
            id=fields["id"],
            kind=fields["kind"],
            text=text.removesuffix("\n"),
            author=fields["author"],
            writer=fields["writer"],
            at=float(fields["at"]),
            written=float(fields["written"]),
            rev=int(fields["rev"]),
            to=fields.get("to", ""),
            session=fields.get("session", ""),
            gone=fields.get("gone") == "true",
        )
    except KeyError as error:
        raise ValueError(f"says no {error.args[0]}") from None
    return checked(item)


def checked(item: Item, now: float = 0.0) -> Item:
    """An item that came in, cleaned; ValueError where it cannot be one."""
    latest = (now or time()) + DAY
    short = (item.author, item.to, item.session)
    wrong = {
        "id": not ID.fullmatch(item.id),
        "writer": not WRITER.fullmatch(item.writer),
        "kind": item.kind not in KINDS,
        "time": not (0 < item.written <= latest and 0 < item.at <= latest),
        "revision": not 0 < item.rev < 1 << 31,
        "author": not item.author.strip(),
        "length": len(item.text) > LONGEST or max(map(len, short)) > FIELD,
        "text": item.gone == bool(item.text.strip()),
    }
    if any(wrong.values()):
        raise ValueError(f"has no valid {next(name for name in wrong if wrong[name])}")
    author, to, session = (" ".join(clean(storable(value)).split()) for value in short)
    return item._replace(text=clean(storable(item.text)), author=author, to=to, session=session)
