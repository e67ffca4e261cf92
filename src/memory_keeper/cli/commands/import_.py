"""`import`: read in what Claude Code has already written down, or what another tool had kept."""

from __future__ import annotations

import gzip
import os
import zlib
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import IO, Any, cast

from memory_keeper import wire
from memory_keeper.briefs.projects import project_name
from memory_keeper.capture.payload import safe_name
from memory_keeper.capture.project import choose, find_place
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.imports import bring_in
from memory_keeper.cli.output import respond
from memory_keeper.cli.work import make_notes
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.host.consent import by_a_person
from memory_keeper.host.registration import claude_folder
from memory_keeper.imports import IMPORTERS
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.moving import Added
from memory_keeper.model import APART, ELSEWHERE, Json, Source
from memory_keeper.store.home import Lock
from memory_keeper.terminal import Bar, as_called, say, say_problem
from memory_keeper.text import clean, many

ENDINGS = (".jsonl", ".jsonl.gz")
MAGIC = b"\x1f\x8b\x08"  # how a gzip member begins
BLANK = b" " * 79 + b"\n"
LARGEST = 64 << 20  # bytes a damaged member may say it had
FEW = 5  # projects that are named
FIRST, LONGEST = 400, 50  # lines that say where a session was, and letters of its name where more is put behind it
ARGUMENTS = (
    argument(
        "what", choices=["transcripts", "accept", *IMPORTERS], metavar="WHAT",
        type=lambda word: "memory-keeper" if word == "crabshell" else word,  # which keeps it under its own name
        help="; ".join(
            ["transcripts: Claude Code's own", "accept: transcripts from elsewhere, or a clone, as your own"]
            + [f"{name}: {importer.help}" for name, importer in IMPORTERS.items()]
        ),
    ),
    argument(
        "paths", nargs="*", default=[], metavar="PATH",
        help="files or folders; default: where Claude Code or the tool has it",
    ),
    argument("--dry-run", action="store_true", help="of another tool: only say what would come in"),
    argument("--yes", action="store_true", help="of accept: do not ask for a terminal"),
    argument("--named", default="", metavar="NAME", help="what the other tool calls this project"),
)  # fmt: skip


def run(args: Namespace) -> int:
    """Every file once; a second import adds nothing."""
    if "" in args.paths:
        args.fail("a PATH is empty")
    if args.what not in ("transcripts", "accept"):
        return bring_in(args)
    if args.dry_run or args.named:
        args.fail("--dry-run and --named are for the memory of other tools")
    accepts = args.what == "accept"
    if accepts and not args.paths:
        args.fail("accept takes the files or folders that you imported")
    if accepts:
        by_a_person(args, "say that something is yours")
    if accepts and all(os.path.lexists(os.path.join(path, ".git")) for path in args.paths):
        return _join(args)
    files = list(_files(args.paths or [os.path.join(claude_folder(), "projects")]))
    with Keeper(args.home) as keeper, Bar("importing", sum(map(_size, files))) as bar:
        total, projects, failed = _read_all(keeper, files, bar, accepts)
        notes = _written(keeper)
        names = sorted(project_name(keeper.store, project.removeprefix(APART)) for project in projects)
    about = {
        "files": len(files),
        "lines": total.lines,
        "events_added": total.events,
        "events_known": total.known,
        "skipped": len(failed),
        "notes": notes,
        "projects": sorted(projects),
        "apart": sum(project.startswith(APART) for project in projects),
    }
    if failed and len(failed) == len(files):
        raise KeeperError(failed[0] if len(files) == 1 else f"none of {len(files)} files could be read: {failed[0]}")
    respond(args, about, lambda: _say(about, names))
    for problem in failed:
        say_problem(problem)
    if failed:
        raise PartlyDone(f"{len(failed)} of {len(files)} files could not be read")
    return 0


def _join(args: Namespace) -> int:
    """Have folders be of the project that they say they are of."""
    with Keeper(args.home) as keeper:
        about = {path: keeper.join(os.path.abspath(path)) for path in args.paths}
        names = {path: project_name(keeper.store, project) for path, project in about.items() if project}
    lines = [f"{path}: of {names[path]} from now on" if path in names else f"{path}: as it was" for path in about]
    return respond(args, about, clean("\n".join(lines)))


