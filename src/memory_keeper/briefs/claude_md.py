"""Our rules as one block of a `CLAUDE.md`, and the user's text around it, byte for byte.

The block stands between two comments at the beginning of a line:

    <!-- memory-keeper:rules:begin 3f2a9c1b22aa +1 -->
    <!-- memory-keeper:rules:end -->

The first one carries a hash of what is between them, so that an edit by hand is noticed, and what the block brought
along, so that taking it away gives back the very bytes that were: `+1` is one line end put before it, `new` is the file
itself. What a Markdown reader takes for a code block is somebody's text about our markers and holds none of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from memory_keeper.errors import KeeperError
from memory_keeper.model import NamedTuple
from memory_keeper.text import clean, one_line

HEADING = "## Rules (kept by Memory Keeper)"
# a comment too: Claude Code leaves those out of what the model reads
FOOT = "<!-- Change them with `memory-keeper rule`, not here: `memory-keeper rule sync` writes this block anew. -->"
MARK = "<!-- memory-keeper:rules:"
NEW = "new"  # the block brought the whole file
LONGEST = 20_000  # characters of a rule: as much as a note may have
BOM = b"\xef\xbb\xbf"
EOL = re.compile(rb"\A\r?\n")
BEGIN = re.compile(MARK.encode() + rb"begin ([0-9a-f]{12}) (\+[0-2]|new) -->[ \t]*(\r?\n)")
END = re.compile(MARK.encode() + rb"end -->")
# what only looks like a marker is one that somebody has changed
LIKE_OURS = rb" {0,3}<!--[ \t]*memory-keeper:rules:"
# the lines that matter: those, and the ones that open or close a code block, in a list or a quotation as well
LINE = re.compile(
    rb"^(?:\A" + BOM + rb")?(?P<line>(?P<mark>" + LIKE_OURS + rb")"
    rb"|(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*))",
    re.MULTILINE,
)


class Malformed(KeeperError):  # noqa: N818  (it reads as what it says)
    """Markers that do not make one block; what is theirs and what is ours cannot be told."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}", hint="mend it by hand; nothing was changed")
        self.line, self.problem = line, problem


class Block(NamedTuple):
    """Where our block stands, and what it says."""

    start: int  # the first byte of its begin
    end: int  # the first byte behind its end; the rest of that line is the user's
    line: int
    text: str
    edited: bool  # somebody else has written in it
    brought: str  # NEW, or how many line ends before it are ours: +0, +1, +2
    eol: bytes


def block_text(rules: Sequence[str]) -> str:
    """What the block says, one rule to a line; nothing where no rule is in force."""
    # a comment that a rule opens would hide the ones after it
    lines = [one_line(clean(rule), LONGEST).replace("<!--", "<! --") for rule in rules]
    numbered = [f"{number}. {line}" for number, line in enumerate(filter(None, lines), 1)]
    return "\n".join([HEADING, "", *numbered, "", FOOT]) if numbered else ""


def find_block(data: bytes) -> Block | None:
    """Our block in a file, if it has one."""
    begin: re.Match[bytes] | None = None
    found: Block | None = None
    for at in _scan(data)[0]:
        opens, closes = BEGIN.match(data, at), END.match(data, at)
        if opens and begin:
            raise _malformed(data, at, f"our rules begin again; those of line {_line(data, begin.start())} have no end")
        if opens and found:
            raise _malformed(data, at, f"our rules begin a second time; the first is in line {found.line}")
        if closes and not begin:
            raise _malformed(data, at, "our rules end, and begin nowhere before")
        if opens:
            begin = opens
        elif closes and begin:
            found, begin = _block(data, begin, closes), None
        else:
            raise _malformed(data, at, "this marker of ours cannot be read")
    if begin:
        raise _malformed(data, begin.start(), "our rules begin, and end nowhere")
    return found


