"""Outputs too large for a transcript: the host puts them into files beside it, and a preview in their place.

They are put back where they belong before anything else reads the line, so that what is redacted, kept, searched and
archived is the whole output. The files are the host's, and gone when it clears up.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from memory_keeper.capture.payload import is_name
from memory_keeper.capture.tail import open_regular
from memory_keeper.model import Source

MOVED = re.compile(r"<persisted-output>\s*Output too large \([^)\n]{1,40}\)\. Full output saved to: ([^\n]{1,4096})\n")
FOLDER = "tool-results"
LEFT_OUT = "\n[… {} bytes left out …]\n"


def with_outputs(line: bytes, source: Source, limit: int) -> bytes:
    """A line of a transcript with the outputs that were moved out of it, of each at most `limit` bytes."""
    try:
        entry = json.loads(line)
        blocks = entry["message"]["content"]
        found = [(block, output) for block in blocks for output in _outputs(block)]
    except (ValueError, RecursionError, KeyError, TypeError):
        return line  # no line of ours to change: the reader makes of it what it can
    whole = [(block, holder, text, said) for block, (holder, said) in found if (text := _read(said, source, limit))]
    for block, holder, text, said in whole:
        holder["content" if "content" in holder else "text"] = text
        block["shown"] = len(said)  # what the context got
    return _dumped(entry) if whole else line


def _dumped(entry: Any) -> bytes:
    try:
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(entry, separators=(",", ":")).encode("ascii")


def _outputs(block: Any) -> list[tuple[dict[str, Any], str]]:
    """The texts of a result, each with what holds it."""
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return []
    content = block.get("content")
    if isinstance(content, str):
        return [(block, content)]
    parts = content if isinstance(content, list) else []
    return [(part, part["text"]) for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _read(text: str, source: Source, limit: int) -> str:
    """The output that a preview stands for; empty where there is none. The transcript may come from anywhere: of the
    path that it names only the last part is believed."""
    moved = MOVED.match(text)
    name = os.path.basename(moved[1].strip()) if moved else ""
    if not is_name(name.removesuffix(".txt")):
        return ""
    path = source.path.removesuffix(".jsonl")
    session = path.rpartition("/subagents/")[0] if source.agent else path
    fd = open_regular(f"{session}/{FOLDER}/{name}")
    if fd is None:
        return ""
    with os.fdopen(fd, "rb") as file:
        size = os.fstat(fd).st_size
        head = file.read(limit if size <= limit else limit * 2 // 3)
        if size <= limit:
            return head.decode("utf-8", "replace")
        tail = limit - len(head)
        file.seek(size - tail)
        end = file.read(tail)
    left_out = LEFT_OUT.format(f"{size - limit:,}")
    return head.decode("utf-8", "ignore") + left_out + end.decode("utf-8", "ignore")
