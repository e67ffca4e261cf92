"""`import`: read in what Claude Code has already written down, or what another tool had kept."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, Any, cast

from memory_keeper.briefs.projects import project_name
from memory_keeper.capture.payload import safe_name
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.imports import bring_in
from memory_keeper.cli.output import respond
from memory_keeper.cli.work import make_notes
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.host.registration import claude_folder
from memory_keeper.imports import IMPORTERS
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.moving import Added
from memory_keeper.model import Source
from memory_keeper.store.home import Lock
from memory_keeper.terminal import Bar, as_called, say, say_problem
from memory_keeper.text import clean, many

ENDINGS = (".jsonl", ".jsonl.gz")
MAGIC = b"\x1f\x8b\x08"  # how a gzip member begins
BLANK = b" " * 79 + b"\n"
LARGEST = 64 << 20  # bytes a damaged member may say it had
FEW = 5  # projects that are named
ARGUMENTS = (
    argument(
        "what", choices=["transcripts", *IMPORTERS], metavar="WHAT",
        help="; ".join(["transcripts: Claude Code's own", *(f"{name}: {one.help}" for name, one in IMPORTERS.items())]),
    ),
    argument(
        "paths", nargs="*", default=[], metavar="PATH",
        help="files or folders; default: where Claude Code or the tool has it",
    ),
    argument("--dry-run", action="store_true", help="of another tool: only say what would come in"),
    argument("--named", default="", metavar="NAME", help="what the other tool calls this project"),
)  # fmt: skip


def run(args: Namespace) -> int:
    """Every file once; a second import adds nothing."""
    if args.what != "transcripts":
        return bring_in(args)
    if args.dry_run or args.named:
        args.fail("--dry-run and --named are for the memory of other tools")
    files = list(_files(args.paths or [os.path.join(claude_folder(), "projects")]))
    with Keeper(args.home) as keeper, Bar("importing", sum(map(_size, files))) as bar:
        total, projects, failed = _read_all(keeper, files, bar)
        notes = _written(keeper)
        names = sorted(project_name(keeper.store, project) for project in projects)
    about = {
        "files": len(files),
        "lines": total.lines,
        "events_added": total.events,
        "events_known": total.known,
        "skipped": len(failed),
        "notes": notes,
        "projects": sorted(projects),
    }
    if failed and len(failed) == len(files):
        raise KeeperError(failed[0] if len(files) == 1 else f"none of {len(files)} files could be read: {failed[0]}")
    respond(args, about, lambda: _say(about, names))
    for problem in failed:
        say_problem(problem)
    if failed:
        raise PartlyDone(f"{len(failed)} of {len(files)} files could not be read")
    return 0


def _read_all(keeper: Keeper, files: Iterable[str], bar: Bar) -> tuple[Added, set[str], list[str]]:
    """Read files to their ends: what was added, the projects it is of, and what is wrong with those that cannot be."""
    total, projects, failed = Added(), set[str](), list[str]()
    for path in files:
        try:
            if not _is_transcript(path):
                failed.append(f"{path} is no transcript: no line of it is an entry of one")
                continue
            source = source_of(keeper, path)
            added = keeper.read(source, progress=bar.advance)
        except (OSError, EOFError, ValueError, zlib.error, KeeperError) as error:
            failed.append(f"{path}: {error}")
            continue
        total += added
        projects |= {source.project} if added.events else set()
    return total, projects, failed


def _say(about: dict[str, Any], names: list[str]) -> None:
    say(
        f"{many(about['files'], 'file')}, {many(about['lines'], 'new line')}:"
        f" {many(about['events_added'], 'event')} added, {about['events_known']:,} known already;"
        f" {many(about['notes'], 'note')} written"
    )
    if names:
        print(f"Projects: {_listed(names)}")
    if about["notes"]:
        ways = "In a project, `memory-keeper brief memory` tells what is remembered of it; `save` writes memory.md."
        say(as_called(ways))
    elif about["events_added"]:
        say(as_called("Notes and observations follow with the next session; `memory-keeper summarize` makes them now."))


def _listed(names: list[str]) -> str:
    more = f", and {len(names) - FEW} more" if len(names) > FEW else ""
    return clean(", ".join(names[:FEW]) + more)


def _size(path: str) -> int:
    """The bytes that will be read of a file: a packed one ends with how many it had, of its last part at least."""
    size = os.path.getsize(path)
    if path.endswith(".gz"):
        with suppress(OSError), open(path, "rb") as file:
            file.seek(-4, os.SEEK_END)
            return max(size, int.from_bytes(file.read(4), "little"))
    return size


def _written(keeper: Keeper) -> int:
    """Write the notes that are due now; how many. Whatever is left when somebody has no patience is written later."""
    try:
        return sum(bool(note.text) for note in make_notes(keeper, None, force=False))
    except (Busy, NotSetUp):
        return 0


def _files(paths: list[str]) -> Iterator[str]:
    """The transcripts among files and folders, each once, oldest first so that a fork comes after its origin."""
    found: dict[str, float] = {}
    for path in paths:
        if not os.path.exists(path):
            raise KeeperError(f"{path} does not exist", hint="give files or folders with .jsonl transcripts")
        if os.path.isfile(path):
            found[os.path.realpath(path)] = os.path.getmtime(path)
        for folder, _, names in os.walk(path):
            for name in names:
                if name.endswith(ENDINGS):
                    file = os.path.join(folder, name)
                    if os.path.isfile(file) and not os.path.islink(file):
                        found[os.path.realpath(file)] = os.path.getmtime(file)
    yield from sorted(found, key=lambda file: (found[file], file))


def source_of(keeper: Keeper, path: str) -> Source:
    """A transcript's session, agent and project, from its name and its first lines."""
    stem = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    said, ours = _first(path), archived(path)
    session, agent = stem, ""
    if ours:
        session, agent, _ = ours
    elif stem.startswith("agent-"):
        session, agent = said.get("sessionId") or _session_above(path) or stem, stem.removeprefix("agent-")
    said_to_be = said.get("cwd", "")  # not relative: a stranger's transcript would land in whatever project we are in
    directory = said_to_be if said_to_be[:1] == "/" else "" if ours else os.path.dirname(path)
    with Lock(keeper.home, 60.0):
        project = keeper.project(directory, change=True) if directory else keeper.writer.project_of(session)
    return Source(path, safe_name(session), project, safe_name(agent) if agent else "")


