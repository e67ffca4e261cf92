"""`doctor`: is everything in order; and if not, what to do about it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from time import strftime, time
from typing import NamedTuple

from memory_keeper.app.registration import claude_folder, installed_at
from memory_keeper.app.terminal import age, paint, print_json, size
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.keep import archive, spool
from memory_keeper.keep.home import Lock
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.keeper import Keeper

EXAMPLE = "memory-keeper doctor --fix"
COLOURS = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
LITTLE_DISK = 200 << 20
FRESH = 7 * 86400.0


class Finding(NamedTuple):
    """One thing that was looked at."""

    check: str
    verdict: str  # OK, WARN or FAIL
    said: str
    fix: str = ""


def configure(parser: ArgumentParser) -> None:
    """Repair, on request."""
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired without losing anything")


def run(args: Namespace) -> int:
    """One line for each check, one verdict, a fix line each."""
    if args.fix:
        _fix(args.home)
    findings = [*_machine(), *_plugin(), *_home(args.home), *_store(args.home), *_problems(args.home)]
    worst = next((verdict for verdict in ("FAIL", "WARN") if any(f.verdict == verdict for f in findings)), "OK")
    if args.json:
        print_json({"verdict": worst, "checks": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            print(f"{paint(f'{finding.verdict:4}', COLOURS[finding.verdict])}  {finding.check}: {finding.said}")
            if finding.fix:
                print(f"      fix: {finding.fix}")
        print(f"{paint(worst, COLOURS[worst])}  in all")
    return 1 if worst == "FAIL" else 0


def _machine() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding(
        "interpreter", "OK" if good else "FAIL", f"Python {version}", "" if good else "use Python 3.11 or newer"
    )


def _plugin() -> Iterator[Finding]:
    where = installed_at(claude_folder())
    if not where:
        yield Finding("plugin", "WARN", "not registered with Claude Code", "memory-keeper install")
    elif not os.path.isfile(os.path.join(where, "src", "memory_keeper", "app", "start.py")):
        yield Finding("plugin", "FAIL", f"{where} is not complete", "memory-keeper install")
    else:
        yield Finding("plugin", "OK", where)


def _home(home: str) -> Iterator[Finding]:
    if not os.path.isdir(home):
        yield Finding("home", "WARN", f"{home} is not there yet", "start Claude Code once, or import transcripts")
        return
    open_to_others = [path for path in _paths(home) if os.lstat(path).st_mode & 0o077]
    if open_to_others:
        yield Finding(
            "permissions", "FAIL", f"{len(open_to_others)} files others may read", "memory-keeper doctor --fix"
        )
    else:
        yield Finding("permissions", "OK", "everything is yours alone")
    free = shutil.disk_usage(home).free
    yield Finding(
        "disk", "OK" if free > LITTLE_DISK else "WARN", f"{size(free)} free", "" if free > LITTLE_DISK else "make room"
    )


def _store(home: str) -> Iterator[Finding]:
    try:
        with Keeper(home) as keeper:
            store = keeper.store
            damage = store.problems()
            yield Finding("store", "FAIL" if damage else "OK", "; ".join(damage) or "intact", _fix_line(bool(damage)))
            counts = store.counts()
            fresh = time() - counts["last_look"] < FRESH
            said = f"{counts['events']} events, the last captured {age(counts['last_look'], time())}"
            yield Finding(
                "last event", "OK" if fresh else "WARN", said, "" if fresh else "is the plugin enabled? /plugin"
            )
            yield from _index(keeper)
            yield from _archives(keeper)
            waiting = len(spool.names(home))
            yield Finding("spool", "OK", f"{waiting} sessions with records to move or to match")
    except NotSetUp:
        yield Finding("store", "WARN", "nothing is kept yet", "start Claude Code once, or import transcripts")
    except KeeperError as error:
        yield Finding("store", "FAIL", str(error), error.hint)


def _index(keeper: Keeper) -> Iterator[Finding]:
    with Lock(keeper.home, 10.0):
        problem = keeper.writer.index_problem()
    yield Finding("search index", "FAIL" if problem else "OK", problem or "complete", _fix_line(bool(problem)))


def _archives(keeper: Keeper) -> Iterator[Finding]:
    members = keeper.store.members()
    damaged = 0
    for source, member in members:
        try:
            archive.read(keeper.home, source, member)
        except (OSError, ValueError):
            damaged += 1
    if damaged:
        fix = "memory-keeper import transcripts reads again what Claude Code still has"
        yield Finding("archive", "FAIL", f"{damaged} of {len(members)} stretches are damaged", fix)
    else:
        yield Finding("archive", "OK", f"{len(members)} stretches of transcripts, all readable")


def _problems(home: str) -> Iterator[Finding]:
    try:
        with open(os.path.join(home, "problems.log"), encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()[-1000:]
    except OSError:
        lines = []
    recent = []
    for line in lines:
        try:
            problem = json.loads(line)
        except ValueError:
            continue
        if time() - problem.get("at", 0) < FRESH:
            recent.append(problem)
    if not recent:
        yield Finding("hooks", "OK", "no failure in the last week")
        return
    last = recent[-1]
    said = f"{len(recent)} failures in the last week, the last in {last.get('in')}: {last.get('problem')}"
    yield Finding("hooks", "WARN", said, "memory-keeper doctor --fix, then watch whether it comes back")


def _fix_line(broken: bool) -> str:
    return "memory-keeper doctor --fix" if broken else ""


def _paths(home: str) -> Iterator[str]:
    """Everything that was kept; the plugin's own code is no secret."""
    yield home
    for folder, folders, names in os.walk(home):
        if folder == home and "marketplace" in folders:
            folders.remove("marketplace")
        yield from (os.path.join(folder, name) for name in (*folders, *names))


def _fix(home: str) -> None:
    """Close what is open to others, make the index again, and a store that cannot be read anew from its archives."""
    if not os.path.isdir(home):
        return
    for path in _paths(home):
        about = os.lstat(path)
        if about.st_mode & 0o077 and not stat.S_ISLNK(about.st_mode):
            os.chmod(path, about.st_mode & 0o700)
    problems = os.path.join(home, "problems.log")
    if os.path.exists(problems):
        os.replace(problems, problems + ".old")
    with Lock(home, 10.0):
        path = os.path.join(home, "store.db")
        if os.path.exists(path) and _damaged(path):
            _start_anew(home, path)
        elif os.path.exists(path):
            with Keeper(home) as keeper:
                if keeper.writer.index_problem():
                    keeper.writer.rebuild_index()


def _damaged(path: str) -> bool:
    try:
        store = SqliteStore(path)
    except NotSetUp:
        return False
    except KeeperError as error:
        return "damaged" in str(error)
    try:
        return bool(store.problems())
    finally:
        store.close()


def _start_anew(home: str, path: str) -> None:
    """Put the damaged store aside, never away; the archives and Claude Code's transcripts give back its events."""
    aside = os.path.join(home, "damaged-" + strftime("%Y%m%d-%H%M%S"))
    os.mkdir(aside, 0o700)
    for name in os.listdir(home):
        if name.startswith("store.db") or name == "archive":
            os.rename(os.path.join(home, name), os.path.join(aside, name))
    sys.stderr.write(
        f"memory-keeper: the damaged store lies in {aside}; now run\n"
        f"  memory-keeper import transcripts {os.path.join(aside, 'archive')}\n"
        "  memory-keeper import transcripts\n"
    )
