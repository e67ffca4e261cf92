"""The part of a transcript that is still in the context: its lines from the last compaction on."""

from __future__ import annotations

import os

from memory_keeper.capture.claude_code import Line, read_line
from memory_keeper.capture.gauge import BOUNDARY
from memory_keeper.capture.tail import open_regular
from memory_keeper.model import Source


def newest_lines(path: str, session: str, most: int = 0) -> list[Line]:
    """The lines of a transcript from its last compaction on; none when they are more than `most` bytes."""
    fd = open_regular(path) if path else None
    if fd is None:
        return []
    with os.fdopen(fd, "rb") as file:
        before = file.seek(max(0, os.fstat(fd).st_size - most)) if most else 0
        data = file.read()
    compacted = data.rfind(BOUNDARY)
    if before and compacted < 0:
        return []
    begin = data.rfind(b"\n", 0, max(0, compacted)) + 1
    lines, offset, source = [], before + begin, Source(path, session, "")
    for line in data[begin:].split(b"\n"):
        if read := read_line(line, source, offset, 0.0):
            lines.append(read)
        offset += len(line) + 1
    return lines