def archived(path: str) -> tuple[str, str, int] | None:
    """Session, agent and number in the name of an archive of ours; None when it is none."""
    name, _, number = os.path.basename(path).removesuffix(".jsonl.gz").rpartition(".")
    session, _, agent = name.partition(".agent-")
    plain = session and safe_name(session) == session and number.isdecimal()
    return (session, agent, int(number)) if plain and path.endswith(".jsonl.gz") else None


def read_back(keeper: Keeper, folder: str) -> Added:
    """Read archives of ours in again, in the order in which they were begun: a fork comes after its origin."""
    files = [os.path.join(folder, name) for name in os.listdir(folder) if archived(name)]
    added = Added()
    with Bar("reading back", sum(map(os.path.getsize, files))) as bar:
        for path in sorted(files, key=lambda path: (archived(path) or ("", "", 0))[::-1]):
            added += keeper.read(source_of(keeper, _mended(path)))
            bar.advance(os.path.getsize(path))
    return added


def _mended(path: str) -> str:
    """An archive that can be read to its end: itself, or a copy of what is whole in it."""
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                pass
        return path
    except (OSError, EOFError, zlib.error):
        pass
    folder = os.path.join(os.path.dirname(path), "mended")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    copy = os.path.join(folder, os.path.basename(path))
    with open(path, "rb") as packed, gzip.GzipFile(copy, "wb", 1, mtime=0) as out:
        for data in _members(packed.read()):
            out.write(data)
    return copy


def _members(packed: bytes) -> Iterator[bytes]:
    """The whole lines of each gzip member. A damaged one gives as many blank lines as it had bytes, since lines without
    an id are known by where they stand."""
    start = 0
    while start < len(packed):
        data, end = _member(packed, start)
        if end:
            yield data[: data.rfind(b"\n") + 1]
            start = end
            continue
        after = packed.find(MAGIC, start + 1)
        while after > 0 and not _member(packed, after)[1]:
            after = packed.find(MAGIC, after + 1)
        if after < 0:
            return
        lost = min(int.from_bytes(packed[after - 4 : after], "little"), LARGEST)
        yield BLANK * (lost // len(BLANK)) + b"\n" * (lost % len(BLANK))
        start = after


def _member(packed: bytes, start: int) -> tuple[bytes, int]:
    """What a gzip member says and where it ends: with the file when it was cut short, nowhere when it is damaged."""
    press, end = zlib.decompressobj(31), start
    parts: list[bytes] = []
    while not press.eof and end < len(packed):
        try:
            parts.append(press.decompress(packed[end : end + 65536]))
        except zlib.error:
            return b"", 0
        end = min(end + 65536, len(packed))
    return b"".join(parts), end - len(press.unused_data)


def _session_above(path: str) -> str:
    """The session a subagent's transcript belongs to: `<session>/subagents/agent-<id>.jsonl`."""
    folder = os.path.dirname(path)
    return os.path.basename(os.path.dirname(folder)) if os.path.basename(folder) == "subagents" else ""


def _opened(path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.endswith(".gz") else open(path, "rb")


def _is_transcript(path: str) -> bool:
    """Whether a file has an entry of a transcript, or nothing at all. Archives of ours may be mended ones."""
    if archived(path):
        return True
    with _opened(path) as file:
        lines = (line for line in iter(lambda: file.readline(LARGEST), b"") if not line.isspace())
        first = next(lines, b"")
        return not first or any(map(_is_entry, chain((first,), lines)))


def _is_entry(line: bytes) -> bool:
    if line[:1] != b"{" or b'"type"' not in line:
        return False
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and isinstance(entry.get("type"), str)


def _first(path: str) -> dict[str, str]:
    """`cwd` and `sessionId` of the first line that has them."""
    found: dict[str, str] = {}
    with _opened(path) as file:
        read = 0
        while read < 200 and {"cwd", "sessionId"} > found.keys():
            line = file.readline(1 << 22)
            if not line:
                break
            read += bool(line.strip())
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for key in ("cwd", "sessionId"):
                if isinstance(entry, dict) and isinstance(entry.get(key), str):
                    found.setdefault(key, entry[key])
    return found
