"""`doctor`: is everything in order; and if not, what to do about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from errno import EACCES, EROFS
from itertools import groupby
from tempfile import TemporaryDirectory
from time import strftime, time
from typing import NamedTuple

from memory_keeper import config, wire
from memory_keeper.briefs.report.prices import problem as prices_problem
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.commands.import_ import read_back
from memory_keeper.cli.output import respond
from memory_keeper.config import find_root
from memory_keeper.errors import Busy, Damaged, KeeperError, NotSetUp
from memory_keeper.host.files import write_file
from memory_keeper.host.registration import (
    KEPT,
    PLUGIN,
    claude_folder,
    installed_at,
    names_of_ours,
    read_json,
    settings_path,
)
from memory_keeper.jobs.allowance import attempts, unanswered
from memory_keeper.jobs.forget import What, plan
from memory_keeper.jobs.salvage import carry_over, damaged, is_still_there, read_again
from memory_keeper.keeper import Keeper, by_hand
from memory_keeper.model import DAY, Filter
from memory_keeper.pages.adopt import adopt, adopt_rules
from memory_keeper.pages.claude_md import OutOfReach, sync_rules
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import obstacles
from memory_keeper.store import archive, spool
from memory_keeper.store.events import model_calls
from memory_keeper.store.home import Lock, about
from memory_keeper.store.journal import settings_in
from memory_keeper.team.sync import cursor_of
from memory_keeper.team.teams import teams_of
from memory_keeper.terminal import as_called, paint, say, say_problem, size
from memory_keeper.text import ago, clean, many

COLOURS = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
VERDICTS = {
    "OK": "all is well",
    "WARN": "it works; look at what is marked WARN",
    "FAIL": "something does not work; see the lines that begin with fix",
}
LITTLE_DISK = 200 << 20
FRESH = 7 * 86400.0
PATIENCE = 3.0  # seconds for the writer's lock
PLUGIN_NAME = "memory-keeper"
LATE = 3 * DAY  # after which a team that is synced by itself should have been
SCOPES = ("user", "project", "local")  # the later one wins
ASIDE = "damaged-"


class Restored(NamedTuple):
    """What a store that was made again has of the damaged one."""

    events: int  # by its archives
    rows: int  # of itself
    pages: int  # notes that stood on pages
    lost: bool  # notes may be missing


class Finding(NamedTuple):
    """One thing that was looked at."""

    check: str
    verdict: str  # OK, WARN or FAIL
    said: str
    fix: str = ""


ARGUMENTS = (
    argument("--fix", action="store_true", help="repair what can be repaired without losing anything"),
    argument("--secrets", action="store_true", help="look for secrets in all that is kept, by the rules of now"),
)


def run(args: Namespace) -> int:
    """One line for each check, one verdict, a fix line each."""
    root = find_root(os.path.abspath(args.project or "."))
    repairs = list(_fix(args.home, root)) if args.fix else []
    findings = [*repairs, *check(args.home, root), *(_secrets(args.home) if args.secrets else ())]
    worst = next((verdict for verdict in ("FAIL", "WARN") if any(f.verdict == verdict for f in findings)), "OK")

    def show() -> None:
        for finding in findings:
            verdict = paint(f"{finding.verdict:4}", COLOURS[finding.verdict])
            say(f"{verdict}  {finding.check}: {finding.said}", rest=" " * 6)
            if finding.fix:
                say(as_called(f"fix: {finding.fix}"), " " * 6, " " * 8)
        say(f"Verdict: {paint(worst, COLOURS[worst])}, {VERDICTS[worst]}", rest="  ")

    respond(args, {"verdict": worst, "checks": [finding._asdict() for finding in findings]}, show)
    if worst == "FAIL":
        return 1
    return 5 if any(repair.verdict != "OK" for repair in repairs) else 0


def check(home: str, root: str) -> list[Finding]:
    """Everything that is looked at, in order."""
    python = Finding("interpreter", "OK", f"Python {'.'.join(map(str, sys.version_info[:3]))}")
    return [python, *_plugin(home), *_settings(home, root), *_home(home), *_store(home, root), *_problems(home)]


def _secrets(home: str) -> Iterator[Finding]:
    """What was kept before we knew it for a secret, or before a key was put into the environment."""
    with Keeper(home) as keeper:
        rows = plan(keeper, What(secrets=True))[1].rows
    if rows:
        text = f"{many(rows, 'row')} of the store hold what is known as a secret by now"
        yield Finding("secrets", "WARN", text, "memory-keeper forget --secrets takes it out of every copy")
    else:
        yield Finding("secrets", "OK", "none that is known stands in what is kept")


def _plugin(home: str) -> Iterator[Finding]:
    where = installed_at(claude_folder())
    if not where and _of_bots(home):
        yield Finding("plugin", "OK", "not registered, and not needed: a bot on the Agent SDK keeps its threads here")
        return
    if not shutil.which("claude"):
        text, fix = "`claude` is not on the PATH", "install Claude Code, or put it on the PATH of this shell"
        yield Finding("Claude Code", "FAIL", text, fix)
    if not where:
        yield Finding("plugin", "FAIL", "not registered with Claude Code: nothing is kept", "memory-keeper install")
    elif not os.path.isfile(os.path.join(where, "src", "memory_keeper", "hooks", "start.py")):
        yield Finding("plugin", "FAIL", f"{where} is not complete", "memory-keeper install")
    else:
        yield Finding("plugin", "OK", where)
        yield _launch(os.path.join(where, "plugin", "launch"))


def _of_bots(home: str) -> bool:
    """Whether a home is one that a bot was given for its threads, not the one where the plugin keeps everything."""
    usual = {name: value for name, value in config.environment().items() if name != "MEMORY_KEEPER_HOME"}
    if os.path.abspath(home) == config.find_home(usual):
        return False
    try:
        with Keeper(home) as keeper:
            return bool(keeper.store.count(Filter(kinds=("thread",), limit=1)))
    except KeeperError:
        return False


def _launch(launcher: str) -> Finding:
    """Call a hook as Claude Code does, in a home of its own, and see whether it keeps anything."""
    with TemporaryDirectory(prefix="memory-keeper-") as home:
        payload = json.dumps({"session_id": "doctor", "cwd": home}).encode()
        try:
            done = subprocess.run(
                [launcher, "hook", "PostToolUse"],
                input=payload,
                capture_output=True,
                timeout=10,
                cwd=home,
                env={**os.environ, "MEMORY_KEEPER_HOME": home, "CLAUDE_PROJECT_DIR": "/"},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Finding("launcher", "FAIL", f"{launcher}: {error}", "memory-keeper install")
        if done.returncode:
            return Finding("launcher", "FAIL", f"{launcher} leaves with {done.returncode}", "memory-keeper install")
        if not spool.names(home):
            fix = "have Python 3.11 or newer, with SQLite, on the PATH of Claude Code"
            return Finding("launcher", "FAIL", f"{launcher} runs and keeps nothing", fix)
    return Finding("launcher", "OK", "a hook was tried, and what it was given was kept")


def _settings(home: str, root: str) -> Iterator[Finding]:
    """What keeps anything from being captured although all is installed."""
    found = []
    paths = [settings_path(scope, root) for scope in SCOPES]
    files = [(path, read_json(path) or {}) for path in dict.fromkeys(paths)]
    plugins = [
        (path, entry["enabledPlugins"]) for path, entry in files if isinstance(entry.get("enabledPlugins"), dict)
    ]
    enabled = [(path, enabled_here[PLUGIN]) for path, enabled_here in plugins if PLUGIN in enabled_here]
    if enabled and enabled[-1][1] is False:
        found.append(Finding("settings", "WARN", f"the plugin is disabled in {enabled[-1][0]}", "enable it: /plugin"))
    hooks = [(path, entry["disableAllHooks"]) for path, entry in files if "disableAllHooks" in entry]
    if hooks and hooks[-1][1] is True:
        found.append(Finding("settings", "WARN", f"{hooks[-1][0]} disables all hooks", "take out disableAllHooks"))
    for path in config.load(home, root)[1]:
        found.append(Finding("settings", "WARN", f"{path} cannot be read: the defaults hold", "make it valid JSON"))
    found += _against(home, root)
    if problem := prices_problem(home):
        found.append(Finding("settings", "WARN", problem, "mend it, or take it away: costs go by the shipped prices"))
    yield from found or [Finding("settings", "OK", "nothing is turned off")]


def _against(home: str, root: str) -> Iterator[Finding]:
    """What a project sets that could silence or redirect us: named one by one, whoever put it there."""
    fix = "it does not hold; if you want it, set it yourself: memory-keeper config set KEY VALUE --local"
    for path, keys in groupby(config.refused(home, root), key=lambda pair: pair[0]):
        yield Finding("settings", "WARN", f"{path} sets {', '.join(key for _, key in keys)}", fix)
    for scope in SCOPES[1:]:
        path = settings_path(scope, root)
        given = read_json(path) or {}
        variables, rights = given.get("env"), given.get("permissions")
        names = [name for name in variables if name.startswith(config.AGAINST)] if isinstance(variables, dict) else []
        if names:
            fix = "Memory Keeper goes by none of it; take it out if it is not yours"
            yield Finding("settings", "WARN", f"{path} sets the variables {', '.join(map(clean, names))}", fix)
        denied = rights.get("deny") if isinstance(rights, dict) else None
        if isinstance(denied, list) and any(isinstance(rule, str) and PLUGIN_NAME in rule for rule in denied):
            yield Finding(
                "settings", "WARN", f"{path} denies tools of Memory Keeper", "take out permissions.deny of it"
            )
        if given.get("cleanupPeriodDays") == 0:
            text = f"{path} has Claude Code keep no transcripts: what no hook was told is lost"
            yield Finding("settings", "WARN", text, "take out cleanupPeriodDays")


def _home(home: str) -> Iterator[Finding]:
    if not os.path.isdir(home):
        yield _nothing_yet("home", f"{home} is not there yet")
        return
    if not os.access(home, os.W_OK):
        why = os.strerror(EROFS if os.statvfs(home).f_flag & os.ST_RDONLY else EACCES)
        yield Finding("home", "FAIL", f"{home} cannot be written: {why}. So nothing is kept", "let it be written")
    exposed = [path for path in _paths(home) if about(path).st_mode & 0o077]
    if exposed:
        more = f" and {len(exposed) - 1} more" if len(exposed) > 1 else ""
        text = f"others may get at {exposed[0]}{more}"
        yield Finding("permissions", "FAIL", text, "memory-keeper doctor --fix")
    else:
        yield Finding("permissions", "OK", "everything is yours alone")
    free = shutil.disk_usage(home).free
    yield Finding(
        "disk", "OK" if free > LITTLE_DISK else "WARN", f"{size(free)} free", "" if free > LITTLE_DISK else "make room"
    )


def _nothing_yet(check: str, text: str) -> Finding:
    """Before the first session that is as it should be, if the plugin is there to change it."""
    if installed_at(claude_folder()):
        return Finding(check, "OK", f"{text}: that begins with the next session of Claude Code")
    return Finding(check, "WARN", text, "memory-keeper install, then start Claude Code once; or import transcripts")


def _store(home: str, root: str) -> Iterator[Finding]:
    try:
        _check_lock(home)
        if _lost(home):
            problem = "the store is gone; what was written by hand and its archives are there"
            yield Finding("store", "FAIL", problem, _fix_line(True))
            return
        with Keeper(home) as keeper:
            damage = keeper.store.problems()
            yield Finding("store", "FAIL" if damage else "OK", "; ".join(damage) or "intact", _fix_line(bool(damage)))
            yield from _by_hand(keeper)
            if not damage:
                yield from _kept(keeper)
                yield from _summarizer(keeper, root)
                yield from _pages(keeper, root)
                yield from _blocks(keeper, root)
                yield from _sync(keeper, root)
    except NotSetUp:
        yield _nothing_yet("store", "nothing is kept yet")
    except Busy as error:
        yield Finding("store", "WARN", f"busy: {error}", error.hint)
    except KeeperError as error:
        yield Finding("store", "FAIL", str(error), error.hint)


def _by_hand(keeper: Keeper) -> Iterator[Finding]:
    """Whether the store and the journal beside it have the same of what was written by hand."""
    journal, check = keeper.store.journal, "journal"
    if os.path.lexists(keeper.home + by_hand.VANISHED):
        text = "the store had vanished; a new one has what was written by hand, and not yet what the archives have"
        yield Finding("store", "FAIL", text, _fix_line(True))
    known = journal.read()
    if not journal.is_there:
        text = "it is gone" if journal.is_gone else "not begun yet"
        yield Finding(check, "FAIL" if journal.is_gone else "OK", text, _fix_line(journal.is_gone))
        return
    if not known.is_whole:
        text = f"{known.damaged} bytes are not what was written" if known.damaged else "its end is missing"
        yield Finding(check, "FAIL", text, _fix_line(True))
    try:
        lacking, strange = by_hand.differences(keeper.store)
    except KeeperError:
        return  # the store is damaged, which is said already
    if lacking:
        text = f"the store lacks {many(len(lacking), 'thing')} that somebody wrote by hand"
        yield Finding(check, "FAIL", text, _fix_line(True))
    if strange:
        text = f"not written by Memory Keeper, and not told as yours: {', '.join(map(clean, strange[:5]))}"
        fix = f"memory-keeper show {clean(strange[0])}; what is yours, write again; memory-keeper forget ID"
        yield Finding(check, "WARN", text, fix)
    if known.is_whole and not lacking and not strange:
        yield Finding(check, "OK", f"{many(len(known.entries), 'thing')} that somebody wrote by hand, all in the store")


def _kept(keeper: Keeper) -> Iterator[Finding]:
    counts = keeper.store.counts()
    fresh = time() - counts["last_look"] < FRESH
    text = f"{counts['events']} events, the last captured {ago(counts['last_look'], time())}"
    yield Finding("last event", "OK" if fresh else "WARN", text, "" if fresh else "is the plugin enabled? /plugin")
    yield from _index(keeper)
    yield from _archives(keeper)
    waiting = len(spool.names(keeper.home))
    yield Finding("recent sessions", "OK", f"{waiting} that hooks told of lately")


def _summarizer(keeper: Keeper, root: str) -> Iterator[Finding]:
    """Whether the model that the settings name for notes answers."""
    settings = config.load(keeper.home, root, keeper.environ)[0]
    names = {settings["summarize.level1"], settings["summarize.level2"]} - {"extractive"}
    if not names:
        return
    failed = unanswered(attempts(model_calls(keeper.store)), settings)
    if not failed:
        yield Finding("summarizer", "OK", f"{' and '.join(sorted(names))}; no question without an answer")
        return
    last = failed[0]
    text = f"{last.by} gave no answer the last {many(len(failed), 'time')}, {ago(last.at, time())} the last: {last.why}"
    fix = (
        "memory-keeper summarize --again --limit 1 asks once more and says what to do; notes are made by rule meanwhile"
    )
    yield Finding("summarizer", "WARN", clean(text), fix)


def _pages(keeper: Keeper, root: str) -> Iterator[Finding]:
    """The files in the place of ours that are left alone."""
    pages = Pages(keeper, keeper.project(root), root)
    if edited := pages.waiting():
        text = f"edited, and not taken over: {', '.join(edited)}"
        yield Finding("pages", "WARN", text, "memory-keeper rule adopt shows what was changed, and asks")
    left = obstacles(pages) if pages.are_wanted else {}
    where = f"left alone in {root}/.claude/memory"
    if names := ", ".join(path.rpartition("/")[2] for path, why in left.items() if not why):
        text = f"not ours, or not a person's, and {where}: {names}"
        yield Finding("pages", "WARN", text, "read them; memory-keeper save --adopt takes them over or puts them aside")
    if names := ", ".join(f"{path.rpartition('/')[2]} ({why})" for path, why in left.items() if why):
        text = f"neither read nor replaced, and {where}: {names}"
        yield Finding("pages", "WARN", text, "move them away, and memory-keeper save writes the pages")


def _blocks(keeper: Keeper, root: str) -> Iterator[Finding]:
    """Whether our block in CLAUDE.md, where there is one, is whole and says what holds now."""
    for user in (True, False):
        try:
            change = sync_rules(keeper, root, user=user, anew=False, dry_run=True)
        except OutOfReach:
            continue
        except KeeperError as error:
            yield Finding("CLAUDE.md", "WARN", str(error), error.hint)
            continue
        if change.changed:
            text = f"the block in {change.path} is not what the rules are now"
            yield Finding("CLAUDE.md", "WARN", text, f"memory-keeper rule sync{' --user' * user}")


def _sync(keeper: Keeper, root: str) -> Iterator[Finding]:
    """When each team of the project was last synced, where that is to happen by itself."""
    for team in teams_of(keeper.store, keeper.project(root)):
        at, name = about(cursor_of(keeper, team)).st_mtime, clean(team.name)
        if not at:
            yield Finding("sync", "WARN", f"{name} was never reached", "memory-keeper sync")
        else:
            late = team.auto and time() - at > LATE
            said = f"{name}: last synced {ago(at, time())}"
            yield Finding("sync", "WARN" if late else "OK", said, "memory-keeper sync says why" * late)


def _index(keeper: Keeper) -> Iterator[Finding]:
    try:
        with Lock(keeper.home, PATIENCE):
            problem = keeper.writer.index_problem()
    except Busy as error:
        yield Finding("search index", "WARN", f"busy: {error}", error.hint)
        return
    except OSError as error:
        yield Finding("search index", "WARN", f"not looked at: {error.strerror}", "let the home be written")
        return
    yield Finding("search index", "FAIL" if problem else "OK", problem or "complete", _fix_line(bool(problem)))


def _archives(keeper: Keeper) -> Iterator[Finding]:
    pieces, bad = len(keeper.store.members()), damaged(keeper)
    back = [source for source in bad if is_still_there(source)]
    if back:
        text = f"{len(bad)} of {many(pieces, 'piece')} of transcripts are damaged"
        yield Finding("archive", "FAIL", text, "memory-keeper doctor --fix reads again what Claude Code still has")
    elif bad:
        text = f"{len(bad)} of {many(pieces, 'piece')} of raw lines are lost: Claude Code has them no more"
        yield Finding("archive", "WARN", text, "what they said is kept; `show ID --raw` is all that goes without")
    if strays := _strays(keeper):
        text = f"{many(len(strays), 'archive')} that the store knows nothing of"
        yield Finding("archive", "FAIL", text, _fix_line(True))
    if not bad and not strays:
        yield Finding("archive", "OK", f"{many(pieces, 'piece')} of transcripts, all readable")


def _strays(keeper: Keeper) -> list[str]:
    """The archives that belong to no file of the store: it was lost, or whoever wrote them did not come to say so."""
    known = {os.path.basename(archive.archive_path(keeper.home, source)) for source, _ in keeper.store.members()}
    folder = f"{keeper.home}/archive"
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in names if name not in known and name.endswith(".jsonl.gz"))


def _problems(home: str) -> Iterator[Finding]:
    try:
        with open(os.path.join(home, "problems.log"), encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()[-1000:]
    except OSError:
        lines = []
    problems = map(wire.read_object, lines)
    recent = [problem for problem in problems if time() - problem.get("at", 0) < FRESH]
    if not recent:
        yield Finding("hooks", "OK", "no failure in the last week")
        return
    last = recent[-1]
    where = last.get("in") or "a hook without a name"
    text = f"{many(len(recent), 'failure')} in the last week, the last in {where}: {last.get('problem')}"
    yield Finding("hooks", "WARN", text, "memory-keeper doctor --fix, then watch whether it comes back")


def _fix_line(broken: bool) -> str:
    return "memory-keeper doctor --fix" if broken else ""


def _paths(home: str) -> Iterator[str]:
    """The home and what we write in it; the plugin's code is no secret, and `config.json` is the user's own."""
    yield home
    for name in names_of_ours(home, KEPT):
        path = os.path.join(home, name)
        if os.path.islink(path):
            continue
        yield path
        for folder, folders, names in os.walk(path):
            inside = (os.path.join(folder, below) for below in (*folders, *names))
            yield from (below for below in inside if not os.path.islink(below))


# --- repairing ----------------------------------------------------------------------------------------------------


def _fix(home: str, root: str) -> Iterator[Finding]:
    """Close what is open to others, make the index again, and a store that cannot be read anew from what there is."""
    if not os.path.isdir(home):
        return
    for path in _paths(home):
        if (mode := about(path).st_mode) & 0o077:
            os.chmod(path, mode & 0o700)
    problems = os.path.join(home, "problems.log")
    if os.path.exists(problems):
        os.replace(problems, problems + ".old")
    _check_lock(home)
    aside = strays = ""
    with Lock(home, PATIENCE):
        path = os.path.join(home, "store.db")
        if _lost(home) or (os.path.exists(path) and _damaged(home)):
            aside = _put_aside(home)
        elif os.path.exists(path):
            with Keeper(home) as keeper:
                if keeper.writer.index_problem():
                    keeper.writer.rebuild_index()
                strays = _put_strays_aside(keeper)
    # each time: whoever was killed while reading back goes on here, and what has been read is known
    for name in names_of_ours(home, (ASIDE + "[0-9]*",)):
        folder = os.path.join(home, name)
        restored = _read_back(home, root, folder)
        if folder in (aside, strays) or any(restored[:3]):
            yield _repaired(folder, restored)
    yield from _mend(home)


def _repaired(aside: str, restored: Restored) -> Finding:
    text = (
        f"restored {many(restored.events, 'event')} from the archives, {many(restored.rows, 'record')} from the damaged"
        f" store and {many(restored.pages, 'note')} from pages; the damaged store is kept in {aside}"
    )
    if not restored.lost:
        return Finding("repair", "OK", text)
    text += ". Not restored: notes, rules and tasks that could not be read there and stand on no page"
    return Finding("repair", "WARN", text, "memory-keeper note list, rule list and task list show what is there")


def _mend(home: str) -> Iterator[Finding]:
    """Have the store, the journal and the archives make up for each other, and the settings be what they last were."""
    if not os.path.exists(os.path.join(home, "store.db")):
        return
    with Keeper(home) as keeper:
        with keeper.writing(PATIENCE):
            kept = by_hand.mend(keeper)
            settings = settings_in(keeper.writer.journal.read().entries)
        again = read_again(keeper)
    if kept:
        yield Finding("repair", "OK", f"restored {many(kept, 'thing')} that somebody wrote by hand from the journal")
    if again:
        yield Finding("repair", "OK", f"read {many(again, 'transcript')} again whose archive was damaged")
    path = os.path.join(home, "config.json")
    if settings and os.path.exists(path) and read_json(path) is None:
        os.rename(path, f"{_new_aside(home)}/config.json")
        write_file(path, settings.encode())
        yield Finding("repair", "OK", "restored your settings from the journal")


def _put_strays_aside(keeper: Keeper) -> str:
    """Put archives that the store does not know to be read back; where."""
    strays = _strays(keeper)
    if not strays:
        return ""
    aside = _new_aside(keeper.home)
    os.mkdir(f"{aside}/archive", 0o700)
    for name in strays:
        session, _, number = name.removesuffix(".jsonl.gz").removesuffix(".orphan").rpartition(".")
        count = int(number.partition("-")[0]) if number.partition("-")[0].isdecimal() else 0
        while os.path.lexists(target := f"{aside}/archive/{session}.{count}.jsonl.gz"):
            count += 1
        os.rename(f"{keeper.home}/archive/{name}", target)
    return aside


def _check_lock(home: str) -> None:
    path = os.path.join(home, "writer.lock")
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise KeeperError(f"{path} is not a file, so nothing can be kept", hint="move it away")


def _lost(home: str) -> bool:
    """Whether there are archives and no store that they belong to."""
    path = os.path.join(home, "store.db")
    empty = not os.path.exists(path) or not os.path.getsize(path)
    folder, journal = os.path.join(home, "archive"), os.path.join(home, "journal")
    return empty and ((os.path.isdir(folder) and bool(os.listdir(folder))) or os.path.exists(journal))


def _damaged(home: str) -> bool:
    try:
        with Keeper(home) as keeper:
            return bool(keeper.writer.problems())
    except Damaged:
        return True
    except KeeperError:
        return False


def _put_aside(home: str) -> str:
    """Put the damaged store and its archives aside, never away; where to."""
    aside = _new_aside(home)
    for name in names_of_ours(home, ("archive", "store.db", "store.db-*")):
        os.rename(os.path.join(home, name), os.path.join(aside, name))
    say_problem(f"the damaged store lies in {aside}; a new one is made of what can be read")
    return aside


def _new_aside(home: str) -> str:
    aside = os.path.join(home, ASIDE + strftime("%Y%m%d-%H%M%S"))
    while os.path.exists(aside):
        aside += "0"
    os.mkdir(aside, 0o700)
    return aside


def _read_back(home: str, root: str, aside: str) -> Restored:
    """Keep again what a store that was put aside had: by its archives, by what can be read in it, and by the pages of
    its projects; reading twice is reading once."""
    folder = os.path.join(aside, "archive")
    with Keeper(home) as keeper:
        added = read_back(keeper, folder) if os.path.isdir(folder) else None
        rows, lost = carry_over(keeper, os.path.join(aside, "store.db"))
        pages = sum(_read_pages(keeper, place) for place in dict.fromkeys((root, *keeper.writer.roots())) if place)
    restored = Restored(added.events if added else 0, rows, pages, lost)
    if any(restored[:3]):
        say_problem(
            f"{sum(restored[:3])} events and notes were read back",
            "what Claude Code still has comes in with: memory-keeper import transcripts",
        )
    return restored


def _read_pages(keeper: Keeper, root: str) -> int:
    """Keep what the pages of a project say and the store has lost; how many notes and rules that are. Of the pages of
    rules only those count that nobody has written to since we did."""
    pages = Pages(keeper, keeper.project(root), root)
    try:
        return len(adopt(pages)) + len(adopt_rules(pages, untouched=True))
    except (KeeperError, OSError):
        return 0  # there are none, or not ours to read