def _read_all(keeper: Keeper, files: Iterable[str], bar: Bar, accepts: bool) -> tuple[Added, set[str], list[str]]:
    """Read files to their ends: what was added, the projects it is of, and what is wrong with those that cannot be."""
    total, projects, failed = Added(), set[str](), list[str]()
    for path in files:
        try:
            if not _is_transcript(path):
                failed.append(f"{path} is no transcript: no line of it is an entry of one")
                continue
            source = source_of(keeper, path, accepts)
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
    if about["apart"]:
        say(
            as_called(
                "They lie outside of Claude Code's folder, so they are kept apart: `search` finds them as imported, and"
                " nothing in them counts as your word. `memory-keeper import accept PATH` takes them as yours."
            )
        )
    elif about["notes"]:
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


def source_of(keeper: Keeper, path: str, own: bool = False) -> Source:
    """A transcript's session, agent and project, from its name and its first lines.

    One that Claude Code wrote into its folder for that session is the user's `own`, and so is one that a person said is
    theirs; any other may be anybody's, and is kept apart.
    """
    stem = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    first, ours = _first(path), archived(path)
    session, agent = stem, ""
    if ours:
        session, agent, _ = ours
    elif stem.startswith("agent-"):
        session, agent = first.get("sessionId") or _session_above(path) or stem, stem.removeprefix("agent-")
    said_to_be = first.get("cwd", "")  # not relative: a stranger's transcript would land in whatever project we are in
    directory = said_to_be if said_to_be[:1] == "/" else "" if ours else os.path.dirname(path)
    agent = safe_name(agent) if agent else ""
    with Lock(keeper.home, 60.0):
        known = keeper.writer.source(path)
        own = own or bool(known and not known.session.endswith(ELSEWHERE)) or _is_own(path, said_to_be)
        if own and not session.endswith(ELSEWHERE):
            project = keeper.project(directory, change=True) if directory else keeper.writer.project_of(session)
            return Source(path, safe_name(session), project, agent)
        project = choose(find_place(directory), keeper.writer) if directory else ""
    session = session.removesuffix(ELSEWHERE)
    name = safe_name(session) if len(session) <= LONGEST else safe_name(session + " ")
    return Source(path, name + ELSEWHERE, APART + project, agent)


def _is_own(path: str, cwd: str) -> bool:
    """Whether the host wrote a transcript: in its own folder, in the one that it made for where the session was."""
    projects = os.path.join(os.path.realpath(claude_folder()), "projects", "")
    if not os.path.realpath(path).startswith(projects):
        return False
    slug = os.path.realpath(path)[len(projects) :].partition("/")[0]
    return cwd[:1] != "/" or slug == _slug(cwd) or any(slug == _slug(folder) for folder in _folders(path))


def _slug(folder: str) -> str:
    """What the host calls its folder for a project; of a long path it keeps the beginning, which is enough here."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in folder)


def _folders(path: str) -> set[str]:
    """Where the session was, by its first lines: one that was resumed elsewhere begins with lines of another."""
    found: set[str] = set()
    with _opened(path) as file:
        for line in islice(iter(lambda: file.readline(1 << 22), b""), FIRST):
            cwd = _entry(line).get("cwd")
            found |= {cwd} if isinstance(cwd, str) else set()
    return found


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
            added += keeper.read(source_of(keeper, _mended(path), own=True))
            bar.advance(os.path.getsize(path))
    return added


def _mended(path: str) -> str:
    """An archive that can be read to its end: itself, or a copy of what is whole in it."""
    with suppress(OSError, EOFError, zlib.error), gzip.open(path) as file:
        while file.read(1 << 20):
            pass
        return path
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
    return line[:1] == b"{" and b'"type"' in line and isinstance(_entry(line).get("type"), str)


def _entry(line: bytes) -> Json:
    return wire.read_object(line.decode("utf-8", "replace"))


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
            entry = _entry(line)
            found = {key: entry[key] for key in ("cwd", "sessionId") if isinstance(entry.get(key), str)} | found
    return found