def with_block(data: bytes | None, text: str) -> bytes:
    """A file with our block in its place, or at its end if it had none; `None` is no file."""
    if data is None:
        return _block_of(text, NEW, b"\n") + b"\n"
    found = find_block(data)
    if not found:
        return _append(data, text)
    if found.text == _plain(text) and not found.edited:
        return data
    return data[: found.start] + _block_of(text, found.brought, found.eol) + data[found.end :]


def without_block(data: bytes) -> bytes | None:
    """A file as it was before it had our block; `None` if that was no file."""
    found = find_block(data)
    if not found:
        return data
    before, after = data[: found.start], data[found.end :]
    if found.brought != "+2":
        after = EOL.sub(b"", after)
    if after.strip():
        return before + after  # our line ends stay: what they keep apart may never have been one paragraph
    if found.brought == NEW:
        return before + after or None
    number = int(found.brought)
    rest = before.removesuffix(found.eol * number)
    return (rest if _lead(rest) == (number, found.eol) else before) + after


# --- reading ----------------------------------------------------------------------------------------------------------


def _scan(data: bytes) -> tuple[list[int], re.Match[bytes] | None]:
    """Where lines begin like a marker of ours, outside of code blocks; and the code block that is never closed."""
    marks: list[int] = []
    fence: re.Match[bytes] | None = None
    hidden = -1
    inside = False
    for line in LINE.finditer(data):
        at = line.start("line")
        if line["mark"] and not fence:
            inside = bool(BEGIN.match(data, at))  # what our rules say opens no code block
            marks.append(at)
        elif line["mark"]:
            hidden = at if hidden < 0 else hidden
        elif fence:
            if line["fence"].startswith(fence["fence"]) and not line["rest"].strip():
                fence, hidden = None, -1
        elif not inside and (line["fence"][:1] == b"~" or b"`" not in line["rest"]):
            fence = line
    if fence and hidden >= 0:
        opened = _line(data, fence.start())
        raise _malformed(
            data, hidden, f"this marker of ours is in the code block of line {opened}, which nothing closes"
        )
    return marks, fence


def _block(data: bytes, begin: re.Match[bytes], end: re.Match[bytes]) -> Block:
    inside = data[begin.end() : end.start()].replace(b"\r\n", b"\n").strip(b"\n")
    edited = _hash(inside) != begin[1].decode()
    text = inside.decode("utf-8", "surrogateescape")
    return Block(begin.start(), end.end(), _line(data, begin.start()), text, edited, begin[2].decode(), begin[3])


def _malformed(data: bytes, at: int, problem: str) -> Malformed:
    return Malformed(_line(data, at), problem)


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


# --- writing ----------------------------------------------------------------------------------------------------------


def _append(data: bytes, text: str) -> bytes:
    if fence := _scan(data)[1]:
        raise _malformed(data, fence.start(), "this code block is never closed, and our rules would be part of it")
    number, eol = _lead(data)
    # a file without a line end at its end stays one
    return data + eol * number + _block_of(text, f"+{number}", eol) + (b"" if number == 2 else eol)


def _lead(data: bytes) -> tuple[int, bytes]:
    """How many line ends a file lacks before something new may begin, after an empty line; and which."""
    lines = b"\n" + data.removeprefix(BOM)
    eol = b"\r\n" if lines[: lines.rfind(b"\n") + 1].endswith(b"\r\n") else b"\n"
    if lines.endswith((b"\n\n", b"\n\r\n")) or lines == b"\n":
        return 0, eol
    return (1 if lines.endswith(b"\n") else 2), eol


def _block_of(text: str, brought: str, eol: bytes) -> bytes:
    inside = _plain(text)
    begin = f"{MARK}begin {_hash(inside.encode())} {brought} -->"
    return "\n".join((begin, "", inside, "", f"{MARK}end -->")).encode().replace(b"\n", eol)


def _plain(text: str) -> str:
    """A text that can be read back: with plain line ends, and no line that looks like a marker."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return re.sub(f"^(?={LIKE_OURS.decode()})", "    ", text, flags=re.MULTILINE)


def _hash(inside: bytes) -> str:
    return sha256(inside).hexdigest()[:12]
