"""Transcripts below a folder: which files are some, their lines, and the events that the product makes of them."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from bench.tools.figures import LeftOutError
from memory_keeper.capture.claude_code import read_line
from memory_keeper.model import Event, Source


def argument(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The folder."""
    parser.add_argument("--data", type=Path, required=required, help="a folder of transcripts")


def paths(folder: Path) -> list[Path]:
    """The files below a folder that are transcripts; a set of questions is a .jsonl.gz too."""
    files = sorted(path for path in folder.rglob("*") if path.name.endswith((".jsonl", ".jsonl.gz")))
    found = [path for path in files if any("type" in entry for entry in entries(path, 3))]
    if not found:
        raise LeftOutError(f"no transcripts below {folder}")
    return found


def opened(path: Path) -> IO[bytes]:
    """A transcript, unpacked where it is packed."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def entries(path: Path, most: int = -1) -> Iterator[dict[str, Any]]:
    """The lines of a transcript that are objects, or those among its first."""
    with opened(path) as lines:
        for number, line in enumerate(lines):
            if number == most:
                return
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def events(lines: Iterable[bytes], session: str) -> Iterator[Event]:
    """What the product makes of lines, each event once; a line without a time has that of the line before."""
    source, seen = Source(session, session, "dir:/bench"), set()
    at, offset = 0.0, 0
    for line in lines:
        for event in getattr(read_line(line, source, offset, at), "events", ()):
            at = event.at
            if event.id not in seen:
                seen.add(event.id)
                yield event
        offset += len(line)


def session_of(path: Path) -> str:
    """Its id, which is its name."""
    return path.name.partition(".")[0]
