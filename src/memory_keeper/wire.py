"""JSON for the hook path: the C scanner and encoder of the standard library, without the `json` package (7 ms).

Beside it, what a number in it counts, how long the host finds a text, and how all of it gets into a pipe.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def loads(text: str) -> Any: ...
    def dumps(value: Any, ascii: bool = True) -> str: ...

else:
    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

        class _Plain:
            strict = False
            object_hook = object_pairs_hook = None
            parse_float = float
            parse_int = int
            parse_constant = float
            memo = {}  # noqa: RUF012

        _scan = make_scanner(_Plain)

        def _refuse(value):
            raise TypeError(f"not JSON: {type(value).__name__}")

        _encode, _encode_plainly = (
            make_encoder(None, _refuse, encode, None, ":", ",", False, False, True)
            for encode in (encode_basestring_ascii, encode_basestring)
        )

        def loads(text):
            """The value of a JSON text; ValueError when it is none."""
            text = text.strip(" \t\r\n")
            try:
                value, end = _scan(text, 0)
            except (StopIteration, SystemError):  # its own error is json's, and without json there it has none
                raise ValueError("not JSON") from None
            if end != len(text):
                raise ValueError("more after the JSON value")
            return value

        def dumps(value, ascii=True):
            """One line of JSON, of ASCII or as people write it."""
            return "".join((_encode if ascii else _encode_plainly)(value, 0))

    except ImportError:  # another Python: the C names are private
        import json

        def loads(text):
            """The value of a JSON text; ValueError when it is none."""
            return json.loads(text, strict=False)

        def dumps(value, ascii=True):
            """One line of JSON, of ASCII or as people write it."""
            return json.dumps(value, ensure_ascii=ascii, separators=(",", ":"))


def read_object(text: str) -> dict[str, Any]:
    """The members of a JSON object; none when the text is something else."""
    try:
        value = loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def count(value: object, default: int = 0) -> int:
    """A number of things, such as tokens; the default where a value is none, or more than anybody has."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else default


def units(text: str) -> int:
    """How long the host finds a text, which counts in UTF-16."""
    return len(text.encode("utf-16", "surrogatepass")) // 2 - 1  # without the byte order mark


def write_all(fd: int, data: bytes) -> None:
    """A pipe may take less than it is given."""
    while data:
        data = data[posix.write(fd, data) :]
