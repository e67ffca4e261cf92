"""A JSON object in a file of the user's: read strictly, and written again in the layout that the file had."""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Any

from memory_keeper.errors import KeeperError, TooLarge

Json = dict[str, Any]
LARGEST = 64 << 20  # bytes of a file of settings, or of CLAUDE.md
INDENT = re.compile(rb"\{\s*?\n([ \t]+)")  # of the first key


def _refuse(name: str) -> Any:
    """Take none of the words that Python would read as numbers: `NaN`, `Infinity`."""
    raise ValueError(f"{name} is no JSON")


def read_file(path: str) -> bytes | None:
    """All of a regular file, also behind a link; None when there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeeperError(f"{path} cannot be read: {error.strerror}", hint="nothing was changed") from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise KeeperError(f"{path} is no regular file", hint="nothing was changed")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    finally:
        os.close(fd)
    if len(data) > LARGEST:
        raise TooLarge(f"{path} has more than {LARGEST >> 20} MB", hint="nothing was changed")
    return data


def parse(data: bytes | None, path: str = "", errors: str = "strict") -> Json:
    """The object that a file is; one with nothing in it is empty."""
    try:
        text = (data or b"").decode("utf-8-sig", errors).strip()
        value = json.loads(text, parse_constant=_refuse) if text else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        hint = "nothing was changed; make it valid JSON first"
        raise KeeperError(f"{path} is not a JSON object", hint=hint)
    return value


def lay_out(value: Json, like: bytes | None = None) -> bytes:
    """An object as text, indented as a file was, and by two columns where that says nothing."""
    found = INDENT.search(like or b"")
    indent = found[1].decode() if found else "  "
    try:
        data = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can say
        data = json.dumps(value, indent=indent).encode()
    return (data + b"\n").replace(b"\n", b"\r\n" if b"\r\n" in (like or b"") else b"\n")


def same(value: Any, other: Any) -> bool:
    """Whether two values are one in JSON, where true is not 1."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)
