"""A JSON line in which only its secrets change: its strings and keys, and the line put together again byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from re import Match, Pattern
from typing import Any

from memory_keeper.capture.redact.gate import Lead, encode
from memory_keeper.capture.redact.names import kind_of
from memory_keeper.capture.redact.scrub import String, is_touched, scrub


def scrub_line(line: bytes, leads: list[Lead], salt: bytes, known: tuple[str, ...]) -> bytes | None:
    """The line without its secrets; None when it is no JSON."""
    try:
        text = line.decode()
        strings = strings_of(json.loads(text, object_pairs_hook=list))  # pairs: a repeated key hides nothing
        changes = scrub(strings, salt, known) if is_touched(strings, leads, known) else {}
        if not changes:
            return line
        patched = patch(line, changes)
        wanted = json.dumps(rebuild(json.loads(text), changes), ensure_ascii=False, separators=(",", ":"))
        if json.dumps(json.loads(patched)) == json.dumps(json.loads(wanted)):
            return patched
        return encode(wanted) + line[len(line.rstrip()) :]
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None  # not JSON, or not UTF-8
    except (ValueError, RecursionError):  # numbers too long or nesting too deep for Python: string by string
        try:
            strings = [(json.loads(literal.decode()), "") for literal in _pattern("literal").findall(line)]
            return patch(line, scrub(strings, salt, known))
        except ValueError:
            return None  # not JSON after all


def _promised(key: str) -> str:
    """What a key says of its value; remembered, for transcripts repeat a few dozen keys in every line."""
    kind = _keys.get(key)
    if kind is None:
        if len(_keys) > 5000:
            _keys.clear()
        kind = _keys[key] = kind_of(encode(key[:100]))
    return kind


_keys: dict[str, str] = {}
_LABELS, _CONTENTS = ("name", "key", "Name", "Key"), ("value", "Value")


def _pairs(items: list[tuple[str, Any]]) -> Iterator[tuple[str, Any, str]]:
    """An object's keys and values, and what the key, or a `name` beside a `value`, says the value is."""
    beside = ""
    for key, value in items:
        if key in _LABELS and isinstance(value, str):
            beside = beside or kind_of(encode(value[:100]))
    for key, value in items:
        yield key, value, beside if beside and key in _CONTENTS else _promised(key)


def strings_of(value: Any) -> list[String]:
    """Every string in a parsed value (objects as dicts or as lists of pairs), keys too."""
    found: list[String] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found.append((item, ""))
        elif isinstance(item, dict) or (isinstance(item, list) and item and isinstance(item[0], tuple)):
            for key, inner, kind in _pairs(list(item.items()) if isinstance(item, dict) else item):
                found.append((key, ""))
                if isinstance(inner, str):
                    found.append((inner, kind))
                elif isinstance(inner, (dict, list)):
                    stack.append(inner)
        elif isinstance(item, list):
            stack += item
    return found


def rebuild(value: Any, changes: Mapping[String, str]) -> Any:
    """The value with the changed strings in place; without recursion, for the nesting is the sender's choice."""
    top: list[Any] = [value]
    stack: list[tuple[Any, Any, Any, str]] = [(top, 0, value, "")] if changes else []
    while stack:
        holder, slot, item, kind = stack.pop()
        if isinstance(item, str):
            holder[slot] = changes.get((item, kind), item)
        elif isinstance(item, list):
            holder[slot] = items = list(item)
            stack += [(items, at, inner, "") for at, inner in enumerate(item)]
        elif isinstance(item, dict):
            holder[slot] = pairs = {}
            for key, inner, promised in _pairs(list(item.items())):
                name = changes.get((key, ""), key)
                pairs[name] = inner
                stack.append((pairs, name, inner, promised))
    return top[0]


_PATTERNS = {
    "literal": rb'"[^"\\]*(?:\\.[^"\\]*)*"',
    "unit": rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
    rb"|[\xc0-\xff][\x80-\xbf]*|.",
    "mark": rb"<REDACTED:[a-z0-9-]{2,23}(?::[0-9a-f]{4})?>",
}


def _pattern(name: str) -> Pattern[bytes]:
    return re.compile(_PATTERNS[name], re.DOTALL)


def patch(line: bytes, changes: Mapping[String, str]) -> bytes:
    """The line with changed strings spliced into their own bytes."""
    news = {old: new for (old, _), new in changes.items()}

    def swap(match: Match[bytes]) -> bytes:
        new = news.get(json.loads(match[0].decode()))
        return match[0] if new is None else _splice(match[0], new)

    return _pattern("literal").sub(swap, line)


def _splice(literal: bytes, new: str) -> bytes:
    """A JSON string changed into another that differs by marks only; what stays keeps its bytes, escapes and all."""
    units = _pattern("unit").findall(literal[1:-1])
    old = "".join([json.loads(b'"%b"' % unit) if unit[:1] == b"\\" else unit.decode() for unit in units])
    data = encode(new)
    kept = [piece.decode("utf-8", "surrogatepass") for piece in _pattern("mark").split(data)]
    marks = [b"", *_pattern("mark").findall(data)]
    pieces: list[bytes] = []
    at = 0
    for mark, piece in zip(marks, kept, strict=True):
        at = len(old) - len(piece) if at and len(pieces) // 2 == len(kept) - 1 else old.find(piece, at)
        pieces += [mark, b"".join(units[at : at + len(piece)])]
        at += len(piece)
    return b'"' + b"".join(pieces) + b'"'
