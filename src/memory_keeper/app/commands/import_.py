"""`import transcripts`: read in what Claude Code has already written down."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from memory_keeper.app.terminal import Bar, print_json
from memory_keeper.capture.payload import safe_name
from memory_keeper.errors import KeeperError, PartlyDone
from memory_keeper.keep.home import Lock
from memory_keeper.keeper import Added, Keeper
from memory_keeper.model import Source

EXAMPLE = "memory-keeper import transcripts ~/.claude/projects"
ENDINGS = (".jsonl", ".jsonl.gz")


def configure(parser: ArgumentParser) -> None:
    """What to read."""
    parser.add_argument("what", choices=["transcripts"], help="Claude Code's own transcripts")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders; default: all of Claude Code's")
    parser.set_defaults(words="paths")


def run(args: Namespace) -> int:
    """Every file once; a second import adds nothing."""
    paths = args.paths or [
        os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")
    ]
    files = list(_files(paths))
    total, failed = Added(), []
    with Keeper(args.home) as keeper, Bar("importing", sum(map(os.path.getsize, files))) as bar:
        for path in files:
            try:
                total += keeper.read(_source(keeper, path), progress=bar.advance)
            except (OSError, KeeperError) as error:
                failed.append(f"{path}: {error}")
    about = {
        "files": len(files),
        "lines": total.lines,
        "events_added": total.events,
        "events_known": total.known,
        "skipped": len(failed),
    }
    if args.json:
        print_json(about)
    else:
        print(
            f"{about['files']} files, {about['lines']} new lines: {about['events_added']} events added,"
            f" {about['events_known']} known already"
        )
    for problem in failed:
        sys.stderr.write(f"memory-keeper: {problem}\n")
    if failed:
        raise PartlyDone(f"{len(failed)} of {len(files)} files could not be read")
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
                    if not os.path.islink(file):
                        found[os.path.realpath(file)] = os.path.getmtime(file)
    yield from sorted(found, key=lambda file: (found[file], file))


def _source(keeper: Keeper, path: str) -> Source:
    """A transcript's session, agent and project, from its name and its first lines."""
    stem = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    said = _first(path)
    session, agent = stem, ""
    if stem.startswith("agent-"):
        session, agent = said.get("sessionId") or _session_above(path) or stem, stem.removeprefix("agent-")
    directory = said.get("cwd") or os.path.dirname(path)
    with Lock(keeper.home, 60.0):
        project = keeper.project(directory, change=True)
    return Source(path, safe_name(session), project, safe_name(agent) if agent else "")


def _session_above(path: str) -> str:
    """The session a subagent's transcript belongs to: `<session>/subagents/agent-<id>.jsonl`."""
    folder = os.path.dirname(path)
    return os.path.basename(os.path.dirname(folder)) if os.path.basename(folder) == "subagents" else ""


def _first(path: str) -> dict[str, str]:
    """`cwd` and `sessionId` of the first line that has them."""
    import gzip

    found: dict[str, str] = {}
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        for _ in range(200):
            line = file.readline(1 << 22)
            if not line or {"cwd", "sessionId"} <= found.keys():
                break
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for key in ("cwd", "sessionId"):
                if isinstance(entry, dict) and isinstance(entry.get(key), str):
                    found.setdefault(key, entry[key])
    return found
