"""`show ID`: one event or note, whole; with `--raw`, the transcript line it came from."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from memory_keeper.app.terminal import moment, paint, print_json
from memory_keeper.errors import KeeperError
from memory_keeper.keep import archive
from memory_keeper.keep.sqlite import as_json
from memory_keeper.keeper import Keeper
from memory_keeper.text import clean

EXAMPLE = "memory-keeper show 4914e47a:0 --raw"


def configure(parser: ArgumentParser) -> None:
    """Which, and how deep."""
    parser.add_argument("id", metavar="ID", help="as a brief or a search gave it; a unique beginning is enough")
    parser.add_argument("--children", action="store_true", help="what a note covers")
    parser.add_argument("--raw", action="store_true", help="the transcript's own line, as kept")


def run(args: Namespace) -> int:
    """Zoom in on one thing."""
    with Keeper(args.home) as keeper:
        note = keeper.store.note(args.id)
        event = None if note else keeper.event(args.id)
        if not note and not event:
            raise KeeperError(
                f"Nothing, or more than one thing, is called {args.id}", hint="`memory-keeper search` gives ids"
            )
        if event and args.raw:
            return _raw(keeper, event.id, args.json)
        about: dict[str, Any] = as_json(note or event)  # type: ignore[arg-type]
        if args.children:
            about["children"] = keeper.store.children(args.id)
    if args.json:
        print_json(about)
        return 0
    text = about.pop("text")
    for name, value in about.items():
        if value or name == "level":
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            print(f"{paint(name, 'dim')}: {moment(value) if name == 'at' else clean(shown)}")
    print()
    print(clean(text))
    return 0


def _raw(keeper: Keeper, id: str, as_document: bool) -> int:
    line = raw_line(keeper, id)
    if as_document:
        print_json({"id": id, "raw": line.decode("utf-8", "replace")})
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(line + b"\n")
    return 0


def raw_line(keeper: Keeper, id: str) -> bytes:
    """An event's line, out of the archive."""
    found = keeper.store.line(id)
    if not found:
        raise KeeperError(f"{id} came from a hook, not from a transcript", hint="show it without --raw")
    source, member, offset = found
    try:
        data = archive.read(keeper.home, source, member)
    except (OSError, ValueError) as error:
        raise KeeperError(
            f"The archive of this session is damaged: {error}", hint="run `memory-keeper doctor`"
        ) from None
    return data[offset : data.index(b"\n", offset)]
